/** How people link accounts of a chat server, in real Chromium, with the strict server behind it. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningChatServer, startChatServer } from '../fakes/chat-server/http.ts';
import { Api } from '../harness/api.ts';
import { accessibilityFindings, launchChromium, newProfile, signIn } from '../harness/browser.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const shots = path.resolve(import.meta.dirname, '..', '..', 'test-results', 'screenshots');

let tocsin: Installation;
let ready: Ready;
let browser: Browser;
let chat: RunningChatServer;
let api: Api;
let desk: Page;
let phone: Page;

beforeAll(async () => {
  mkdirSync(shots, { recursive: true });
  tocsin = new Installation();
  [ready, browser, chat] = await Promise.all([tocsin.start(), launchChromium(), startChatServer()]);
  chat.server.addUser('alice');
  api = await Api.signIn(ready);
  await api.change('/organization/outbound-policy', (policy) => ({ ...policy, allowed: ['127.0.0.0/8'] }));
  await api.post('/connections', {
    ...{ type: 'chat_server', name: 'Team chat', server_url: chat.url, bot_token: chat.token },
    proxy: { enabled: false },
  });
  desk = await (await newProfile(browser)).newPage();
  phone = await (await newProfile(browser, { width: 360, height: 740, dark: true })).newPage();
  await signIn(desk, ready);
  await signIn(phone, ready);
});

afterAll(async () => {
  await browser.close();
  await tocsin.remove();
  await chat.close();
});

const section = (page: Page) => page.getByRole('region', { name: 'Messenger accounts' });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const inDialog = (page: Page, name: string) =>
  page.getByRole('dialog').getByRole('button', { name, exact: true });
const shot = (page: Page, name: string) =>
  page.screenshot({ path: path.join(shots, `account-link-${name}.png`), fullPage: true });
const lastCode = () =>
  until('the code', async () => /code: (\w{8})\./.exec(chat.server.posts.at(-1)?.message ?? '')?.[1]);

test('a chat server sends a code to the account that the person names; nobody else is found', async () => {
  await phone.goto(`${ready.app_url}/profile`);
  await button(phone, 'Link account').click();
  await phone.getByText('Team chat · Chat server (Mattermost)').waitFor();
  const name = phone.getByLabel('Your user name there');
  await name.fill('@nobody');
  await button(phone, 'Send the code').click();
  await phone.getByText('Nobody there has this name').waitFor();
  expect(await accessibilityFindings(phone)).toEqual([]);
  await name.fill('@Alice');
  await name.press('Enter');
  await phone.getByText('The bot of Team chat has sent you a code').waitFor();
  await phone.getByText('5 tries left').waitFor();
  expect(await accessibilityFindings(phone)).toEqual([]);
  await shot(phone, 'chat-code-360');
});

test('the code links the account, and the other window of the person shows it at once', async () => {
  await desk.goto(`${ready.app_url}/profile`);
  await section(desk).getByText('No account is linked').waitFor();
  const code = phone.getByRole('textbox', { name: 'Code', exact: true });
  const typed = (await lastCode()).toLowerCase();
  await code.fill(`${typed.slice(0, 4)} ${typed.slice(4)}`);
  await code.press('Enter');
  for (const page of [phone, desk]) await section(page).getByText('@alice').waitFor();
  expect(await phone.getByRole('dialog').count()).toBe(0);
  await until('the bot says whom the account acts for', async () =>
    chat.server.posts.some(({ message }) => message.startsWith('Done, you are')),
  );
  expect(chat.server.violations).toEqual([]);
  await shot(desk, 'chat-linked');
});

test('an Admin sees the account on the page of the user and takes it away', async () => {
  const { user } = await api.get('/me');
  await desk.goto(`${ready.app_url}/admin/users/${user.id}`);
  await section(desk).getByText('Chat server (Mattermost)').waitFor();
  expect(await button(desk, 'Link account').count()).toBe(0);
  await shot(desk, 'of-user');
  await button(desk, 'Remove: @alice').click();
  await inDialog(desk, 'Remove').click();
  await section(desk).getByText('No account is linked').waitFor();
  await section(phone).getByText('No account is linked').waitFor();
});
