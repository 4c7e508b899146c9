/** Where Alert Groups went, on the statistics page, in real Chromium. */
import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
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
let api: Api;
let receiver: WebhookReceiver;
let sender: string;
const routes: Record<string, string> = {};

beforeAll(async () => {
  mkdirSync(shots, { recursive: true });
  tocsin = new Installation();
  [ready, receiver, browser] = await Promise.all([tocsin.start(), startWebhookReceiver(), launchChromium()]);
  api = await Api.signIn(ready);
  sender = (await api.get(`/integrations/${ready.integration_id}`)).name;
  await api.change('/organization/outbound-policy', (policy) => ({ ...policy, allowed: ['127.0.0.0/8'] }));
  const [chat, pager] = [await destination('Chat'), await destination('Pager')];
  await route('Payments', [chat, pager]);
  await route('Storage', [chat]);
  await route('Nobody', []);
  await raise('payments', ['PayA', 'PayB', 'PayC']);
  await raise('storage', ['DiskA', 'DiskB']);
  await raise('nobody', ['QuietA']);
});

afterAll(async () => {
  await browser.close();
  await tocsin.remove();
  await receiver.close();
});

async function destination(name: string): Promise<string> {
  const { destination: made, signing_secret } = await api.post('/destinations', {
    ...{ type: 'webhook', name, mode: 'events', limiter: { limit: 1_000, per_seconds: 1 } },
    events: { url: receiver.url, headers: [] },
  });
  receiver.trust(signing_secret);
  return made.id;
}

async function route(name: string, destination_ids: readonly string[]): Promise<void> {
  const [{ urgent, group_key, policy }] = (await api.get('/route-profiles')).items;
  const matchers = [{ label: 'team', op: '=', value: name.toLowerCase() }];
  const made = await api.post('/routes', {
    ...{ name, description: '', urgent, group_key, policy, matchers, destination_ids },
  });
  routes[name] = made.id;
}

/** One Alert Group a name. */
async function raise(team: string, names: readonly string[]): Promise<void> {
  const from = new Sender(ready.ingest_endpoint, ready.integration_token!);
  for (const alertname of names)
    expect(await from.post({ groupKey: alertname, alerts: [{ labels: { alertname, team } }] })).toBe(202);
}

const EXPECTED = (name: string) => [
  ...[
    [name, 'Payments', '3'],
    [name, 'Storage', '2'],
    [name, 'Nobody', '1'],
  ],
  ...[
    ['Payments', 'Chat', '3'],
    ['Payments', 'Pager', '3'],
  ],
  ...[
    ['Storage', 'Chat', '2'],
    ['Nobody', 'No Destination', '1'],
  ],
];

/** Groups about the service itself are not what the test is about. */
async function countedAll(): Promise<void> {
  await until('all groups counted', async () => {
    const { links } = await api.get('/alert-group-flow');
    const counts = links.map(({ alert_group_count: count }: Json) => count);
    return counts.toSorted().join() === '1,1,2,2,3,3,3';
  });
}

const tableOf = (page: Page) => page.getByRole('table', { name: 'Where Alert Groups went' });
const rowsOf = (page: Page) =>
  tableOf(page)
    .locator('tbody tr')
    .evaluateAll((rows) =>
      rows.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent?.trim())),
    );

test('a picture and a table say which groups went where; bands by keyboard, names lead to their pages', async () => {
  await countedAll();
  const page = await (await newProfile(browser, { width: 1440, height: 900 })).newPage();
  await signIn(page, ready);
  await page.goto(`${ready.app_url}/statistics?period=2d`);
  const section = page.getByRole('region', { name: 'Where Alert Groups went' });
  const band = (name: string) => section.getByRole('option', { name });
  await band('Payments → Pager: 3 Alert Groups').waitFor();
  expect(await section.getByRole('option').count()).toBe(7);

  await band(`${sender} → Payments`).focus();
  await section.locator('.told').getByText(`${sender} → Payments: 3 Alert Groups`).waitFor();
  await page.keyboard.press('End');
  await section.locator('.told').getByText('Nobody → No Destination: 1 Alert Group').waitFor();
  await page.keyboard.press('ArrowUp');
  await section.locator('.told').getByText('Storage → Chat: 2 Alert Groups').waitFor();
  await page.keyboard.press('Tab');
  expect(await section.locator('.told').innerText()).toContain('Point at a band');
  // The last one lies above all others.
  await band('Nobody → No Destination').hover({ force: true });
  await section.locator('.told').getByText('Nobody → No Destination: 1 Alert Group').waitFor();

  await section.getByText('The same as a table').click();
  await tableOf(page).waitFor();
  expect(await rowsOf(page)).toEqual(EXPECTED(sender));
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save as CSV' }).click();
  const csv = (await readFile(await (await download).path(), 'utf8')).split('\r\n');
  for (const cells of EXPECTED(sender)) expect(csv).toContain(cells.join());
  await section.getByRole('link', { name: 'Payments' }).first().click();
  await page.waitForURL(`**/routes/${routes.Payments}`);
});

test.each([
  ['phone, light', { width: 390, height: 844 }, 'table'],
  ['desk, light', { width: 1440, height: 900 }, 'picture'],
  ['desk, dark', { width: 1440, height: 900, dark: true }, 'picture'],
  ['tablet, dark, ru', { width: 640, height: 900, dark: true, locale: 'ru-RU' }, 'picture'],
] as const)('it is accessible and fits: %s', async (name, profile, shows) => {
  await countedAll();
  const page = await (await newProfile(browser, profile)).newPage();
  await signIn(page, ready);
  await page.goto(`${ready.app_url}/statistics?period=2d`);
  const section = page.getByRole('region', { name: /Where Alert Groups went|Куда попали группы/ });
  await (shows === 'table' ? tableOf(page) : section.getByRole('option').first()).waitFor();
  expect(await section.getByRole('option').count()).toBe(shows === 'table' ? 0 : 7);
  if (shows === 'table') expect(await rowsOf(page)).toEqual(EXPECTED(sender));
  const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth');
  expect(overflow).toBeLessThanOrEqual(0);
  expect(await accessibilityFindings(page)).toEqual([]);
  await section.screenshot({ path: path.join(shots, `flow-${name.replaceAll(', ', '-')}.png`) });
});
