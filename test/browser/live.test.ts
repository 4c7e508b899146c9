/** One live stream for all tabs of a browser, and what tabs say while nothing comes through it (ui §1.4, §1.6). In real Chromium. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Api, type Json } from '../harness/api.ts';
import { accessibilityFindings, launchChromium, newProfile, signIn, watched } from '../harness/browser.ts';
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

beforeAll(async () => {
  mkdirSync(shots, { recursive: true });
  tocsin = new Installation();
  [ready, browser] = await Promise.all([tocsin.start(), launchChromium()]);
  sender = new Sender(ready.ingest_endpoint, ready.integration_token!);
  api = await Api.signIn(ready);
});

afterEach(async () => {
  process.kill(tocsin.pid, 'SIGCONT');
  await profile?.close();
});

afterAll(async () => {
  await browser.close();
  await tocsin.remove();
});

/** Under the policy that the service sends, unlike the profiles of tests that look for accessibility. */
async function newBrowser(script = ''): Promise<BrowserContext> {
  profile = watched(await browser.newContext({ locale: 'en-GB', viewport: { width: 1280, height: 800 } }));
  if (script !== '') await profile.addInitScript(script);
  await signIn(await profile.newPage(), ready);
  return profile;
}

async function newTabs(count: number, where: string): Promise<Page[]> {
  const tabs = await Promise.all(Array.from({ length: count }, () => profile.newPage()));
  await Promise.all(tabs.map((tab) => tab.goto(ready.app_url + where)));
  return tabs;
}

async function raise(alertname: string): Promise<Json> {
  expect(await sender.post({ groupKey: alertname, alerts: [{ labels: { alertname } }] })).toBe(202);
  return until(
    `the Alert Group ${alertname}`,
    async () => (await api.get(`/alert-groups?q=${alertname}`)).items[0],
  );
}

const raiseMany = (count: number, name: string) =>
  Promise.all(
    Array.from({ length: count }, (_, number) => raise(`${name}${String(number).padStart(2, '0')}`)),
  );

/** How many streams the service has open. */
async function streams(): Promise<number> {
  const text = await (await fetch(`${ready.internal_url}/metrics`)).text();
  return Number(/^svc_live_streams (\d+)/m.exec(text)?.[1]);
}

const row = (tab: Page, group: Json) => tab.locator(`[data-group="${group.id}"]`);
const bar = (tab: Page) => tab.getByText('Not live since');

/** Acknowledges a group in a tab, by the keyboard. */
async function acknowledge(tab: Page, group: Json): Promise<void> {
  await tab.bringToFront();
  await row(tab, group).locator('a').first().focus();
  await tab.keyboard.press('a');
  await tab.getByText(`#${group.number} is yours`).waitFor();
}

async function showsInAll(tabs: readonly Page[], group: Json, status: string): Promise<void> {
  for (const tab of tabs) await row(tab, group).getByText(status, { exact: true }).first().waitFor();
}

test('eight tabs share one stream, all are live, and a Command is done in each; so in twenty', async () => {
  const groups = await raiseMany(20, 'Tabs');
  await newBrowser();
  const tabs = await newTabs(8, '/alert-groups?q=Tabs');
  for (const [number, tab] of tabs.entries()) {
    await acknowledge(tab, groups[number]);
    await showsInAll(tabs, groups[number], 'Acknowledged');
  }
  expect(await streams()).toBe(1);
  tabs.push(...(await newTabs(12, '/alert-groups?q=Tabs')));
  for (const [number, tab] of tabs.entries()) if (number >= 8) await acknowledge(tab, groups[number]);
  await showsInAll(tabs, groups[19], 'Acknowledged');
  expect(await streams()).toBe(1);
  await profile.close();
  await until('the stream to be closed', async () => (await streams()) === 0);
});

const WITHOUT_WORKERS = 'delete window.SharedWorker;';
/** As after an upgrade: the page was loaded before, its worker is not there any more. */
const WITH_LOST_WORKER = `
  window.SharedWorker = class extends window.SharedWorker {
    constructor(_, options) { super('/assets/of-another-build.js', options); }
  };
`;

