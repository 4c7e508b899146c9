/**
 * SIGKILL while updates of a bot are handled: what was not acknowledged comes again, each press is carried out exactly
 * once, and the offset never goes back (channel-bot §4). Posts are made as the service would make them.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { messageIdOf } from '../../actors/channels/channel-bot/operations.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import { createKeyring, type Keyring, masterKey } from '../../runtime/secrets/keyring.ts';
import { buttonData } from '../../runtime/secrets/signed-tokens.ts';
import { connect } from '../../storage/postgres/connection.ts';
import { embeddedSettings } from '../../storage/postgres/embedded/embedded.ts';
import { type RunningBotApi, startBotApi } from '../fakes/channel-bot/http.ts';
import type { FakeMessage, FakePerson } from '../fakes/channel-bot/world.ts';
import { Api } from '../harness/api.ts';
import { Sender } from '../harness/sender.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

/** Groups that are pressed in one round: more than one page of side-by-side work would hide nothing. */
const GROUPS = 8;

let tocsin: Installation;
let ready: Ready;
let api: Api;
let bot: RunningBotApi;
let keyring: Keyring;
let alice: FakePerson;
let connectionId: PublicId;
let deaths = 0;
/** Of every poll, in order. */
const offsets: number[] = [];

beforeAll(async () => {
  tocsin = new Installation();
  bot = await startBotApi();
  bot.server.settings.limits = false;
  const answer = bot.server.answer.bind(bot.server);
  bot.server.answer = (request) => {
    if (request.target.endsWith('/getUpdates')) offsets.push(JSON.parse(request.body).offset ?? 0);
    return answer(request);
  };
  alice = bot.server.world.addPerson(5001, 'alice_tg');
  ready = await tocsin.start();
  api = await Api.signIn(ready);
  const key = masterKey(
    Buffer.from(readFileSync(path.join(tocsin.dataDir, 'secret-keys'), 'utf8'), 'base64'),
  );
  keyring = createKeyring([key], key.id);
  await attach();
});

afterAll(async () => {
  await tocsin.remove();
  await bot.close();
});

async function database<Result>(use: (sql: ReturnType<typeof connect>) => Promise<Result>): Promise<Result> {
  const settings = await embeddedSettings(path.join(tocsin.dataDir, 'postgres'));
  const sql = connect(settings, { max: 1, applicationName: 'test' });
  try {
    return await use(sql);
  } finally {
    await sql.end();
  }
}

/** A Connection that polls, and the account of the Admin. */
async function attach(): Promise<void> {
  await api.change('/organization/outbound-policy', (policy) => ({ ...policy, allowed: ['127.0.0.0/8'] }));
  const connection = await api.post('/connections', {
    ...{ type: 'channel_bot', name: 'bot', bot_api_base_url: bot.url, bot_token: bot.token },
    ...{ proxy: { enabled: false }, limiter: { limit: 1000, per_seconds: 1 } },
  });
  connectionId = connection.id;
  const { user } = await api.get('/me');
  await database(
    (sql) => sql`
      insert into account_links (id, messenger, space, external_id, user_id, connection_id, username, created_at)
      values (
        ${newPublicId('AK')}, 'channel_bot', 'channel_bot', ${String(alice.id)}, ${user.id}, ${connectionId}, 'alice',
        ${Date.now() * 1000}
      )`,
  );
}

/** How updates arrive from now on. */
async function arriveBy(mode: 'long_polling' | 'webhook'): Promise<void> {
  await api.change(`/connections/${connectionId}`, ({ bot_api_base_url, name, limiter }) => ({
    ...{ type: 'channel_bot', name, bot_api_base_url, limiter, proxy: { enabled: false }, update_mode: mode },
  }));
}

interface Posted {
  readonly group: PublicId;
  readonly message: FakeMessage;
}

/** Alert Groups, each with a post that has a Snooze button, as the service would have posted it. */
async function posts(round: string): Promise<readonly Posted[]> {
  const names = Array.from({ length: GROUPS }, (_, index) => `${round}${index}x`);
  const sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
  for (const name of names) {
    const alerts = [{ status: 'firing', labels: { alertname: name, severity: 'critical' } }] as const;
    expect(await sender.post({ groupKey: `{}:{alertname="${name}"}`, alerts })).toBe(202);
  }
  const made: Posted[] = [];
  for (const name of names) {
    const group = await until(`the group ${name}`, async () => {
      const { items } = await api.get(`/alert-groups?q=${name}`);
      return items[0]?.id as PublicId | undefined;
    });
    made.push({ group, message: await post(group, name) });
  }
  return made;
}

