/** People who asked their system for less motion, or for colours of their own. In real Chromium. */
import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { followReads } from '../harness/accessible.ts';
import type { Json } from '../harness/api.ts';
import { launchChromium, newProfile, signIn } from '../harness/browser.ts';
import { groupOf, type Seeded, seed } from '../harness/seeded.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';

let tocsin: Installation;
let ready: Ready;
let browser: Browser;
let seeded: Seeded;

beforeAll(async () => {
  tocsin = new Installation();
  [ready, browser] = await Promise.all([tocsin.start(), launchChromium()]);
  seeded = await seed(ready);
});

afterAll(async () => {
  await browser.close();
  await seeded.close();
  await tocsin.remove();
});

async function signedIn(look: Parameters<typeof newProfile>[1] = {}) {
  const page = await (await newProfile(browser, look)).newPage();
  const allRead = followReads(page);
  await signIn(page, ready);
  const open = async (where: string) => {
    await page.goto(ready.app_url + where);
    await page.locator('h1').first().waitFor({ state: 'attached' });
    await allRead();
  };
  return { page, open };
}

/** Animations and transitions that take time; what only waits and then changes at once is no motion. */
const MOTIONS = `document.getAnimations()
  .filter((each) => each.effect.getComputedTiming().duration > 0)
  .map((each) => each.animationName?.replace(/^svelte-\\w+-/, '') ?? 'transition of ' + each.transitionProperty)`;

/** Goes where things move, if they may. @returns what moved, by place */
async function motions(
  reducedMotion: 'reduce' | 'no-preference',
  group: Json,
): Promise<Record<string, string[]>> {
  const { page, open } = await signedIn();
  await page.emulateMedia({ reducedMotion });
  const seen: Record<string, string[]> = {};
  const look = async (place: string) => {
    seen[place] = [...new Set(await page.evaluate<string[]>(MOTIONS))];
  };
  const held: Route[] = [];
  const hold = (what: string | RegExp) => page.route(what, (route) => void held.push(route));
  // What is held is never sent: a route that ends would send it.
  const letGo = async () => {
    await Promise.all(held.splice(0).map((route) => route.abort()));
    await page.goto('about:blank');
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  };

  await hold(/\/api\/v1\/alert-groups\?/);
  await page.goto(`${ready.app_url}/alert-groups`);
  await page.locator('.skeleton').waitFor();
  await look('a list on its way');
  await letGo();
  await open('/alert-groups');
  await look('the list');
  await hold(/\/api\/v1\/alert-groups\?/);
  await page.getByRole('button', { name: 'Firing', exact: false }).first().click();
  await page.locator('.rows.turning').waitFor();
  await look('other rows on their way');
  await letGo();
  await open(`/alert-groups/${group.id}`);
  await look('a group');
  await page.getByRole('button', { name: 'Snooze' }).first().click();
  await page.getByRole('dialog').waitFor();
  await look('a dialog');
  await page.keyboard.press('Escape');
  await hold(/\/acknowledge$/);
  await page.getByRole('button', { name: 'Acknowledge', exact: true }).click();
  await page.locator('.button.busy').waitFor();
  await look('a Command on its way');
  await letGo();
  for (const where of [
    '/wall',
    '/machines/alert_group',
    '/machines/alert_group?try=1',
    '/statistics',
    '/routes',
  ]) {
    await open(where);
    await look(where);
  }
  await page.context().close();
  return seen;
}

test('with reduced motion nothing moves, and without it what is on its way does', async () => {
  const group = await groupOf(seeded.api, 'NodeNotReady');
  const still = await motions('reduce', group);
  expect(Object.entries(still).filter(([, moving]) => moving.length > 0)).toEqual([]);
  const moving = await motions('no-preference', group);
  expect(moving['a list on its way']).toEqual(['breathe']);
  expect(moving['a Command on its way']).toEqual(['turn']);
});

