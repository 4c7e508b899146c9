/** What Admins do with Routes, Integrations and machines, in real Chromium. */
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api, type Json } from '../harness/api.ts';
import { accessibilityFindings, launchChromium, newProfile, signIn } from '../harness/browser.ts';
import { readPng } from '../harness/picture.ts';
import { Sender } from '../harness/sender.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const shots = path.resolve(import.meta.dirname, '..', '..', 'test-results', 'screenshots');

let tocsin: Installation;
let ready: Ready;
let browser: Browser;
let sender: Sender;
let api: Api;
let desk: Page;

beforeAll(async () => {
  mkdirSync(shots, { recursive: true });
  tocsin = new Installation();
  [ready, browser] = await Promise.all([tocsin.start(), launchChromium()]);
  sender = new Sender(ready.ingest_endpoint, ready.integration_token!);
  api = await Api.signIn(ready);
  desk = await (await newProfile(browser)).newPage();
  await signIn(desk, ready);
});

afterAll(async () => {
  await browser.close();
  await tocsin.remove();
});

const open = (page: Page, where: string) => page.goto(ready.app_url + where);
const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name });

async function makeRoute(name: string, label: string): Promise<Json> {
  const [profile] = (await api.get('/route-profiles')).items;
  const { urgent, group_key, policy } = profile;
  const matchers = [{ label: 'team', op: '=', value: label }];
  return api.post('/routes', {
    name,
    description: '',
    matchers,
    urgent,
    group_key,
    destination_ids: [],
    policy,
  });
}

/** Raises Alerts of a team and answers their Alert Group. */
async function raise(team: string, alertname: string): Promise<Json> {
  const alerts = ['a', 'b'].map((instance) => ({
    labels: { alertname, team, instance, severity: 'warning' },
  }));
  expect(await sender.post({ groupKey: `{}/{team="${team}"}:{alertname="${alertname}"}`, alerts })).toBe(202);
  return until(
    `the Alert Group ${alertname}`,
    async () => (await api.get(`/alert-groups?q=${alertname}`)).items[0],
  );
}

/** The order of these Routes among each other. */
const order = async (...names: string[]) =>
  (await api.get('/routes')).items
    .map(({ name }: Json) => name)
    .filter((name: string) => names.includes(name))
    .join();
const rowOf = (name: string) => desk.getByRole('row').filter({ has: desk.getByRole('link', { name }) });

test('a Route is made from a profile; what the server would refuse stands at its row before it is saved', async () => {
  await raise('storage', 'DiskFull');
  await open(desk, '/routes/new');
  await desk.getByRole('button', { name: /On-call/ }).click();
  await desk.getByRole('textbox', { name: 'Name', exact: true }).fill('Storage');
  await desk.getByRole('button', { name: 'Add a Matcher' }).click();
  await desk.getByRole('button', { name: 'Add a Matcher' }).click();
  await desk.getByLabel('Label', { exact: true }).last().fill('team');
  await desk.getByLabel('Operator').last().selectOption('=~');
  const value = desk.getByLabel('Value', { exact: true }).last();
  await value.fill('(');
  await desk.getByText(/regular expression/i).waitFor();
  expect(await value.getAttribute('aria-invalid')).toBe('true');
  await value.fill('storage');
  await desk.getByText('2 of the 2 Alerts of the last 24 hours would come here.').waitFor();
  await desk.getByText('Storage gains 2 Alerts from Default').waitFor();
  expect(await value.getAttribute('aria-invalid')).toBe('false');
  await desk.getByRole('button', { name: 'Create', exact: true }).click();
  await heading(desk, 'Storage').waitFor();
  expect(await order('Storage', 'Default')).toBe('Storage,Default');
});

