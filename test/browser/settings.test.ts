/** What Admins do with the Organization, Service accounts and tokens, in real Chromium on the real service. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api, type Json } from '../harness/api.ts';
import { accessibilityFindings, launchChromium, newProfile, signIn } from '../harness/browser.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

let tocsin: Installation;
let ready: Ready;
let browser: Browser;
let api: Api;
let desk: Page;
let receiver: Server;
const beats: string[] = [];

beforeAll(async () => {
  receiver = createServer((request, response) => {
    beats.push(`${request.method} ${request.url} ${request.headers['user-agent']}`);
    response.end('ok');
  });
  await new Promise<void>((resolve) => void receiver.listen(0, '127.0.0.1', () => resolve()));
  tocsin = new Installation();
  [ready, browser] = await Promise.all([tocsin.start(), launchChromium()]);
  api = await Api.signIn(ready);
  desk = await (await newProfile(browser)).newPage();
  await signIn(desk, ready);
});

afterAll(async () => {
  receiver.close();
  await browser.close();
  await tocsin.remove();
});

const open = (where: string) => desk.goto(ready.app_url + where);
const save = () => desk.getByRole('button', { name: 'Save' }).click();
/** Calls with a token, and with no cookie. */
const statusWith = async (token: string, where: string) =>
  (await new Api(ready.app_url).call('GET', where, undefined, { authorization: `Bearer ${token}` })).status;

async function newToken(name: string): Promise<string> {
  await desk.getByRole('button', { name: 'New token' }).click();
  const dialog = desk.getByRole('dialog');
  await dialog.getByLabel('Name').fill(name);
  const readOnly = dialog.getByRole('button', { name: 'Read only' });
  if (await readOnly.isVisible()) await readOnly.click();
  await dialog.getByRole('button', { name: 'Create' }).click();
  const value = await desk.getByText(/^svc_[ps]at_[a-z2-7]{52}$/).innerText();
  await desk.getByRole('dialog').getByRole('button').last().click();
  await desk.getByText(value).waitFor({ state: 'detached' });
  return value;
}

test('a Service account is made, gets a token that works, and is disabled and deleted', async () => {
  await open('/admin/service-accounts/new');
  await desk.getByLabel('Name').fill('deploy-bot');
  await desk.getByLabel('Role').selectOption('responder');
  await desk.getByRole('button', { name: 'Create' }).click();
  await desk.getByRole('heading', { level: 1, name: 'deploy-bot' }).waitFor();
  const token = await newToken('pipeline');
  expect(await statusWith(token, '/alert-groups')).toBe(200);
  expect(await statusWith(token, '/users')).toBe(403);

  await desk.getByRole('button', { name: 'Disable' }).click();
  await desk.getByText('It is disabled').waitFor();
  expect(await desk.getByText('Somebody else changed this').count()).toBe(0);
  expect(await statusWith(token, '/alert-groups')).toBe(401);
  await desk.getByRole('button', { name: 'Enable' }).click();
  await desk.getByText('It is disabled').waitFor({ state: 'detached' });
  expect(await statusWith(token, '/alert-groups')).toBe(200);

  await desk.getByRole('button', { name: 'Delete' }).click();
  await desk.getByRole('dialog').getByRole('textbox').fill('deploy-bot');
  await desk.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await desk.getByText('No Service account yet').waitFor();
  expect(await statusWith(token, '/alert-groups')).toBe(401);
});

test('a Personal access token reads what its maker chose, until it is revoked', async () => {
  await open('/profile');
  const token = await newToken('laptop');
  expect(await statusWith(token, '/audit-log')).toBe(200);
  await desk.getByRole('button', { name: 'Revoke laptop' }).click();
  await desk.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await desk.getByText('The token is revoked').waitFor();
  expect(await statusWith(token, '/audit-log')).toBe(401);
});

test('a value that arrives is mapped to a level, and of two Admins who save at once one compares', async () => {
  await open('/admin/organization/severity-levels');
  await desk.getByRole('button', { name: 'Add a value' }).click();
  await desk.getByPlaceholder('Value').last().fill('page');
  await desk.getByLabel('Level').last().selectOption('critical');
  await api.change('/organization', (settings) => ({ ...settings, name: 'Night shift' }));
  await save();
  await desk.getByText('Night shift').first().waitFor();
  await desk.getByRole('button', { name: /mine/i }).click();
  await until('the mapping to be saved', async () => {
    const { severity_mapping } = await api.get('/organization');
    return severity_mapping.some(({ value, level }: Json) => value === 'page' && level === 'critical');
  });
});

test('what is wrong is told at its field, and nothing typed is lost', async () => {
  await open('/admin/organization/general');
  await desk.getByLabel('Time zone').fill('Mars/Olympus');
  await save();
  await desk.locator('[aria-invalid="true"]').waitFor();
  expect(await desk.getByLabel('Time zone').inputValue()).toBe('Mars/Olympus');
  expect((await api.get('/organization')).time_zone).toBe('UTC');
});

test('the outgoing heartbeat beats at once, by what the outbound policy lets through, and shows no URL', async () => {
  const { port } = receiver.address() as AddressInfo;
  await open('/admin/organization/general');
  await open('/admin/organization/outgoing-heartbeat');
  await desk.getByLabel('URL', { exact: true }).fill(`http://127.0.0.1:${port}/ping/0b7c9f52`);
  await save();
  await desk.getByText('The last request failed').waitFor();
  expect(beats).toEqual([]);
  await api.change('/organization/outbound-policy', (policy) => ({ ...policy, allowed: ['127.0.0.0/8'] }));
  await desk.getByLabel('URL', { exact: true }).fill(`http://127.0.0.1:${port}/ping/0b7c9f52`);
  await save();
  await desk.getByText('The last request was answered').waitFor();
  expect(beats[0]).toMatch(/^GET \/ping\/0b7c9f52 Tocsin\//);
  const status = await until('the status to say so', async () => {
    const { outgoing_heartbeat } = await api.get('/system-status');
    return outgoing_heartbeat.last_ok === true && outgoing_heartbeat;
  });
  expect(JSON.stringify([status, await api.get('/organization'), await api.get('/audit-log')])).not.toContain(
    '0b7c9f52',
  );
});

test('every page of it is accessible', async () => {
  for (const where of [
    '/admin/service-accounts',
    '/admin/roles',
    '/profile',
    '/admin/organization/security',
  ]) {
    await open(where);
    await desk.getByRole('heading', { level: 1 }).waitFor();
    // Not until the network is idle: the live stream never is.
    await desk.locator('main .skeleton').first().waitFor({ state: 'detached' });
    const findings = await accessibilityFindings(desk);
    expect([where, findings.filter(({ impact }) => impact === 'serious' || impact === 'critical')]).toEqual([
      where,
      [],
    ]);
  }
});
