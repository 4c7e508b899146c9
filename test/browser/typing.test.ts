/** Letters typed into a field are text and nothing else, on every page and in every dialog (ui §1.8). In real Chromium. */
import { generateSync } from 'otplib';
import type { Browser, Locator, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ReferenceBridge, startReferenceBridge } from '../fakes/reference-bridge.ts';
import { Api, type Json } from '../harness/api.ts';
import { launchChromium, newProfile, signIn } from '../harness/browser.ts';
import { everyPath } from '../harness/every-path.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

/** Every key that is a shortcut somewhere is among them. A key is not pressed again while it is down. */
const ALPHABET = ['abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ.', '?/'];
/** The check box of a row is part of the row, whose letters are shortcuts. */
const FIELDS =
  ':is(input:not([data-selects-rows]), textarea, select, [contenteditable="true"]):visible:enabled';
/** Every page is opened: ten minutes on a slow machine. */
const LONG = { timeout: 600_000 };
/** Previews store nothing and are computed while somebody types. */
const LOOKS_UP = /\/api\/v1\/(destinations\/\w+\/|[a-z-]+-)?previews$/;

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
  paths = await everyPath(api, bridge, ready);
  group = (await api.get('/alert-groups')).items[0];
  desk = await (await newProfile(browser)).newPage();
  await signIn(desk, ready);
  desk.on('request', countChange);
  desk.on('request', (request) => void (isRead(request) && reading.add(request)));
  desk.on('requestfinished', (request) => void reading.delete(request));
  desk.on('requestfailed', (request) => void reading.delete(request));
});

/** Reads of the desk that are not answered yet. */
const reading = new Set<Request>();

function isRead(request: Request): boolean {
  const { pathname } = new URL(request.url());
  return request.method() === 'GET' && /^\/api\/(?!.*\/live-updates$)/.test(pathname);
}

function countChange(request: Request): void {
  const { pathname } = new URL(request.url());
  if (request.method() !== 'GET' && !LOOKS_UP.test(pathname)) changes.push(`${request.method()} ${pathname}`);
}

beforeEach(() => {
  changes = [];
});

afterAll(async () => {
  await browser.close();
  await tocsin.remove();
  await bridge.close();
});

/** Resolves in the page once it has drawn what it has. */
const DRAWN = 'new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))';

async function open(path: string): Promise<void> {
  await desk.goto(ready.app_url + path);
  await desk.locator('main h1').first().waitFor({ state: 'attached' });
  // Not until the network is idle: the live stream never is.
  await desk.locator('main .skeleton').first().waitFor({ state: 'detached' });
  await until('what the page reads', async () => reading.size === 0);
  await desk.evaluate(DRAWN);
}

/** Addresses of the other parts of the page that is open. */
const tabs = (): Promise<string[]> =>
  desk
    .locator('main nav a[href^="/"]')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));

/** Types as fast as the browser takes it: each key is sent without waiting for what became of the one before. */
async function typeAlphabet({ keyboard }: Page): Promise<void> {
  for (const part of ALPHABET) await Promise.all([...part].map((key) => keyboard.press(key)));
}

/** Types into each field of `within`, one after the other. @returns how many there were */
async function typeEverywhere(within: Locator): Promise<number> {
  const count = await within.locator(FIELDS).count();
  for (let index = 0; index < count; index++) {
    const field = within.locator(FIELDS).nth(index);
    // What was typed before may have hidden some of the rest.
    if ((await field.count()) === 0) break;
    await field.focus();
    await typeAlphabet(within.page());
  }
  return count;
}

test(
  'the alphabet typed into any field of any page goes nowhere, opens nothing and changes nothing',
  LONG,
  async () => {
    const left = [...paths, '/connections/new?type=bridge', '/destinations/new?type=webhook'];
    let fields = 0;
    for (const path of left) {
      await open(path);
      for (const tab of await tabs()) if (!left.includes(tab)) left.push(tab);
      const { pathname } = new URL(desk.url());
      fields += await typeEverywhere(desk.locator('body'));
      expect(new URL(desk.url()).pathname, `typed at ${path}`).toBe(pathname);
      expect(await desk.locator('dialog[open]').count(), `dialogs at ${path}`).toBe(0);
      expect(changes, `typed at ${path}`).toEqual([]);
    }
    expect(fields).toBeGreaterThan(100);
    expect(await api.get(`/alert-groups/${group.id}`)).toMatchObject({ status: 'firing', owner: null });
  },
);

