/**
 * A messenger from nothing to an Alert Group that is worked on there, in real Chromium, with the strict fakes behind it.
 * Whatever a messenger needs is done in the UI: the wizard alone leads to a channel that gets alerts.
 */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PEOPLE } from '../../runtime/cli/bridge-reference/messenger.ts';
import { type RunningBotApi, startBotApi } from '../fakes/channel-bot/http.ts';
import { type RunningChatServer, startChatServer } from '../fakes/chat-server/http.ts';
import { type ReferenceBridge, startReferenceBridge } from '../fakes/reference-bridge.ts';
import { Api, type Json } from '../harness/api.ts';
import { repliesTo, rootsOf } from '../harness/bridge-channel.ts';
import { accessibilityFindings, launchChromium, newProfile, signIn } from '../harness/browser.ts';
import { Sender } from '../harness/sender.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const shots = path.resolve(import.meta.dirname, '..', '..', 'test-results', 'screenshots');
const THREE_MINUTES_MS = 180_000;
/** Between two keys of somebody who types. */
const KEY_MS = 15;

let tocsin: Installation;
let ready: Ready;
let browser: Browser;
let chat: RunningChatServer;
let bots: RunningBotApi;
let bridge: ReferenceBridge;
let api: Api;
let desk: Page;

beforeAll(async () => {
  mkdirSync(shots, { recursive: true });
  tocsin = new Installation();
  [ready, browser, chat, bots, bridge] = await Promise.all([
    tocsin.start(),
    launchChromium(),
    startChatServer(),
    startBotApi(),
    startReferenceBridge(),
  ]);
  const { server } = chat;
  const sales = server.addTeam('sales', 'Sales');
  for (const number of [1, 2, 3, 4, 5, 6, 7, 8])
    server.addChannel(sales.id, `deals-${number}`, `Deals ${number}`, [server.bot.id]);
  server.addChannel(sales.id, 'secret', 'Not for bots');
  server.addUser('alice');
  api = await Api.signIn(ready);
  await api.change('/organization/outbound-policy', (policy) => ({ ...policy, allowed: ['127.0.0.0/8'] }));
  desk = await (await newProfile(browser)).newPage();
  await signIn(desk, ready);
});

afterAll(async () => {
  await browser.close();
  await tocsin.remove();
  await Promise.all([chat.close(), bots.close(), bridge.close()]);
});

const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name });
const field = (page: Page | Locator, label: string) => page.getByLabel(label, { exact: true });
const button = (page: Page | Locator, name: string) => page.getByRole('button', { name, exact: true });
/** Past the last step: the Default route is offered first, and posts to the Destination from then on. */
async function attach(name: string): Promise<void> {
  await button(desk, 'Next: choose a Route').click();
  await heading(desk, 'Choose what is posted there').waitFor();
  await desk.getByText(`No Route posts to ${name} yet, so no alert arrives there.`).waitFor();
  expect(await desk.getByRole('radio', { name: /^Default/ }).isChecked()).toBe(true);
  expect(await accessibilityFindings(desk)).toEqual([]);
  await desk.screenshot({ path: path.join(shots, 'wizard-route.png'), fullPage: true });
  await button(desk, 'Add to the Route Default').click();
  await desk.getByText(`Alert Groups of these Routes are posted to ${name}: Default`).waitFor();
  await desk.getByText('The set-up is complete.').waitFor();
  expect(await accessibilityFindings(desk)).toEqual([]);
}

/** The page of the Alert Group, and what its Timeline says of who took it. */
async function openGroup(title: string): Promise<Locator> {
  const group = (await api.get('/alert-groups')).items.find((each: Json) => each.title.includes(title));
  await desk.goto(`${ready.app_url}/alert-groups/${group.id}`);
  await desk.getByRole('heading', { level: 1, name: title }).waitFor();
  const timeline = desk.getByRole('region', { name: 'Timeline' });
  return timeline
    .getByRole('listitem')
    .filter({ hasText: 'acknowledged' })
    .filter({ hasText: 'admin' })
    .first();
}

async function resolve(): Promise<void> {
  await desk
    .getByRole('button', { name: /^Resolve/ })
    .first()
    .click();
  await desk
    .getByRole('dialog')
    .getByRole('button', { name: /^Resolve/ })
    .click();
}

const alice = () => [...chat.server.users.values()].find(({ username }) => username === 'alice')!;
const roots = (title: string) =>
  chat.server.posts.filter(({ rootId, message }) => rootId === '' && message.includes(title));

