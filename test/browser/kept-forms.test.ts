/** What was typed into a form is there again after the session ended and the same person signed in (ui §1.5). */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api, type Json } from '../harness/api.ts';
import { launchChromium, newProfile, signIn } from '../harness/browser.ts';
import { Sender } from '../harness/sender.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const OTHER = { login: 'grace', password: 'quietly rolling thunder' };

let tocsin: Installation;
let ready: Ready;
let browser: Browser;
let api: Api;
let desk: Page;
let route: Json;

beforeAll(async () => {
  tocsin = new Installation();
  [ready, browser] = await Promise.all([tocsin.start(), launchChromium()]);
  api = await Api.signIn(ready);
  const user = { login: OTHER.login, name: 'Grace', role: 'admin', email: null };
  const { password_setup_link: link } = await api.post('/users', user);
  const token = new URL(link.url).hash.replace('#token=', '');
  await new Api(ready.app_url).post('/password-setups', { token, password: OTHER.password });
  const [profile] = (await api.get('/route-profiles')).items;
  const { urgent, group_key, policy } = profile;
  const matchers = [{ label: 'team', op: '=', value: 'storage' }];
  route = await api.post('/routes', {
    name: 'Storage',
    description: '',
    matchers,
    urgent,
    group_key,
    destination_ids: [],
    policy,
  });
  desk = await (await newProfile(browser)).newPage();
  await signIn(desk, ready);
});

afterAll(async () => {
  await browser.close();
  await tocsin.remove();
});

const field = (name: string): Locator => desk.getByLabel(name, { exact: true }).first();
const heading = (name: string): Locator => desk.getByRole('heading', { level: 1, name });
const press = (name: string): Promise<void> => desk.getByRole('button', { name, exact: true }).click();
const stored = (): Promise<Json> => api.get(`/routes/${route.id}`);

/** The session is gone when `send` asks the service for something. */
async function endSession(send: () => Promise<void>): Promise<void> {
  await desk.context().clearCookies();
  await send();
  await desk.getByText('Your session ended. Sign in again to go on.').waitFor();
}

async function signInAgain(who: { readonly login: string; readonly password: string | null } = ready) {
  await field('Login').fill(who.login);
  await field('Password').fill(who.password ?? '');
  await press('Sign in');
}

async function openRoute(): Promise<void> {
  await desk.goto(`${ready.app_url}/routes/${route.id}`);
  await heading('Storage').waitFor();
}

test('an edited Route is as it was left, and is saved on the version that it was begun on', async () => {
  await openRoute();
  await field('Description').fill('Disks of the shop');
  await field('Value').fill('disks');
  await endSession(() => press('Save'));
  await signInAgain();
  await heading('Storage').waitFor();
  expect(new URL(desk.url()).pathname).toBe(`/routes/${route.id}`);
  expect(await field('Description').inputValue()).toBe('Disks of the shop');
  expect(await field('Value').inputValue()).toBe('disks');
  await desk.getByText('Not saved yet').waitFor();
  const { etag } = await stored();
  const [request] = await Promise.all([
    desk.waitForRequest((each) => each.method() === 'PUT' || each.method() === 'PATCH'),
    press('Save'),
  ]);
  expect(request.headers()['if-match']).toBe(etag);
  await until('the Route to be saved', async () => (await stored()).description === 'Disks of the shop');
  expect((await stored()).matchers).toMatchObject([{ label: 'team', value: 'disks' }]);
});

test('what somebody else saved meanwhile is compared, not overwritten', async () => {
  await openRoute();
  await field('Description').fill('Mine');
  await endSession(() => press('Save'));
  await api.change(`/routes/${route.id}`, (now) => ({ ...now, description: 'Theirs' }));
  await signInAgain();
  await desk.getByText('Somebody else changed this while you were editing.').waitFor();
  expect(await field('Description').inputValue()).toBe('Mine');
  await press('Save');
  const dialog = desk.getByRole('dialog');
  await dialog.getByText('Somebody else changed this').waitFor();
  expect((await stored()).description).toBe('Theirs');
  await dialog.getByRole('button', { name: 'Keep mine' }).click();
  await until('the Route to be saved', async () => (await stored()).description === 'Mine');
});