test('a rule is moved to an earlier Route: what it gains, and from which one, stands there before it is saved', async () => {
  const taker = await makeRoute('Taker', 'taker');
  await makeRoute('Owner', 'owner');
  for (const [alertname, instances] of [
    ['Noisy', 3],
    ['Kept', 1],
  ] as const) {
    const alerts = Array.from({ length: instances }, (_, index) => ({
      labels: { alertname, team: 'owner', instance: `i${index}` },
    }));
    expect(await sender.post({ groupKey: `{}:{alertname="${alertname}"}`, alerts })).toBe(202);
    await until(
      `the Alert Group ${alertname}`,
      async () => (await api.get(`/alert-groups?q=${alertname}`)).items[0],
    );
  }
  await open(desk, `/routes/${taker.id}`);
  // Nothing was changed yet: the Matchers are tried, and nothing would be gained or lost.
  await desk.getByText(/^0 of the \d+ Alerts of the last 24 hours would come here/).waitFor();
  const trial = desk.getByRole('region', { name: /What saving would change/ });
  expect(await trial.count()).toBe(0);
  await desk.getByLabel('Label', { exact: true }).first().fill('alertname');
  await desk.getByLabel('Value', { exact: true }).first().fill('Noisy');
  await trial.getByText('Taker gains 3 Alerts from Owner').waitFor();
  await desk.getByText(/^3 of the \d+ Alerts of the last 24 hours would come here/).waitFor();
  await desk.getByText('Alerts of the last 24 h: 3 gained, 0 lost').waitFor();
  const figures = async (title: string) =>
    trial.getByRole('row').filter({ hasText: title }).getByRole('cell').allTextContents();
  expect(await figures('Alerts of the Route')).toEqual(['0', '3']);
  expect(await figures('Alert Groups of these')).toEqual(['0', '1']);
  expect(await trial.getByText('loses').count()).toBe(0);
  expect(await accessibilityFindings(desk)).toEqual([]);
  await desk.screenshot({ path: path.join(shots, 'route-change.png'), fullPage: true });
  await desk.getByRole('button', { name: 'Save', exact: true }).click();
  await until(
    'it to be saved',
    async () => (await api.get(`/routes/${taker.id}`)).matchers[0].value === 'Noisy',
  );
  await trial.waitFor({ state: 'detached' });

  // Moved below the other Route it would lose them again.
  await open(desk, '/routes');
  const place = (await order('Storage', 'Taker', 'Owner')).split(',').indexOf('Owner') + 1;
  await desk.getByRole('button', { name: 'Move Taker to a place' }).click();
  await desk.getByLabel('Place', { exact: true }).fill(`${place}`);
  await desk.getByText('Taker loses 3 Alerts to Owner').waitFor();
  expect(await accessibilityFindings(desk)).toEqual([]);
  expect(await order('Taker', 'Owner')).toBe('Taker,Owner');
});

test('a Group key is previewed beside the present one', async () => {
  await raise('search', 'SlowQuery');
  const route = await makeRoute('Search', 'search');
  await open(desk, `/routes/${route.id}`);
  await desk.getByRole('button', { name: 'Preview on what was received' }).click();
  await desk.getByText('With these labels: 1 Alert Group').waitFor();
  await desk.getByLabel('Add a label name').fill('instance');
  await desk.keyboard.press('Enter');
  await desk.getByText('With these labels: 2 Alert Groups').waitFor();
  await desk.getByText('Now: 1 Alert Group').waitFor();
  await desk.getByRole('link', { name: 'Statistics' }).click();
  await desk.getByRole('button', { name: 'Leave' }).click();
});