test.each([
  ['without shared workers', 'Locks', WITHOUT_WORKERS],
  ['when the worker cannot be loaded', 'Lost', WITH_LOST_WORKER],
])('%s, one of the tabs has the stream for all; when it goes, another one', async (_, name, script) => {
  const groups = await raiseMany(3, name);
  await newBrowser(script);
  const tabs = await newTabs(8, `/alert-groups?q=${name}`);
  await acknowledge(tabs[7]!, groups[0]);
  await showsInAll(tabs, groups[0], 'Acknowledged');
  await until('one stream', async () => (await streams()) === 1);
  // The page that signed in came first and has the lock.
  await profile.pages()[0]!.close();
  await until('a stream of another tab', async () => (await streams()) === 1);
  await acknowledge(tabs[5]!, groups[1]);
  await showsInAll(tabs, groups[1], 'Acknowledged');
  expect(await streams()).toBe(1);
});

test('a list that was read before a change and comes after it does not put the row back', async () => {
  const group = await raise('Late');
  await newBrowser();
  const [tab] = await newTabs(1, '/alert-groups?q=Late');
  await row(tab!, group).waitFor();
  await until('the stream', async () => (await streams()) === 1);
  let deliver = () => {};
  const delivered = new Promise<void>((resolve) => {
    deliver = resolve;
  });
  let held = 0;
  await tab!.route(/\/api\/v1\/alert-groups\?/, async (route) => {
    const response = await route.fetch();
    held += 1;
    await delivered;
    await route.fulfill({ response });
  });
  // Coming back shows the rows of before at once, and reads them again.
  await row(tab!, group).locator('a').first().click();
  await tab!.getByRole('heading', { level: 1, name: group.title }).waitFor();
  await tab!.goBack();
  await until('the list to be read', () => Promise.resolve(held > 0));
  await api.post(`/alert-groups/${group.id}/acknowledge`, {});
  await row(tab!, group).getByText('Acknowledged', { exact: true }).first().waitFor();
  const readAgain = tab!.waitForResponse(`**/api/v1/alert-groups/${group.id}`);
  deliver();
  // What was held arrives before the look at the row, and before the browser is closed.
  await Promise.all([tab!.unrouteAll({ behavior: 'wait' }), readAgain]);
  expect(await row(tab!, group).getByText('Firing', { exact: true }).count()).toBe(0);
});

/** As with plain http from another host: no locks, so each tab has a stream of its own. */
const WITHOUT_LOCKS = `${WITHOUT_WORKERS} Object.defineProperty(Navigator.prototype, 'locks', { value: undefined });`;
/** A browser without a screen never hides a tab itself. */
const turn = (tab: Page, state: 'hidden' | 'visible') =>
  tab.evaluate(`
    Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
    Object.defineProperty(document, 'hidden', { value: ${state === 'hidden'}, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  `);

test('a hidden tab gives a stream of its own back, and shows what happened meanwhile once it is shown', async () => {
  const group = await raise('Hidden');
  await newBrowser(WITHOUT_LOCKS);
  const [tab] = await newTabs(1, '/alert-groups?tab=all&q=Hidden');
  await row(tab!, group).waitFor();
  await until('a stream a tab', async () => (await streams()) === 2);
  await turn(tab!, 'hidden');
  await until('the stream to be closed', async () => (await streams()) === 1);
  await api.post(`/alert-groups/${group.id}/resolve`, {});
  await turn(tab!, 'visible');
  await row(tab!, group).getByText('Resolved', { exact: true }).waitFor({ timeout: 5_000 });
  await until('its stream again', async () => (await streams()) === 2);
});