test('a new Route is as it was left, with the profile that it began with', async () => {
  await desk.goto(`${ready.app_url}/routes/new`);
  await desk.getByRole('button', { name: /Informational/ }).click();
  await field('Name').fill('Backups');
  await field('Description').fill('Every night');
  await endSession(() => press('Create'));
  await signInAgain();
  await desk.getByText('Not saved yet').waitFor();
  expect(await field('Name').inputValue()).toBe('Backups');
  await press('Create');
  await heading('Backups').waitFor();
  const made = (await api.get('/routes')).items.find(({ name }: Json) => name === 'Backups');
  expect(made).toMatchObject({ description: 'Every night', urgent: false });
});

test('a Secret that was typed is kept in memory alone', async () => {
  await desk.goto(`${ready.app_url}/connections/new?type=channel_bot`);
  await field('Token').fill('123456:a-secret-of-the-bot');
  await endSession(() => press('Check'));
  const storages = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }])';
  expect(await desk.evaluate<string>(storages)).not.toContain('a-secret-of-the-bot');
  await signInAgain();
  await until('the token', async () => (await field('Token').inputValue()) === '123456:a-secret-of-the-bot');
});

test('another person sees nothing of it, and it is gone then', async () => {
  await openRoute();
  await field('Description').fill('For my eyes');
  await endSession(() => press('Save'));
  await signInAgain(OTHER);
  await heading('Storage').waitFor();
  expect(new URL(desk.url()).pathname).toBe(`/routes/${route.id}`);
  expect(await field('Description').inputValue()).toBe('Mine');
  await endSession(() => desk.getByRole('link', { name: 'Routes' }).first().click());
  await desk.goBack();
  await signInAgain();
  await desk.getByRole('heading', { level: 1 }).waitFor();
  await desk.getByRole('link', { name: 'Routes' }).first().click();
  await desk.getByRole('link', { name: 'Storage' }).click();
  await heading('Storage').waitFor();
  expect(await field('Description').inputValue()).toBe('Mine');
});

test('a sign-out by choice, and leaving the form, keep nothing', async () => {
  await openRoute();
  await field('Description').fill('Signed out');
  await desk.getByRole('button', { name: /Menu of/ }).click();
  await desk.getByRole('button', { name: 'Sign out' }).click();
  await signInAgain();
  await desk.getByRole('link', { name: 'Routes' }).first().click();
  await desk.getByRole('link', { name: 'Storage' }).click();
  await heading('Storage').waitFor();
  expect(await field('Description').inputValue()).toBe('Mine');

  await field('Description').fill('Left');
  await desk.getByRole('link', { name: 'Routes' }).first().click();
  await desk.getByRole('dialog').getByRole('button', { name: 'Leave' }).click();
  await desk.getByRole('link', { name: 'Storage' }).click();
  await heading('Storage').waitFor();
  expect(await field('Description').inputValue()).toBe('Mine');
});

test('the Note of a Resolve dialog is there when the dialog is opened again', async () => {
  const sender = new Sender(ready.ingest_endpoint, ready.integration_token!);
  const alerts = [{ labels: { alertname: 'DiskFull', severity: 'warning' } }];
  expect(await sender.post({ groupKey: 'DiskFull', alerts })).toBe(202);
  const group: Json = await until(
    'the Alert Group',
    async () => (await api.get('/alert-groups?q=DiskFull')).items[0],
  );
  await desk.goto(`${ready.app_url}/alert-groups/${group.id}`);
  const dialog = desk.getByRole('dialog');
  const note = dialog.getByRole('textbox');
  await press('Resolve');
  await dialog.getByText('watched for 15 mins, the Grace period').waitFor();
  await note.fill('Grew the volume');
  await endSession(() => dialog.getByRole('button', { name: 'Resolve' }).click());
  await signInAgain();
  await heading('DiskFull').waitFor();
  expect(await dialog.count()).toBe(0);
  await press('Resolve');
  expect(await note.inputValue()).toBe('Grew the volume');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await press('Resolve');
  expect(await note.inputValue()).toBe('');
});
