/** The statechart page: what is readable in it, what is chosen in it, and what is saved from it. In real Chromium. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AnyStateNode, createMachine } from 'xstate';
import { machines } from '../../actors/machines.ts';
import { accessibilityFindings, launchChromium, newProfile, signIn } from '../harness/browser.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const KINDS = Object.keys(machines);
/** px: of anything in a drawing, and of the names of its states. */
const LEAST_TEXT = 11;
const LEAST_NAME = 12;

let tocsin: Installation;
let ready: Ready;
let browser: Browser;
let desk: Page;

beforeAll(async () => {
  tocsin = new Installation();
  [ready, browser] = await Promise.all([tocsin.start(), launchChromium()]);
  desk = await (await newProfile(browser, { width: 1440, height: 900 })).newPage();
  await signIn(desk, ready);
});

afterAll(async () => {
  await browser.close();
  await tocsin.remove();
});

const view = (page: Page) => page.getByRole('group', { name: /^State machine: / });
const rows = (page: Page) => page.locator('#transitions tbody').getByRole('row');
const box = (page: Page, state: string) => page.locator(`.box[data-state="${state}"]`);

/** Opens the machine and waits for the counts in its states, which a delivery has none of. */
async function openMachine(page: Page, kind: string, query = ''): Promise<void> {
  await page.goto(`${ready.app_url}/machines/${kind}${query}`);
  await page.locator('svg g.state').first().waitFor();
  if (kind !== 'delivery' && query === '') await page.locator('svg .count').first().waitFor();
}

interface Drawing {
  readonly scrolls: boolean;
  readonly bottom: number;
  readonly texts: readonly { readonly text: string; readonly size: number; readonly isName: boolean }[];
  /** Texts that are partly outside of what is seen. */
  readonly cut: readonly string[];
}

const MEASURE = `(() => {
  const view = document.querySelector('.view');
  const seen = view.getBoundingClientRect();
  const svg = view.querySelector('svg');
  const zoom = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
  const texts = [...svg.querySelectorAll('text')];
  const isCut = ({ left, right, top, bottom }) =>
    left < seen.left - 1 || right > seen.right + 1 || top < seen.top - 1 || bottom > seen.bottom + 1;
  return {
    scrolls: view.scrollWidth > view.clientWidth || view.scrollHeight > view.clientHeight,
    bottom: seen.bottom,
    texts: texts.map((text) => ({
      text: text.textContent,
      size: parseFloat(getComputedStyle(text).fontSize) * zoom,
      isName: text.classList.contains('name'),
    })),
    cut: texts.filter((text) => isCut(text.getBoundingClientRect())).map((text) => text.textContent),
  };
})()`;

test.each(KINDS)('the drawing of %s is read at 1440 × 900 without zooming or scrolling', async (kind) => {
  await openMachine(desk, kind);
  const { scrolls, bottom, texts, cut } = await desk.evaluate<Drawing>(MEASURE);
  expect(scrolls).toBe(false);
  expect(bottom).toBeLessThanOrEqual(900);
  expect(cut).toEqual([]);
  expect(texts.filter(({ isName }) => isName).length).toBeGreaterThan(2);
  expect(texts.filter(({ size, isName }) => size < (isName ? LEAST_NAME : LEAST_TEXT))).toEqual([]);
});

/** A point of the window at which the line is on top. */
const pointOf = (id: string) => `(() => {
  for (const path of document.querySelectorAll('[data-line="${id}"] .near')) {
    for (let part = 0.1; part < 1; part += 0.05) {
      const point = path.getPointAtLength(path.getTotalLength() * part).matrixTransform(path.getScreenCTM());
      const top = document.elementFromPoint(point.x, point.y)?.closest('[data-line]');
      if (top?.dataset.line === '${id}') return { x: point.x, y: point.y };
    }
  }
  return null;
})()`;