async function post(group: PublicId, text: string): Promise<FakeMessage> {
  const { world } = bot.server;
  const button = { subject: 'root_message', id: group, command: 'snooze', seconds: 3_600 } as const;
  const callback_data = buttonData(keyring, button);
  await bot.server.answer({
    ...{ method: 'POST', target: `/bot${bot.token}/sendMessage` },
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ chat_id: world.channel.id, text },
      reply_markup: { inline_keyboard: [[{ text: 'Snooze', callback_data }]] },
    }),
  });
  const message = world.channel.messages.at(-1);
  if (!message) throw new Error('nothing was posted');
  const messageId = messageIdOf(message.chatId, message.messageId);
  await database(
    (sql) => sql`
      insert into delivered_messages (
        connection_id, message_id, destination_id, kind, group_id, is_present, posted_at
      )
      values (
        ${connectionId}, ${messageId}, ${newPublicId('DS')}, 'root', ${group}, true, ${Date.now() * 1000}
      )`,
  );
  return message;
}

async function restart(): Promise<void> {
  deaths++;
  await tocsin.kill();
  await tocsin.start();
  api = await Api.signIn(ready);
}

async function snoozesOf(group: PublicId): Promise<number> {
  const { items } = await api.get(`/audit-log?resource_id=${group}`);
  return items.filter(({ action }: { action: string }) => action === 'alert_group.snoozed').length;
}

async function snoozed(all: readonly Posted[]): Promise<number> {
  const counts = await Promise.all(all.map(({ group }) => snoozesOf(group)));
  return counts.filter((count) => count > 0).length;
}

const answered = () => bot.server.answers.length;

/** Every press came to exactly one Command, and nothing waits at the messenger any more. */
async function everyPressOnce(all: readonly Posted[]): Promise<void> {
  await until('every press', async () => (await snoozed(all)) === all.length);
  await until('the acknowledgement', async () => bot.server.updates.waiting.length === 0);
  expect(await Promise.all(all.map(({ group }) => snoozesOf(group)))).toEqual(all.map(() => 1));
}

test.each([0, 1, 3])(
  'killed after %i answers of a batch, each press is carried out once',
  async (answers) => {
    const all = await posts(`Poll${answers}a`);
    const before = answered();
    const asked = offsets.length;
    for (const { message } of all) bot.server.press(message, 'Snooze', alice);
    await until('the batch', async () => offsets.length > asked || answered() > before);
    await until('some answers', async () => answered() >= before + answers);
    await restart();
    await everyPressOnce(all);
  },
);

test('killed again and again, each press is carried out once, and the offset never goes back', async () => {
  const all = await posts('Again');
  for (const [index, { message }] of all.entries()) {
    bot.server.press(message, 'Snooze', alice);
    if (index % 3 === 2) await restart();
  }
  await everyPressOnce(all);
  const told = offsets.filter((offset) => offset > 0);
  expect(told).toEqual([...told].sort((one, other) => one - other));
});

test('killed while the messenger posts to the webhook, each press is carried out once', async () => {
  const all = await posts('Hook');
  await arriveBy('webhook');
  expect(bot.server.updates.webhook?.url).toContain(connectionId);
  for (const { message } of all.slice(0, 4)) bot.server.press(message, 'Snooze', alice);
  await until('some Command', async () => (await snoozed(all)) > 0);
  await restart();
  for (const { message } of all.slice(4)) bot.server.press(message, 'Snooze', alice);
  await everyPressOnce(all);
});

test('between webhook and polls, there and back, no press is lost', async () => {
  const all = await posts('Switch');
  const press = (index: number) => all[index] && bot.server.press(all[index].message, 'Snooze', alice);
  press(0);
  const changed = arriveBy('long_polling');
  press(1);
  await changed;
  press(2);
  expect(bot.server.updates.webhook).toBeNull();
  await until('these three', async () => (await snoozed(all)) >= 3);
  const back = arriveBy('webhook');
  for (const index of [3, 4, 5]) press(index);
  await back;
  for (const index of [6, 7]) press(index);
  await everyPressOnce(all);
});

test('only a process that died between an answer and its note may have answered a press once more', () => {
  const twice = bot.server.violations.filter((violation) => violation === 'a query answered twice');
  expect(twice.length).toBeLessThanOrEqual(deaths);
  expect(bot.server.violations).toHaveLength(twice.length);
});