test('Routes are moved by button and by hand; an overtaken move is offered again on the new order', async () => {
  await makeRoute('North', 'n');
  await makeRoute('East', 'e');
  const west = await makeRoute('West', 'w');
  const compass = () => order('North', 'East', 'West');
  await open(desk, '/routes');
  // Enter on the place that is offered leaves the order as it is.
  const place = desk.getByLabel('Place', { exact: true });
  const isOffered = async () => {
    await desk.getByRole('button', { name: 'Move East to a place' }).click();
    const offered = Number(await place.inputValue());
    await desk.keyboard.press('Escape');
    const { items } = await api.get('/routes');
    return items.findIndex(({ name }: Json) => name === 'East') === offered - 1;
  };
  await until('the present place is offered', isOffered);
  await desk.getByRole('button', { name: 'Move West up' }).click();
  await until('West is second', async () => (await compass()) === 'North,West,East');
  // The page hears of it after the reader above, and gives the focus back then.
  await desk.waitForFunction('document.activeElement.getAttribute("aria-label") === "Move West up"');
  const undo = desk.getByRole('button', { name: 'Undo' });
  await undo.waitFor();
  await desk.keyboard.press('z');
  await until('West is last again', async () => (await compass()) === 'North,East,West');
  await undo.waitFor({ state: 'detached' });
  await desk.getByText(/West is at place \d+ now/).waitFor();

  const drag = async () => {
    await rowOf('East').locator('.handle').dragTo(rowOf('North'));
    await until('East is first', async () => (await compass()) === 'East,North,West');
  };
  await drag();
  await undo.click();
  await until('North is first again', async () => (await compass()) === 'North,East,West');
  await undo.waitFor({ state: 'detached' });
  await drag();

  await until('the present place is offered after a move', isOffered);

  const overtake = async () => {
    const list = await api.call('GET', '/routes');
    const ids = list.body.items.filter(({ is_default }: Json) => !is_default).map(({ id }: Json) => id);
    const others = ids.filter((id: string) => id !== west.id);
    const etag = list.headers.get('etag') ?? '';
    await api.call('PUT', '/route-order', { route_ids: [west.id, ...others] }, { 'if-match': etag });
  };
  const held: { continue(): Promise<void> }[] = [];
  const readsHeld = (count: number) => until(`${count} reads`, async () => held.length >= count);
  await desk.route('**/api/v1/routes', (request) => void held.push(request));
  await desk.route(
    '**/route-order',
    async (request) => {
      await overtake();
      await readsHeld(1);
      await request.continue();
    },
    { times: 1 },
  );
  await desk.getByRole('button', { name: 'Move North to a place' }).click();
  await place.fill('1');
  await desk.getByRole('button', { name: 'Move', exact: true }).click();
  // What is offered again waits for the latest read, whatever overtook the one of the refusal.
  await readsHeld(2);
  await makeRoute('South', 's');
  await readsHeld(3);
  const again = desk.getByRole('button', { name: 'Move North to place 1' });
  const latest = held.pop();
  for (const request of held) {
    const answered = desk.waitForResponse('**/api/v1/routes');
    await request.continue();
    await (await answered).finished();
  }
  expect(await again.count()).toBe(0);
  await latest?.continue();
  await desk.unroute('**/api/v1/routes');
  await again.click();
  await until('North is first', async () => (await compass()) === 'North,West,East');
  await undo.waitFor();
  await overtake();
  await undo.click();
  await desk.getByText('Nothing was moved back.').waitFor();
  expect(await compass()).toBe('West,North,East');
});

test('a Route with open Alert Groups is deleted after they were moved', async () => {
  const route = await makeRoute('Doomed', 'doomed');
  const group = await raise('doomed', 'LinkDown');
  await open(desk, `/routes/${route.id}`);
  await desk.getByRole('button', { name: 'Delete' }).click();
  await desk.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await desk.getByRole('button', { name: 'Move 1 Alert Group to Default' }).click();
  await desk.getByText('1 Alert Group moved').waitFor();
  await desk.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await heading(desk, 'Routes').waitFor();
  expect((await api.get(`/alert-groups/${group.id}`)).route.name).toBe('Default');
});

test('moving many Alert Groups has progress, goes on when the page is left, and says how it ended', async () => {
  const route = await makeRoute('Crowded', 'crowded');
  const alerts = Array.from({ length: 110 }, (_, n) => ({
    labels: { alertname: `Crowd${n}`, team: 'crowded', instance: 'a', severity: 'info' },
  }));
  expect(await sender.post({ groupKey: 'crowd', alerts })).toBe(202);
  const isOpen = async () => (await api.get(`/routes/${route.id}`)).open_alert_group_count;
  await until('the Alert Groups', async () => (await isOpen()) === alerts.length);
  await open(desk, '/routes');
  await desk.getByRole('link', { name: 'Crowded' }).click();
  await heading(desk, 'Crowded').waitFor();
  await desk.getByRole('button', { name: 'Delete' }).click();
  const dialog = desk.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Delete' }).click();
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  await desk.route('**/move-open-alert-groups*', async (request) => {
    await held;
    await request.continue();
  });
  await dialog.getByRole('button', { name: 'Move 110 Alert Groups to Default' }).click();
  await dialog.getByText('0 of 110').waitFor();
  await dialog.getByRole('progressbar').waitFor();
  await desk.goBack();
  await heading(desk, 'Routes').waitFor();
  const progress = desk.getByRole('group', { name: 'One Alert Group after the other' });
  await progress.getByText('0 of 110').waitFor();
  await desk.getByRole('link', { name: 'Integrations', exact: true }).click();
  await heading(desk, 'Integrations').waitFor();
  expect(await progress.count()).toBe(1);
  release();
  await desk.getByText('110 Alert Groups moved').waitFor();
  await progress.waitFor({ state: 'detached' });
  expect(await isOpen()).toBe(0);
  await desk.unroute('**/move-open-alert-groups*');
});