test('a line of several arrows, pressed or chosen by keyboard, shows all that they stand for', async () => {
  await openMachine(desk, 'alert_group');
  const all = await rows(desk).count();
  const id = 'acknowledged firing';
  const point = await desk.evaluate<{ x: number; y: number } | null>(pointOf(id));
  await desk.mouse.click(point!.x, point!.y);
  const shown = desk.getByRole('list', { name: 'firing ↔ acknowledged' });
  const events = ['acknowledge', 'owner_released [userIsOwner]', 'rises_to_urgent', 'unacknowledge'];
  await shown.waitFor();
  expect((await shown.locator('li li').allTextContents()).sort()).toEqual(events);
  const ofTable = await rows(desk).locator('td:nth-child(2)').allTextContents();
  expect(ofTable.map((text) => text.trim()).sort()).toEqual(events.map((event) => event.split(' ')[0]));
  expect(await desk.locator('[data-line].lit').count()).toBe(1);

  const button = desk
    .getByRole('group', { name: 'Arrows' })
    .getByRole('button', { name: 'firing ↔ acknowledged' });
  expect(await button.getAttribute('aria-pressed')).toBe('true');
  await button.press('Enter');
  await shown.waitFor({ state: 'detached' });
  expect(await rows(desk).count()).toBe(all);
  await button.press('Space');
  await shown.waitFor();
  expect(await rows(desk).count()).toBe(events.length);
  expect(await accessibilityFindings(desk)).toEqual([]);

  await desk.getByRole('button', { name: 'unsnooze', exact: true }).press('Enter');
  await shown.waitFor({ state: 'detached' });
  expect(await button.getAttribute('aria-pressed')).toBe('false');
});

test("transitions show their rows of the contract's tables", async () => {
  const inContract = rows(desk).locator('td:nth-child(6)');
  const texts = async () =>
    (await inContract.allTextContents()).map((text) => text.replaceAll(/\s+/g, ' ').trim());
  await openMachine(desk, 'alert_group');
  await desk.getByRole('button', { name: 'rises_to_urgent', exact: true }).click();
  await inContract.getByText('Loud').first().waitFor();
  const loud = 'urgency_raised Loud Mentions: the Owner, as set for a rise to Urgent';
  expect(new Set(await texts())).toEqual(
    new Set(['urgent-keep urgency_raised Quiet', `urgent-unack ${loud}`, `urgent-unsnooze ${loud}`]),
  );
  await desk.getByRole('button', { name: 'hold', exact: true }).click();
  expect(new Set(await texts())).toEqual(new Set(['hold records nothing']));

  await openMachine(desk, 'delivery');
  await desk.getByRole('button', { name: 'released', exact: true }).click();
  await inContract.getByText('the Storm is over for it').waitFor();
  expect(await texts()).toEqual([
    expect.stringContaining('it resolved before the Storm let it go: nobody needs to read of it'),
    expect.stringContaining('the Storm is over for it, or it became Urgent'),
  ]);
  await openMachine(desk, 'destination');
  expect(await inContract.count()).toBe(0);
});

