/** What responders do on the Alert Group list, the Alert Group page and the statistics, in real Chromium. */
import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWebhookReceiver, type WebhookReceiver } from '../fakes/webhook-receiver.ts';
import { Api, type Json } from '../harness/api.ts';
import { accessibilityFindings, launchChromium, newProfile, signIn } from '../harness/browser.ts';
import { Sender } from '../harness/sender.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const shots = path.resolve(import.meta.dirname, '..', '..', 'test-results', 'screenshots');

let tocsin: Installation;
let ready: Ready;
let browser: Browser;
let sender: Sender;
let api: Api;
let receiver: WebhookReceiver;
let desk: Page;

beforeAll(async () => {
  mkdirSync(shots, { recursive: true });
  tocsin = new Installation();
  [ready, receiver, browser] = await Promise.all([tocsin.start(), startWebhookReceiver(), launchChromium()]);
  sender = new Sender(ready.ingest_endpoint, ready.integration_token!);
  api = await Api.signIn(ready);
  desk = await (await newProfile(browser, { timeZone: 'America/New_York' })).newPage();
  await signIn(desk, ready);
});

afterAll(async () => {
  await browser.close();
  await tocsin.remove();
  await receiver.close();
});

/** Raises one Alert and waits for its Alert Group. */
async function raise(alertname: string, labels: Record<string, string> = {}): Promise<Json> {
  const alerts = [{ labels: { alertname, severity: 'warning', ...labels } }];
  expect(await sender.post({ groupKey: alertname, alerts })).toBe(202);
  return until(
    `the Alert Group ${alertname}`,
    async () => (await api.get(`/alert-groups?q=${alertname}`)).items[0],
  );
}

const open = (page: Page, where: string) => page.goto(ready.app_url + where);
const row = (page: Page, group: Json): Locator => page.locator(`[data-group="${group.id}"]`);
const title = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });

test('filters read as a sentence, and one that is refused leaves the rows', async () => {
  const [disk, queue] = [
    await raise('DiskFull', { cluster: 'eu' }),
    await raise('QueueLong', { cluster: 'us' }),
  ];
  await open(desk, '/alert-groups?severity=warning&severity=critical&urgent=false&label=cluster%3D%22eu%22');
  await row(desk, disk).waitFor();
  expect(await row(desk, queue).count()).toBe(0);
  const sentence = desk.getByRole('group', { name: 'What is shown' });
  expect(await sentence.textContent()).toMatch(
    /Open Alert Groups.*of severity Critical or Warning.*not Urgent.*cluster="eu"/s,
  );
  await desk.getByRole('button', { name: 'Filters' }).click();
  await desk.getByLabel('Label', { exact: true }).fill('cluster=~(');
  await desk.keyboard.press('Enter');
  await desk.getByText(/cluster=~"\(": This is no valid regular expression/).waitFor();
  await row(desk, disk).waitFor();
  await desk.keyboard.press('Escape');
  await desk.getByRole('button', { name: 'Saved views' }).click();
  await desk.getByLabel('Save what is shown as').fill('Bad pattern');
  await desk.keyboard.press('Enter');
  await desk.keyboard.press('Escape');
  await desk.getByRole('button', { name: 'Clear all' }).click();
  await row(desk, queue).waitFor();
  expect(new URL(desk.url()).search).toBe('');
  await desk.getByRole('button', { name: 'Saved views' }).click();
  await desk.getByRole('link', { name: 'Bad pattern' }).click();
  await sentence.getByText('cluster=~"("').waitFor();
});

