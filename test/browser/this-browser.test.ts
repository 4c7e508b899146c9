/** What a person chooses for one browser: the height of rows, and to be called while looking elsewhere. In real Chromium. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { NAVIGATION } from '../../ui/src/app/pages.ts';
import { Api, type Json } from '../harness/api.ts';
import { accessibilityFindings, launchChromium, newProfile, signIn } from '../harness/browser.ts';
import { laterFaults } from '../harness/checked-fetch.ts';
import { Sender } from '../harness/sender.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const shots = path.resolve(import.meta.dirname, '..', '..', 'test-results', 'screenshots');

let tocsin: Installation;
let ready: Ready;
let browser: Browser;
let sender: Sender;
let api: Api;
let profile: BrowserContext;
let desk: Page;

beforeAll(async () => {
  mkdirSync(shots, { recursive: true });
  tocsin = new Installation();
  [ready, browser] = await Promise.all([tocsin.start(), launchChromium()]);
  sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
  api = await Api.signIn(ready);
  profile = await newProfile(browser);
  await profile.grantPermissions(['notifications'], { origin: ready.app_url });
  desk = await profile.newPage();
  // No desktop shows them here: the page keeps what it would have shown.
  await desk.addInitScript(`
    window.shown = [];
    window.sounds = 0;
    window.AudioContext = class extends window.AudioContext {
      constructor() {
        super();
        window.sounds += 1;
      }
    };
    window.Notification = class extends window.Notification {
      constructor(title, options) {
        super(title, options);
        window.shown.push({ title, tag: options.tag, silent: options.silent, press: () => this.onclick(new Event('click')) });
      }
    };
  `);
  await signIn(desk, ready);
});

afterAll(async () => {
  await browser.close();
  await tocsin.remove();
});

async function raise(alertname: string, severity: string): Promise<Json> {
  expect(await sender.post({ groupKey: alertname, alerts: [{ labels: { alertname, severity } }] })).toBe(202);
  return until(
    `the Alert Group ${alertname}`,
    async () => (await api.get(`/alert-groups?q=${alertname}`)).items[0],
  );
}

const shown = (page: Page): Promise<{ title: string; tag: string }[]> =>
  page.evaluate('window.shown.map(({ title, tag }) => ({ title, tag }))');

const sounds = (page: Page): Promise<number> => page.evaluate('window.sounds');

/** Another window is in front; a browser without a screen never says so itself. */
const turnAway = (page: Page) =>
  page.evaluate(
    `Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true })`,
  );

/** The list is open, and somebody looks elsewhere. What fired when the page was opened is no news. */
async function lookedElsewhere(isWhatFires = (url: string) => !url.includes('acknowledged')): Promise<void> {
  // The page before may have asked for what fires, too, and be answered late.
  await desk.goto('about:blank');
  await desk.goto(`${ready.app_url}/alert-groups`, { waitUntil: 'commit' });
  await desk.waitForResponse(
    (response) => response.url().includes('status=firing&') && isWhatFires(response.url()),
  );
  await turnAway(desk);
}

const icon = (page: Page) => page.locator('link[rel="icon"]').getAttribute('href');

test('rows are low on a desk when they are to be, from the first paint on', async () => {
  const group = await raise('DiskFull', 'warning');
  const row = desk.locator(`[data-group="${group.id}"]`);
  const height = async () => (await row.boundingBox())?.height ?? 0;
  await desk.goto(`${ready.app_url}/alert-groups`);
  await row.waitFor();
  const usual = await height();
  await desk.goto(`${ready.app_url}/profile`);
  await desk.getByLabel('Dense rows in lists').check();
  expect(await accessibilityFindings(desk)).toEqual([]);
  await desk.goto(`${ready.app_url}/alert-groups`);
  await row.waitFor();
  expect(await desk.locator('html[data-dense]').count()).toBe(1);
  expect(await height()).toBeLessThan(usual - 8);
  expect(await accessibilityFindings(desk)).toEqual([]);
});