/** What opens a dialog or a menu is among them. */
const BUTTONS = 'main button:not([type="submit"]):visible:enabled';
const OPENED = 'dialog[open], [data-menu]';

/** Titles of what the buttons of pages open. A dialog that is not among them was not typed into. */
const OPENS = [
  ...['Delete Alertmanager?', 'Delete Terraform?', 'Delete admin?', 'Delete bridge?'],
  ...['Delete every page?', 'Delete every_page?', 'Delete prod?', 'Disable admin?', 'Leave without saving?'],
  ...['Link account', 'Link for a screen'],
  ...['New setup link for admin?', 'New token', 'Resolve #1', 'Set up two-factor', 'Sign out everywhere'],
  ...['Snooze #1', 'Suggested: Tocsin internal alerts', 'menu'],
];

/** Types into what is open, and with the focus wherever it is then. @returns its title */
async function typeInside(opened: Locator): Promise<string> {
  const title = await opened.evaluate((one) => one.querySelector('h2')?.textContent?.trim() ?? 'menu');
  changes = [];
  await typeEverywhere(opened);
  await typeAlphabet(desk);
  expect([await desk.locator(OPENED).count(), changes], title).toEqual([1, []]);
  await desk.keyboard.press('Escape');
  // Some are closed by a button alone.
  const close = opened.getByRole('button', { name: 'Close' });
  await desk.locator('body:not(:has(dialog[open], [data-menu]))').or(close).first().waitFor();
  if (await close.isVisible()) await close.first().click();
  await opened.waitFor({ state: 'detached' });
  return title;
}

/** Opens whatever the buttons of a page open, and types there. @returns the titles */
async function typeInWhatOpens(path: string): Promise<string[]> {
  const titles: string[] = [];
  await open(path);
  const count = await desk.locator(BUTTONS).count();
  for (let index = 0; index < count; index++) {
    const button = desk.locator(BUTTONS).nth(index);
    // What was pressed before may have taken some away.
    if ((await button.count()) === 0) break;
    await button.click();
    await desk.evaluate(DRAWN);
    const opened = desk.locator(OPENED).first();
    if ((await opened.count()) > 0) titles.push(await typeInside(opened));
    if (new URL(desk.url()).pathname !== new URL(path, ready.app_url).pathname) await open(path);
  }
  return titles;
}

/**
 * Fails every request of a page that would change something. Unlike a route of Playwright it leaves the cache of the
 * browser on: each page takes its scripts from there. @returns lets all requests through again
 */
async function letReadsOnly(page: Page): Promise<() => Promise<void>> {
  const session = await page.context().newCDPSession(page);
  session.on('Fetch.requestPaused', ({ requestId, request }) => {
    const answer =
      request.method === 'GET'
        ? session.send('Fetch.continueRequest', { requestId })
        : session.send('Fetch.failRequest', { requestId, errorReason: 'Failed' });
    // A page that was left has no requests any more.
    answer.catch(() => undefined);
  });
  await session.send('Fetch.enable', { patterns: [{ urlPattern: '*/api/v1/*' }] });
  return () => session.detach();
}

test('the alphabet typed where a button of any page opened something stays there', LONG, async () => {
  const letAll = await letReadsOnly(desk);
  const titles = new Set<string>();
  for (const path of paths) for (const title of await typeInWhatOpens(path)) titles.add(title);
  await letAll();
  expect([...titles].sort()).toEqual(OPENS);
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
  await typeAlphabet(desk);
  // Chromium presses a focused button for Space and Enter alone.
  expect([changes, await desk.getByRole('dialog').count()]).toEqual([[], 0]);
  await desk.keyboard.press('Escape');
  await row.getByRole('button', { name: 'Copy link' }).waitFor({ state: 'detached' });
});