test('from nothing to a pressed test message, a linked account and a Route in under three minutes', async () => {
  await desk.goto(`${ready.app_url}/connections/new`);
  const begun = performance.now();
  await desk.getByRole('button', { name: /^Chat server \(Mattermost\)/ }).click();
  await desk.getByText('Enable Bot Account Creation').waitFor();
  await field(desk, 'Address of the server').pressSequentially(chat.url, { delay: KEY_MS });
  await field(desk, 'Token').fill('half-a-token');
  await button(desk, 'Check').click();
  await desk.getByText('the token was refused').waitFor();
  await desk.getByText(/^Copy the whole token again/).waitFor();
  expect(await accessibilityFindings(desk)).toEqual([]);
  await field(desk, 'Token').fill(chat.token);
  await button(desk, 'Check').click();
  await desk.getByText('Its bot is tocsin.').waitFor();
  await desk.getByText(/answers to presses appear in the Thread/).waitFor();
  await desk.screenshot({ path: path.join(shots, 'wizard-connection.png'), fullPage: true });
  await button(desk, 'Create').click();

  await heading(desk, 'Choose a channel').waitFor();
  await desk.waitForFunction('document.activeElement?.textContent === "Choose a channel"');
  await desk.getByRole('searchbox', { name: /Channel/ }).pressSequentially('alert', { delay: KEY_MS });
  expect(await desk.getByRole('radio').count()).toBe(1);
  await desk.keyboard.press('Tab');
  await desk.keyboard.press('Space');
  expect(await desk.getByRole('radio', { name: /Operations › Alerts/ }).isChecked()).toBe(true);
  expect(await field(desk, 'Name').inputValue()).toBe('Alerts');
  expect(await accessibilityFindings(desk)).toEqual([]);
  await desk.screenshot({ path: path.join(shots, 'wizard-channel.png'), fullPage: true });
  await button(desk, 'Check and create').click();

  await heading(desk, 'Try it, and link your account').waitFor();
  await desk.getByText('AllowedUntrustedInternalConnections').waitFor();
  await button(desk, 'Send test').click();
  const steps = desk.locator('#test').getByRole('listitem');
  await steps.filter({ hasText: 'Press of a button' }).filter({ hasText: 'passed' }).waitFor();
  expect(await accessibilityFindings(desk)).toEqual([]);
  await desk.screenshot({ path: path.join(shots, 'wizard-message.png'), fullPage: true });

  await button(desk, 'Link account').click();
  const dialog = desk.getByRole('dialog');
  await dialog.getByRole('textbox').fill('alice');
  await button(dialog, 'Send the code').click();
  const code = dialog.getByRole('textbox', { name: 'Code', exact: true });
  await code.waitFor();
  const sent = chat.server.posts.find(({ message }) => message.includes('Tocsin code: '));
  await code.fill(/code: (\w{8})/.exec(sent?.message ?? '')?.[1] ?? '');
  await button(dialog, 'Link account').click();
  await desk.getByText('@alice').first().waitFor();
  await attach('Alerts');
  expect(performance.now() - begun).toBeLessThan(THREE_MINUTES_MS);
});

test('an alert becomes a message; its button acknowledges by name, Resolve edits it, the Thread has the replies', async () => {
  const sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
  const alert = (shard: string) => ({
    labels: { alertname: 'CheckoutDown', cluster: 'eu-1', severity: 'critical', shard },
  });
  await sender.post({ groupKey: 'checkout', alerts: [alert('a')] });
  const root = await until('the Root message', async () => roots('CheckoutDown')[0]);
  await sender.post({ groupKey: 'checkout', alerts: [alert('a'), alert('b')] });
  const replies = () => chat.server.posts.filter(({ rootId }) => rootId === root.id);
  const [reply] = await until('the reply', async () => replies().length > 0 && replies());
  expect(reply?.message).toMatch(/1 new alert/);
  const taken = await openGroup('CheckoutDown');
  const [pressed] = await chat.server.press(root.id, 'ack', alice());
  expect(pressed?.status).toBe(200);
  await taken.waitFor();
  await desk.screenshot({ path: path.join(shots, 'chat-server-acknowledged.png'), fullPage: true });
  await until('the edit', async () => root.props.attachments?.[0]?.actions.some(({ id }) => id === 'unack'));

  await resolve();
  await until('the last edit', async () => root.props.attachments?.[0]?.actions.length === 0);
  expect(roots('CheckoutDown')).toHaveLength(1);
  expect(chat.server.violations).toEqual([]);
});

