/** How a person comes and goes: made by an Admin, let in by a link, with a second factor, and shut out, in real Chromium. */
import { generateSync } from 'otplib';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessibilityFindings, launchChromium, newProfile, signIn } from '../harness/browser.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';

const PASSWORD = 'quietly rolling thunder';

let tocsin: Installation;
let ready: Ready;
let browser: Browser;
let desk: Page;
let phone: Page;
let link = '';
let secret = '';

beforeAll(async () => {
  tocsin = new Installation();
  [ready, browser] = await Promise.all([tocsin.start(), launchChromium()]);
  desk = await (await newProfile(browser)).newPage();
  phone = await (await newProfile(browser, { width: 360, height: 740, dark: true })).newPage();
  await signIn(desk, ready);
});

afterAll(async () => {
  await browser.close();
  await tocsin.remove();
});

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

/** What an authenticator app shows, so many steps from now. */
const appCode = (steps: number) => generateSync({ secret, epoch: Date.now() / 1000 + steps * 30 });

async function signInOnPhone(): Promise<void> {
  await phone.getByLabel('Login').fill('dora');
  await phone.getByLabel('Password').fill(PASSWORD);
  await press(phone, 'Sign in');
}

test('an Admin makes a user and gets a link, shown once; what has just happened does not lie ahead', async () => {
  // The page is loaded, and 20 s pass without a tick of its relative times.
  await desk.clock.setSystemTime(Date.now() - 20_000);
  await desk.goto(`${ready.app_url}/admin/users/new`);
  await desk.getByLabel('Login').waitFor();
  await desk.clock.setSystemTime(Date.now());
  await desk.getByLabel('Login').fill('dora');
  await desk.getByLabel('Name').fill('Dora Finch');
  expect(await accessibilityFindings(desk)).toEqual([]);
  await press(desk, 'Create and get a link');
  const dialog = desk.getByRole('dialog');
  link = await dialog.getByText('/password-setup#token=').innerText();
  await dialog.getByRole('button').last().click();
  await heading(desk, 'Dora Finch');
  expect(await desk.getByText(link).count()).toBe(0);
  await desk.getByText('just now').first().waitFor();
});

test('the link takes a password that is long enough, once, and leaves the address bar', async () => {
  await phone.goto(link);
  await heading(phone, 'Set a password');
  expect(phone.url()).not.toContain('token');
  await phone.getByLabel('New password').fill('short');
  await press(phone, 'Set the password');
  await phone.getByRole('alert').getByText('too short').waitFor();
  await phone.getByLabel('New password').fill(PASSWORD);
  expect(await accessibilityFindings(phone)).toEqual([]);
  await press(phone, 'Set the password');
  await phone.getByText('The password is set').waitFor();

  const late = await (await newProfile(browser)).newPage();
  await late.goto(link);
  await late.getByLabel('New password').fill(PASSWORD);
  await press(late, 'Set the password');
  await late.getByText('This link was used').waitFor();
  await late.context().close();
});

test('the user signs in and sets up a second factor, whose recovery codes are shown until they are kept', async () => {
  await phone.getByRole('link', { name: 'Sign in' }).click();
  await signInOnPhone();
  await phone.waitForURL(/\/alert-groups/);
  await phone.goto(`${ready.app_url}/profile`);
  await press(phone, 'Set up two-factor');
  const dialog = phone.getByRole('dialog');
  // The page spells it in groups, for those who cannot scan.
  secret = (await dialog.locator('code').first().innerText()).replaceAll(' ', '');
  // The step before this one: the code of this one stays good for the sign-in that follows.
  await dialog.getByLabel('6-digit code of the app').fill(appCode(-1));
  const codes = dialog.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
  await codes.first().waitFor();
  expect(await codes.count()).toBe(10);
  const goOn = dialog.getByRole('button', { name: 'Continue' });
  expect(await goOn.isDisabled()).toBe(true);
  await dialog.getByLabel('I have stored them').check();
  await goOn.click();
  await dialog.waitFor({ state: 'detached' });
});

test('from then on a password alone lets nobody in, and a code of the app does', async () => {
  await phone.context().clearCookies();
  await phone.goto(`${ready.app_url}/sign-in?return_to=%2Fprofile`);
  await signInOnPhone();
  await phone.waitForURL(/\/sign-in\/totp/);
  expect(await accessibilityFindings(phone)).toEqual([]);
  await phone.goto(`${ready.app_url}/alert-groups`);
  await phone.waitForURL(/\/sign-in\/totp/);
  await phone.locator('[autocomplete="one-time-code"]').fill(appCode(1));
  await phone.waitForURL(/\/alert-groups/);
});

test('an Admin disables the user, whose open page asks to sign in, in vain', async () => {
  await desk.reload();
  await heading(desk, 'Dora Finch');
  await press(desk, 'Disable');
  await desk.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
  await desk.getByText('This account is disabled').waitFor();
  // It is the Admin's own doing, and in the way of no other change.
  expect(await desk.getByText('Somebody else changed this').count()).toBe(0);
  await desk.getByLabel('Name', { exact: true }).fill('Dora Finch-Bell');
  await press(desk, 'Save');
  await heading(desk, 'Dora Finch-Bell');
  await phone.waitForURL(/\/sign-in/);
  await signInOnPhone();
  await phone.getByRole('alert').getByText(/\S/).waitFor();
  expect(phone.url()).toContain('/sign-in');

  await press(desk, 'Enable');
  await desk.getByText('This account is disabled').waitFor({ state: 'detached' });
  await signInOnPhone();
  await phone.waitForURL(/\/sign-in\/totp/);
});
