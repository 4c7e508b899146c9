/** How people link accounts of a chat server and of a channel bot, in real Chromium, against the strict servers. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningBotApi, startBotApi } from '../fakes/channel-bot/http.ts';
import type { FakePerson } from '../fakes/channel-bot/world.ts';
import { type RunningChatServer, startChatServer } from '../fakes/chat-server/http.ts';
import type { FakePost, FakeUser } from '../fakes/chat-server/server.ts';
import { Api } from '../harness/api.ts';
import { postTo } from '../harness/bridge-channel.ts';
import { accessibilityFindings, launchChromium, newProfile, signIn } from '../harness/browser.ts';
import { Sender } from '../harness/sender.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const shots = path.resolve(import.meta.dirname, '..', '..', 'test-results', 'screenshots');

let tocsin: Installation;
let ready: Ready;
let browser: Browser;
let chat: RunningChatServer;
let alice: FakeUser;
let bots: RunningBotApi;
let api: Api;
let desk: Page;
let phone: Page;

beforeAll(async () => {
  mkdirSync(shots, { recursive: true });
  tocsin = new Installation();
  [ready, browser, chat, bots] = await Promise.all([
    tocsin.start(),
    launchChromium(),
    startChatServer(),
    startBotApi(),
  ]);
  alice = chat.server.addUser('alice');
  api = await Api.signIn(ready);
  await attachChat();
  desk = await (await newProfile(browser)).newPage();
  phone = await (await newProfile(browser, { width: 360, height: 740, dark: true })).newPage();
  await signIn(desk, ready);
  await signIn(phone, ready);
});

afterAll(async () => {
  await browser.close();
  await tocsin.remove();
  await Promise.all([chat.close(), bots.close()]);
});

const WIDE = { limit: 1000, per_seconds: 1 };

const COMMON = { proxy: { enabled: false }, limiter: WIDE };
const makeChat = (name: string): Promise<{ readonly id: string }> =>
  api.post('/connections', {
    ...{ ...COMMON, type: 'chat_server', name, server_url: chat.url, bot_token: chat.token },
  });

async function attachChat(): Promise<void> {
  await api.change('/organization/outbound-policy', (policy) => ({ ...policy, allowed: ['127.0.0.0/8'] }));
  const { id } = await makeChat('Team chat');
  const { destination } = await api.post('/destinations', {
    ...{ type: 'chat_server', name: 'ops', limiter: WIDE, connection_id: id },
    ...{ team_id: chat.server.team.id, channel_id: chat.server.channel.id },
  });
  await postTo(api, [destination.id], { thread_batching_window_seconds: 0 });
}

const attachBot = (): Promise<unknown> =>
  api.post('/connections', {
    ...{ ...COMMON, type: 'channel_bot', name: 'Bot', bot_api_base_url: bots.url, bot_token: bots.token },
  });

const section = (page: Page) => page.getByRole('region', { name: 'Messenger accounts' });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const inDialog = (page: Page, name: string) =>
  page.getByRole('dialog').getByRole('button', { name, exact: true });
const shot = (page: Page, name: string) =>
  page.screenshot({ path: path.join(shots, `account-link-${name}.png`) });
const lastCode = () =>
  until('the code', async () => /code: (\w{8})\./.exec(chat.server.posts.at(-1)?.message ?? '')?.[1]);

let root: FakePost;

test('a press by somebody who is not linked says how to link there, and changes nothing', async () => {
  const sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
  const alerts = [{ status: 'firing', labels: { alertname: 'Linked', severity: 'critical' } }] as const;
  expect(await sender.post({ groupKey: '{}:{alertname="Linked"}', alerts })).toBe(202);
  root = await until('the post', async () =>
    chat.server.posts.find(({ message }) => message.includes(' Linked')),
  );
  await chat.server.press(root.id, 'ack', alice);
  const [shown] = chat.server.ephemeral;
  expect(shown?.message).toMatch(/enter the code that the bot sends you: http\S+\/profile$/);
  expect((await api.get('/alert-groups?q=Linked')).items[0].status).toBe('firing');
});

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
  await phone.getByRole('dialog').waitFor({ state: 'detached' });
  await until('the bot says whom the account acts for', async () =>
    chat.server.posts.some(({ message }) => message.startsWith('Done, you are')),
  );
  expect(chat.server.violations).toEqual([]);
  await shot(desk, 'chat-linked');
});

test('a press of the linked account counts as the person, and the list shows when', async () => {
  await chat.server.press(root.id, 'ack', alice);
  await until('the edit', async () => root.message.startsWith('🟠'));
  const [{ id, status }] = (await api.get('/alert-groups?q=Linked')).items;
  expect(status).toBe('acknowledged');
  await desk.goto(`${ready.app_url}/alert-groups/${id}#timeline`);
  await desk.getByRole('region', { name: 'Timeline' }).getByText('admin').first().waitFor();
  await shot(desk, 'chat-press');
  await phone.reload();
  await section(phone).getByText('@alice').waitFor();
  expect(await section(phone).getByText('Never', { exact: true }).count()).toBe(0);
});

test('the button under the words of the bot ends the link, and the page shows it at once', async () => {
  const done = chat.server.posts.find(({ message }) => message.startsWith('Done, you are'));
  await chat.server.press(done?.id ?? '', 'unlink', alice);
  await section(phone).getByText('No account is linked').waitFor();
  expect(done).toMatchObject({ message: 'This account is no longer admin (admin) in Tocsin', props: {} });
  expect(chat.server.violations).toEqual([]);
  await linkAlice();
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

test('whoever has just set a messenger up is offered its Connection first', async () => {
  const field = (name: string) => desk.getByLabel(name, { exact: true });
  await desk.goto(`${ready.app_url}/connections/new`);
  await desk.getByRole('button', { name: /^Chat server \(Mattermost\)/ }).click();
  await field('Name').fill('Your chat');
  await field('Address of the server').fill(chat.url);
  await field('Token').fill(chat.token);
  await button(desk, 'Create').click();
  await desk.getByRole('radio', { name: /Operations › Alerts/ }).check();
  await button(desk, 'Check and create').click();
  await button(desk, 'Link account').click();
  const chosen = desk.getByRole('dialog').getByLabel('Connection').locator('option:checked');
  await expect.poll(() => chosen.innerText()).toBe('Your chat · Chat server (Mattermost)');
});

test('a channel bot is opened by a link or a QR code, and Start links the account; the dialog closes by itself', async () => {
  await attachBot();
  await phone.reload();
  await button(phone, 'Link account').click();
  await phone.getByLabel('Connection').selectOption('Bot · Channel bot (Telegram)');
  const open = phone.getByRole('link', { name: 'Open Telegram' });
  const address = new URL((await open.getAttribute('href')) ?? '');
  expect(address.origin + address.pathname).toBe('https://t.me/oncall_bot');
  await phone.getByRole('img', { name: 'QR code that opens the messenger' }).waitFor();
  expect(await accessibilityFindings(phone)).toEqual([]);
  await shot(phone, 'bot-360');

  const bob = bots.server.world.addPerson(5001, 'bob_tg');
  const start = `/start ${address.searchParams.get('start')}`;
  write(bob, start);
  await section(phone).getByText('@bob_tg').waitFor();
  await phone.getByRole('dialog').waitFor({ state: 'detached' });
  await toldTo(bob, 'Done, you are admin (admin) in Tocsin');

  const mallory = bots.server.world.addPerson(5002, 'mallory');
  write(mallory, start);
  await toldTo(mallory, 'Nothing waits for this token.');
  expect((await api.get('/me/account-links')).items).toMatchObject([
    { messenger: 'channel_bot', external_id: '5001', username: 'bob_tg', connection: { name: 'Bot' } },
  ]);
  write(bob, '/unlink');
  await section(phone).getByText('No account is linked').waitFor();
  await toldTo(bob, 'This account is no longer admin (admin) in Tocsin');
  expect(bots.server.violations).toEqual([]);
});

test('in Russian, too', async () => {
  const page = await (await newProfile(browser, { locale: 'ru-RU' })).newPage();
  await signIn(page, ready);
  await page.goto(`${ready.app_url}/profile`);
  await button(page, 'Связать учётную запись').click();
  await page.getByLabel('Подключение').selectOption({ index: 0 });
  await page.getByRole('link', { name: 'Открыть Telegram' }).waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  await shot(page, 'bot-ru');
});

/** Through the API, with the code that the bot sends. */
async function linkAlice(): Promise<void> {
  const before = chat.server.posts.length;
  const [{ id }] = (await api.get('/connections')).items;
  const { request_id } = await api.post('/me/account-links/chat-server', {
    connection_id: id,
    username: 'alice',
  });
  await until('another code', async () => chat.server.posts.length > before);
  const code = await lastCode();
  await api.post('/me/account-links/chat-server/confirmation', { request_id, code });
}

/** A person writes to the bot in their private chat. */
function write(person: FakePerson, text: string): void {
  const direct = bots.server.world.chats.get(person.id);
  if (direct) bots.server.write(direct, person, text);
}

const toldTo = (person: FakePerson, text: string) =>
  until(`${person.username} is told: ${text}`, async () =>
    bots.server.world.chats.get(person.id)?.messages.some((message) => message.text.startsWith(text)),
  );
