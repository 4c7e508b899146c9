/** What people do most, counted: taps, clicks and keys, and the seconds that the service and the browser take (docs/ui.md). */
import { readFileSync } from 'node:fs';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
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

/** Raises one Alert and waits for its newest Alert Group. */
async function raise(alertname: string, labels: Record<string, string> = {}): Promise<Json> {
  const alerts = [
    { labels: { alertname, severity: 'warning', ...labels }, startsAt: new Date().toISOString() },
  ];
  expect(await sender.post({ groupKey: `${alertname}${labels.pod ?? ''}`, alerts })).toBe(202);
  const query = `q=${alertname}&status=firing${labels.pod ? `&label=${encodeURIComponent(`pod="${labels.pod}"`)}` : ''}`;
  return until(
    `the Alert Group ${alertname}`,
    async () => (await api.get(`/alert-groups?${query}`)).items[0],
  );
}

/** Counts what a person does. Letters that are typed are keys. */
class Hand {
  presses = 0;
  keys = 0;
  readonly #page: Page;
  readonly #begun = performance.now();

  constructor(page: Page) {
    this.#page = page;
  }

  /** A tap or a click. */
  async press(what: Locator): Promise<void> {
    this.presses += 1;
    await what.click();
  }

  async key(...names: readonly string[]): Promise<void> {
    for (const name of names) {
      this.keys += 1;
      await this.#page.keyboard.press(name);
    }
  }

  async type(text: string): Promise<void> {
    this.keys += [...text].length;
    await this.#page.keyboard.type(text);
  }

