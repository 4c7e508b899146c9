/** Views of the list that two people keep, one of which they share (ui §3), in real Chromium. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api, type Json } from '../harness/api.ts';
import { accessibilityFindings, launchChromium, newProfile, signIn } from '../harness/browser.ts';
import { Sender } from '../harness/sender.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const PASSWORD = 'quietly rolling thunder';
const shots = path.resolve(import.meta.dirname, '..', '..', 'test-results', 'screenshots');

let tocsin: Installation;
let ready: Ready;
let browser: Browser;
let api: Api;
let sender: Sender;
/** Of an Admin, and of Grace, who is a Responder. */
let desk: Page;
let phone: Page;

beforeAll(async () => {
  mkdirSync(shots, { recursive: true });
  tocsin = new Installation();
  [ready, browser] = await Promise.all([tocsin.start(), launchChromium()]);
  api = await Api.signIn(ready);
  sender = new Sender(ready.ingest_endpoint, ready.integration_token!);
  for (const severity of ['critical', 'warning']) {
    const alerts = [{ labels: { alertname: `Is${severity}`, severity } }];
    expect(await sender.post({ groupKey: severity, alerts })).toBe(202);
  }
  await until('the groups', async () => (await api.get('/alert-group-counts')).firing === 2);
  const grace = { login: 'grace', name: 'Grace', role: 'responder', email: null };
  const { password_setup_link: link } = await api.post('/users', grace);
  const token = new URL(link.url).hash.replace('#token=', '');
  await new Api(ready.app_url).post('/password-setups', { token, password: PASSWORD });
  desk = await (await newProfile(browser)).newPage();
  phone = await (await newProfile(browser, { width: 390, height: 844 })).newPage();
  // What the version before kept in this browser.
  await phone.addInitScript(`
    if (localStorage.getItem('before') === null) {
      localStorage.setItem('before', 'yes');
      localStorage.setItem('tocsin.views', JSON.stringify([
        { name: 'Nobody has', query: 'owner=none', start: true },
        { name: 'All', query: 'tab=all', start: false },
      ]));
    }
  `);
  await signIn(desk, ready);
  await signIn(phone, { ...ready, login: 'grace', password: PASSWORD });
});

afterAll(async () => {
  await browser.close();
  await tocsin.remove();
});

const star = (page: Page) => page.getByRole('button', { name: 'Saved views' });
const viewOf = (page: Page, name: string) => page.getByRole('listitem').filter({ hasText: name });
const views = async (): Promise<Json[]> => (await api.get('/saved-views')).items;

test('what this browser kept becomes the person’s own, and the list begins with it', async () => {
  await phone.waitForURL((url) => url.search === '?owner=none');
  await star(phone).click();
  await viewOf(phone, 'Nobody has').getByRole('button', { name: 'Start here', pressed: true }).waitFor();
  await viewOf(phone, 'All').getByRole('button', { name: 'Start here', pressed: false }).waitFor();
  expect(await phone.evaluate('localStorage.getItem("tocsin.views")')).toBeNull();
  await phone.keyboard.press('Escape');
  // They are nobody else's.
  await star(desk).click();
  await desk.getByText('Keep filters, order and labels under a name.').waitFor();
  await desk.keyboard.press('Escape');
});

test('one person shares a view, with what it counts', async () => {
  await desk.goto(`${ready.app_url}/alert-groups?severity=critical`);
  await star(desk).click();
  await desk.getByLabel('Save what is shown as').fill('Critical');
  await desk.getByRole('checkbox', { name: 'For everybody' }).check();
  await desk.getByRole('button', { name: 'Save', exact: true }).click();
  await viewOf(desk, 'Critical').getByText('Shared with everybody').waitFor();
  await viewOf(desk, 'Critical').locator('.figure', { hasText: /^1$/ }).waitFor();
  // A name that is there is saved anew, as it was shared.
  await desk.getByLabel('Save what is shown as').fill('Critical');
  expect(await desk.getByRole('checkbox', { name: 'For everybody' }).isChecked()).toBe(true);
  expect(await accessibilityFindings(desk)).toEqual([]);
  await desk.screenshot({ path: path.join(shots, 'saved-views-desk.png') });
  expect(await views()).toMatchObject([{ name: 'Critical', query: 'severity=critical', shared: true }]);
});