test('n on a row: what is typed before and after its dialog opens is the Note, and Ctrl+Enter sends it', async () => {
  // The code of the dialog comes after the last key.
  const held: (() => void)[] = [];
  await desk.route('**/assets/dialogs-*.js', (route) => void held.push(() => void route.continue()));
  await open('/alert-groups');
  // The drafts of the tests above.
  await desk.evaluate('sessionStorage.clear()');
  const typeNote = async (body: string) => {
    await desk.locator(`[data-group="${group.id}"] a`).first().focus();
    await desk.keyboard.type(`n${body}`);
    await desk.keyboard.press('Control+Enter');
  };
  const noted = async (count: number) => {
    await desk.getByText(`Note added to #${group.number}`).waitFor();
    expect(changes).toEqual(Array(count).fill(`POST /api/v1/alert-groups/${group.id}/notes`));
    const { items } = await api.get(`/alert-groups/${group.id}/notes`);
    return items.map(({ body }: Json) => body).sort();
  };
  const dialog = desk.getByRole('dialog');

  await typeNote('are you sure, as this rarely resolves');
  await until('the page asks for the code', async () => held.length > 0);
  expect([await dialog.count(), changes]).toEqual([0, []]);
  for (const go of held) go();
  await desk.unroute('**/assets/dialogs-*.js');
  expect(await noted(1)).toEqual(['are you sure, as this rarely resolves']);
  await dialog.waitFor({ state: 'detached' });
  await desk.getByText(`Note added to #${group.number}`).waitFor({ state: 'detached' });

  await typeNote('nothing uses xargs');
  expect(await noted(2)).toEqual(['are you sure, as this rarely resolves', 'nothing uses xargs']);
  await dialog.waitFor({ state: 'detached' });
  await desk.keyboard.press('n');
  expect(await dialog.getByRole('textbox').inputValue()).toBe('');
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
  await typeAlphabet(desk);
  expect(new URL(desk.url()).pathname).toBe('/alert-groups');
  expect(await desk.locator('dialog[open]').count()).toBe(0);
  expect(changes).toEqual([]);
});

test('the alphabet typed on the way in goes nowhere and sends nothing', async () => {
  const password = 'quietly rolling thunder';
  const invited = async (login: string): Promise<string> =>
    (await api.post('/users', { login, name: login, role: 'viewer', email: null })).password_setup_link.url;
  const page = await (await newProfile(browser)).newPage();
  page.on('request', countChange);
  const typeAt = async (pathname: string) => {
    await page.locator(FIELDS).first().waitFor();
    changes = [];
    expect(await typeEverywhere(page.locator('body')), pathname).toBeGreaterThan(0);
    expect([new URL(page.url()).pathname, changes]).toEqual([pathname, []]);
  };
  const enter = async (login: string) => {
    await page.context().clearCookies();
    await page.goto(`${ready.app_url}/sign-in`);
    await page.getByLabel('Login').fill(login);
    await page.getByLabel('Password').fill(password);
    await page.keyboard.press('Enter');
  };
  await page.goto(`${ready.app_url}/sign-in`);
  await typeAt('/sign-in');
  await page.goto(await invited('grace'));
  await typeAt('/password-setup');
  for (const login of ['ada', 'edsger']) {
    const token = new URL(await invited(login)).hash.replace('#token=', '');
    await new Api(ready.app_url).post('/password-setups', { token, password });
  }
  const ada = await Api.signIn({ ...ready, login: 'ada', password });
  const { secret } = await ada.post('/me/totp');
  await ada.post('/me/totp/confirmation', { code: generateSync({ secret }) });
  await enter('ada');
  await page.waitForURL('**/sign-in/totp*');
  await typeAt('/sign-in/totp');
  await api.change('/organization', (organization) => ({ ...organization, totp_required: 'everyone' }));
  await enter('edsger');
  await page.waitForURL('**/totp-enrolment*');
  await typeAt('/totp-enrolment');
});