test('a drawing is zoomed and fitted, and a state is chosen, by keyboard', async () => {
  await openMachine(desk, 'alert_group');
  const percent = async () => Number((await desk.locator('.zoom').textContent())?.replace(/\D/g, ''));
  const fitted = await percent();
  await view(desk).focus();
  await desk.keyboard.press('+');
  await until('it is larger', async () => (await percent()) > fitted * 1.2);
  expect((await desk.evaluate<Drawing>(MEASURE)).scrolls).toBe(true);
  await desk.keyboard.press('-');
  await until('it is as before', async () => (await percent()) === fitted);
  await desk.keyboard.press('-');
  await until('it is smaller', async () => (await percent()) < fitted);
  await desk.keyboard.press('0');
  await until('it fits', async () => (await percent()) === fitted);
  expect((await desk.evaluate<Drawing>(MEASURE)).scrolls).toBe(false);
  await desk.keyboard.press('=');
  await until('it is larger again', async () => (await percent()) > fitted);
  await desk.getByRole('button', { name: 'Fit' }).press('Enter');
  await until('it fits again', async () => (await percent()) === fitted);

  const all = await rows(desk).count();
  await desk.getByLabel('Search for a state, event, guard or action').focus();
  await desk.keyboard.press('Tab');
  expect(await desk.evaluate<string>('document.activeElement.getAttribute("aria-label")')).toMatch(
    /^firing, /,
  );
  await desk.keyboard.press('Enter');
  await desk.locator('.box.lit[data-state="firing"]').waitFor();
  expect(await desk.getByRole('button', { name: /^firing, / }).getAttribute('aria-pressed')).toBe('true');
  expect(await rows(desk).count()).toBeLessThan(all);
  await desk.keyboard.press('Space');
  await desk.locator('.box.lit').waitFor({ state: 'detached' });
  expect(await rows(desk).count()).toBe(all);
});

const pathsOf = (node: AnyStateNode): string[] =>
  Object.values(node.states).flatMap((child) => [child.path.join('.'), ...pathsOf(child)]);

test.each(KINDS)('%s is saved as SVG, Mermaid and as what createMachine takes', async (kind) => {
  await openMachine(desk, kind);
  const saves = desk.getByRole('group', { name: 'Save' });
  const saved = async (name: string) => {
    const href = await saves.getByRole('link', { name }).getAttribute('href');
    const answer = await desk.request.get(ready.app_url + href);
    expect(answer.status(), name).toBe(200);
    return answer.text();
  };
  expect(await saved('SVG')).toMatch(/^<svg [^>]*xmlns=/);
  expect(await saved('Mermaid')).toMatch(/^stateDiagram-v2\n/);
  const drawn = await desk
    .locator('.box[data-state]')
    .evaluateAll((boxes) => boxes.map((each) => each.getAttribute('data-state')));
  const machine = createMachine(JSON.parse(await saved('XState JSON')));
  expect(machine.id).toBe(machines[kind]?.id);
  expect(pathsOf(machine.root as AnyStateNode).sort()).toEqual(drawn.sort());
});

test('the counts that are shown are at most two seconds old by the clock of the page, or said to be old', async () => {
  const page = await (await newProfile(browser)).newPage();
  await page.clock.install();
  await signIn(page, ready);
  let count = 0;
  let held: Promise<unknown> = Promise.resolve();
  await page.route('**/api/v1/**/actor-counts*', async (route) => {
    const answer = await route.fetch();
    await held;
    count += 1;
    const items = [{ kind: 'alert_group', state: { firing: 'waiting' }, count }];
    await route.fulfill({ response: answer, json: { ...(await answer.json()), items } });
  });
  await openMachine(page, 'alert_group');
  const shown = async () =>
    Number(await page.locator('.state[data-state="firing"] .count text').textContent());
  const now = await page.evaluate<number>('Date.now()');
  await page.clock.pauseAt(now + 10_000);
  await until('what was asked for is shown', async () => (await shown()) === count);
  for (let round = 0; round < 4; round += 1) {
    const before = await shown();
    await page.clock.runFor(2_000);
    await until('the counts of now', async () => (await shown()) > before);
    await until('what was asked for is shown', async () => (await shown()) === count);
  }

  const old = page.getByText('The numbers are older than 3 s.');
  expect(await old.count()).toBe(0);
  let answer: () => void = () => undefined;
  held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.clock.runFor(4_500);
  await old.waitFor();
  answer();
  await old.waitFor({ state: 'detached' });
  await page.context().close();
});