test('another person sees it, opens it, begins with it, and cannot delete it', async () => {
  await star(phone).click();
  const shared = viewOf(phone, 'Critical');
  await shared.getByText('Shared by Admin').waitFor();
  await shared.locator('.figure', { hasText: /^1$/ }).waitFor();
  await viewOf(phone, 'All').locator('.figure', { hasText: /^2$/ }).waitFor();
  await viewOf(phone, 'All').getByRole('button', { name: 'Delete All' }).waitFor();
  expect(await shared.getByRole('button', { name: 'Delete Critical' }).count()).toBe(0);
  expect(await accessibilityFindings(phone)).toEqual([]);
  await phone.screenshot({ path: path.join(shots, 'saved-views-phone.png') });
  await shared.getByRole('button', { name: 'Start here' }).click();
  await shared.getByRole('button', { name: 'Start here', pressed: true }).waitFor();
  await shared.getByRole('link', { name: 'Critical' }).click();
  await phone.waitForURL((url) => url.search === '?severity=critical');
  await phone.getByText('Iscritical').first().waitFor();
  const anew = await phone.context().newPage();
  await anew.goto(`${ready.app_url}/alert-groups`);
  await anew.waitForURL((url) => url.search === '?severity=critical');
  await anew.close();
});

test('who shared it deletes it for everybody, and is asked first', async () => {
  await desk.getByRole('button', { name: 'Delete Critical' }).click();
  const dialog = desk.getByRole('dialog');
  await dialog.getByText('Everybody sees this view.').waitFor();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await viewOf(desk, 'Critical').waitFor({ state: 'detached' });
  // The button that opened the dialog is gone.
  await desk.waitForFunction('document.activeElement?.tagName === "INPUT"');
  await star(phone).click();
  await viewOf(phone, 'Nobody has').waitFor();
  await viewOf(phone, 'Critical').waitFor({ state: 'detached' });
  await viewOf(phone, 'All').getByRole('button', { name: 'Delete All' }).click();
  await viewOf(phone, 'All').waitFor({ state: 'detached' });
  await phone.waitForFunction('document.activeElement?.tagName === "INPUT"');
});

test('a view whose filters are refused has no count, and those behind it do', async () => {
  await api.post('/saved-views', { name: 'Broken', query: 'label=%28', shared: false });
  await api.post('/saved-views', { name: 'Whole', query: 'severity=warning', shared: false });
  await desk.keyboard.press('Escape');
  await star(desk).click();
  await viewOf(desk, 'Whole').locator('.figure', { hasText: /^1$/ }).waitFor();
  expect(await viewOf(desk, 'Broken').locator('.figure').count()).toBe(0);
});

test('views that could not be read are read with the next change, and take no list from whoever uses it', async () => {
  const { id } = await api.post('/saved-views', { name: 'Begin', query: 'owner=none', shared: false });
  expect((await api.call('PUT', '/me/default-view', { view_id: id })).status).toBe(204);
  const tabs: Page[] = [];
  for (const isUsed of [true, false]) {
    const tab = await desk.context().newPage();
    await tab.route('**/api/v1/saved-views*', (route) => route.abort(), { times: 1 });
    const failed = tab.waitForEvent('requestfailed', (request) => request.url().includes('saved-views'));
    await tab.goto(`${ready.app_url}/alert-groups`);
    await Promise.all([failed, tab.locator('[data-group]').first().waitFor()]);
    if (isUsed) await tab.keyboard.press('Shift');
    tabs.push(tab);
  }
  const read = tabs.map((tab) => tab.waitForResponse((response) => response.url().includes('saved-views')));
  const alerts = [{ labels: { alertname: 'IsNew', severity: 'info' } }];
  expect(await sender.post({ groupKey: 'new', alerts })).toBe(202);
  await Promise.all(read);
  const [used, unused] = tabs;
  await unused!.waitForURL((url) => url.search === '?owner=none');
  expect(new URL(used!.url()).search).toBe('');
});
