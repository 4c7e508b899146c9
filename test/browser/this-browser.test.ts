/** What a person chooses for one browser: the height of rows, and to be called while looking elsewhere. In real Chromium. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api, type Json } from '../harness/api.ts';
import { accessibilityFindings, launchChromium, newProfile, signIn } from '../harness/browser.ts';
import { laterFaults } from '../harness/checked-fetch.ts';
import { Sender } from '../harness/sender.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

let tocsin: Installation;
let ready: Ready;
let browser: Browser;
let sender: Sender;
let api: Api;
let profile: BrowserContext;
let desk: Page;

beforeAll(async () => {
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
    window.Notification = class extends window.Notification {
      constructor(title, options) {
        super(title, options);
        window.shown.push({ title, tag: options.tag, press: () => this.onclick(new Event('click')) });
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

/** Another window is in front; a browser without a screen never says so itself. */
const turnAway = (page: Page) =>
  page.evaluate(
    `Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true })`,
  );

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

test('the icon of the tab has a dot while something fires', async () => {
  await until('the dot', async () => (await icon(desk)) === '/favicon-firing.svg');
  const answer = await profile.request.get(`${ready.app_url}/favicon-firing.svg`);
  expect([answer.status(), answer.headers()['content-type']]).toEqual([200, 'image/svg+xml']);
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
  // What fired when the page was opened is no news.
  const looked = desk.waitForResponse(
    (response) => response.url().includes('status=firing&') && !response.url().includes('acknowledged'),
  );
  await desk.goto(`${ready.app_url}/alert-groups`);
  await looked;
  await turnAway(desk);
  await raise('NotUrgent', 'warning');
  const group = await raise('Fire', 'critical');
  await until('the notification', async () => (await shown(desk)).length > 0);
  expect(await shown(desk)).toEqual([{ title: `#${group.number} ${group.title}`, tag: group.id }]);
  await desk.evaluate('window.shown[0].press()');
  await desk.waitForURL(`${ready.app_url}/alert-groups/${group.id}`);
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
