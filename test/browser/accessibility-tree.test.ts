/** Five tasks as a screen reader meets them: headings, names, where the focus goes, and what is announced. In real Chromium. */
import type { Browser, CDPSession, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { announced, focused, followReads, heard, listen, treeFaults } from '../harness/accessible.ts';
import { Api, type Json } from '../harness/api.ts';
import { launchChromium, newProfile, signIn } from '../harness/browser.ts';
import { Sender } from '../harness/sender.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

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
  await api.change(`/routes/${fallback.id}`, (route) => ({ ...route, group_key: ['alertname', 'pod'] }));
});

afterEach(async () => {
  for (const profile of browser.contexts()) await profile.close();
});

afterAll(async () => {
  await browser.close();
  await tocsin.remove();
});

/** Raises one Alert and waits for its Alert Group. */
async function raise(alertname: string, labels: Record<string, string> = {}): Promise<Json> {
  const startsAt = new Date().toISOString();
  const alerts = [{ labels: { alertname, severity: 'critical', ...labels }, startsAt }];
  expect(await sender.post({ groupKey: `${alertname}${labels.pod ?? ''}`, alerts })).toBe(202);
  const pod = labels.pod === undefined ? '' : `&label=${encodeURIComponent(`pod="${labels.pod}"`)}`;
  return until(
    `the Alert Group ${alertname}`,
    async () => (await api.get(`/alert-groups?q=${alertname}&status=firing${pod}`)).items[0],
  );
}

/** Somebody who hears the page and sees nothing of it. */
class Listener {
  readonly page: Page;
  readonly #tree: CDPSession;
  readonly #allRead: () => Promise<void>;

  constructor(page: Page, tree: CDPSession) {
    this.page = page;
    this.#tree = tree;
    this.#allRead = followReads(page);
  }

  static async signedIn(): Promise<Listener> {
    const page = await (await newProfile(browser)).newPage();
    await listen(page);
    const listener = new Listener(page, await page.context().newCDPSession(page));
    await signIn(page, ready);
    return listener;
  }

  async open(where: string): Promise<void> {
    await this.page.goto(ready.app_url + where);
    await this.arrived();
    await announced(this.page);
  }

  /** Waits until the page has all it reads, and looks for what is wrong in its tree. */
  async arrived(): Promise<void> {
    await this.page.locator('main h1').first().waitFor({ state: 'attached' });
    await this.#allRead();
    await this.isInOrder();
  }

