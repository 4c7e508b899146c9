/** What Admins do with Connections, in real Chromium, with the reference bridge behind them. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ReferenceBridge, startReferenceBridge } from '../fakes/reference-bridge.ts';
import { Api } from '../harness/api.ts';
import { accessibilityFindings, launchChromium, newProfile, signIn } from '../harness/browser.ts';
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
  const policy = await api.call('GET', '/organization/outbound-policy');
  const allowed = { policy: 'standard', allowed: ['127.0.0.0/8'], denied: [] };
  const etag = policy.headers.get('etag') ?? '';
  await api.call('PUT', '/organization/outbound-policy', allowed, { 'if-match': etag });
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

/** Past the channel, which comes next. */
async function later(page: Page): Promise<void> {
  await page.getByRole('heading', { name: 'Choose a channel' }).waitFor();
  await page.getByRole('link', { name: /^Do this later/ }).click();
}

async function beginBridge(page: Page): Promise<void> {
  await page.goto(`${ready.app_url}/connections/new`);
  await page.getByRole('button', { name: /^Bridge/ }).click();
  await field(page, 'Address of the bridge').fill(bridge.url);
}

test('the first Connection is tried before it is saved, and then says what its bridge can do', async () => {
  await desk.goto(ready.app_url);
  await heading(desk, 'Alert Groups').waitFor();
  await desk.keyboard.press('g');
  await desk.keyboard.press('c');
  await desk.getByText('No messenger is connected yet').waitFor();
  expect(await accessibilityFindings(desk)).toEqual([]);

  await beginBridge(desk);
  await desk.getByRole('button', { name: 'Check', exact: true }).click();
  await desk.getByText('no token for this address').waitFor();
  await field(desk, 'Token').fill('another-token');
  await desk.getByRole('button', { name: 'Check', exact: true }).click();
  await desk.getByText('the token was refused').waitFor();
  await field(desk, 'Token').fill(bridge.token);
  await desk.getByRole('button', { name: 'Check', exact: true }).click();
  await desk.getByText('Its bot is oncall-bot.').waitFor();
  await desk.getByText(/^The address uses plain http/).waitFor();
  expect(await accessibilityFindings(desk)).toEqual([]);
  await desk.screenshot({ path: path.join(shots, 'connection-new.png'), fullPage: true });

  await field(desk, 'Name').fill('Reference');
  await desk.getByRole('button', { name: 'Create', exact: true }).click();
  await later(desk);
  await heading(desk, 'Reference').waitFor();
  await desk.getByText('Buttons: yes').waitFor();
  expect(await accessibilityFindings(desk)).toEqual([]);
  await desk.screenshot({ path: path.join(shots, 'connection.png'), fullPage: true });
});

test('a field that the server refuses says so at itself', async () => {
  await beginBridge(desk);
  await desk.getByRole('button', { name: 'Create', exact: true }).click();
  await desk.getByText('This is too short.').first().waitFor();
  expect(await field(desk, 'Name').getAttribute('aria-invalid')).toBe('true');
  await desk.getByRole('link', { name: 'Connections', exact: true }).first().click();
  await desk.getByRole('button', { name: 'Leave' }).click();
});

test('in push mode the address and the secret are shown once', async () => {
  await beginBridge(desk);
  await field(desk, 'Name').fill('Pushing');
  await field(desk, 'Token').fill(bridge.token);
  await field(desk, 'Way').selectOption('push');
  await desk.getByRole('button', { name: 'Generate' }).click();
  const secret = await field(desk, 'Push secret').inputValue();
  expect(secret).toMatch(/^whsec_/);
  await desk.getByRole('button', { name: 'Create', exact: true }).click();
  const dialog = desk.getByRole('dialog');
  await dialog.getByText(secret).waitFor();
  await dialog.getByText(/\/api\/v1\/callbacks\/bridge\/CN/).waitFor();
  expect(await accessibilityFindings(desk)).toEqual([]);
  await dialog.getByRole('button', { name: 'I have stored it' }).click();
  await later(desk);
  await heading(desk, 'Pushing').waitFor();
  expect(await desk.content()).not.toContain(secret);
});

test('on a phone, in Russian and the dark, a saved one is changed and checked with its stored token', async () => {
  const phone = await (
    await newProfile(browser, { width: 360, height: 740, dark: true, locale: 'ru-RU' })
  ).newPage();
  await signIn(phone, ready);
  await phone.goto(`${ready.app_url}/connections`);
  await phone.getByRole('link', { name: 'Reference' }).click();
  await phone.getByRole('button', { name: 'Проверить', exact: true }).click();
  await phone.getByText('Его бот — oncall-bot.').waitFor();
  expect(await accessibilityFindings(phone)).toEqual([]);
  const wider = await phone.evaluate('document.documentElement.scrollWidth > window.innerWidth');
  expect(wider).toBe(false);
  await phone.screenshot({ path: path.join(shots, 'connection-phone-dark-ru.png'), fullPage: true });
  await phone.getByRole('link', { name: 'Изменить' }).click();
  await phone.getByLabel('Имя', { exact: true }).fill('Переименовано');
  await phone.getByRole('button', { name: 'Сохранить' }).click();
  await heading(phone, 'Переименовано').waitFor();
});

test('the Request log shows what a check sent, and everything of a Connection, without the token', async () => {
  await desk.goto(`${ready.app_url}/connections`);
  await desk.getByRole('link', { name: 'Переименовано' }).click();
  await desk.getByRole('button', { name: 'Check', exact: true }).click();
  const [run] = await Promise.all([
    desk.context().waitForEvent('page'),
    desk.getByRole('link', { name: 'What the check sent' }).click(),
  ]);
  await run.getByRole('table').getByRole('link').first().click();
  await run.getByText('Bearer [redacted]').or(run.getByText('Tocsin/')).first().waitFor();
  expect(await run.content()).not.toContain(bridge.token);
  await run.close();
  await desk.getByRole('link', { name: 'Request log' }).click();
  await desk.getByText('getInfo').first().waitFor();
  expect(await accessibilityFindings(desk)).toEqual([]);
});

test('deleting asks for the name', async () => {
  await desk.goto(`${ready.app_url}/connections`);
  await desk.getByRole('link', { name: 'Pushing' }).click();
  await desk.getByRole('button', { name: 'Delete' }).click();
  await desk.getByRole('dialog').getByLabel(/^Type/).fill('Pushing');
  await desk.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await heading(desk, 'Connections').waitFor();
  await desk.getByRole('link', { name: 'Переименовано' }).waitFor();
  expect(await desk.getByRole('link', { name: 'Pushing' }).count()).toBe(0);
  expect(bridge.refusals()).toEqual([]);
});