  /** Says what was counted. */
  done(task: string): { presses: number; keys: number; seconds: number } {
    const seconds = (performance.now() - this.#begun) / 1_000;
    const counted = { presses: this.presses, keys: this.keys, seconds: Number(seconds.toFixed(1)) };
    console.info(task, counted);
    return counted;
  }
}

async function opened(where: string, profile: Parameters<typeof newProfile>[1] = {}): Promise<Page> {
  const page = await (await newProfile(browser, profile)).newPage();
  await signIn(page, ready);
  await page.goto(ready.app_url + where);
  await page.getByRole('heading', { level: 1 }).first().waitFor({ state: 'attached' });
  return page;
}

const row = (page: Page, group: Json) => page.locator(`[data-group="${group.id}"]`);

test('a new critical group is found and acknowledged with two taps on a phone', async () => {
  for (const pod of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) await raise('Noise', { pod, severity: 'info' });
  const page = await opened('/alert-groups', { width: 390, height: 844 });
  const group = await raise('CheckoutDown', { severity: 'critical' });
  const hand = new Hand(page);
  await hand.press(row(page, group).getByRole('link').first());
  await hand.press(page.getByRole('button', { name: 'Acknowledge', exact: true }));
  await page.getByText(`#${group.number} is yours`).waitFor();
  expect(hand.done('acknowledge the new critical group').presses).toBeLessThanOrEqual(2);
});

test('every group of one namespace is acknowledged by keys alone', async () => {
  const groups = [];
  for (const pod of ['shop-1', 'shop-2', 'shop-3', 'shop-4'])
    groups.push(await raise('PodCrash', { pod, namespace: 'shop' }));
  const page = await opened('/alert-groups');
  await row(page, groups[3]).waitFor();
  const hand = new Hand(page);
  await hand.key('/');
  await hand.type('sh');
  await page.getByRole('option', { name: 'namespace:shop' }).waitFor();
  await hand.key('ArrowDown', 'Control+Enter');
  await page.getByText(`${groups.length} selected`).waitFor();
  expect(await page.locator('[data-group]').count()).toBe(groups.length);
  // The same from the rows.
  await page.keyboard.press('Escape');
  await page.getByText(`${groups.length} selected`).waitFor({ state: 'detached' });
  await page.keyboard.press('Shift+A');
  await page.getByText(`${groups.length} selected`).waitFor();
  await hand.key('a');
  await page.getByText(`Done for ${groups.length} Alert Groups`).waitFor();
  const open = await api.get(`/alert-groups?status=firing&label=${encodeURIComponent('namespace="shop"')}`);
  expect(open.items).toEqual([]);
  expect(hand.done('acknowledge all of one namespace').keys).toBeLessThanOrEqual(6);
});

test('who had a group last time, and what they did, is on its page', async () => {
  const labels = { alertname: 'DiskFull', severity: 'warning' };
  const startsAt = new Date(Date.now() - 60_000).toISOString();
  expect(await sender.post({ groupKey: 'DiskFull', alerts: [{ labels, startsAt }] })).toBe(202);
  const found = async () => (await api.get('/alert-groups?q=DiskFull')).items[0];
  const before = await until('the group', found);
  await api.post(`/alert-groups/${before.id}/acknowledge`, {});
  await api.post(`/alert-groups/${before.id}/resolve`, { note: 'Deleted the old logs' });
  const alerts = [{ labels, startsAt, status: 'resolved' as const }];
  expect(await sender.post({ groupKey: 'DiskFull', alerts })).toBe(202);
  await until(
    'its Alert to resolve',
    async () => (await api.get(`/alert-groups/${before.id}`)).firing_alert_count === 0,
  );
  const group = await raise('DiskFull');
  expect(group.id).not.toBe(before.id);
  const page = await opened('/alert-groups');
  await row(page, group).getByRole('link').first().click();
  const hand = new Hand(page);
  const previous = page.getByRole('region', { name: 'Previous Alert Groups with this key' });
  await previous.getByText(/First acknowledged by\s+admin ×1/).waitFor();
  await previous.getByText('Deleted the old logs').waitFor();
  expect(hand.done('who had this last time').presses).toBeLessThanOrEqual(2);
});

test('a sender is connected and its test alert seen within 90 seconds', async () => {
  const page = await opened('/integrations');
  const hand = new Hand(page);
  await hand.press(page.getByRole('link', { name: 'Create an Integration' }).first());
  await hand.press(page.getByLabel('Name', { exact: true }));
  await hand.type('Shop');
  await hand.press(page.getByRole('button', { name: 'Create and get a token' }));
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Waiting for the first Snapshot').waitFor();
  const [token, snippet] = await dialog.locator('pre').allTextContents();
  expect(snippet).toContain(ready.ingest_endpoint);
  // What an Alertmanager with the snippet of the dialog sends.
  const alerts = [{ labels: { alertname: 'TestAlert', severity: 'info' } }];
  expect(await new Sender(ready.ingest_endpoint, token!).post({ groupKey: 'test', alerts })).toBe(202);
  await dialog.getByText('The first Snapshot has arrived').waitFor();
  const next = page.context().waitForEvent('page');
  await hand.press(dialog.getByRole('link', { name: 'Its Alert Groups' }));
  await (await next).getByText('TestAlert').first().waitFor();
  expect(hand.done('connect a sender').seconds).toBeLessThanOrEqual(90);
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('button', { name: 'alertmanager.yml', exact: true }).click(),
  ]);
  expect(readFileSync(await saved.path(), 'utf8')).toContain(token);
});

test('a noisy rule is moved to another Route, with what it would take shown before it is saved', async () => {
  const [profile] = (await api.get('/route-profiles')).items;
  const { urgent, group_key, policy } = profile;
  const matchers = [{ label: 'alertname', op: '=~', value: 'Backup.*' }];
  const settings = { urgent, group_key, policy, description: '', destination_ids: [] };
  const route = await api.post('/routes', { ...settings, name: 'Daytime', matchers });
  const first = await raise('QueueLong');
  const page = await opened('/routes');
  const hand = new Hand(page);
  await hand.press(page.getByRole('link', { name: 'Daytime' }).first());
  const value = page.getByLabel('Value', { exact: true }).first();
  await hand.press(value);
  await hand.key('End');
  await hand.type('|QueueLong');
  await page.getByText('Daytime gains 1 Alert from Default').waitFor();
  await hand.press(page.getByRole('button', { name: 'Save', exact: true }));
  await until('it to be saved', async () => {
    const saved = await api.get(`/routes/${route.id}`);
    return saved.matchers[0].value === 'Backup.*|QueueLong';
  });
  expect(hand.done('move a noisy rule').seconds).toBeLessThanOrEqual(60);
  // The next Alert of the rule comes to the other Route; the one that was there stays where it is.
  const next = await raise('QueueLong', { pod: 'next' });
  expect(next.route.name).toBe('Daytime');
  expect((await api.get(`/alert-groups/${first.id}`)).route.name).toBe('Default');
});