test('a Snooze ends at the time of the viewer’s zone that was typed', async () => {
  const group = await raise('Snoring');
  await open(desk, `/alert-groups/${group.id}`);
  const started = desk.locator(`header time[datetime="${group.started_at}"]`).first();
  expect(await started.getAttribute('title')).toMatch(
    /^\d+ \w+ \d{4}, [\d:]{8} (GMT-[45]|E[SD]T) · [\d-]{10}T[\d:.]{12}Z$/,
  );
  // Nobody needs the tooltip: the clock stands beside the age, here and in the Timeline.
  const young = /^(just\snow|\d+\s\w+\sago), \d\d:\d\d$/;
  expect(await started.textContent()).toMatch(young);
  expect(await desk.locator('#timeline li time').first().textContent()).toMatch(young);
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  await desk.route('**/snooze-presets*', async (route) => {
    await held;
    await route.continue();
  });
  await desk.getByRole('button', { name: 'Snooze' }).click();
  const presets = await api.get('/snooze-presets?time_zone=America/New_York');
  const dialog = desk.getByRole('dialog');
  await dialog.getByText('For 1 hr').waitFor();
  const noEnd = dialog.getByRole('radio', { name: 'Without end' });
  const before = await noEnd.boundingBox();
  release();
  await dialog.locator(`time[datetime="${presets.items[0].until}"]`).first().waitFor();
  // Nothing moves under a finger when choices come later.
  expect(await noEnd.boundingBox()).toEqual(before);
  await dialog.getByLabel('Date and time, America/New_York').fill('2027-03-14T02:30');
  await dialog.getByRole('button', { name: 'Snooze' }).click();
  await dialog.waitFor({ state: 'detached' });
  await desk.getByText('Snoozed until').first().waitFor();
  // The clocks skip this time: it means the moment the skip ends.
  expect(Date.parse((await api.get(`/alert-groups/${group.id}`)).snooze_until)).toBe(
    Date.parse('2027-03-14T07:00:00Z'),
  );
});

test('a refusal that comes after its dialog was closed is told all the same', async () => {
  const group = await raise('LateRefusal');
  await open(desk, '/alert-groups?q=LateRefusal');
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  await desk.route('**/resolve', async (route) => {
    await held;
    await route.continue();
  });
  await row(desk, group).getByRole('link').focus();
  await desk.keyboard.press('r');
  const dialog = desk.getByRole('dialog');
  await dialog.getByLabel('Note (optional)').waitFor();
  await desk.keyboard.press('Control+Enter');
  await dialog.locator('[aria-busy="true"]').waitFor();
  await desk.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await api.post(`/alert-groups/${group.id}/resolve`, {});
  release();
  await desk.getByText('The Alert Group is resolved already.').waitFor();
  await desk.unroute('**/resolve');
});

test('a bulk Command says what became of each, and keeps what was refused', async () => {
  const [one, other] = [await raise('BulkOne'), await raise('BulkOther')];
  await open(desk, '/alert-groups?q=Bulk');
  await row(desk, one).getByRole('checkbox').check();
  await row(desk, other).getByRole('checkbox').check();
  await api.post(`/alert-groups/${other.id}/resolve`, {});
  await desk.keyboard.press('r');
  const dialog = desk.getByRole('dialog');
  await dialog.getByLabel('Note (optional)').fill('both done');
  await desk.keyboard.press('Control+Enter');
  await dialog.getByText('Done: 1 · Refused: 1').waitFor();
  await dialog.getByText('The Alert Group is resolved already.').waitFor();
  await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
  await desk.getByText('1 selected').waitFor();
  expect((await api.get(`/alert-groups/${one.id}/notes`)).items).toMatchObject([{ body: 'both done' }]);
});

test('the keyboard is enough, and arriving groups wait while a row has the focus', async () => {
  const group = await raise('KeysOnly');
  await open(desk, '/alert-groups?q=Keys');
  await row(desk, group).waitFor();
  await desk.keyboard.press('j');
  // What comes while there is no stream is read with everything else when it is back: no row moves then either.
  await desk.context().setOffline(true);
  await raise('KeysLater');
  await desk.context().setOffline(false);
  await desk.getByRole('button', { name: '1 new' }).waitFor();
  expect(await desk.locator('[data-group]').count()).toBe(1);
  await desk.keyboard.press('a');
  await desk.getByText(`#${group.number} is yours`).waitFor();
  await desk.keyboard.press('.');
  await row(desk, group).getByRole('button', { name: 'Unacknowledge' }).click();
  await desk.getByText(`#${group.number} has no Owner now`).waitFor();
  await desk.keyboard.press('k');
  await desk.keyboard.press('Enter');
  await title(desk, 'KeysOnly').waitFor();
});