test('a frozen service shows within 30 s, Commands say what became of them, and all heals by itself', async () => {
  const [group, other] = await raiseMany(2, 'Frozen');
  await newBrowser();
  const [tab, second] = await newTabs(2, '/alert-groups?q=Frozen');
  await until('the stream', async () => (await streams()) === 1);
  for (const each of [tab!, second!]) await row(each, group).waitFor();

  process.kill(tocsin.pid, 'SIGSTOP');
  const frozenAt = performance.now();
  await row(second!, other).locator('a').first().focus();
  await second!.keyboard.press('a');
  await second!.getByText('It is not known whether it was done').waitFor({ timeout: 20_000 });
  await Promise.all([tab!, second!].map((each) => bar(each).waitFor({ timeout: 30_000 })));
  expect(performance.now() - frozenAt).toBeLessThan(30_000);
  await until('the title not to name a number', async () => (await tab!.title()).startsWith('(?) '));

  await tab!.bringToFront();
  await row(tab!, group).locator('a').first().focus();
  const pressedAt = performance.now();
  await tab!.keyboard.press('a');
  await tab!.getByText('This was not sent, and nothing was changed').waitFor();
  expect(performance.now() - pressedAt).toBeLessThan(4_000);

  process.kill(tocsin.pid, 'SIGCONT');
  for (const each of [tab!, second!]) await bar(each).waitFor({ state: 'detached', timeout: 15_000 });
  expect(await api.get(`/alert-groups/${group.id}`)).toMatchObject({ status: 'firing' });
  await acknowledge(tab!, group);
  await showsInAll([tab!, second!], group, 'Acknowledged');
});

test('a count that a change asks for and that is not answered makes the tab old, until it is answered', async () => {
  const group = await raise('Unread');
  await newBrowser();
  const [tab] = await newTabs(1, `/alert-groups/${group.id}`);
  await tab!.getByRole('heading', { level: 1, name: group.title }).waitFor();
  await until('the stream', async () => (await streams()) === 1);
  await tab!.route('**/api/v1/alert-group-counts*', (route) => route.abort());
  await raise('UnreadToo');
  await bar(tab!).waitFor();
  expect(await tab!.title()).toMatch(/^\(\?\) /);
  await tab!.unroute('**/api/v1/alert-group-counts*');
  await bar(tab!).waitFor({ state: 'detached' });
  const { firing } = await api.get('/alert-group-counts');
  await until('the count', async () => (await tab!.title()).startsWith(`(${firing}) `));
});

test('what happened while the service could not be reached shows when it is back', async () => {
  const group = await raise('Meanwhile');
  await newBrowser();
  const [tab] = await newTabs(1, '/alert-groups?tab=all&q=Meanwhile');
  await row(tab!, group).waitFor();
  await profile.setOffline(true);
  await bar(tab!).waitFor({ timeout: 3_000 });
  await row(tab!, group).locator('a').first().focus();
  await tab!.keyboard.press('a');
  await tab!.getByText('This was not sent, and nothing was changed').waitFor({ timeout: 3_000 });
  await api.post(`/alert-groups/${group.id}/resolve`, {});
  expect(await row(tab!, group).getByText('Firing', { exact: true }).count()).toBe(1);
  await profile.setOffline(false);
  await row(tab!, group).getByText('Resolved', { exact: true }).waitFor({ timeout: 15_000 });
  await bar(tab!).waitFor({ state: 'detached', timeout: 15_000 });
});

test('without a line the rows stay, every Command is off and says why, and all comes back by itself', async () => {
  const group = await raise('Away');
  await newBrowser();
  const [list, page] = await newTabs(2, '/alert-groups?tab=all&q=Away');
  await page!.goto(`${ready.app_url}/alert-groups/${group.id}`);
  const button = page!.getByRole('button', { name: 'Acknowledge' });
  await Promise.all([button.waitFor(), row(list!, group).waitFor()]);
  await profile.setOffline(true);
  const refusal = 'This was not sent, and nothing was changed';
  for (const tab of [list!, page!]) await tab.getByText('nothing is sent until it does').waitFor();
  expect(await button.getAttribute('aria-disabled')).toBe('true');
  // Playwright would wait until it is enabled, which a person does not.
  await button.click({ force: true });
  await page!.getByText(refusal).waitFor();
  await list!.bringToFront();
  await row(list!, group)
    .getByRole('button', { name: /^Commands/ })
    .click();
  // A Command with a dialog does not open it.
  const resolve = row(list!, group).getByRole('button', { name: 'Resolve' });
  expect(await resolve.getAttribute('aria-disabled')).toBe('true');
  await resolve.click({ force: true });
  await list!.getByText(refusal).waitFor();
  expect(await list!.getByRole('dialog').count()).toBe(0);
  await api.post(`/alert-groups/${group.id}/acknowledge`, {});
  await profile.setOffline(false);
  await row(list!, group).getByText('Acknowledged', { exact: true }).first().waitFor({ timeout: 15_000 });
  await page!.getByText('Acknowledged', { exact: true }).first().waitFor({ timeout: 15_000 });
  await page!.locator('[aria-disabled="true"]').first().waitFor({ state: 'detached', timeout: 15_000 });
});