test('a channel bot: from nothing to a test message, a linked account and a Route in under three minutes', async () => {
  const { world } = bots.server;
  await desk.goto(`${ready.app_url}/connections/new`);
  const begun = performance.now();
  await desk.getByRole('button', { name: /^Channel bot \(Telegram\)/ }).click();
  await desk.getByText('write /newbot to @BotFather').waitFor();
  await field(desk, 'Address of the Bot API').fill(bots.url);
  await field(desk, 'Token').fill(`${bots.token}x`);
  await button(desk, 'Check').click();
  await desk.getByText(/^Copy the whole token again/).waitFor();
  await field(desk, 'Token').fill(bots.token);
  await button(desk, 'Check').click();
  await desk.getByText('Its bot is oncall_bot.').waitFor();
  await button(desk, 'Create').click();

  await heading(desk, 'Choose a channel').waitFor();
  await field(desk, 'Name').fill('Telegram alerts');
  await field(desk, 'Channel').fill('@nowhere');
  await button(desk, 'Check and create').click();
  await desk.locator('input[aria-invalid="true"]').waitFor();
  expect(await accessibilityFindings(desk)).toEqual([]);
  await field(desk, 'Channel').fill('@alerts');
  await button(desk, 'Check and create').click();

  await heading(desk, 'Try it, and link your account').waitFor();
  const shown = desk.locator('figure').first();
  await shown.getByRole('link', { name: 'Open in Tocsin' }).waitFor();
  expect(await shown.textContent()).not.toMatch(/<\/?\w/);
  await desk.locator('#test').screenshot({ path: path.join(shots, 'message-preview-telegram.png') });
  await button(desk, 'Send test').click();
  const steps = desk.locator('#test').getByRole('listitem');
  await steps.filter({ hasText: 'Copy in the discussion group' }).filter({ hasText: 'passed' }).waitFor();
  const tried = world.channel.messages.at(-1)!;
  const bob = world.addPerson(5001, 'bob_tg');
  bots.server.press(tried, 'Ack', bob);
  await until('the answer to the press', async () =>
    bots.server.answers.some(({ text }) => /test/i.test(text ?? '')),
  );
  expect(await accessibilityFindings(desk)).toEqual([]);
  await desk.screenshot({ path: path.join(shots, 'wizard-telegram.png'), fullPage: true });

  await button(desk, 'Link account').click();
  const dialog = desk.getByRole('dialog');
  await dialog.getByLabel('Connection').selectOption('Telegram · Channel bot (Telegram)');
  const link = (await dialog.getByRole('link', { name: 'Open Telegram' }).getAttribute('href')) ?? '';
  const start = new URL(link).searchParams.get('start');
  bots.server.write(world.chats.get(bob.id)!, bob, `/start ${start}`);
  await desk.getByText('@bob_tg').first().waitFor();
  await attach('Telegram alerts');
  expect(performance.now() - begun).toBeLessThan(THREE_MINUTES_MS);
});

test('an alert becomes a post of the bot; its button acknowledges by name, Resolve edits it, the Thread is comments', async () => {
  const { world } = bots.server;
  const bob = world.people.get(5001)!;
  const sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
  const alert = (shard: string) => ({ labels: { alertname: 'QueueStuck', severity: 'critical', shard } });
  await sender.post({ groupKey: 'queue', alerts: [alert('a')] });
  const post = await until('the post', async () =>
    world.channel.messages.find(({ text }) => text.includes('QueueStuck')),
  );
  await sender.post({ groupKey: 'queue', alerts: [alert('a'), alert('b')] });
  const comments = () => world.group.messages.filter(({ by, copyOf }) => by === null && copyOf === null);
  const comment = await until('the comment', async () => comments()[0]);
  const copy = world.group.messages.find(({ copyOf }) => copyOf?.messageId === post.messageId);
  expect([comment.text.split('\n')[0], comment.replyTo]).toEqual(['1 new alert', copy?.messageId]);

  const taken = await openGroup('QueueStuck');
  bots.server.press(post, 'Ack', bob);
  await taken.waitFor();
  await until('the edit', async () => post.keyboard.flat().some(({ text }) => text === 'Unack'));
  await desk.screenshot({ path: path.join(shots, 'telegram-acknowledged.png'), fullPage: true });
  await resolve();
  await until('the last edit', async () => post.keyboard.length === 0 && post.text.includes('Resolved'));
  expect(roots('QueueStuck')).toHaveLength(1);
  expect(bots.server.violations).toEqual([]);
});