test('the icon and the title of the tab count what fires and nobody has', async () => {
  const number = async () => />(\d+\+?)<\/text>/.exec(decodeURIComponent((await icon(desk)) ?? ''))?.[1];
  await until('the number', async () => (await number()) === '1');
  expect(await desk.title()).toMatch(/^\(1\) /);
  // The policy of the page allows it, and it is an image.
  const shown = await desk.evaluate<number>(`new Promise((resolve, reject) => {
    const image = new Image();
    image.onload = () => resolve(image.naturalWidth);
    image.onerror = reject;
    image.src = document.querySelector('link[rel="icon"]').href;
  })`);
  expect(shown).toBeGreaterThan(0);
  await desk.keyboard.press('j');
  await desk.keyboard.press('a');
  await until('no number', async () => (await number()) === undefined);
  await until('the plain title', async () => (await desk.title()) === 'Alert Groups · Tocsin');
});

test('? opens the list of keys', async () => {
  const keys = desk.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await desk.keyboard.press('?');
  await keys.getByText('Undo the last Command').waitFor();
  const pages = (await keys.locator('dt').allTextContents()).filter((text) => /^g.$/.test(text));
  expect(pages).toEqual(NAVIGATION.map(({ key }) => `g${key}`));
  expect(await accessibilityFindings(desk)).toEqual([]);
  await desk.keyboard.press('Escape');
  await keys.waitFor({ state: 'detached' });
});

test('the palette finds saved views and the Commands of the page', async () => {
  await desk.goto(`${ready.app_url}/alert-groups?severity=critical`);
  await desk.getByRole('button', { name: 'Saved views' }).click();
  await desk.getByLabel('Save what is shown as').fill('Critical ones');
  await desk.getByRole('button', { name: 'Save', exact: true }).click();
  await desk.getByRole('link', { name: 'Critical ones' }).waitFor();
  await desk.keyboard.press('Escape');
  await desk.goto(`${ready.app_url}/routes`);
  await desk.getByRole('heading', { level: 1, name: 'Routes' }).waitFor();
  const palette = desk.getByRole('combobox', { name: 'Go to' });
  await desk.keyboard.press('Control+k');
  await palette.fill('critical');
  await desk.getByRole('option', { name: 'Critical ones saved view' }).waitFor();
  await desk.keyboard.press('Enter');
  await desk.waitForURL(`${ready.app_url}/alert-groups?severity=critical`);

  const group = await raise('Palette', 'warning');
  await desk.goto(`${ready.app_url}/alert-groups/${group.id}`);
  await desk.getByRole('heading', { level: 1, name: group.title }).waitFor();
  await desk.keyboard.press('Control+k');
  // Enter alone changes nothing: what it takes is a page.
  await desk.getByRole('option', { name: 'Alert Groups', selected: true }).waitFor();
  await desk.getByRole('option', { name: 'Acknowledge on this page' }).waitFor();
  expect(await accessibilityFindings(desk)).toEqual([]);
  await desk.screenshot({ path: path.join(shots, 'palette.png') });
  await palette.fill('add a n');
  await desk.keyboard.press('Enter');
  await desk.waitForFunction('document.activeElement?.id === "note-field"');
  await desk.keyboard.press('Control+k');
  await palette.fill('ackn');
  await desk.keyboard.press('Enter');
  await desk.getByText('Acknowledged').first().waitFor();
  await desk.goto(`${ready.app_url}/routes`);
  await desk.getByRole('heading', { level: 1, name: 'Routes' }).waitFor();
  await desk.keyboard.press('Control+k');
  await palette.waitFor();
  expect(await desk.getByText('on this page').count()).toBe(0);
  await desk.goto(`${ready.app_url}/alert-groups`);
});

