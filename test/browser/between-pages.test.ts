/** What leads from one page to the next in an installation in which everything has happened once. In real Chromium. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Json } from '../harness/api.ts';
import { launchChromium, newProfile, signIn } from '../harness/browser.ts';
import { groupOf, type Seeded, seed } from '../harness/seeded.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';

let tocsin: Installation;
let ready: Ready;
let browser: Browser;
let seeded: Seeded;
let checkout: Json;
let desk: Page;

beforeAll(async () => {
  tocsin = new Installation();
  [ready, browser] = await Promise.all([tocsin.start(), launchChromium()]);
  seeded = await seed(ready);
  checkout = await groupOf(seeded.api, 'CheckoutErrorRate');
  desk = await (await newProfile(browser)).newPage();
  await signIn(desk, ready);
});

afterAll(async () => {
  await browser.close();
  await seeded.close();
  await tocsin.remove();
});

async function open(page: Page, where: string): Promise<void> {
  await page.goto(ready.app_url + where);
  await page.locator('h1').first().waitFor({ state: 'attached' });
  await page.locator('main .skeleton').first().waitFor({ state: 'detached' });
}

test('a person who has chosen Russian reads Russian in an English browser', async () => {
  const page = await (await newProfile(browser)).newPage();
  await signIn(page, { ...ready, ...seeded.people[1] });
  await page.getByRole('heading', { level: 1, name: 'Группы алертов' }).waitFor();
});

test('signing in leads back to where one wanted to go, and a wrong password says so', async () => {
  const page = await (await newProfile(browser)).newPage();
  await page.goto(`${ready.app_url}/alert-groups/${checkout.id}?order=asc`);
  await page.getByLabel('Login').fill('ada');
  await page.getByLabel('Password').fill('wrong');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByText('Login, password or code is wrong.').waitFor();
  await page.getByLabel('Password').fill(seeded.people[0]?.password ?? '');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: /CheckoutErrorRate/ }).waitFor();
  expect(new URL(page.url()).search).toBe('?order=asc');
  await page.goto(`${ready.app_url}/profile`);
  await page.getByRole('button', { name: 'Sign out everywhere' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click();
  await page.waitForURL('**/sign-in');
});

test('theme and language change at once and are remembered', async () => {
  const page = await (await newProfile(browser)).newPage();
  await signIn(page, { ...ready, ...seeded.people[0] });
  await page.getByRole('button', { name: 'Menu of Ada Lovelace' }).click();
  await page.getByLabel('Theme').selectOption('dark');
  await page.getByLabel('Language').selectOption('ru');
  for (const again of [false, true]) {
    if (again) await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Группы алертов' }).waitFor();
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
    expect(await page.evaluate('document.documentElement.lang')).toBe('ru');
  }
});

test('a label becomes a filter, with Alt an exclusion, and Back brings back filters and the place', async () => {
  const { id } = await groupOf(seeded.api, 'KafkaConsumerLag');
  await open(desk, '/alert-groups');
  const cluster = () => desk.locator(`[data-group="${id}"]`).getByRole('button', { name: 'cluster' });
  await cluster().click({ modifiers: ['Alt'] });
  await desk.getByRole('button', { name: 'Remove: cluster!="prod"' }).waitFor();
  await desk.getByRole('button', { name: 'Clear all' }).click();
  await cluster().click();
  await desk.getByRole('button', { name: 'Remove: cluster="prod"' }).waitFor();
  await desk.setViewportSize({ width: 1440, height: 400 });
  const links = desk.locator('[data-group] a');
  await links.last().scrollIntoViewIfNeeded();
  const top = await desk.evaluate<number>('window.scrollY');
  expect(top).toBeGreaterThan(0);
  await links.last().click();
  await desk.waitForURL(/alert-groups\/AG/);
  await desk.waitForFunction('window.scrollY === 0');
  // The old place comes back with the rows, however late they are.
  await desk.route(/\/api\/v1\/alert-groups\?/, async (route) => {
    await pause(1_500);
    await route.continue();
  });
  await desk.goBack();
  await desk.getByRole('button', { name: 'Remove: cluster="prod"' }).waitFor();
  await desk.waitForFunction(`Math.abs(window.scrollY - ${top}) < 2`);
  await desk.unrouteAll({ behavior: 'wait' });
  await desk.setViewportSize({ width: 1440, height: 900 });
});

test('a number opens its group, and the draft of a Note survives leaving', async () => {
  await open(desk, '/alert-groups');
  await desk.keyboard.press('Control+k');
  await desk.keyboard.type(`#${checkout.number}`);
  await desk.keyboard.press('Enter');
  await desk.getByRole('heading', { level: 1, name: /CheckoutErrorRate/ }).waitFor();
  await desk.keyboard.press('n');
  await desk.keyboard.type('rolled back');
  await desk.getByRole('link', { name: 'Routes' }).first().click();
  await desk.getByRole('heading', { level: 1, name: 'Routes' }).waitFor();
  await desk.goBack();
  await desk.waitForFunction('document.getElementById("note-field")?.value === "rolled back"');
  await desk.getByLabel('Add a Note').focus();
  await desk.keyboard.press('Control+Enter');
  await desk.getByText('Note added').waitFor();
});

