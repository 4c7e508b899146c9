/** Letters typed into a field are text and nothing else, on every page and in every dialog (ui §1.8). In real Chromium. */
import type { Browser, Locator, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { PAGES } from '../../ui/src/app/pages.ts';
import { type ReferenceBridge, startReferenceBridge } from '../fakes/reference-bridge.ts';
import { Api, type Json } from '../harness/api.ts';
import { attachChannel, rootsOf } from '../harness/bridge-channel.ts';
import { launchChromium, newProfile, signIn } from '../harness/browser.ts';
import { Sender } from '../harness/sender.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';
import { VALID_BODIES } from '../valid-bodies.ts';

/** Every key that is a shortcut somewhere is among them. */
const ALPHABET = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.?/';
/** The check box of a row is part of the row, whose letters are shortcuts. */
const FIELDS =
  ':is(input:not([data-selects-rows]), textarea, select, [contenteditable="true"]):visible:enabled';
/** Previews store nothing and are computed while somebody types. */
const LOOKS_UP = /\/api\/v1\/([a-z-]+-)?previews$/;

let tocsin: Installation;
let ready: Ready;
let browser: Browser;
let bridge: ReferenceBridge;
let api: Api;
let group: Json;
let paths: readonly string[];
let desk: Page;
/** Requests that change something. */
let changes: string[];

beforeAll(async () => {
  tocsin = new Installation();
  [ready, browser, bridge] = await Promise.all([tocsin.start(), launchChromium(), startReferenceBridge()]);
  api = await Api.signIn(ready);
  const objects = await makeObjects();
  paths = PAGES.map(({ pattern }) => filled(pattern, objects));
  desk = await (await newProfile(browser)).newPage();
  await signIn(desk, ready);
  desk.on('request', (request: Request) => {
    const { pathname } = new URL(request.url());
    if (request.method() !== 'GET' && !LOOKS_UP.test(pathname))
      changes.push(`${request.method()} ${pathname}`);
  });
});

beforeEach(() => {
  changes = [];
});

afterAll(async () => {
  await browser.close();
  await tocsin.remove();
  await bridge.close();
});

/** One object for each page of one. @returns their ids by the pattern up to the parameter that takes them */
async function makeObjects(): Promise<Readonly<Record<string, string>>> {
  const { connectionId, destinationId } = await attachChannel(api, bridge);
  const sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
  const alerts = [{ labels: { alertname: 'DiskFull', severity: 'critical' } }];
  expect(await sender.post({ groupKey: 'typing', alerts })).toBe(202);
  group = await until('the Alert Group', async () => (await api.get('/alert-groups')).items[0]);
  await until('its message', async () => rootsOf(bridge, 'DiskFull')[0]);
  const first = (list: string) => until(list, async () => (await api.get(list)).items[0]?.id as string);
  const check = { type: 'bridge', base_url: bridge.url, bot_token: bridge.token, proxy: { enabled: false } };
  const { request_log_run: run } = await api.post('/connections/checks', check);
  const [linkRule, table, account] = await Promise.all([
    api.post('/link-rules', VALID_BODIES.createLinkRule),
    api.post('/lookup-tables', VALID_BODIES.createLookupTable),
    api.post('/service-accounts', VALID_BODIES.createServiceAccount),
  ]);
  return {
    '/alert-groups/:id': group.id,
    '/integrations/:id': ready.integration_id ?? '',
    '/integrations/:id/snapshots/:snapshot': await first(
      `/stored-snapshots?integration=${ready.integration_id}`,
    ),
    '/routes/:id': await first('/routes'),
    '/connections/:id': connectionId,
    '/connections/:id/request-log/:record': await first(`/request-records?connection=${connectionId}`),
    '/connections/checks/:run': run,
    '/connections/checks/:run/:record': await first(`/request-records?run=${run}`),
    '/destinations/:id': destinationId,
    '/destinations/:id/request-log/:record': await first(`/request-records?destination=${destinationId}`),
    '/admin/link-rules/:id': linkRule.id,
    '/admin/lookup-tables/:id': table.id,
    '/admin/users/:id': await first('/users'),
    '/admin/service-accounts/:id': account.id,
    '/admin/organization/:id': 'general',
    '/machines/:kind': 'destination',
    '/machines/:kind/:key': group.id,
  };
}

/** The address of a page of these objects. @throws when it is of a kind that has none here */
function filled(pattern: string, objects: Readonly<Record<string, string>>): string {
  const parts = pattern.split('/');
  return parts
    .map((part, index) => {
      if (!part.startsWith(':')) return part;
      const upToIt = parts.slice(0, index + 1).join('/');
      const id = objects[upToIt];
      if (!id) throw new Error(`${pattern}: an object for ${upToIt} is missing`);
      return id;
    })
    .join('/');
}

async function open(path: string): Promise<void> {
  await desk.goto(ready.app_url + path);
  await desk.locator('main h1').first().waitFor({ state: 'attached' });
  // Not until the network is idle: the live stream never is.
  await desk.locator('main .skeleton').first().waitFor({ state: 'detached' });
}

/** Addresses of the other parts of the page that is open. */
const tabs = (): Promise<string[]> =>
  desk
    .locator('main nav a[href^="/"]')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));