test('a suggestion becomes a Route', async () => {
  await api.change(`/integrations/${ready.integration_id}`, (integration) => ({
    ...integration,
    heartbeat: { enabled: true, timeout_seconds: 300 },
  }));
  await open(desk, '/routes');
  await desk.getByRole('button', { name: 'Accept…' }).click();
  await desk.getByRole('button', { name: 'Create the Route' }).click();
  await rowOf('Tocsin: Heartbeat lost').waitFor();
  await desk.getByRole('button', { name: 'Accept…' }).waitFor({ state: 'detached' });
  expect(await order('Tocsin: Heartbeat lost', 'Default')).toBe('Tocsin: Heartbeat lost,Default');
});

test('a new Integration shows its token once and waits for the first Snapshot', async () => {
  await open(desk, '/integrations/new');
  await desk.getByRole('textbox', { name: 'Name', exact: true }).fill('prod-eu');
  await desk.getByRole('button', { name: 'Create and get a token' }).click();
  await desk.getByText('Waiting for the first Snapshot').waitFor();
  const token = await desk.getByLabel('Token', { exact: true }).and(desk.locator('pre')).textContent();
  const other = new Sender(ready.ingest_endpoint, token!.trim());
  expect(await other.post({ alerts: [{ labels: { alertname: 'Hello' } }] })).toBe(202);
  await desk.getByText('The first Snapshot has arrived.').waitFor();
  await desk.getByRole('button', { name: 'I have stored it' }).click();
  await heading(desk, 'prod-eu').waitFor();
  expect(await desk.locator('main').textContent()).not.toContain(token!.trim());
});

test('Alerts are narrowed by a label, and what was sent can be read as it was sent', async () => {
  await raise('pay', 'Refused');
  await raise('depot', 'DoorOpen');
  await open(desk, `/integrations/${ready.integration_id}?tab=alerts`);
  await desk.getByRole('button', { name: 'team pay' }).first().click();
  await desk.getByRole('button', { name: 'Remove team="pay"' }).waitFor();
  const others = desk.getByRole('button', { name: 'team depot' });
  await until('only one team is shown', async () => (await others.count()) === 0);
  expect(new URL(desk.url()).searchParams.getAll('label')).toEqual(['team="pay"']);
  await desk.getByLabel('Label matcher').fill('pod=~"("');
  await desk.getByRole('button', { name: 'Add', exact: true }).click();
  await desk.getByText(/regular expression/i).waitFor();

  await desk.getByRole('link', { name: 'Stored Snapshots' }).click();
  await desk
    .getByRole('row')
    .filter({ hasText: '{}/{team="pay"}:{alertname="Refused"}' })
    .getByRole('link')
    .click();
  await heading(desk, 'Stored Snapshot').waitFor();
  const body = desk.locator('pre');
  expect(await body.textContent()).toContain('\n  "alerts": [');
  await desk.getByRole('button', { name: 'As it was sent' }).click();
  await until('the raw body is shown', async () => !(await body.textContent())?.includes('\n'));
});

