/** Single sign-on as people see it: real Chromium between Tocsin and a real identity provider. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api } from '../harness/api.ts';
import { accessibilityFindings, launchChromium, newProfile, signIn } from '../harness/browser.ts';
import { type IdentityProvider, startIdentityProvider } from '../harness/identity-provider.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';

const shots = path.resolve(import.meta.dirname, '..', '..', 'test-results', 'screenshots');

let tocsin: Installation;
let ready: Ready;
let browser: Browser;
let provider: IdentityProvider;
let desk: Page;

beforeAll(async () => {
  mkdirSync(shots, { recursive: true });
  tocsin = new Installation();
  [ready, browser] = await Promise.all([tocsin.start(), launchChromium()]);
  provider = await startIdentityProvider(`${ready.app_url}/api/v1/sessions/oidc/callback`);
  const api = await Api.signIn(ready);
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
  await provider.stop();
});

const field = (page: Page, label: string) => page.getByLabel(label, { exact: true });
const ANN = {
  sub: 'ann-at-work',
  claims: { preferred_username: 'ann', name: 'Ann Lee', groups: ['on-call'] },
};

/** A browser that knows nobody, at the button. */
async function atTheButton(): Promise<Page> {
  const page = await (await newProfile(browser)).newPage();
  await page.goto(`${ready.app_url}/sign-in?return_to=%2Fprofile`);
  await page.getByRole('link', { name: 'Sign in with Acme' }).waitFor();
  return page;
}

test('an Admin enters the identity provider, saves, and sees what it says of itself', async () => {
  await desk.goto(`${ready.app_url}/admin/oidc`);
  await field(desk, 'People may sign in through the identity provider').check();
  await field(desk, 'Issuer URL').fill(provider.issuer);
  await field(desk, 'Client ID').fill(provider.clientId);
  await field(desk, 'Client secret').fill(provider.clientSecret);
  await field(desk, 'Name on the button').fill('Acme');
  await desk.getByRole('button', { name: 'Add a group' }).click();
  await field(desk, 'Group').fill('on-call');
  await field(desk, 'Role').selectOption('responder');
  await desk.getByRole('button', { name: 'Save', exact: true }).click();
  await desk.getByText('A secret is stored.').waitFor();
  await desk.getByRole('button', { name: 'Check the saved settings' }).click();
  await desk.getByText(`${provider.issuer}/token`).waitFor();
  expect(await accessibilityFindings(desk)).toEqual([]);
  await desk.screenshot({ path: path.join(shots, 'single-sign-on.png'), fullPage: true });
});

test('somebody new signs in with the button and is where they wanted to be, with the Role of their groups', async () => {
  provider.visitor = ANN;
  const page = await atTheButton();
  await page.getByRole('link', { name: 'Sign in with Acme' }).click();
  await page.waitForURL(`${ready.app_url}/profile`);
  await page.getByText('You sign in through your identity provider.').waitFor();
  await page.getByText('Responder').first().waitFor();
});

test('whom no group lets in is told so on the sign-in page', async () => {
  provider.visitor = { sub: 'guest', claims: { preferred_username: 'guest', groups: ['visitors'] } };
  const page = await atTheButton();
  await page.getByRole('link', { name: 'Sign in with Acme' }).click();
  await page.getByText('Your account has no access to Tocsin.').waitFor();
  expect(new URL(page.url()).searchParams.get('error')).toBe('no_access');
});

test('an identity that belongs to somebody is not linked; a free one takes the place of the password', async () => {
  const linking = async () => {
    await desk.goto(`${ready.app_url}/profile`);
    await desk.getByRole('button', { name: 'Link with Acme' }).click();
  };
  provider.visitor = ANN;
  await linking();
  await desk.getByText('This identity belongs to another account here.').waitFor();
  // The provider remembers whom it let in; its cookies are those with an underscore.
  await desk.context().clearCookies({ name: /^_/ });
  provider.visitor = { sub: 'admin-at-work', claims: { groups: ['on-call'] } };
  await linking();
  await desk.getByText('You sign in through your identity provider.').waitFor();
  expect(await desk.getByText('Present password').count()).toBe(0);
});