/** Types into each field of `within`, one after the other. @returns how many there were */
async function typeEverywhere(within: Locator): Promise<number> {
  const count = await within.locator(FIELDS).count();
  for (let index = 0; index < count; index++) {
    const field = within.locator(FIELDS).nth(index);
    // What was typed before may have hidden some of the rest.
    if ((await field.count()) === 0) break;
    await field.focus();
    await desk.keyboard.type(ALPHABET);
  }
  return count;
}

test('the alphabet typed into any field of any page goes nowhere, opens nothing and changes nothing', async () => {
  const left = [...paths, '/connections/new?type=bridge', '/destinations/new?type=webhook'];
  let fields = 0;
  for (const path of left) {
    await open(path);
    console.log(path);
    for (const tab of await tabs()) if (!left.includes(tab)) left.push(tab);
    const { pathname } = new URL(desk.url());
    fields += await typeEverywhere(desk.locator('body'));
    expect(new URL(desk.url()).pathname, `typed at ${path}`).toBe(pathname);
    expect(await desk.locator('dialog[open]').count(), `dialogs at ${path}`).toBe(0);
    expect(changes, `typed at ${path}`).toEqual([]);
  }
  expect(fields).toBeGreaterThan(100);
  expect(await api.get(`/alert-groups/${group.id}`)).toMatchObject({ status: 'firing', owner: null });
});

test('the alphabet typed into a dialog stays in it', async () => {
  await open('/alert-groups');
  for (const key of ['r', 's', 'n', 'Control+k']) {
    await desk.locator(`[data-group="${group.id}"] a`).first().focus();
    await desk.keyboard.press(key);
    const dialog = desk.getByRole('dialog');
    await dialog.waitFor();
    expect(await typeEverywhere(dialog), key).toBeGreaterThan(0);
    expect(await desk.getByRole('dialog').count(), key).toBe(1);
    await desk.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  }
  expect(changes).toEqual([]);
});

test('the alphabet typed while a menu is open does nothing, wherever the focus is', async () => {
  await open('/alert-groups');
  const row = desk.locator(`[data-group="${group.id}"]`);
  await row.locator('a').first().focus();
  await desk.keyboard.press('.');
  await row.getByRole('button', { name: 'Copy link' }).waitFor();
  expect(await desk.evaluate(`document.activeElement.textContent.trim()`)).toBe('Acknowledge');
  await desk.keyboard.type(ALPHABET);
  // Chromium presses a focused button for Space and Enter alone.
  expect([changes, await desk.getByRole('dialog').count()]).toEqual([[], 0]);
  await desk.keyboard.press('Escape');
  await row.getByRole('button', { name: 'Copy link' }).waitFor({ state: 'detached' });
});

test('n on a row opens a field that has the focus at once: what is typed next is the Note', async () => {
  await open('/alert-groups');
  // The drafts of the tests above.
  await desk.evaluate('sessionStorage.clear()');
  await desk.locator(`[data-group="${group.id}"] a`).first().focus();
  await desk.keyboard.type('nare you sure, as this rarely resolves');
  await desk.keyboard.press('Control+Enter');
  await desk.getByText(`Note added to #${group.number}`).waitFor();
  expect(changes).toEqual([`POST /api/v1/alert-groups/${group.id}/notes`]);
  expect((await api.get(`/alert-groups/${group.id}/notes`)).items).toMatchObject([
    { body: 'are you sure, as this rarely resolves' },
  ]);
  await desk.keyboard.press('n');
  expect(await desk.getByRole('dialog').getByRole('textbox').inputValue()).toBe('');
});

test('n on the page of an Alert Group gives the focus to its Note field at once', async () => {
  await open(`/alert-groups/${group.id}`);
  await desk.keyboard.type('nask the usual suspects');
  expect(await desk.locator('#note-field').inputValue()).toBe('ask the usual suspects');
  expect(changes).toEqual([]);
});

test('a g typed before a field was used does not turn the next letter into a way out', async () => {
  await open('/alert-groups');
  await desk.locator('body').press('g');
  await desk.locator('#list-search').fill('x');
  await desk.locator('#list-search').press('Shift');
  await desk.locator('h1').first().press('i');
  expect(new URL(desk.url()).pathname).toBe('/alert-groups');
});

test('what is typed on after the page removed the field does nothing', async () => {
  await open('/alert-groups');
  await desk.locator(FIELDS).first().focus();
  await desk.keyboard.type('x');
  await desk.locator(':focus').evaluate((field) => field.remove());
  await desk.keyboard.type(ALPHABET);
  expect(new URL(desk.url()).pathname).toBe('/alert-groups');
  expect(await desk.locator('dialog[open]').count()).toBe(0);
  expect(changes).toEqual([]);
});