test('notices count down, a Reminder is answered, and the Timeline tells it all', async () => {
  await api.change('/organization/outbound-policy', (policy) => ({ ...policy, allowed: ['127.0.0.0/8'] }));
  const { destination, signing_secret } = await api.post('/destinations', {
    type: 'webhook',
    name: 'pager',
    mode: 'events',
    events: { url: receiver.url, headers: [] },
    limiter: { limit: 1_000, per_seconds: 1 },
  });
  receiver.trust(signing_secret);
  const routes = await api.get('/routes');
  const fallback = routes.items.find((route: Json) => route.is_default);
  await api.change(`/routes/${fallback.id}`, (route) => ({
    ...route,
    destination_ids: [destination.id],
    policy: {
      ...route.policy,
      ack_timeout: { enabled: true, first_interval_seconds: 1_000 },
      reminders: { enabled: true, first_interval_seconds: 2, cap_seconds: 1_000 },
    },
  }));
  const group = await raise('Reminded');
  await open(desk, '/alert-groups?q=Reminded');
  await row(desk, group)
    .getByText(/^1[56]m$/)
    .filter({ visible: true })
    .waitFor();
  await row(desk, group).getByRole('link').first().click();
  await desk.getByText(/in 1[56] mins, \d\d:\d\d/).waitFor();
  await desk.getByRole('button', { name: 'Acknowledge' }).click();
  await desk.getByRole('button', { name: 'Still on it' }).click();
  await desk.getByText(`Noted: you are still on #${group.number}`).waitFor();
  const timeline = desk.getByRole('region', { name: 'Timeline' });
  await timeline.getByText(/Reminder 1 to the Owner/).waitFor();
  await timeline.getByText('Still on it').waitFor();
  await timeline.getByRole('button', { name: 'Timers' }).click();
  await timeline.getByText(/Reminder 1 to the Owner/).waitFor({ state: 'detached' });
  expect(new URL(desk.url()).searchParams.getAll('kind')).not.toContain('timers');
});

test('the Machine of a group unfolds by the keyboard and follows what is done to it', async () => {
  const group = await raise('Mechanical');
  await open(desk, `/alert-groups/${group.id}`);
  const machine = desk.getByRole('region', { name: 'How this works' });
  await machine.locator('summary').press('Enter');
  await machine.getByRole('img', { name: 'State machine: Alert Group' }).waitFor();
  await machine.getByRole('row', { name: /part Feed Created with 1 Alert/ }).waitFor();
  await desk.getByRole('button', { name: 'Acknowledge' }).click();
  await machine.getByRole('row', { name: /command outside Acknowledged/ }).waitFor();
  await machine
    .getByRole('definition')
    .filter({ hasText: /^acknowledged\./ })
    .waitFor();
  expect(await accessibilityFindings(desk)).toEqual([]);
});

test('statistics count what there was, day by day, and give it away as CSV', async () => {
  const mine = `integration=${ready.integration_id}`;
  const { all } = await api.get(`/alert-group-counts?${mine}`);
  await open(desk, `/statistics?by=integration&${mine}`);
  await desk.getByText(`${all} Alert Groups started in this time.`).waitFor();
  await desk.getByRole('button', { name: 'day by day' }).click();
  await desk.getByRole('img', { name: `${all} Alert Groups in the whole time` }).waitFor();
  await desk
    .getByRole('table', { name: 'Over the whole time' })
    .getByRole('row', { name: '99th percentile' })
    .waitFor();
  const week = desk.getByRole('table', { name: 'When Alert Groups start' });
  const started = async () => {
    const counts = await week.getByRole('cell').allInnerTexts();
    return counts.reduce((sum, count) => sum + Number(count), 0);
  };
  await week.getByRole('rowheader', { name: 'Monday' }).waitFor();
  expect(await week.getByRole('columnheader').count()).toBe(24);
  expect(await started()).toBe(all);
  const size = desk.viewportSize();
  await desk.setViewportSize({ width: 360, height: 780 });
  await week.getByRole('rowheader', { name: '09:00' }).waitFor();
  expect(await week.getByRole('columnheader').count()).toBe(7);
  expect(await started()).toBe(all);
  if (size !== null) await desk.setViewportSize(size);
  // The second one is of where Alert Groups went.
  await desk.getByText('The same as a table').first().click();
  await desk.getByRole('region', { name: 'day by day' }).getByRole('row').nth(1).waitFor();
  const noisiest = desk.getByRole('table', { name: 'Noisiest alert names' });
  const disk = noisiest.getByRole('row').filter({ has: desk.getByRole('rowheader', { name: 'DiskFull' }) });
  expect((await noisiest.getByRole('columnheader').allInnerTexts()).length).toBe(5);
  expect(await disk.getByRole('cell').allInnerTexts()).toEqual(['1', '0', '0 (0%)', '0 (0%)']);
  const sum = await noisiest
    .getByRole('row')
    .evaluateAll((rows) =>
      rows.reduce((count, one) => count + Number(one.querySelector('td')?.textContent ?? 0), 0),
    );
  expect(sum).toBe(all);
  const me = desk.getByRole('table', { name: 'By person' }).getByRole('row').nth(1);
  expect(await me.getByRole('rowheader').innerText()).toBe(ready.login);
  const [acknowledged = '', resolved = '', median = ''] = await me.getByRole('cell').allInnerTexts();
  expect(Number(acknowledged)).toBeGreaterThan(0);
  expect(median).toMatch(/^\d+/);
  const download = desk.waitForEvent('download');
  await desk.getByRole('button', { name: 'Save as CSV' }).click();
  const csv = await download;
  expect(csv.suggestedFilename()).toMatch(/^tocsin-integration-.*\.csv$/);
  const lines = (await readFile(await csv.path(), 'utf8')).split('\r\n');
  expect(lines).toContain('DiskFull,1,0,0,0');
  expect(lines.some((line) => line.startsWith(`${ready.login},${acknowledged},${resolved},`))).toBe(true);
  expect(lines.filter((line) => line.startsWith('Monday,'))).toHaveLength(1);
  await disk.getByRole('link', { name: 'DiskFull' }).click();
  await desk.waitForURL((url) => url.searchParams.getAll('label').includes('alertname="DiskFull"'));
  await until('one row', async () => (await desk.locator('[data-group]').count()) === 1);
  await desk.goBack();
  await desk.getByRole('button', { name: 'Route', exact: true }).click();
  await desk.getByRole('rowheader', { name: 'Default' }).waitFor();
  await desk.goBack();
  await desk.getByText('counts once for each').waitFor();
});