test('signing out in one tab ends the stream and leads every tab to sign-in', async () => {
  await newBrowser();
  const tabs = await newTabs(3, '/alert-groups');
  await until('the stream', async () => (await streams()) === 1);
  await tabs[0]!.getByRole('button', { name: 'Menu of' }).click();
  await tabs[0]!.getByRole('button', { name: 'Sign out' }).click();
  for (const tab of tabs) await tab.waitForURL('**/sign-in*', { timeout: 10_000 });
  await until('the stream to be closed', async () => (await streams()) === 0);
});

test('a session that was ended elsewhere leads every tab to sign-in', async () => {
  await newBrowser();
  const tabs = await newTabs(3, '/alert-groups');
  await until('the stream', async () => (await streams()) === 1);
  const own = await Api.resume(
    ready.app_url,
    (await profile.cookies()).find(({ name }) => name === 'svc_session')!.value,
  );
  await own.call('DELETE', '/sessions/current');
  for (const tab of tabs) await tab.waitForURL('**/sign-in?*', { timeout: 20_000 });
});

test('when somebody else signs in, every tab becomes theirs, and the stream too', async () => {
  const name = 'Grace Hopper';
  const { password_setup_link } = await api.post('/users', {
    login: 'grace',
    name,
    role: 'viewer',
    email: null,
  });
  const token = new URL(password_setup_link.url).hash.replace('#token=', '');
  await api.call('POST', '/password-setups', { token, password: 'correct horse battery' });
  await newBrowser();
  const tabs = await newTabs(2, '/alert-groups');
  await until('the stream', async () => (await streams()) === 1);
  // Not from a page: a tab that finds a new person loads itself anew, which ends what runs in it.
  const signedIn = await tabs[0]!.context().request.post(`${ready.app_url}/api/v1/sessions`, {
    data: { login: 'grace', password: 'correct horse battery' },
  });
  expect(signedIn.status()).toBe(201);
  await until('a tab to load itself anew, by itself or because it is told', async () => {
    await tabs[0]!.evaluate('setTimeout(() => location.reload(), 0)');
    return true;
  });
  for (const tab of tabs)
    await tab.getByRole('button', { name: `Menu of ${name}` }).waitFor({ timeout: 20_000 });
  const group = await raise('ForGrace');
  for (const tab of tabs) {
    // It may be loading itself anew, which ends this navigation.
    await until('the list of the tab', async () => {
      await tab.goto(`${ready.app_url}/alert-groups?q=ForGrace`);
      return true;
    });
    await row(tab, group).waitFor();
  }
  await until('one stream', async () => (await streams()) === 1);
});

test('what is old looks old, in both themes, on a desk and on a phone', async () => {
  const group = await raise('Stale');
  const looks = [
    ['desk-light', {}],
    ['desk-dark', { dark: true }],
    ['phone-light', { width: 360, height: 740 }],
    ['phone-dark', { width: 360, height: 740, dark: true, locale: 'ru' }],
  ] as const;
  const showsStale = async (what: string, page: Page) => {
    const profile = page.context();
    for (const [name, where] of [
      ['list', '/alert-groups'],
      ['group', `/alert-groups/${group.id}`],
    ] as const) {
      await page.goto(ready.app_url + where);
      await page.locator('main .figure').first().waitFor();
      await profile.setOffline(true);
      await page.locator('html[data-stale]').waitFor();
      await page.mouse.wheel(0, 120);
      expect(await accessibilityFindings(page), `${what} ${name}`).toEqual([]);
      await page.screenshot({ path: path.join(shots, `stale-${what}-${name}.png`) });
      await profile.setOffline(false);
    }
    await profile.close();
  };
  const pages: [what: string, page: Page][] = [];
  for (const [what, options] of looks) {
    const page = await (await newProfile(browser, options)).newPage();
    // One after the other: an account takes one sign-in at a time.
    await signIn(page, ready);
    pages.push([what, page]);
  }
  await Promise.all(pages.map(([what, page]) => showsStale(what, page)));
});