test('a machine is searched, and an actor is found in its machine', async () => {
  const group = await raise('actors', 'Stuck');
  await open(desk, '/machines');
  await desk.getByLabel('Search for a state, event, guard or action').fill('acknowledge');
  const rows = desk.locator('#transitions').getByRole('row');
  const found = await rows.count();
  await desk.getByLabel('Search for a state, event, guard or action').fill('unacknowledge');
  await until('fewer transitions', async () => (await rows.count()) < found && (await rows.count()) > 1);

  await desk.getByLabel('Search for a state, event, guard or action').fill('');
  const view = desk.getByRole('group', { name: 'State machine: Alert Group' });
  const { scrollWidth, clientWidth, scrollHeight, clientHeight } = await view.evaluate((element) => ({
    ...{ scrollWidth: element.scrollWidth, clientWidth: element.clientWidth },
    ...{ scrollHeight: element.scrollHeight, clientHeight: element.clientHeight },
  }));
  expect([scrollWidth, scrollHeight]).toEqual([clientWidth, clientHeight]);
  const all = await rows.count();
  await view.locator('[data-state="snoozed"] text').first().click();
  const snoozed = desk.getByRole('button', { name: /^snoozed, \d+ actor/ });
  expect(await snoozed.getAttribute('aria-pressed')).toBe('true');
  await until('its transitions', async () => (await rows.count()) < all);
  await desk.getByRole('button', { name: 'unsnooze', exact: true }).click();
  await until('those of the event', async () => (await rows.count()) === 2);
  await snoozed.click();
  await desk.getByRole('button', { name: 'unsnooze', exact: true }).click();
  await until('all again', async () => (await rows.count()) === all);
  await desk.route('**/docs/machines/*.svg', (route) => route.abort());
  await desk.getByRole('button', { name: 'PNG' }).click();
  await desk.getByText('This browser could not make the picture.').waitFor();
  await desk.unroute('**/docs/machines/*.svg');
  const saved = desk.waitForEvent('download');
  await desk.getByRole('button', { name: 'PNG' }).click();
  const download = await saved;
  expect(download.suggestedFilename()).toBe('alert_group.png');
  const { width, height, pixels } = readPng(readFileSync(await download.path()));
  const svg = await (await desk.request.get(`${ready.app_url}/docs/machines/alert_group.svg`)).text();
  const [, wide, high] = /width="(\d+)" height="(\d+)"/.exec(svg)!.map(Number) as [number, number, number];
  expect(width / height).toBeCloseTo(wide / high, 2);
  expect(width).toBeGreaterThan(1.5 * wide);
  expect(width * height).toBeLessThanOrEqual(16_000_000);
  expect(new Set(pixels).size).toBeGreaterThan(10);

  await desk.getByLabel('Key').fill(group.id);
  await desk.getByRole('button', { name: 'Show the actor' }).click();
  await heading(desk, `Alert Group ${group.id}`).waitFor();
  await desk.locator('svg .state.now').first().waitFor();
  await desk.getByRole('cell', { name: 'Feed' }).first().waitFor();
  await api.post(`/alert-groups/${group.id}/acknowledge`);
  await desk.locator('dd', { hasText: /^acknowledged/ }).waitFor();

  const history = desk.locator('#history');
  const lit = (state: string) => desk.locator(`svg .state.now[data-state="${state}"]`);
  await history.getByText('acknowledge', { exact: true }).first().waitFor();
  await history.getByRole('cell', { name: 'takeOwnership' }).waitFor();
  await lit('acknowledged').waitFor();
  await history.getByRole('button', { name: 'Earlier' }).click();
  await lit('firing').waitFor();
  expect(await lit('acknowledged').count()).toBe(0);
  await history.getByRole('slider').press('End');
  await lit('acknowledged').waitFor();
  await history.getByRole('slider').press('ArrowLeft');
  await lit('firing').waitFor();
  await desk.locator('dd', { hasText: /^acknowledged/ }).waitFor();
  await desk.getByRole('link', { name: 'Delivery', exact: true }).click();
  await desk.waitForURL(new RegExp(`/alert-groups/${group.id}#delivery$`));
  await desk.getByRole('link', { name: 'Open it on a page of its own' }).click();
  await heading(desk, `Alert Group ${group.id}`).waitFor();

  await open(desk, '/machines/feed/unknown');
  await heading(desk, 'Not found').waitFor();
});

test('each state of a machine shows how many actors are in it now, and which ones', async () => {
  const count = async (state: string) => {
    const button = desk.getByRole('button', { name: new RegExp(`^${state}, \\d+ actor`) });
    const text = await button.getAttribute('aria-label', { timeout: 10_000 });
    const drawn = await desk.locator(`[data-state="${state}"] .count text`).textContent();
    expect(text).toContain(`${state}, ${drawn} actor`);
    return Number(drawn);
  };
  await open(desk, '/machines/alert_group');
  // Of those that fire there may be more than the list shows at once.
  await desk.getByRole('button', { name: /^acknowledged, / }).click();
  const [firing, acknowledged] = [await count('firing'), await count('acknowledged')];
  const group = await raise('counted', 'Counted');
  await until('it is counted', async () => (await count('firing')) === firing + 1);

  const listed = desk.locator('#actors').getByRole('link', { name: group.id });
  expect(await listed.count()).toBe(0);
  await api.post(`/alert-groups/${group.id}/acknowledge`);
  await until('it is counted elsewhere', async () => (await count('acknowledged')) === acknowledged + 1);
  await listed.waitFor();
  expect(await count('firing')).toBe(firing);
  await api.post(`/alert-groups/${group.id}/unacknowledge`);
  await listed.waitFor({ state: 'detached' });

  await api.post(`/alert-groups/${group.id}/acknowledge`);
  await desk.locator('[data-state="firing"] text').first().click();
  await desk.locator('[data-state="acknowledged"] text').first().click();
  await listed.click();
  await heading(desk, `Alert Group ${group.id}`).waitFor();
});