test('a row that no longer fits its list stays, dimmed', async () => {
  const group = await groupOf(seeded.api, 'CertificateExpires');
  await open(desk, '/alert-groups?tab=firing');
  await desk.locator(`[data-group="${group.id}"] a`).first().waitFor();
  // A list that nobody has touched may be read anew, without the row.
  await desk.keyboard.press('j');
  await seeded.api.post(`/alert-groups/${group.id}/acknowledge`);
  await desk.locator(`[data-group="${group.id}"].dimmed`).waitFor();
});

test('an open dialog says when somebody was faster, and keeps what was typed', async () => {
  const group = await groupOf(seeded.api, 'NodeNotReady');
  await open(desk, `/alert-groups/${group.id}`);
  await desk.keyboard.press('r');
  await desk.getByLabel('Note (optional)').fill('half a sentence');
  await seeded.api.post(`/alert-groups/${group.id}/resolve`, {});
  await desk.getByText('the Command is not possible any more').waitFor();
  expect(await desk.getByLabel('Note (optional)').inputValue()).toBe('half a sentence');
});

test('a double press creates once, and the signing secret closes by its button alone', async () => {
  await open(desk, '/destinations/new?type=webhook');
  await desk.getByLabel('Name', { exact: true }).fill('Twice');
  await desk.getByLabel('URL').fill('https://x.example.org');
  await desk.getByRole('button', { name: 'Create', exact: true }).dblclick();
  await desk.getByText('Copy it now').waitFor();
  const { items } = await seeded.api.get('/destinations');
  expect(items.filter(({ name }: Json) => name === 'Twice')).toHaveLength(1);
  await desk.keyboard.press('Escape');
  expect(await desk.getByText('Copy it now').count()).toBe(1);
  await desk.getByRole('button', { name: 'I have stored it' }).click();
  await desk.getByRole('heading', { level: 1, name: 'Twice' }).waitFor();
});

test('leaving a changed form asks, also with Back, and an untouched one is not changed', async () => {
  const [route] = (await seeded.api.get('/routes')).items;
  const destination = (await seeded.api.get('/destinations')).items[0];
  for (const where of [
    `/routes/${route.id}`,
    `/integrations/${ready.integration_id}/edit`,
    `/destinations/${destination.id}/edit`,
  ]) {
    await open(desk, where);
    await desk.getByRole('button', { name: 'Save' }).waitFor();
    expect(await desk.getByText('Not saved yet').count(), where).toBe(0);
  }
  await open(desk, '/integrations');
  await desk.getByRole('link', { name: 'Create an Integration' }).click();
  await desk.getByLabel('Name', { exact: true }).fill('x');
  await desk.goBack();
  await desk.getByRole('dialog', { name: 'Leave without saving?' }).waitFor();
  await desk.getByRole('button', { name: 'Stay' }).click();
  expect(desk.url()).toMatch(/\/integrations\/new$/);
  expect(await desk.getByLabel('Name', { exact: true }).inputValue()).toBe('x');
  await desk.getByRole('link', { name: 'Routes' }).first().click();
  await desk.getByRole('button', { name: 'Leave' }).click();
  await desk.getByRole('heading', { level: 1, name: 'Routes' }).waitFor();
});

test('an Integration is deleted only after its name was typed', async () => {
  const integration = await seeded.api.post('/integrations', {
    ...{ name: 'Staging', description: '', connection_mode: 'webhook_only', static_labels: {} },
    ...{ duplicate_window_seconds: 45, heartbeat: { enabled: false } },
  });
  await open(desk, `/integrations/${integration.id}`);
  await desk.getByRole('button', { name: 'Delete' }).click();
  const confirm = desk.getByRole('dialog').getByRole('button', { name: 'Delete' });
  expect(await confirm.isDisabled()).toBe(true);
  await desk.getByLabel(/to confirm/).fill('Staging');
  await confirm.click();
  await desk.getByRole('heading', { level: 1, name: 'Integrations' }).waitFor();
  expect((await seeded.api.get('/integrations')).items.map(({ name }: Json) => name)).not.toContain(
    'Staging',
  );
});

test('a Command without a connection says that nothing was sent', async () => {
  const group = await groupOf(seeded.api, 'QueueStuck');
  await open(desk, `/alert-groups/${group.id}`);
  const acknowledge = desk.getByRole('button', { name: 'Acknowledge' });
  await acknowledge.waitFor();
  await desk.context().setOffline(true);
  // Playwright would wait until it is enabled, which a person does not.
  await acknowledge.click({ force: true });
  await desk.getByText('This was not sent, and nothing was changed.').first().waitFor();
  await desk.context().setOffline(false);
});