test('the actors of a state are read by one request at a time, and by none once their list is left', async () => {
  const page = await (await newProfile(browser)).newPage();
  await signIn(page, ready);
  let [counted, begun, underWay, most] = [0, 0, 0, 0];
  await page.route(/\/actor-counts/, (route) => {
    counted += 1;
    const items = [{ kind: 'alert_group', state: { firing: 'waiting' }, count: counted }];
    return route.fulfill({ json: { items } });
  });
  await page.route(/\/api\/v1\/actors\?/, async (route) => {
    begun += 1;
    underWay += 1;
    most = Math.max(most, underWay);
    await new Promise((resolve) => setTimeout(resolve, 100));
    underWay -= 1;
    await route.fulfill({ json: { items: [], next_cursor: 'further' } });
  });
  await openMachine(page, 'alert_group');
  const firing = page.getByRole('button', { name: /^firing, / });
  await firing.click();
  const list = page.locator('#actors');
  await list.getByRole('button', { name: 'Load more' }).waitFor();
  expect(await list.getByText('No actor is in this state now.').count()).toBe(0);
  const first = begun;
  await until('it is read again, as the number changed', async () => begun > first);
  const left = page.waitForEvent('requestfailed', (request) => request.url().includes('/api/v1/actors?'));
  await firing.click();
  await left;
  const [before, last] = [counted, begun];
  await until('the numbers change on', async () => counted > before + 4);
  expect([begun, most]).toEqual([last, 1]);

  // Nobody is in it.
  await page.getByRole('button', { name: /^snoozed, / }).click();
  await list.getByText('No actor is in this state now.').waitFor();
  expect(begun).toBe(last);
  await page.context().close();
});

const STYLE = `({ fill, stroke, strokeWidth, strokeDasharray, opacity }) =>
  ({ fill, stroke, width: parseFloat(strokeWidth), dashes: strokeDasharray, opacity })`;
interface Style {
  readonly fill: string;
  readonly stroke: string;
  readonly width: number;
  readonly dashes: string;
  readonly opacity: string;
}
const styleOf = (page: Page, selector: string) =>
  page.evaluate<Style>(`(${STYLE})(getComputedStyle(document.querySelector('${selector}')))`);

test('in forced colours the present, the chosen and the other states are told apart', async () => {
  const page = await (await newProfile(browser)).newPage();
  await signIn(page, ready);
  await page.emulateMedia({ forcedColors: 'active' });
  await openMachine(page, 'alert_group', '?try=1');
  await box(page, 'firing').and(page.locator('.now')).waitFor();
  await page
    .getByRole('group', { name: 'States' })
    .getByRole('button', { name: 'snoozed', exact: true })
    .click();
  await box(page, 'snoozed').and(page.locator('.lit')).waitFor();
  const style = (state: string) => styleOf(page, `.box[data-state="${state}"]`);
  const [present, chosen, other] = [await style('firing'), await style('snoozed'), await style('resolved')];
  expect(present.fill).not.toBe(chosen.fill);
  expect(chosen.fill).toBe(other.fill);
  expect(chosen.width).toBeGreaterThan(present.width);
  expect(present.width).toBeGreaterThan(other.width);
  expect([present.dashes, chosen.dashes]).toEqual(['none', 'none']);
  expect(other.dashes).not.toBe('none');
  expect(other.opacity).toBe('1');
  for (const state of ['firing', 'snoozed', 'resolved']) {
    const name = await styleOf(page, `.state[data-state="${state}"] .name`);
    expect(name.fill, state).not.toBe((await style(state)).fill);
  }

  await page.getByRole('group', { name: 'Arrows' }).getByRole('button', { name: 'firing ↔ snoozed' }).click();
  await page.locator('.arrow.lit[data-line="firing snoozed"]').waitFor();
  const lit = await styleOf(page, '.arrow.lit .line');
  const dim = await styleOf(page, '.arrow:not(.lit) .line:not(.possible)');
  expect(lit.dashes).toBe('none');
  expect(dim.dashes).not.toBe('none');
  expect(lit.width).toBeGreaterThan(dim.width);
  await page.context().close();
});
