/** The Alert Group list at a glance, in real Chromium. */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api, type Json } from '../harness/api.ts';
import { accessibilityFindings, launchChromium, newProfile, signIn } from '../harness/browser.ts';
import { Sender } from '../harness/sender.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const LONG = 'x'.repeat(4_000);

let tocsin: Installation;
let ready: Ready;
let browser: Browser;
let sender: Sender;
let api: Api;

beforeAll(async () => {
  tocsin = new Installation();
  [ready, browser] = await Promise.all([tocsin.start(), launchChromium()]);
  sender = new Sender(ready.ingest_endpoint, ready.integration_token!);
  api = await Api.signIn(ready);
  const fallback = (await api.get('/routes')).items.find((route: Json) => route.is_default);
  await api.change(`/routes/${fallback.id}`, (route) => ({
    ...route,
    group_key: ['alertname', 'cluster', 'pod'],
  }));
});

afterAll(async () => {
  await browser.close();
  await tocsin.remove();
});

/** Raises one Alert and waits for its Alert Group. */
async function raise(labels: Record<string, string>, summary: string): Promise<void> {
  const { total } = await counted();
  const alerts = [{ labels: { severity: 'warning', ...labels }, annotations: { summary } }];
  expect(await sender.post({ groupKey: `${total}`, alerts })).toBe(202);
  await until('the Alert Group', async () => (await counted()).total > total);
}

async function counted(): Promise<{ total: number }> {
  return { total: (await api.get('/alert-group-counts')).all };
}

async function openList(profile: Parameters<typeof newProfile>[1], where = ''): Promise<Page> {
  const page = await (await newProfile(browser, profile)).newPage();
  await signIn(page, ready);
  await page.goto(`${ready.app_url}/alert-groups${where}`);
  await rows(page).first().waitFor();
  // They are drawn in portions.
  await page.locator('.undrawn').waitFor({ state: 'detached' });
  return page;
}

const rows = (page: Page): Locator => page.locator('[data-group]');
const boxes = (page: Page): Promise<{ width: number; height: number; bottom: number }[]> =>
  rows(page).evaluateAll((all) => all.map((row) => row.getBoundingClientRect().toJSON()));

test('on a phone eight rows are in sight, each with what tells it from the others', async () => {
  for (const pod of ['api-1', 'api-2', 'web-1', 'web-2', 'cart-1', 'cart-2'])
    await raise({ alertname: 'PodCrash', cluster: 'eu', pod }, `${pod} restarted 9 times`);
  await raise({ alertname: 'DiskFull', cluster: 'us', severity: 'critical' }, 'No room for the database');
  await raise({ alertname: 'Certificate', cluster: 'us', severity: 'info' }, 'Expires in 6 days');
  const page = await openList({ width: 390, height: 844 });
  const crash = rows(page).filter({ hasText: 'web-1' });
  for (const shown of ['PodCrash', 'web-1', 'Nobody', '1/1'])
    await crash.getByText(shown, { exact: true }).filter({ visible: true }).waitFor();
  await crash.getByText('web-1 restarted 9 times').filter({ visible: true }).waitFor();
  expect(await crash.getByText('eu', { exact: true }).count()).toBe(0);
  expect((await boxes(page)).filter(({ bottom }) => bottom <= 844)).toHaveLength(8);
  const forms = await page.evaluate<string[]>(
    `[...document.querySelectorAll('[data-group] .square')].map((mark) => getComputedStyle(mark).clipPath)`,
  );
  expect(new Set(forms).size).toBe(3);
});