test('a bridge: from nothing to a test message, a linked account and a Route in under three minutes', async () => {
  await desk.goto(`${ready.app_url}/connections/new`);
  const begun = performance.now();
  await desk.getByRole('button', { name: /^Bridge/ }).click();
  await field(desk, 'Name').fill('Reference');
  await field(desk, 'Address of the bridge').fill(bridge.url);
  await field(desk, 'Token').fill(bridge.token);
  await button(desk, 'Check').click();
  await desk.getByText('Its bot is oncall-bot.').waitFor();
  await button(desk, 'Create').click();

  await heading(desk, 'Choose a channel').waitFor();
  await field(desk, 'Name').fill('Bridged alerts');
  await field(desk, 'Channel').fill('alerts/prod');
  await button(desk, 'Check and create').click();
  await heading(desk, 'Try it, and link your account').waitFor();
  await button(desk, 'Send test').click();
  await desk.locator('#test').getByRole('listitem').filter({ hasText: 'passed' }).waitFor();
  expect(await accessibilityFindings(desk)).toEqual([]);

  await button(desk, 'Link account').click();
  const dialog = desk.getByRole('dialog');
  await dialog.getByLabel('Connection').selectOption('Reference · Bridge');
  await dialog.getByLabel('Your e-mail address there').fill('alice@example.org');
  await button(dialog, 'Send the code').click();
  const code = dialog.getByRole('textbox', { name: 'Code', exact: true });
  await code.waitFor();
  const direct = bridge.messenger.posts.find(({ kind }) => kind === 'direct');
  await code.fill(/code: (\w{8})\./.exec(direct?.body ?? '')?.[1] ?? '');
  await code.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await attach('Bridged alerts');
  expect(performance.now() - begun).toBeLessThan(THREE_MINUTES_MS);
});

test('an alert becomes a message of the bridge; its button acknowledges by name, Resolve edits it, the Thread has replies', async () => {
  const [someone] = PEOPLE;
  const sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
  const alert = (shard: string) => ({ labels: { alertname: 'DiskFull', severity: 'critical', shard } });
  await sender.post({ groupKey: 'disk', alerts: [alert('a')] });
  const root = await until('the message', async () => rootsOf(bridge, 'DiskFull')[0]);
  await sender.post({ groupKey: 'disk', alerts: [alert('a'), alert('b')] });
  const reply = await until('the reply', async () => repliesTo(bridge, root.message_id)[0]);
  expect(reply.body).toMatch(/1 new alert/);

  const taken = await openGroup('DiskFull');
  const ack = root.buttons.find(({ text }) => text === 'Ack');
  bridge.acts.press(root.message_id, ack?.data ?? '', someone!.person);
  await taken.waitFor();
  await until('the edit', async () => root.buttons.some(({ text }) => text === 'Unack'));
  await resolve();
  await until('the last edit', async () => root.buttons.length === 0 && /resolved/i.test(root.body));
  expect(rootsOf(bridge, 'DiskFull')).toHaveLength(1);
  expect(bridge.refusals()).toEqual([]);
});

/** Address of the last step of the set-up of the first Destination. */
async function lastStep(): Promise<string> {
  const { id, type, connection_id: connection } = (await api.get('/destinations')).items[0];
  return `/connections/new?${new URLSearchParams({ type, connection, destination: id, step: 'route' })}`;
}

test('on a phone, in Russian and the dark, the message is shown as it looks there', async () => {
  const phone = await (
    await newProfile(browser, { width: 360, height: 740, dark: true, locale: 'ru-RU' })
  ).newPage();
  await signIn(phone, ready);
  for (const [where, name] of [
    ['/connections/new?type=chat_server', 'wizard'],
    [await lastStep(), 'wizard-route'],
    [`/connections/${(await api.get('/connections')).items[0].id}`, 'connection'],
    [`/destinations/${(await api.get('/destinations')).items[0].id}`, 'destination'],
    [`/destinations/${(await api.get('/destinations')).items[0].id}/edit`, 'destination-edit'],
  ] as const) {
    await phone.goto(ready.app_url + where);
    await phone.locator('h1').first().waitFor();
    if (name === 'destination') await phone.locator('figure').first().waitFor();
    if (name === 'destination-edit') await phone.getByRole('radio', { checked: true }).waitFor();
    expect(await accessibilityFindings(phone), name).toEqual([]);
    const wider = await phone.evaluate('document.documentElement.scrollWidth > window.innerWidth');
    expect(wider, name).toBe(false);
    await phone.screenshot({ path: path.join(shots, `chat-server-${name}-dark-ru.png`), fullPage: true });
  }
});