test('the palette leads to the tabs of the Organization, and out of the app to the docs', async () => {
  await desk.getByRole('heading', { level: 1, name: 'Alert Groups' }).waitFor();
  const palette = desk.getByRole('combobox', { name: 'Go to' });
  await desk.keyboard.press('Control+k');
  await palette.fill('network');
  await desk.getByRole('option', { name: 'Organization · Network' }).waitFor();
  await desk.keyboard.press('Enter');
  await desk.waitForURL(`${ready.app_url}/admin/organization/network`);
  const left = desk.waitForResponse((response) => new URL(response.url()).pathname === '/docs');
  await desk.keyboard.press('Control+k');
  await palette.fill('docs');
  await desk.keyboard.press('Enter');
  await left;
  await desk.waitForURL(/\/docs/);
  await desk.goto(`${ready.app_url}/alert-groups`);
});

test('nobody is called who did not ask for it', async () => {
  await turnAway(desk);
  await raise('Unasked', 'critical');
  await desk.getByText('Unasked').first().waitFor();
  expect(await shown(desk)).toEqual([]);
});

test('whoever looks elsewhere is called for what they chose, once, and led to it', async () => {
  await desk.goto(`${ready.app_url}/profile`);
  await desk.getByLabel('Desktop notifications').selectOption('New Urgent Alert Groups');
  await desk.getByLabel('With a sound').waitFor();
  expect(await desk.getByText('does not allow Tocsin to notify').count()).toBe(0);
  expect(await accessibilityFindings(desk)).toEqual([]);
  await lookedElsewhere();
  await raise('NotUrgent', 'warning');
  const group = await raise('Fire', 'critical');
  await until('the notification', async () => (await shown(desk)).length > 0);
  expect(await shown(desk)).toEqual([
    { title: `#${group.number} ${group.title}`, tag: expect.stringContaining(`${group.id} `) },
  ]);
  expect(await sounds(desk)).toBe(0);
  await desk.evaluate('window.shown[0].press()');
  await desk.waitForURL(`${ready.app_url}/alert-groups/${group.id}`);
});

test('a sound is made for whoever chose one', async () => {
  await desk.goto(`${ready.app_url}/profile`);
  const sound = desk.getByLabel('With a sound');
  expect(await sound.isChecked()).toBe(false);
  await sound.check();
  await lookedElsewhere();
  await raise('Loud', 'critical');
  await until('the sound', async () => (await sounds(desk)) === 1);
  await desk.goto(`${ready.app_url}/profile`);
  await sound.uncheck();
});

test('whoever chose a saved view is called for what it shows, without a sound', async () => {
  await api.post('/saved-views', { name: 'Broken', query: 'label=pod%3D~%22%5B%22', shared: false });
  await desk.goto(`${ready.app_url}/profile`);
  await desk.getByLabel('Desktop notifications').selectOption('New Alert Groups of some saved views');
  await desk.getByRole('checkbox', { name: 'Critical ones' }).check();
  await desk.getByRole('checkbox', { name: 'Broken' }).check();
  await desk.getByText('Broken (not watched: Tocsin refuses its filters)').waitFor();
  expect(await accessibilityFindings(desk)).toEqual([]);
  await lookedElsewhere((url) => url.includes('severity=critical'));
  await raise('OutsideTheView', 'warning');
  const group = await raise('InsideTheView', 'critical');
  await until('the notification', async () => (await shown(desk)).length > 0);
  expect(await shown(desk)).toEqual([
    { title: `#${group.number} ${group.title}`, tag: expect.stringContaining(`${group.id} `) },
  ]);
  expect(await desk.evaluate('window.shown[0].silent')).toBe(true);
});