test('texts of any kind change the form of no row', async () => {
  await raise({ alertname: LONG.slice(0, 3_900), cluster: LONG.slice(0, 900) }, LONG);
  await raise({ alertname: '<b>Bold</b><img src=x>', cluster: '"><script>' }, '<i>markup</i> &amp;');
  await raise({ alertname: '\u202EDisk\u2066 שלום 🔥', cluster: '\u202Eeu' }, '\u202Eevil שלום 🔥');
  for (const profile of [
    { width: 390, height: 844 },
    { width: 360, height: 780, dark: true, locale: 'ru-RU' },
    {},
    { dark: true },
  ]) {
    const page = await openList(profile, '?q=');
    await rows(page).getByText('<b>Bold</b><img src=x>').first().waitFor();
    const shown = await boxes(page);
    expect(Math.max(...shown.map(({ height }) => height))).toBeLessThanOrEqual(72);
    expect(new Set(shown.map(({ width }) => width)).size).toBe(1);
    expect(await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth')).toBe(0);
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.context().close();
  }
});

test('what fires for an hour stands out until somebody has it', async () => {
  const page = await openList({ width: 390, height: 844 });
  const disk = rows(page).filter({ hasText: 'DiskFull' });
  expect(await page.getByTitle('Firing for long').count()).toBe(0);
  await page.clock.install({ time: Date.now() + 3_700_000 });
  await page.reload();
  await disk.getByTitle('Firing for long').getByText('1h').waitFor();
  await disk.getByRole('button', { name: /^Commands/ }).click();
  await disk.getByRole('button', { name: 'Acknowledge' }).click();
  await disk.getByTitle('Firing for long').waitFor({ state: 'detached' });
});

test('the search reads tokens, completes them by the keyboard, and is the same as filters and address', async () => {
  const page = await openList({});
  const search = page.getByRole('combobox', { name: /^Search/ });
  await page.keyboard.press('/');
  await page.keyboard.type('po');
  await page.getByRole('option', { name: 'pod:' }).waitFor();
  // Longer than typing waits: as a word it would match nothing, and leave nothing to complete.
  await page.waitForTimeout(600);
  expect(new URL(page.url()).search).toBe('');
  await page.keyboard.type('d:web');
  await page.getByRole('option', { name: 'pod:web-1' }).waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.keyboard.press('ArrowDown');
  await page.getByRole('option', { name: 'pod:web-1', selected: true }).waitFor();
  await page.keyboard.press('Enter');
  await until('one row', async () => (await rows(page).count()) === 1);
  const parameters = () => [...new URL(page.url()).searchParams].map((each) => each.join(' '));
  expect(parameters()).toEqual(['label pod="web-1"']);
  await page.getByRole('button', { name: 'Remove: pod="web-1"' }).click();
  await until('no text', async () => (await search.inputValue()) === '');
  await search.pressSequentially('severity:critical -status:acknowledged "for the" ');
  await page.keyboard.press('Enter');
  await page.getByText('Nothing matches').waitFor();
  expect(parameters()).toEqual(['not_status acknowledged', 'q for the', 'severity critical']);
  await page.goto(
    `${ready.app_url}/alert-groups?tab=acknowledged&severity=critical&label=cluster%21%3D%22eu%22`,
  );
  await rows(page).filter({ hasText: 'DiskFull' }).waitFor();
  expect(await search.inputValue()).toBe('status:acknowledged severity:critical -cluster:eu');
});

test('values of a label that no loaded row has are completed', async () => {
  const page = await openList({}, '?label=alertname%3D%22PodCrash%22&label=pod%3D%22web-1%22');
  expect(await rows(page).count()).toBe(1);
  const search = page.getByRole('combobox', { name: /^Search/ });
  await search.fill('alertname:PodCrash pod:c');
  await page.getByRole('option', { name: 'pod:cart-1 1 group' }).waitFor();
});

test('a fault in the search is shown at its place and changes nothing', async () => {
  const page = await openList({ locale: 'ru-RU' });
  const before = await rows(page).count();
  const search = page.locator('#list-search');
  await search.fill('disk severity:hot');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('severity: critical, warning или info.').waitFor();
  expect(await page.locator('mark').textContent()).toBe('severity:hot');
  const selected = '((field) => [field.selectionStart, field.selectionEnd])(document.activeElement)';
  expect(await page.evaluate(selected)).toEqual([5, 17]);
  expect(new URL(page.url()).search).toBe('');
  expect(await rows(page).count()).toBe(before);
  expect(await accessibilityFindings(page)).toEqual([]);
});

test('showing what waited keeps the focus in its row, and gives it to the first row from the keyboard', async () => {
  const page = await openList({});
  const focused = () => page.locator('[data-group]:focus-within').getAttribute('data-group');
  await page.keyboard.press('j');
  const before = await focused();
  await raise({ alertname: 'Arrived' }, 'Pressed with the pointer');
  await page.getByRole('button', { name: '1 new' }).click();
  await rows(page).filter({ hasText: 'Arrived' }).waitFor();
  expect(await focused()).toBe(before);
  await raise({ alertname: 'Later' }, 'Pressed with the keyboard');
  await page.getByRole('button', { name: '1 new' }).focus();
  // Rows wait while it has the focus.
  expect(await page.locator('[data-arrived]:focus-within').count()).toBe(1);
  await page.keyboard.press('Enter');
  await page.locator('[data-group]:focus-within').filter({ hasText: 'Later' }).waitFor();
});

test('new rows wait while somebody has scrolled, and until nobody has pointed or moved the focus for five seconds, wherever', async () => {
  const { total } = await counted();
  const alerts = Array.from({ length: 15 }, (_, n) => ({
    labels: { alertname: 'ToRead', cluster: 'r', pod: `read-${n}`, severity: 'info' },
  }));
  expect(await sender.post({ groupKey: 'to-read', alerts })).toBe(202);
  await until('the Alert Groups', async () => (await counted()).total === total + alerts.length);
  const page = await openList({ width: 1440, height: 400 });
  const row = (name: string) => rows(page).filter({ hasText: name });
  const waits = async (name: string) => {
    await raise({ alertname: name }, 'Somebody is reading');
    await page.getByRole('button', { name: '1 new' }).waitFor();
    expect(await row(name).count()).toBe(0);
  };
  await page.evaluate('window.scrollTo(0, 120)');
  await waits('WhileScrolled');
  await page.evaluate('window.scrollTo(0, 0)');
  await row('WhileScrolled').waitFor();

  // Without a scroll to the first row. However long the group takes: no time passes while the pointer is there.
  await page.setViewportSize({ width: 1440, height: 900 });
  let now = Date.now();
  await page.clock.setFixedTime(now);
  for (const [name, act] of [
    ['WhilePointing', () => rows(page).first().hover()],
    ['WhileElsewhere', () => page.locator('#list-search').hover()],
    // Without a key, as a screen reader does.
    ['WhileTheFocusMoves', () => page.locator('#list-search').focus()],
  ] as const) {
    await act();
    await waits(name);
    await until(`the row of ${name}`, async () => {
      now += 5_000;
      await page.clock.setFixedTime(now);
      return (await row(name).count()) > 0;
    });
  }
});

test('on a phone new rows wait for the button: none moves under a finger', async () => {
  const page = await openList({ width: 390, height: 844, touch: true });
  const row = rows(page).filter({ hasText: 'UnderAFinger' });
  await raise({ alertname: 'UnderAFinger' }, 'Somebody is about to press');
  const waiting = page.getByRole('button', { name: '1 new' });
  await waiting.waitFor();
  expect(await row.count()).toBe(0);
  await waiting.tap();
  await row.waitFor();
  await page.context().close();
});

test('the line of a Storm waits for the button, and keeps its room when the Storm is over', async () => {
  await raise({ alertname: 'SomebodyHasIt' }, 'The only row');
  const [{ id: only }] = (await api.get('/alert-groups?q=SomebodyHasIt')).items;
  await api.post(`/alert-groups/${only}/acknowledge`);
  const { id, name } = (await api.get('/routes')).items.find((route: Json) => route.is_default);
  const phone = { width: 360, height: 780, touch: true, dark: true, locale: 'ru-RU' };
  for (const [profile, begun, goes, over] of [
    [{}, `Storm on ${name}`, `Storm on ${name} since`, `The Storm on ${name} is over.`],
    [phone, `Шторм: ${name}`, `Шторм на маршруте ${name} с`, `Шторм на маршруте ${name} закончился.`],
  ] as const) {
    const page = await openList(profile, '?tab=acknowledged&q=SomebodyHasIt');
    let storm: Json | null = null;
    await page.route('**/api/v1/routes', async (route) => {
      const response = await route.fetch();
      const { items } = await response.json();
      const changed = items.map((each: Json) =>
        each.id === id ? { ...each, storm, storm_active: storm !== null } : each,
      );
      await route.fulfill({ response, json: { items: changed } });
    });
    const changes = async (to: Json | null) => {
      storm = to;
      await api.change(`/routes/${id}`, (route) => ({ ...route, description: JSON.stringify(to) }));
    };
    const top = async () => (await rows(page).boundingBox())?.y;
    // Other tests may have brought about a Storm.
    await page.reload();
    await rows(page).first().waitFor();
    const before = await top();
    await changes({ since: new Date().toISOString(), alert_group_count: 21 });
    const button = page.getByRole('button', { name: begun });
    await button.waitFor();
    expect(await top()).toBe(before);
    expect(await page.getByText(goes).count()).toBe(0);
    expect(await accessibilityFindings(page)).toEqual([]);
    await button.click();
    await page.getByText(goes).waitFor();
    await button.waitFor({ state: 'detached' });
    const below = await top();
    expect(below).toBeGreaterThan(before!);
    await changes(null);
    await page.getByText(over).filter({ visible: true }).waitFor();
    expect(await top()).toBe(below);
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.context().close();
  }
});

/** The id of the Alert Group whose row has the focus. */
const focused = (page: Page) =>
  page.evaluate<string | undefined>(`document.activeElement.closest('[data-group]')?.dataset.group`);
/** Its page is shown: the address changes before. */
const isAt = async (page: Page, group: Json) => {
  await page.waitForURL(`**/alert-groups/${group.id}`);
  await page.locator('header .number').getByText(`#${group.number}`, { exact: true }).waitFor();
};

test('the page of a group leads along the list it was opened from, and Back to the row', async () => {
  const { total } = await counted();
  const alerts = Array.from({ length: 53 }, (_, n) => ({
    labels: { alertname: 'Walk', cluster: 'w', pod: `walk-${n}`, severity: 'info' },
  }));
  expect(await sender.post({ groupKey: 'walk', alerts })).toBe(202);
  await until('the Alert Groups', async () => (await counted()).total === total + alerts.length);
  const where = '?tab=firing&label=alertname%3D%22Walk%22&sort=started_at';
  const query = 'status=firing&label=alertname%3D%22Walk%22&sort=started_at&limit=100';
  const groups: Json[] = (await api.get(`/alert-groups?${query}`)).items;
  const page = await openList({}, where);
  const next = page.getByRole('link', { name: /^Next:/ });
  const read: string[] = [];
  page.on('request', (request) => read.push(request.url()));
  await rows(page).nth(48).getByRole('link').first().click();
  await isAt(page, groups[48]);
  await page.getByRole('link', { name: `Previous: #${groups[47].number} Walk` }).waitFor();
  await next.waitFor();
  // The address of the group is not taken for other filters of the list.
  const lists = read.filter((url) => /\/alert-groups\?/.test(url));
  expect(lists.filter((url) => !url.includes('Walk'))).toEqual([]);
  await page.keyboard.press('j');
  await isAt(page, groups[49]);
  // It leaves the filter, and the way goes on: beyond the rows that the list had loaded.
  await page.getByRole('button', { name: 'Acknowledge' }).click();
  await page.getByText(`#${groups[49].number} is yours`).waitFor();
  await page.getByRole('link', { name: `Next: #${groups[50].number} Walk` }).press('Enter');
  await isAt(page, groups[50]);
  await until('the focus', async () =>
    (await page.evaluate<string>('document.activeElement.className')).includes('next'),
  );
  await page.keyboard.press('k');
  await isAt(page, groups[49]);
  await page.reload();
  await next.waitFor();
  for (const group of groups.slice(50)) {
    await page.keyboard.press('j');
    await isAt(page, group);
  }
  await page.getByText('Last of the list').waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.goBack();
  await page.waitForURL(`**/alert-groups${where}`);
  await until('the row', async () => (await focused(page)) === groups[52].id);
  const { y } = (await page.locator(`[data-group="${groups[52].id}"]`).boundingBox())!;
  expect(y).toBeGreaterThan(0);
  expect(y).toBeLessThan(900);
  await page.goto(`${ready.app_url}/alert-groups/${groups[3].id}`);
  await page.getByRole('button', { name: 'Acknowledge' }).waitFor();
  expect(await next.count()).toBe(0);
});

test('the way along the list is in reach of the thumb on a phone', async () => {
  const page = await openList({ width: 360, height: 780 }, '?label=alertname%3D%22Walk%22');
  const ids = await rows(page).evaluateAll((all) => all.map((row) => (row as unknown as Json).dataset.group));
  await rows(page).nth(1).getByRole('link').first().click();
  for (const name of [/^Previous:/, /^Next:/]) {
    const box = (await page.getByRole('link', { name }).boundingBox())!;
    expect(box.height).toBeGreaterThanOrEqual(44);
    expect(box.y).toBeGreaterThan(780 - 120);
  }
  expect(await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth')).toBe(0);
  expect(await accessibilityFindings(page)).toEqual([]);
  // Faster than pages are drawn.
  for (const key of ['j', 'j', 'j', 'k']) await page.keyboard.press(key);
  await page.waitForURL(`**/alert-groups/${ids[3]}`);
});

test('what began after somebody last looked is marked until they say that they have seen it', async () => {
  const where = '?label=alertname%3D~%22News.*%22';
  await raise({ alertname: 'NewsOld', cluster: 'n' }, 'Seen in the evening');
  const page = await openList({}, where);
  await page.keyboard.press('j');
  await raise({ alertname: 'NewsNight', cluster: 'n' }, 'Nobody was there');
  await page.getByRole('button', { name: '1 new' }).waitFor();
  const mark = page.getByTitle('New since you last looked');
  await page.reload();
  await rows(page).filter({ hasText: 'NewsNight' }).waitFor();
  expect(await mark.count()).toBe(0);
  await page.clock.install({ time: Date.now() + 16 * 60_000 });
  await page.reload();
  await page.getByRole('columnheader', { name: '1 new to you' }).waitFor();
  await rows(page).filter({ hasText: 'NewsNight' }).getByText('New', { exact: true }).waitFor();
  expect(await mark.count()).toBe(1);
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.setViewportSize({ width: 360, height: 780 });
  expect(await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth')).toBe(0);
  await page.getByRole('button', { name: 'Mark as seen' }).click();
  await mark.waitFor({ state: 'detached' });
  await until('the focus', async () => (await focused(page)) !== undefined);
  await page.reload();
  await rows(page).filter({ hasText: 'NewsNight' }).waitFor();
  expect(await mark.count()).toBe(0);
});

test('a Command on all that match runs in portions, can be stopped, and says what did not go through', async () => {
  const { total } = await counted();
  const many = (names: readonly string[]) =>
    names.map((pod) => ({ labels: { alertname: 'Many', cluster: 'm', pod, severity: 'info' } }));
  const first = many(Array.from({ length: 130 }, (_, n) => `many-${n}`));
  expect(await sender.post({ groupKey: 'many', alerts: first })).toBe(202);
  await until('the Alert Groups', async () => (await counted()).total === total + first.length);
  const query = 'label=alertname%3D%22Many%22';
  const all: Json[] = (await api.get(`/alert-groups?${query}&limit=200`)).items;
  const page = await openList({ width: 390, height: 844 }, `?${query}`);
  await page.getByRole('checkbox', { name: 'Select all loaded rows' }).check();
  await page.getByText('50 selected').waitFor();
  await page.getByRole('button', { name: 'All 130 that match' }).click();
  await page.getByText('130 selected').waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  await api.post(`/alert-groups/${all[99].id}/resolve`, {});
  await raise({ alertname: 'Many', cluster: 'm', pod: 'late' }, 'Nobody saw it');

  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const sent: number[] = [];
  await page.route('**/bulk-commands', async (route) => {
    sent.push(route.request().postDataJSON().alert_group_ids.length);
    await held;
    await route.continue();
  });
  const acknowledge = page.getByRole('button', { name: 'Acknowledge', exact: true });
  await acknowledge.click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('130 Alert Groups become yours, except those that somebody else has.').waitFor();
  expect(sent).toEqual([]);
  await dialog.getByRole('button', { name: 'Acknowledge' }).click();
  const progress = page.getByRole('group', { name: 'One Alert Group after the other' });
  await progress.getByRole('progressbar').waitFor();
  await progress.getByText('0 of 130').waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  await progress.getByRole('button', { name: 'Stop' }).click();
  release();
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await progress.waitFor({ state: 'detached' });
  await dialog.getByText('Done: 99 · Refused: 1').waitFor();
  await dialog.getByText('30 Alert Groups were not worked through.').waitFor();
  expect(await dialog.getByRole('link').allTextContents()).toContain(`#${all[99].number}`);
  await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
  await page.getByText('31 selected').waitFor();
  await acknowledge.click();
  await dialog.getByRole('button', { name: 'Acknowledge' }).click();
  await dialog.getByText('Done: 30 · Refused: 1').waitFor();
  expect(sent).toEqual([100, 31]);
  const { firing, acknowledged } = await api.get(`/alert-group-counts?${query}`);
  expect({ firing, acknowledged }).toEqual({ firing: 1, acknowledged: 129 });

  // Nobody knows what became of a portion without an answer.
  await page.unroute('**/bulk-commands');
  await page.route('**/bulk-commands', async (route) => {
    const { length } = route.request().postDataJSON().alert_group_ids;
    await (length === 30 ? route.abort() : route.continue());
  });
  await page.reload();
  await page.getByRole('checkbox', { name: 'Select all loaded rows' }).check();
  await page.getByRole('button', { name: 'All 130 that match' }).click();
  await page.getByText('130 selected').waitFor();
  await page.getByRole('button', { name: 'Unsnooze', exact: true }).click();
  await dialog.getByRole('button', { name: 'Unsnooze' }).click();
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await dialog.getByText('Not known: 30').waitFor();
  const row = dialog.getByRole('listitem').filter({ hasText: 'Look before you repeat it.' });
  expect(await row.count()).toBe(30);
  expect(await row.getByRole('link').last().textContent()).toMatch(/^#\d+$/);
  expect(await dialog.getByText('not worked through').count()).toBe(0);
  expect(await accessibilityFindings(page)).toEqual([]);
});

test('a dialog acts on what was selected when it opened, while everything else is still being found', async () => {
  const page = await openList({ width: 1440, height: 900 }, '?label=alertname%3D%22Many%22');
  await page.keyboard.press('Shift+A');
  await page.getByText('50 selected').waitFor();
  let release = () => {};
  const hold = async () => {
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.unrouteAll();
    await page.route(/\/api\/v1\/alert-groups\?/, async (route) => {
      await held;
      await route.continue();
    });
  };
  const find = async () => {
    await hold();
    const isAsked = page.waitForRequest(/\/api\/v1\/alert-groups\?/);
    await page.keyboard.press('Shift+A');
    await isAsked;
  };
  await find();
  const sent: string[][] = [];
  await page.route('**/bulk-commands', async (route) => {
    sent.push(route.request().postDataJSON().alert_group_ids);
    await route.abort();
  });
  await page.keyboard.press('r');
  const title = page.getByRole('heading', { name: 'Resolve 50 Alert Groups' });
  await title.waitFor();
  release();
  await page.getByText(/^1\d\d selected$/).waitFor();
  await title.waitFor();
  await page.keyboard.press('Control+Enter');
  await page.getByRole('dialog').getByRole('alert').getByText('no answer came').waitFor();
  expect(sent.map(({ length }) => length)).toEqual([50]);
  await page.keyboard.press('Escape');

  // What was cleared meanwhile stays so.
  await page.keyboard.press('Escape');
  await page.keyboard.press('Shift+A');
  await page.getByText('50 selected').waitFor();
  await find();
  await page.keyboard.press('Escape');
  const isFound = page.waitForResponse(/\/api\/v1\/alert-groups\?/);
  release();
  await isFound;
  await page.waitForTimeout(300);
  expect(await page.locator('[data-group] input:checked').count()).toBe(0);
});

test('a bulk Command without an answer reads the list again, and keeps what was selected', async () => {
  const page = await openList({ width: 1440, height: 900 }, '?label=alertname%3D%22PodCrash%22');
  await page.route('**/bulk-commands', (route) => route.abort());
  await page.keyboard.press('Shift+A');
  const selected = page.getByText(/^\d selected$/);
  await selected.waitFor();
  const isRead = page.waitForRequest(/\/api\/v1\/alert-groups\?/, { timeout: 5_000 });
  await page.getByRole('region').getByRole('button', { name: 'Unsnooze' }).click();
  await page.locator('.toast.refused').waitFor();
  await isRead;
  await selected.waitFor();
});

test('a key selects the rows that were searched for, and none of what stood there before', async () => {
  const page = await openList({ width: 1440, height: 900 });
  const selected = page.locator('[data-group] input:checked');
  const search = page.locator('#list-search');
  await search.fill('pod:~[');
  await page.keyboard.press('Control+Enter');
  await page.getByText(/This is no valid regular expression/).waitFor();
  expect(await selected.count()).toBe(0);

  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route(/\/api\/v1\/alert-groups\?/, async (route) => {
    await held;
    await route.continue();
  });
  await search.fill('Man');
  await page.keyboard.press('Control+Enter');
  await page.keyboard.press('y');
  release();
  await page.waitForURL(/q=Many/);
  await rows(page).filter({ hasText: 'Noise' }).first().waitFor({ state: 'detached' });
  await rows(page).filter({ hasText: 'Many' }).first().waitFor();
  expect(await selected.count()).toBe(0);
  expect(await page.evaluate('document.activeElement.id')).toBe('list-search');

  await page.keyboard.press('Control+Enter');
  await page.getByText('50 selected').waitFor();
  expect(await focused(page)).toBeDefined();
  await page.keyboard.press('Shift+A');
  await page.getByText(/^1\d\d selected$/).waitFor();
});

test('groups of the same kind fold by a label, and each fold leads to its groups', async () => {
  await raise({ alertname: 'NowhereInParticular' }, 'It has no cluster');
  for (const cluster of ['east', 'west']) {
    for (const namespace of ['shop', 'mail'])
      await raise({ alertname: 'FoldedLoop', cluster: `${cluster}-${namespace}`, namespace }, 'loops');
  }
  const desk = await openList({ width: 1440, height: 900 });
  await desk.getByRole('button', { name: 'Filters' }).click();
  const by = desk.getByLabel('Fold by label');
  await by.fill('alertname="FoldedLoop"');
  await by.press('Enter');
  await desk.getByText('Write the name of a label alone, without its value.').waitFor();
  expect(await by.getAttribute('aria-invalid')).toBe('true');
  expect(new URL(desk.url()).searchParams.has('fold')).toBe(false);
  await by.fill('of_no_row');
  await by.press('Enter');
  await desk.getByText('no shared of_no_row').first().waitFor();
  await by.fill('alertname');
  await by.press('Enter');
  await desk.keyboard.press('Escape');
  expect(new URL(desk.url()).searchParams.get('fold')).toBe('alertname');
  const fold = desk.getByRole('listitem').filter({ hasText: 'FoldedLoop' });
  await fold.getByText('4 Alert Groups').waitFor();
  await fold.getByText('namespace ×2 · cluster ×4').waitFor();
  expect(await rows(desk).count()).toBe(0);
  expect(await accessibilityFindings(desk)).toEqual([]);
  await raise({ alertname: 'FoldedLoop', cluster: 'north', namespace: 'shop' }, 'loops');
  await fold.getByText('5 Alert Groups').waitFor();
  await fold.getByRole('link', { name: 'FoldedLoop' }).click();
  await until('its groups', async () => (await rows(desk).count()) === 5);
  expect(new URL(desk.url()).searchParams.getAll('label')).toEqual(['alertname="FoldedLoop"']);
  await desk.goBack();
  await desk.getByRole('button', { name: 'Show each Alert Group' }).click();
  await rows(desk).first().waitFor();

  const phone = await openList({ width: 360, height: 740, dark: true, locale: 'ru-RU' });
  await phone.goto(`${ready.app_url}/alert-groups?fold=cluster`);
  await phone.getByText('без общей метки cluster').waitFor();
  expect(await accessibilityFindings(phone)).toEqual([]);
  const overflow = 'document.documentElement.scrollWidth - window.innerWidth';
  expect(await phone.evaluate<number>(overflow)).toBeLessThanOrEqual(0);
});

test('a long Command that is left goes on, and its Undo has progress and Stop on another page', async () => {
  const { total } = await counted();
  const alerts = Array.from({ length: 110 }, (_, n) => ({
    labels: { alertname: 'LeftAlone', cluster: 'l', pod: `left-${n}`, severity: 'info' },
  }));
  expect(await sender.post({ groupKey: 'left', alerts })).toBe(202);
  await until('the Alert Groups', async () => (await counted()).total === total + alerts.length);
  const query = 'label=alertname%3D%22LeftAlone%22';
  const page = await openList({}, `?${query}`);
  await rows(page).first().getByRole('link').first().click();
  await page.getByRole('heading', { level: 1, name: 'LeftAlone' }).waitFor();
  await page.goBack();
  await page.getByRole('checkbox', { name: 'Select all loaded rows' }).check();
  await page.getByRole('button', { name: 'All 110 that match' }).click();
  await page.getByText('110 selected').waitFor();
  let release = () => {};
  const hold = async (what: string) => {
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route(what, async (route) => {
      await held;
      await route.continue();
    });
  };
  const dialog = page.getByRole('dialog');
  const progress = page.getByRole('group', { name: 'One Alert Group after the other' });
  await hold('**/bulk-commands');
  await page.keyboard.press('a');
  await dialog.getByRole('button', { name: 'Acknowledge' }).click();
  await progress.getByText('0 of 110').waitFor();
  await page.goForward();
  await page.getByRole('heading', { level: 1, name: 'LeftAlone' }).waitFor();
  // Everything else works beside it, with the mouse and the keyboard.
  await page.getByRole('link', { name: 'Statistics' }).click();
  await page.getByRole('heading', { level: 1, name: 'Statistics' }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('r');
  await page.getByRole('heading', { level: 1, name: 'Routes' }).waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  expect(await progress.getByRole('progressbar').count()).toBe(1);
  const closes = () =>
    page.evaluate<boolean>(`dispatchEvent(new Event('beforeunload', { cancelable: true }))`);
  expect(await closes()).toBe(false);
  release();
  await page.getByText('Done for 110 Alert Groups').waitFor();
  await progress.waitFor({ state: 'detached' });

  await hold('**/unacknowledge');
  await page.keyboard.press('z');
  await progress.getByText('0 of 110').waitFor();
  await page.getByRole('link', { name: 'Create a Route' }).focus();
  await progress.getByRole('button', { name: 'Stop' }).focus();
  await page.keyboard.press('Enter');
  expect(await page.evaluate('document.activeElement.getAttribute("href")')).toBe('/routes/new');
  release();
  const show = page.getByRole('button', { name: 'Show', exact: true });
  await show.waitFor();
  expect(await dialog.count()).toBe(0);
  await show.click();
  await dialog.getByText('Done: 1', { exact: true }).waitFor();
  await dialog.getByText('109 Alert Groups were not worked through.').waitFor();
  const { firing, acknowledged } = await api.get(`/alert-group-counts?${query}`);
  expect({ firing, acknowledged }).toEqual({ firing: 1, acknowledged: 109 });
  expect(await closes()).toBe(true);
});

test('of more than 100 results all that did not go through are listed', async () => {
  const page = await openList({}, '?label=alertname%3D%22LeftAlone%22');
  await page.route('**/bulk-commands', (route) => {
    const ids: string[] = route.request().postDataJSON().alert_group_ids;
    const results = ids.map((alert_group_id, number) => ({
      ...{ alert_group_id, number, message: null },
      ...(number === 0 ? { outcome: 'done', code: null } : { outcome: 'skipped', code: 'owned_by_other' }),
    }));
    return route.fulfill({ json: { results } });
  });
  await page.getByRole('checkbox', { name: 'Select all loaded rows' }).check();
  await page.getByRole('button', { name: 'All 110 that match' }).click();
  await page.getByText('110 selected').waitFor();
  await page.keyboard.press('a');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Acknowledge' }).click();
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await dialog.getByText('Done: 2 · Skipped: 108').waitFor();
  expect(await dialog.getByRole('listitem').count()).toBe(108);
});

test('what is typed while the code of a dialog is on its way runs no Command', async () => {
  const page = await (await newProfile(browser)).newPage();
  let arrive: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  await page.route(/\/assets\/dialogs-.*\.js$/, async (route) => {
    await held;
    await route.continue();
  });
  const sent: string[] = [];
  page.on('request', (request) => {
    if (/alert-groups\/.*\/(acknowledge|notes)$/.test(request.url())) sent.push(request.url());
  });
  await signIn(page, ready);
  await rows(page).first().locator('a').first().focus();
  await page.keyboard.type('na');
  arrive();
  await page.getByRole('dialog').getByRole('textbox').waitFor();
  expect(sent).toEqual([]);
});

test('names of labels that no loaded row has are completed, behind those of the rows, and move no option', async () => {
  await raise({ alertname: 'Completed', cluster: 'many-rows', rarely_set: 'x' }, 'The oldest');
  const { total } = await counted();
  const alerts = Array.from({ length: 50 }, (_, n) => ({
    labels: { alertname: 'Completed', cluster: 'many-rows', pod: `loaded-${n}`, rack: 'x' },
  }));
  expect(await sender.post({ groupKey: 'completed', alerts })).toBe(202);
  await until('the Alert Groups', async () => (await counted()).total === total + alerts.length);
  const page = await openList({}, '?label=cluster%3D%22many-rows%22');
  expect(await rows(page).count()).toBe(50);
  let isAway = true;
  let answer: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route(/\/alert-group-folds\?/, async (route) => {
    if (isAway) return route.abort();
    await held;
    await route.continue();
  });
  const search = page.getByRole('combobox', { name: /^Search/ });
  const options = async () =>
    (await page.getByRole('listbox', { name: 'Completions' }).getByRole('option').allInnerTexts()).map(
      (text) => text.replaceAll(/\s+/g, ' '),
    );
  const offered = (...texts: string[]) =>
    until(texts.join(), async () => `${await options()}` === `${texts}`);
  const isFailed = page.waitForEvent('requestfailed');
  await search.fill('cluster:many-rows ra');
  await isFailed;
  await offered('rack: 50 groups');
  await page.keyboard.press('Escape');

  isAway = false;
  const isAsked = page.waitForRequest(/\/alert-group-folds\?/);
  const isAnswered = page.waitForResponse(/\/alert-group-folds\?/);
  await page.keyboard.type('r');
  await isAsked;
  await page.keyboard.press('Backspace');
  await offered('rack: 50 groups');
  await page.keyboard.press('ArrowDown');
  answer();
  await isAnswered;
  await page.getByRole('option', { name: 'rack: 50 groups', selected: true }).waitFor();
  expect(await options()).toEqual(['rack: 50 groups']);
  await page.keyboard.type('r');
  await offered('rarely_set: 1 group');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('option', { name: 'rarely_set:x 1 group' }).waitFor();
});
