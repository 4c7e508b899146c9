/** What Admins do with channels behind a bridge, in real Chromium, with the reference bridge behind them. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ReferenceBridge, startReferenceBridge } from '../fakes/reference-bridge.ts';
import { Api } from '../harness/api.ts';
import { postTo } from '../harness/bridge-channel.ts';
import { accessibilityFindings, launchChromium, newProfile, signIn } from '../harness/browser.ts';
import { Sender } from '../harness/sender.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';

const shots = path.resolve(import.meta.dirname, '..', '..', 'test-results', 'screenshots');

let tocsin: Installation;
let ready: Ready;
let browser: Browser;
let bridge: ReferenceBridge;
let api: Api;
let desk: Page;

beforeAll(async () => {
  mkdirSync(shots, { recursive: true });
  tocsin = new Installation();
  [ready, browser, bridge] = await Promise.all([tocsin.start(), launchChromium(), startReferenceBridge()]);
  api = await Api.signIn(ready);
  await api.change('/organization/outbound-policy', (policy) => ({ ...policy, allowed: ['127.0.0.0/8'] }));
  await api.post('/connections', {
    ...{ type: 'bridge', name: 'Reference', base_url: bridge.url, bot_token: bridge.token },
    proxy: { enabled: false },
  });
  desk = await (await newProfile(browser)).newPage();
  await signIn(desk, ready);
});

afterAll(async () => {
  await browser.close();
  await tocsin.remove();
  await bridge.close();
});

const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name });
const field = (page: Page, label: string) => page.getByLabel(label, { exact: true });

test('a channel is made through the only Connection; one that its bot cannot use says so at the field', async () => {
  await desk.goto(`${ready.app_url}/destinations`);
  await desk.getByText('Nobody is told yet').waitFor();
  await desk.getByRole('link', { name: 'Create a Destination' }).first().click();
  await desk.getByRole('link', { name: /^Bridge/ }).click();
  await field(desk, 'Name').fill('Production');
  await field(desk, 'Channel').fill('closed');
  await desk.getByRole('button', { name: 'Check and create' }).click();
  await desk.locator('input[aria-invalid="true"]').waitFor();
  expect(await field(desk, 'Channel').getAttribute('aria-invalid')).toBe('true');
  expect(await accessibilityFindings(desk)).toEqual([]);
  await field(desk, 'Channel').fill('alerts/prod');
  await desk.getByRole('button', { name: 'Check and create' }).click();
  await heading(desk, 'Production').waitFor();
  await desk.getByText('alerts > prod').waitFor();
  expect(await accessibilityFindings(desk)).toEqual([]);
});

test('a check and a test message show each step as it went', async () => {
  await desk.getByRole('button', { name: 'Check now' }).click();
  await desk.getByText('Can its bot use the channel?').waitFor();
  await desk.getByRole('link', { name: 'What the check sent' }).waitFor();
  await desk.getByRole('button', { name: 'Send test' }).click();
  await desk.getByText(/ms · 201$/).waitFor();
  expect(bridge.messenger.posts.filter(({ kind }) => kind === 'test')).toHaveLength(1);
  await desk.getByText('Request', { exact: true }).click();
  await desk.getByText('Bearer [redacted]').waitFor();
  expect(await desk.content()).not.toContain(bridge.token);
  expect(await accessibilityFindings(desk)).toEqual([]);
  await desk.screenshot({ path: path.join(shots, 'destination-channel.png'), fullPage: true });
  await desk.getByRole('button', { name: 'Preview' }).click();
  const shown = desk.locator('figure').first();
  await shown.getByText('Ack', { exact: true }).waitFor();
  await shown.getByRole('link', { name: 'Open in Tocsin' }).waitFor();
  expect(await accessibilityFindings(desk)).toEqual([]);
  await desk.locator('#test').screenshot({ path: path.join(shots, 'message-preview.png') });
});

test('a Connection names what posts through it, and is not taken away under it', async () => {
  await desk.goto(`${ready.app_url}/connections`);
  await desk.getByRole('link', { name: 'Reference' }).click();
  await desk.getByRole('link', { name: 'Production' }).waitFor();
  await desk.getByRole('button', { name: 'Delete' }).click();
  const dialog = desk.getByRole('dialog');
  await dialog.getByRole('textbox').fill('Reference');
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByText('It is in use.').waitFor();
  await dialog.getByRole('link', { name: 'Production' }).click();
  await heading(desk, 'Production').waitFor();
});

test('the list counts what there is to be warned of', async () => {
  await api.post('/destinations', {
    ...{ type: 'webhook', name: 'Relay', mode: 'events' },
    events: { url: 'https://relay.example.org/?key=literal', headers: [] },
  });
  await desk.goto(`${ready.app_url}/destinations`);
  await desk.getByRole('row', { name: /Relay/ }).getByText('1 warning').waitFor();
  expect(await accessibilityFindings(desk)).toEqual([]);
});

test('on a phone, in Russian and the dark, somebody is to be called by name', async () => {
  const phone = await (
    await newProfile(browser, { width: 360, height: 740, dark: true, locale: 'ru-RU' })
  ).newPage();
  await signIn(phone, ready);
  await phone.goto(`${ready.app_url}/destinations`);
  await phone.getByRole('link', { name: 'Production' }).click();
  await phone.getByRole('link', { name: 'Изменить' }).click();
  await phone.getByText('Никто не берёт в работу').click();
  await phone.getByRole('checkbox').first().check();
  const unreached = phone.getByText('имя будет названо, но уведомление не придёт');
  await unreached.filter({ visible: true }).first().waitFor();
  expect(await accessibilityFindings(phone)).toEqual([]);
  const wider = await phone.evaluate('document.documentElement.scrollWidth > window.innerWidth');
  expect(wider).toBe(false);
  await phone.screenshot({ path: path.join(shots, 'destination-mentions-dark-ru.png'), fullPage: true });
  await phone.getByRole('button', { name: 'Проверить и сохранить' }).click();
  await heading(phone, 'Production').waitFor();
  await phone.getByText('Никто не берёт в работу:').waitFor();
});

test('an Alert Group says where it was told', async () => {
  const { items } = await api.get('/destinations?type=bridge');
  await postTo(api, [items[0].id]);
  const sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
  const alerts = [{ status: 'firing' as const, labels: { alertname: 'DiskFull', severity: 'critical' } }];
  expect(await sender.post({ groupKey: '{}:{alertname="DiskFull"}', alerts })).toBe(202);
  await desk.goto(`${ready.app_url}/alert-groups?number=1`);
  await heading(desk, /DiskFull/).waitFor();
  await desk
    .locator('#delivery')
    .getByText(/Posted .+/)
    .waitFor();
  await desk.locator('#delivery').getByRole('link', { name: 'Production' }).waitFor();

  const machine = desk.getByRole('region', { name: 'How this works' });
  await machine.locator('summary').first().click();
  const delivery = machine.getByText('Delivery to Production: current, silent', { exact: true });
  await delivery.click();
  const chart = machine.getByRole('img', { name: 'Delivery to Production: current, silent' });
  const now = chart.locator('g.state.now > text:not(.here)');
  expect((await now.allTextContents()).map((text) => text.trim())).toEqual(
    expect.arrayContaining(['current', 'silent']),
  );
  expect(await accessibilityFindings(desk)).toEqual([]);
  await machine.locator('.delivery .view').screenshot({ path: path.join(shots, 'delivery-machine.png') });

  await postTo(api, []);
  await machine.getByText('Delivery to Production: retired, silent', { exact: true }).waitFor();
});
