/** How people link an account of a messenger, in real Chromium, with the reference bridge behind it. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PEOPLE } from '../../runtime/cli/bridge-reference/messenger.ts';
import { type ReferenceBridge, startReferenceBridge } from '../fakes/reference-bridge.ts';
import { Api } from '../harness/api.ts';
import { attachChannel } from '../harness/bridge-channel.ts';
import { accessibilityFindings, launchChromium, newProfile, signIn } from '../harness/browser.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const shots = path.resolve(import.meta.dirname, '..', '..', 'test-results', 'screenshots');
const [ALICE] = PEOPLE.map(({ person }) => person);
if (!ALICE) throw new Error('the reference bridge knows nobody');

let tocsin: Installation;
let ready: Ready;
let browser: Browser;
let bridge: ReferenceBridge;
let api: Api;
let phone: Page;

beforeAll(async () => {
  mkdirSync(shots, { recursive: true });
  tocsin = new Installation();
  [ready, browser, bridge] = await Promise.all([tocsin.start(), launchChromium(), startReferenceBridge()]);
  api = await Api.signIn(ready);
  phone = await (await newProfile(browser, { width: 360, height: 740, dark: true })).newPage();
  await signIn(phone, ready);
});

afterAll(async () => {
  await browser.close();
  await tocsin.remove();
  await bridge.close();
});

const section = (page: Page) => page.getByRole('region', { name: 'Messenger accounts' });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

test('without a messenger nobody is offered what does not work', async () => {
  await phone.goto(`${ready.app_url}/profile`);
  await phone.getByText('An Admin has not set up a messenger yet.').waitFor();
  expect(await button(phone, 'Link account').count()).toBe(0);
});

test('a code comes to the account and links it; wrong ones are counted', async () => {
  const { connectionId } = await attachChannel(api, bridge);
  await until('the Info', async () => (await api.get(`/connections/${connectionId}`)).info !== null);
  await phone.reload();
  await button(phone, 'Link account').click();
  await phone.getByLabel('Your e-mail address there').fill('alice@example.org');
  await button(phone, 'Send the code').click();
  const code = phone.getByRole('textbox', { name: 'Code', exact: true });
  await code.fill('xxxxxxxx');
  await phone.getByRole('dialog').getByRole('button', { name: 'Link account' }).click();
  await phone.getByText('This code does not work.').waitFor();
  await phone.getByText('4 tries left').waitFor();
  expect(await accessibilityFindings(phone)).toEqual([]);
  await phone.screenshot({ path: path.join(shots, 'account-link-code-360.png') });

  const direct = bridge.messenger.posts.find(({ kind }) => kind === 'direct');
  await code.fill(/code: (\w{8})\./.exec(direct?.body ?? '')?.[1]?.toLowerCase() ?? '');
  await code.press('Enter');
  await phone.getByText('@alice').waitFor();
  await section(phone).getByText('Never', { exact: true }).waitFor();
  expect(await accessibilityFindings(phone)).toEqual([]);
  await phone.screenshot({ path: path.join(shots, 'account-links-360.png'), fullPage: true });
});

test('a linked account is parted with after a word of warning', async () => {
  await button(phone, 'Unlink: @alice').click();
  await phone.getByText('messages mention it no longer').waitFor();
  await phone.getByRole('dialog').getByRole('button', { name: 'Unlink' }).click();
  await phone.getByText('No account is linked').waitFor();
});

test('a token that arrives closes the dialog by itself', async () => {
  await button(phone, 'Link account').click();
  await phone.getByLabel('How').selectOption('token');
  const open = phone.getByRole('link', { name: 'Open the messenger' });
  await open.waitFor();
  await phone.getByRole('img', { name: 'QR code that opens the messenger' }).waitFor();
  expect(await accessibilityFindings(phone)).toEqual([]);
  const token = (await open.getAttribute('href'))?.split('/').at(-1) ?? '';
  bridge.acts.writeDirectly(0, token, ALICE);
  await phone.getByText('The account is linked').waitFor();
  await section(phone).getByText('@alice').waitFor();
  await phone.getByRole('dialog').waitFor({ state: 'detached' });
});

test('whoever writes “unlink” to the bot is unlinked, as the page says, and it shows that at once', async () => {
  await section(phone).getByText('write /unlink (unlink behind a bridge)').waitFor();
  bridge.acts.writeDirectly(0, 'Unlink', ALICE);
  await section(phone).getByText('No account is linked').waitFor();
  const told = () =>
    bridge.messenger.posts.some(({ body }) => body.startsWith('This account is no longer admin'));
  await until('the bot says whose the account was', async () => told());
});