  async isInOrder(): Promise<void> {
    expect(await treeFaults(this.page, this.#tree), this.page.url()).toEqual([]);
  }

  /** What has the focus. */
  async focus(): Promise<string | undefined> {
    return (await focused(this.page, this.#tree))?.said;
  }

  /** Waits for an announcement. @returns all since the last time, in order */
  hears(last: string): Promise<string[]> {
    return heard(this.page, last);
  }
}

/** Presses Enter on something, as somebody does who has gone there. */
async function press(what: Locator): Promise<void> {
  await what.focus();
  await what.page().keyboard.press('Enter');
}

test('finds the new group and acknowledges it', async () => {
  await raise('PodCrash', { pod: 'web-1' });
  const person = await Listener.signedIn();
  const { page } = person;
  await person.open('/alert-groups');
  // A list whose rows have the focus takes nothing in by itself.
  await page.keyboard.press('j');
  expect(await person.focus()).toBe('link "PodCrash"');
  const group = await raise('CheckoutDown');
  expect(await person.hears('polite: 1 new')).toEqual(['polite: 1 new']);
  await press(page.getByRole('button', { name: '1 new' }));
  await until('the focus in the new row', async () => (await person.focus()) === 'link "CheckoutDown"');
  await person.arrived();
  await page.keyboard.press('Enter');
  const name = `polite: #${group.number} CheckoutDown`;
  expect(await person.hears(name)).toEqual([name]);
  await person.arrived();
  await press(page.getByRole('button', { name: 'Acknowledge', exact: true }));
  const done = `polite: #${group.number} is yours Undo`;
  expect(await person.hears(done)).toEqual([done]);
  // The button is gone: Tab goes on from where it was.
  await until('the focus', async () => (await person.focus()) === 'group "Commands"');
  await person.arrived();
});

test('acknowledges all of one namespace', async () => {
  for (const pod of ['shop-1', 'shop-2', 'shop-3']) await raise('QueueLong', { pod, namespace: 'shop' });
  const person = await Listener.signedIn();
  const { page } = person;
  await person.open('/alert-groups');
  await page.locator('[data-group]').nth(2).waitFor();
  await page.keyboard.press('/');
  const search = 'combobox "Search title and summary, filter with tokens, or #number"';
  expect(await person.focus()).toBe(search);
  await page.keyboard.type('sh');
  await page.getByRole('option', { name: 'namespace:shop' }).waitFor();
  await person.isInOrder();
  expect(await person.focus()).toBe(`${search} expanded`);
  await page.keyboard.press('ArrowDown');
  await until('the completion that the arrow picked', async () =>
    page.evaluate<boolean>(
      `document.getElementById(document.activeElement.getAttribute('aria-activedescendant') ?? '')?.textContent.includes('namespace:shop')`,
    ),
  );
  await page.keyboard.press('Control+Enter');
  expect(await person.hears('polite: 3 selected')).toEqual(['polite: 3 selected']);
  await until('the focus in a row', async () => (await person.focus()) === 'link "QueueLong"');
  await person.arrived();
  await page.keyboard.press('a');
  const done = 'polite: Done for 3 Alert Groups Undo';
  expect(await person.hears(done)).toEqual([done]);
  await person.arrived();
});

test('reads what became of a group before', async () => {
  const labels = { alertname: 'DiskFull', severity: 'warning' };
  const startsAt = new Date(Date.now() - 60_000).toISOString();
  expect(await sender.post({ groupKey: 'DiskFull', alerts: [{ labels, startsAt }] })).toBe(202);
  const found = async () => (await api.get('/alert-groups?q=DiskFull')).items[0];
  const before = await until('the group', found);
  await api.post(`/alert-groups/${before.id}/acknowledge`, {});
  await api.post(`/alert-groups/${before.id}/resolve`, { note: 'Deleted the old logs' });
  const ended = [{ labels, startsAt, status: 'resolved' as const }];
  expect(await sender.post({ groupKey: 'DiskFull', alerts: ended })).toBe(202);
  await until(
    'its Alert to resolve',
    async () => (await api.get(`/alert-groups/${before.id}`)).firing_alert_count === 0,
  );
  const group = await raise('DiskFull', { severity: 'warning' });
  const person = await Listener.signedIn();
  const { page } = person;
  await person.open(`/alert-groups/${group.id}`);
  const headings = page.locator('main').getByRole('heading');
  expect((await headings.allTextContents()).map((text) => text.replace(/\d+$/, ''))).toEqual([
    ...['DiskFull', 'Summary', 'Alerts', 'What else fires', 'Previous Alert Groups with this key', 'Notes'],
    ...['Timeline', 'Delivery', 'How this works'],
  ]);
  const previous = page.getByRole('region', { name: 'Previous Alert Groups with this key' });
  const told = await previous.ariaSnapshot();
  expect(told).toContain('First acknowledged by admin ×1');
  expect(told).toContain('- paragraph: Deleted the old logs');
  expect(told).toContain('row "No. Status Started Duration Resolved by"');
  await press(previous.getByRole('link', { name: `#${before.number}` }).first());
  // The kind of page, and its name once that is read.
  const name = `polite: #${before.number} DiskFull`;
  expect(await person.hears(name)).toEqual(['polite: Alert Groups', name]);
  await person.arrived();
  await page.getByRole('region', { name: 'Notes' }).getByText('Deleted the old logs').waitFor();
});

test('connects a sender', async () => {
  const person = await Listener.signedIn();
  const { page } = person;
  await person.open('/integrations');
  await press(page.getByRole('link', { name: 'Create an Integration' }).first());
  expect(await person.hears('polite: Create an Integration')).toEqual(['polite: Create an Integration']);
  await person.arrived();
  await press(page.getByRole('button', { name: 'Create and get a token' }));
  // Why it was refused, and then the field that it is about, which has the focus.
  const refused = 'assertive: Some fields need another look.';
  expect(await person.hears(refused)).toEqual([refused]);
  await until('the focus', async () => (await person.focus()) === 'textbox "Name" invalid');
  await person.isInOrder();
  await page.keyboard.type('Shop');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'The token is ready' });
  await dialog.getByText('Waiting for the first Snapshot').waitFor();
  await person.isInOrder();
  expect(await person.focus()).toBe('button "Copy: Token"');
  const [token] = await dialog.locator('pre').allTextContents();
  const alerts = [{ labels: { alertname: 'TestAlert', severity: 'info' } }];
  expect(await new Sender(ready.ingest_endpoint, token!).post({ groupKey: 'test', alerts })).toBe(202);
  const arrived = 'polite: The first Snapshot has arrived. Its Alert Groups';
  expect(await person.hears(arrived)).toEqual([arrived]);
  await person.isInOrder();
  await press(dialog.getByRole('button', { name: 'I have stored it' }));
  // The kind of page, and its name once that is read.
  expect(await person.hears('polite: Shop')).toEqual(['polite: Integrations', 'polite: Shop']);
  await person.arrived();
});

test('makes a Route', async () => {
  await raise('QueueStuck', { team: 'payments' });
  const person = await Listener.signedIn();
  const { page } = person;
  await person.open('/routes');
  await press(page.getByRole('link', { name: 'Create a Route' }).first());
  expect(await person.hears('polite: Create a Route')).toEqual(['polite: Create a Route']);
  await person.arrived();
  const profile = page.getByRole('button', { name: /^On-call/ });
  await profile.focus();
  expect(await person.focus()).toBe(
    'button "On-call Somebody has to react: notices until it is acknowledged, Reminders to the Owner."',
  );
  await page.keyboard.press('Enter');
  await until('the focus in the form', async () => (await person.focus()) === 'textbox "Name"');
  await person.arrived();
  await page.keyboard.type('Payments');
  await press(page.getByRole('button', { name: 'Add a Matcher' }));
  await page.getByLabel('Label', { exact: true }).fill('team');
  await page.getByLabel('Value', { exact: true }).fill('payments');
  const { alerts_looked_at: looked } = await api.post('/group-key-previews', {
    ...{ matchers: [], proposed_group_key: ['alertname'] },
  });
  const taken = `polite: 1 of the ${looked} Alerts of the last 24 hours would come here.`;
  const said = await person.hears(taken);
  expect(said).toContain(taken);
  await person.arrived();
  await press(page.getByRole('button', { name: 'Create', exact: true }));
  // What the form says of the Alerts comes between.
  const saved = ['polite: Payments is saved', 'polite: Routes', 'polite: Payments'];
  const heard = await person.hears('polite: Payments');
  expect(heard.filter((each) => saved.includes(each))).toEqual(saved);
  await person.arrived();
});