/** What a person can tell apart only by its edge, where the edge is not drawn. */
const WITHOUT_EDGE = `[...document.querySelectorAll('.button, .badge, .chip, .input, .find')]
  .filter((each) => each.checkVisibility({ visibilityProperty: true }) && each.getBoundingClientRect().width > 1)
  .filter((each) => {
    const { borderBottomStyle, borderBottomWidth, borderBottomColor, backgroundColor } = getComputedStyle(each);
    const isClear = /^rgba.*, 0\\)$/.test(borderBottomColor) || borderBottomColor === backgroundColor;
    return borderBottomStyle === 'none' || Number.parseFloat(borderBottomWidth) < 1 || isClear;
  })
  .map((each) => each.tagName.toLowerCase() + '.' + each.className + ' ' + each.textContent.trim().slice(0, 30))`;

/** How something that is chosen and something that is not differ in other ways than by a colour. */
const differences = (page: Page, chosen: string, other: string) =>
  page.evaluate<string[]>(`(() => {
    const [one, two] = [${JSON.stringify(chosen)}, ${JSON.stringify(other)}].map((each) => getComputedStyle(document.querySelector(each)));
    return ['outlineStyle', 'outlineWidth', 'fontWeight', 'textDecorationLine'].filter((each) => one[each] !== two[each]);
  })()`);

/** The form of each mark that matches, and the word beside it: what is seen of it, or said of it. */
const forms = (page: Page, marks: string) =>
  page.evaluate<
    { form: string; word: string }[]
  >(`[...document.querySelectorAll(${JSON.stringify(marks)})].map((mark) => {
    const drawn = mark.querySelector('svg');
    const square = mark.querySelector('.square');
    const { clipPath, borderRadius, forcedColorAdjust } = square === null ? {} : getComputedStyle(square);
    return { form: drawn?.innerHTML.replaceAll(/<!--.*?-->/g, '') ?? clipPath + borderRadius + forcedColorAdjust, word: mark.textContent.trim() };
  })`);

/** By word; each word has one form, and no form stands for two words. */
function isToldByForm(marks: readonly { readonly form: string; readonly word: string }[]): readonly string[] {
  const byWord = new Map(marks.map(({ word, form }) => [word, form]));
  expect(marks.filter(({ word, form }) => word === '' || byWord.get(word) !== form)).toEqual([]);
  expect(new Set(byWord.values()).size).toBe(byWord.size);
  return [...byWord.keys()].toSorted();
}

test('with forced colours everything keeps its edge, and what is chosen differs by more than a colour', async () => {
  const { page, open } = await signedIn();
  await page.emulateMedia({ forcedColors: 'active' });
  const statuses = ['Acknowledged', 'Firing', 'Resolved', 'Snoozed'];
  const levels = ['Critical', 'Info', 'Warning'];
  await open('/alert-groups?tab=all');
  expect(await page.evaluate(WITHOUT_EDGE)).toEqual([]);
  expect(isToldByForm(await forms(page, '[data-group] .mark'))).toEqual(statuses);
  expect(isToldByForm(await forms(page, '[data-group] .severity .severity'))).toEqual(levels);
  await page.locator('[data-group] input').first().check();
  const outlined = ['outlineStyle'];
  expect(await differences(page, '.tabs [aria-pressed="true"]', '.tabs [aria-pressed="false"]')).toEqual(
    expect.arrayContaining(outlined),
  );
  expect(await differences(page, '[data-group].selected', '[data-group]:not(.selected)')).toEqual(
    expect.arrayContaining(outlined),
  );
  expect(await differences(page, '.sidebar a[aria-current]', '.sidebar a:not([aria-current])')).toEqual(
    expect.arrayContaining(outlined),
  );
  await open(`/alert-groups/${(await groupOf(seeded.api, 'HighLatency')).id}`);
  expect(await page.evaluate(WITHOUT_EDGE)).toEqual([]);
  expect(await differences(page, '.chip[aria-pressed="true"]', '.chip[aria-pressed="false"]')).toEqual(
    expect.arrayContaining(outlined),
  );
  await open('/wall');
  await page.locator('.tile').first().waitFor();
  expect(await page.evaluate(WITHOUT_EDGE)).toEqual([]);
  expect(isToldByForm(await forms(page, '.tile .severity'))).toEqual(levels);
  // Beside its form each mark of the wall has its word in sight.
  const unseen = `[...document.querySelectorAll('.tile :is(.mark, .severity) > span:last-child')].filter((each) => each.getBoundingClientRect().width < 10).length`;
  expect(await page.evaluate(unseen)).toBe(0);
  await page.context().close();
});