test('a machine is tried out in the browser alone, from the address, and copied as a test', async () => {
  const page = await (await newProfile(browser)).newPage();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await signIn(page, ready);
  await open(page, '/machines/alert_group');
  const sent: string[] = [];
  page.on('request', (request) => void (request.method() === 'GET' || sent.push(request.url())));
  await page.getByRole('link', { name: 'Try it' }).click();
  const possible = page.getByRole('group', { name: 'Possible now' });
  const state = page.getByTestId('tried-state');
  await possible.getByRole('button', { name: 'acknowledge', exact: true }).click();
  await state.filter({ hasText: 'acknowledged.waiting' }).waitFor();
  await page.locator('svg .state.now[data-state="acknowledged"]').waitFor();
  await page.getByText('{"type":"row","row":"acknowledge"}').waitFor();

  await page.getByLabel('Event', { exact: true }).selectOption('still_on_it');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByText('Not taken: reminderPending does not hold in acknowledged.').waitFor();
  const minute = page.getByLabel('Minute');
  await minute.fill('1');
  await page.getByText('Time does not go back: 2 or later.').waitFor();
  expect(await page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
  await minute.fill('');
  await page.getByLabel('Event', { exact: true }).selectOption('snooze');
  await page.getByLabel('Other fields, as JSON').fill('{"until": null}');
  await page.keyboard.press('Enter');
  await state.filter({ hasText: 'snoozed' }).waitFor();

  await page.reload();
  await state.filter({ hasText: 'snoozed' }).waitFor();
  const copies = async (text: string) => {
    await page.getByRole('button', { name: 'Copy as a test' }).click();
    await until(`${text} is copied`, async () =>
      (await page.evaluate<string>('navigator.clipboard.readText()')).includes(text),
    );
  };
  await copies('// t2 still_on_it');
  await page.goBack();
  await state.filter({ hasText: 'acknowledged.waiting' }).waitFor();
  await page.getByRole('button', { name: 'Take back the last event' }).click();
  await copies("s.play('t0 +X1; t1 Ann acknowledges')");
  await page.getByRole('button', { name: 'Begin again' }).click();
  await state.filter({ hasText: 'firing.waiting' }).waitFor();
  expect(sent).toEqual([]);
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.context().close();
});

/** Where the new pages are, by the name of their screenshot. */
async function places(): Promise<readonly (readonly [name: string, where: string])[]> {
  const integration = `/integrations/${ready.integration_id}`;
  await raise('pages', 'PageFault');
  const [snapshot] = (await api.get(`/stored-snapshots?integration=${ready.integration_id}`)).items;
  const [route] = (await api.get('/routes')).items;
  return [
    ['route', `/routes/${route.id}`],
    ['integration-alerts', `${integration}?tab=alerts`],
    ['machines', '/machines/destination'],
    ['routes-full', '/routes'],
    ['integration-overview', integration],
    ['integration-sender-routes', `${integration}?tab=sender-routes`],
    ['integration-snapshots', `${integration}?tab=snapshots`],
    ['snapshot', `${integration}/snapshots/${snapshot.id}`],
    ['actor', `/machines/integration/${ready.integration_id}`],
  ];
}

test.each([
  ['phone, dark, ru', { width: 360, height: 780, dark: true, locale: 'ru-RU' }, 9],
  ['desk, light', { width: 1440, height: 900, dark: false }, 3],
])('pages are accessible and fit: %s', async (name, profile, count) => {
  const page = await (await newProfile(browser, profile)).newPage();
  await signIn(page, ready);
  for (const [title, where] of (await places()).slice(0, count)) {
    await open(page, where);
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    await page.locator('.skeleton').first().waitFor({ state: 'detached' });
    expect(await page.locator('h1').textContent(), title).not.toMatch(/not found|не найдено/i);
    const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth');
    expect(overflow, `${title} scrolls sideways at ${name}`).toBeLessThanOrEqual(0);
    expect(await accessibilityFindings(page), title).toEqual([]);
    await page.screenshot({ path: path.join(shots, `${title}-${name.replaceAll(', ', '-')}.png`) });
  }
});
