/** The first steps of a new installation, in real Chromium. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api } from '../harness/api.ts';
import { accessibilityFindings, launchChromium, newProfile, signIn } from '../harness/browser.ts';
import { Sender } from '../harness/sender.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const shots = path.resolve(import.meta.dirname, '..', '..', 'test-results', 'screenshots');

let tocsin: Installation;
let ready: Ready;
let browser: Browser;
let api: Api;

beforeAll(async () => {
  mkdirSync(shots, { recursive: true });
  tocsin = new Installation();
  [ready, browser] = await Promise.all([tocsin.start(), launchChromium()]);
  api = await Api.signIn(ready);
});

afterAll(async () => {
  await browser.close();
  await tocsin.remove();
});

const stepsOf = (page: Page) => page.getByRole('region', { name: 'First steps' });
const isDone = (page: Page, name: string) =>
  stepsOf(page).getByRole('listitem').filter({ hasText: name }).getByText('Done', { exact: true });

test.each([
  ['phone, dark', { width: 390, height: 844, dark: true }, 'First steps'],
  ['desk, light, ru', { width: 1440, height: 900, locale: 'ru-RU' }, 'Первые шаги'],
])('is accessible and fits: %s', async (name, profile, title) => {
  const page = await (await newProfile(browser, profile)).newPage();
  await signIn(page, ready);
  await page.getByRole('region', { name: title }).waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth');
  expect(overflow).toBeLessThanOrEqual(0);
  await page.screenshot({ path: path.join(shots, `first-run-${name.replaceAll(', ', '-')}.png`) });
});

test('each step leads to where it is done, is done by itself, and the list ends with the last', async () => {
  const page = await (await newProfile(browser, { width: 1440, height: 900 })).newPage();
  await signIn(page, ready);
  await stepsOf(page).getByText('0 of 6 done').waitFor();
  await stepsOf(page).getByRole('link', { name: 'Connect a sender' }).click();
  await page.waitForURL(`**/integrations/${ready.integration_id}`);
  await page.goBack();

  // The command is for a shell beside Alertmanager. What it posts there are alerts as Tocsin takes them.
  const command = (await stepsOf(page).locator('pre').textContent()) ?? '';
  const [, test] = /-d '(.*)'$/.exec(command) ?? [];
  const alerts = JSON.parse(test ?? '[]');
  expect(alerts).toMatchObject([{ labels: { alertname: 'TocsinTest' } }]);
  const sender = new Sender(ready.ingest_endpoint, ready.integration_token!);
  expect(await sender.post({ groupKey: 'TocsinTest', alerts })).toBe(202);
  await isDone(page, 'Connect a sender').waitFor();
  await isDone(page, 'Receive the first alert').waitFor();
  await page.getByRole('link', { name: 'TocsinTest' }).first().waitFor();
  expect(await stepsOf(page).locator('pre').count()).toBe(0);

  const events = { url: 'https://hooks.example/x', headers: [] };
  const hook = await api.post('/destinations', { type: 'webhook', name: 'A hook', mode: 'events', events });
  const { items } = await api.get('/routes');
  await api.change(`/routes/${items[0].id}`, (route) => ({
    ...route,
    destination_ids: [hook.destination.id],
  }));
  await isDone(page, 'Say what is on-call').waitFor();
  await isDone(page, 'Post to where people read').waitFor();

  await stepsOf(page).getByRole('checkbox', { name: 'A copy is kept' }).check();
  await stepsOf(page).getByText('5 of 6 done').waitFor();
  await page.reload();
  await isDone(page, 'Back up the master keys').waitFor();
  await page.screenshot({ path: path.join(shots, 'first-run-nearly-done.png') });

  await stepsOf(page).getByRole('link', { name: 'Add a second administrator' }).click();
  await page.getByRole('heading', { level: 1, name: 'Create a user' }).waitFor();
  await page.goBack();
  await stepsOf(page).getByText('5 of 6 done').waitFor();
  await page.getByRole('link', { name: 'TocsinTest' }).first().waitFor();
  // Somebody else makes the user: the page is left alone.
  await api.post('/users', { login: 'ada', name: 'Ada', role: 'admin', email: null });
  await stepsOf(page).waitFor({ state: 'detached' });
  const kept = "JSON.parse(localStorage.getItem('tocsin.first-run')).phase";
  await until('the end to be remembered', async () => (await page.evaluate<string>(kept)) === 'over');
});

test('nobody sees them where there are Alert Groups already', async () => {
  const page = await (await newProfile(browser)).newPage();
  await signIn(page, ready);
  await page.goto(`${ready.app_url}/alert-groups?tab=resolved`);
  const kept = "localStorage.getItem('tocsin.first-run')";
  await until('the look', async () => (await page.evaluate<string | null>(kept)) !== null);
  expect(await stepsOf(page).count()).toBe(0);
});