test('a browser that refuses says where to allow it, and the choice stays', async () => {
  const refusing = await (await newProfile(browser)).newPage();
  await refusing.addInitScript(`
    Object.defineProperty(Notification, 'permission', { get: () => 'denied' });
    Notification.requestPermission = async () => 'denied';
  `);
  await signIn(refusing, ready);
  await refusing.goto(`${ready.app_url}/profile`);
  await refusing.getByLabel('Desktop notifications').selectOption('New Alert Groups of some Routes');
  await refusing.getByText('does not allow Tocsin to notify').waitFor();
  await refusing.getByRole('checkbox', { name: 'Default' }).check();
  await refusing.reload();
  await refusing.getByText('does not allow Tocsin to notify').waitFor();
  expect(await refusing.getByRole('checkbox', { name: 'Default' }).isChecked()).toBe(true);
  await refusing.context().close();
});

test('until it is known whether anything sends alerts, nothing says that all is quiet', async () => {
  await raise('Heard', 'info');
  const quiet = await (await newProfile(browser)).newPage();
  let letGo = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  await quiet.route('**/api/v1/alert-groups?*', (route) =>
    route.fulfill({ json: { items: [], next_cursor: null } }),
  );
  await quiet.route('**/api/v1/integrations?*', async (route) => {
    await held;
    await route.fulfill({ json: { items: [], next_cursor: null } });
  });
  const asked = quiet.waitForRequest('**/api/v1/integrations?*');
  await signIn(quiet, ready);
  await asked;
  expect(await quiet.getByText('All quiet').count()).toBe(0);
  letGo();
  await quiet.getByText('No alerts can arrive yet').waitFor();
  // With the hint, not with the next reading half a minute later.
  await quiet.unroute('**/api/v1/integrations?*');
  await api.change(`/integrations/${ready.integration_id}`, (each) => ({ ...each, name: 'First' }));
  await quiet.getByText('All quiet').waitFor({ timeout: 15_000 });
  await quiet.context().close();
});

test('an empty list tells silence from quiet: nothing was ever heard, or when it was last', async () => {
  await raise('Heard', 'info');
  const quiet = await (await newProfile(browser)).newPage();
  // Half a minute passes in half a second.
  await quiet.addInitScript(`
    const every = window.setInterval;
    window.setInterval = (run, ms) => every(run, ms === 30_000 ? 500 : ms);
  `);
  await quiet.route('**/api/v1/alert-groups?*', (route) =>
    route.fulfill({ json: { items: [], next_cursor: null } }),
  );
  await quiet.route('**/api/v1/integrations?*', async (route) => {
    const response = await route.fetch();
    const { items, ...page } = await response.json();
    const silent = items.map((each: Json) => ({ ...each, last_snapshot_at: null }));
    await route.fulfill({ response, json: { items: silent, ...page } });
  });
  await signIn(quiet, ready);
  await quiet.getByText('Nothing has arrived yet').waitFor();
  const sender = quiet.getByRole('main').getByRole('link', { name: 'Integrations' });
  expect(await sender.getAttribute('href')).toBe(`/integrations/${ready.integration_id}`);
  expect(await accessibilityFindings(quiet)).toEqual([]);

  await quiet.unroute('**/api/v1/integrations?*');
  await quiet.getByText('All quiet').waitFor();
  const { last_snapshot_at } = await api.get(`/integrations/${ready.integration_id}`);
  const heard = quiet.getByText('Senders were last heard').locator('time');
  expect(Date.parse((await heard.getAttribute('datetime')) ?? '')).toBe(Date.parse(last_snapshot_at));
  await quiet.route('**/api/v1/integrations?*', (route) => route.abort());
  await heard.waitFor({ state: 'detached' });
  await quiet.context().close();
});

test('what a page is answered is held to the API description', async () => {
  const page = await (await newProfile(browser)).newPage();
  await page.route('**/api/v1/sign-in-options', (route) =>
    route.fulfill({ json: { oidc: { enabled: false }, more: true } }),
  );
  const answered = page.waitForResponse('**/api/v1/sign-in-options');
  await page.goto(`${ready.app_url}/sign-in`);
  await answered;
  expect(String(await laterFaults())).toContain('must NOT have additional properties');
});