test('the busier an hour of the week is, the stronger is its shade', async () => {
  const at = (hour: number, alert_group_count: number) => ({ weekday: 1, hour, alert_group_count });
  await desk.route('**/api/v1/alert-group-statistics?*', async (route) => {
    const response = await route.fetch();
    const json = { ...(await response.json()), per_hour: [at(0, 1), at(1, 5), at(2, 10)] };
    await route.fulfill({ response, json });
  });
  await open(desk, '/statistics');
  const monday = desk
    .getByRole('table', { name: 'When Alert Groups start' })
    .getByRole('row', { name: 'Monday' });
  await monday.waitFor();
  expect((await monday.getByRole('cell').allInnerTexts()).slice(0, 4)).toEqual(['1', '5', '10', '0']);
  const shades = await monday.getByRole('cell').evaluateAll((cells) => {
    const canvas = cells[0]?.ownerDocument.createElement('canvas').getContext('2d');
    const colourOf = (cell: Json): number[] => {
      canvas.fillStyle = cell.ownerDocument.defaultView.getComputedStyle(cell).backgroundColor;
      canvas.fillRect(0, 0, 1, 1);
      return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const [one = [], five = [], ten = [], empty = []] = cells.slice(0, 4).map(colourOf);
    /** How far red, green and blue are from a cell with nothing. */
    return [one, five, ten].map((colour) =>
      colour.reduce((sum, part, index) => sum + Math.abs(part - (empty[index] ?? 0)), 0),
    );
  });
  expect(shades[0]).toBeGreaterThan(0);
  expect(shades[1]).toBeGreaterThan(shades[0] ?? 0);
  expect(shades[2]).toBeGreaterThan(shades[1] ?? 0);
  await desk.unrouteAll();
});

test.each([
  ['phone, light, ru', { width: 360, height: 780, locale: 'ru-RU' }],
  ['desk, dark', { width: 1440, height: 900, dark: true }],
])('the responder pages are accessible and fit: %s', async (name, profile) => {
  const page = await (await newProfile(browser, profile)).newPage();
  await signIn(page, ready);
  const group = (await api.get('/alert-groups?q=Reminded')).items[0];
  const pages: readonly [string, string, Locator][] = [
    ['list', '/alert-groups?urgent=false&column=cluster&range=30d', page.locator('[data-group]').first()],
    ['statistics', `/statistics?period=30d&open=${group.route.id}`, page.getByRole('img').first()],
  ];
  for (const [what, where, shown] of pages) {
    await open(page, where);
    await shown.waitFor();
    const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth');
    expect(overflow, `${what} scrolls sideways at ${name}`).toBeLessThanOrEqual(0);
    expect(await accessibilityFindings(page), what).toEqual([]);
    await page.screenshot({ path: path.join(shots, `responder-${what}-${name.replaceAll(', ', '-')}.png`) });
  }
});
