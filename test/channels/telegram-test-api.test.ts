/**
 * The journey of a channel bot at a Bot API server that others wrote, npm's `telegram-test-api`, over real sockets.
 *
 * It has sendMessage, editMessageText, answerCallbackQuery, getUpdates, getMe, setWebhook and deleteWebhook; not getChat,
 * getChatMember and getWebhookInfo, so nothing is checked or probed here. It knows no channels, discussion groups, copies
 * or rights: chats are the numbers that both sides name, and the test writes the update about a copy. It takes any markup.
 * Where it leaves the published Bot API, the service follows the latter:
 * - editMessageText answers `null` for the Message, answerCallbackQuery and setWebhook `null` for `true`, getMe a User
 *   without `is_bot`; dates of messages are milliseconds;
 * - a method that it does not have is an HTTP 500 without the envelope, instead of a 404 with it;
 * - getUpdates ignores `offset`, `limit`, `timeout` and `allowed_updates`: it forgets what it hands out and never waits.
 */
import { TelegramServer } from 'telegram-test-api/lib/telegramServer.js';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { SendAccepted, SendOutcome } from '../../actors/channels/calls.ts';
import { openBot } from '../../actors/channels/channel-bot/client.ts';
import { botCalls, type InlineKeyboard } from '../../actors/channels/channel-bot/operations.ts';
import { receiving } from '../../actors/channels/channel-bot/receiving.fixture.ts';
import { type Elsewhere, TOKEN, world } from '../../actors/channels/channel-bot/world.fixture.ts';
import { MINUTE, SECOND, systemClock } from '../../runtime/clock.ts';
import { createOutboundClient, type OutboundClient } from '../../runtime/outbound/client.ts';
import { freePorts } from '../harness/ports.ts';
import { until } from '../harness/until.ts';

const CHANNEL = -1_001_234_567_890;
const ALLOWED = { policy: 'standard', allowed: ['127.0.0.0/8'], denied: [] } as const;
const ANN = { userId: 5001, userName: 'ann_tg', firstName: 'Ann' } as const;

let peer: TelegramServer;
let outbound: OutboundClient;
let there: Elsewhere;

beforeEach(async () => {
  const [port = 0] = await freePorts(1);
  peer = new TelegramServer({ host: '127.0.0.1', port });
  await peer.start();
  outbound = createOutboundClient({ clock: systemClock, policy: ALLOWED });
  there = { client: outbound, baseUrl: peer.config.apiURL };
});

afterEach(async () => {
  outbound?.close();
  await peer?.stop();
});

interface Shown {
  readonly messageId: number;
  readonly message: {
    readonly chat_id?: number;
    readonly text: string;
    readonly reply_markup?: InlineKeyboard;
  };
}

/** What is new in a chat, as a person there sees it. */
async function shown(chatId: number): Promise<readonly Shown[]> {
  const { result } = await peer.getClient(TOKEN, { chatId, timeout: 5_000, interval: 10 }).getUpdates();
  return result;
}

/** The same message once more, as it is by now. */
async function shownNow(chatId: number, id: number): Promise<Shown | undefined> {
  const all = await peer.getClient(TOKEN, { chatId }).getUpdatesHistory();
  const ofBot = all.flatMap((one): Shown[] => ('message' in one ? [one] : []));
  return ofBot.find(({ messageId, message }) => messageId === id && message.chat_id === chatId);
}

/** Bodies of the calls of an operation, oldest first. */
function asked({ requests }: ReturnType<typeof receiving>, operation: string): unknown[] {
  const calls = requests.filter((request) => request.operation === operation);
  return calls.map(({ request }) => JSON.parse(request.body ?? ''));
}

/** Polls, on the clock of the receiver, until something is there. */
function polled<Value>(
  it: ReturnType<typeof receiving>,
  what: string,
  look: () => Value | undefined,
): Promise<Value> {
  const probe = async () => {
    await it.pass(SECOND);
    return look();
  };
  return until(what, probe, 5);
}

function accepted(outcome: SendOutcome): SendAccepted & { readonly id: number } {
  if (outcome.class !== 'ok') throw new Error(JSON.stringify(outcome));
  return { ...outcome, id: Number(outcome.messageId?.split('/')[1]) };
}

async function posted() {
  const on = world(there);
  const { id, messageId, threadRef } = accepted(await on.publish());
  const [post] = await shown(CHANNEL);
  const buttons = post?.message.reply_markup?.inline_keyboard ?? [];
  return { ...on, id, messageId: messageId ?? '', threadRef, post, buttons };
}

const labels = (rows: InlineKeyboard['inline_keyboard']) => rows.map((row) => row.map(({ text }) => text));

test('a post shows its buttons to a person in the channel, and an edit reaches it', async () => {
  const { edit, id, messageId, post, buttons } = await posted();
  expect(post).toMatchObject({
    messageId: id,
    message: {
      chat_id: CHANNEL,
      parse_mode: 'HTML',
      text: expect.stringMatching(/^🔴 <b><a href=[^>]*>#412 HighErrorRate</),
    },
  });
  expect(labels(buttons)).toEqual([
    ['Ack', 'Resolve'],
    ['Snooze 1 h', 'Snooze 4 h'],
  ]);
  // `null` is not the edited Message: nobody knows whether it was edited, and it is edited again.
  expect(await edit(messageId, { status: 'resolved' })).toMatchObject({ class: 'transient', unsure: true });
  expect((await shownNow(CHANNEL, id))?.message.text).toMatch(/^🟢 <b><a href=[^>]*>#412 HighErrorRate</);
});

test('replies are comments in the group: a chain, and below the copy once an update told of it', async () => {
  const on = await posted();
  const group = Number(on.place.is?.groupId);
  on.time.now += MINUTE;
  const first = accepted(await on.reply(on.messageId, on.threadRef));
  const second = accepted(await on.reply(on.messageId, first.threadRef));
  expect(await shown(group)).toMatchObject([
    { messageId: first.id, message: { chat_id: group } },
    { messageId: second.id, message: { reply_parameters: { message_id: first.id } } },
  ]);

  const member = peer.getClient(TOKEN, { chatId: group, type: 'supergroup' });
  const origin = { type: 'channel', chat: { id: CHANNEL, type: 'channel' }, message_id: on.id };
  const copy = { is_automatic_forward: true, forward_origin: origin };
  await member.sendMessage(member.makeMessage('a copy', copy as object));
  const it = receiving({ elsewhere: there });
  const seen = await polled(it, 'the copy', () =>
    it.records.find((record) => record.type === 'connection.copy_seen'),
  );
  expect(seen).toMatchObject({ channelId: String(CHANNEL), postId: String(on.id), groupId: String(group) });
  on.copies.set(seen.postId, seen);
  const third = accepted(await on.reply(on.messageId, second.threadRef));
  expect(third.thread).toBe('attached');
  expect(await shown(group)).toMatchObject([
    { messageId: third.id, message: { reply_parameters: { message_id: Number(seen.copyId) } } },
  ]);
});

test('a press comes with a poll, is judged by its signature and its message, and is answered', async () => {
  const { buttons, id } = await posted();
  const it = receiving({ elsewhere: there });
  it.recordPost({ chatId: CHANNEL, messageId: id });
  const person = peer.getClient(TOKEN, { ...ANN, chatId: CHANNEL, type: 'channel' });
  const press = async (data: string) => {
    const before = asked(it, 'answerCallbackQuery').length;
    await person.sendCallback(person.makeCallbackQuery(data, { message: { message_id: id } }));
    return polled(it, 'the answer', () => asked(it, 'answerCallbackQuery')[before]);
  };
  const data = buttons[0]?.[0]?.callback_data ?? '';

  expect(await press(`${data.slice(0, -4)}AAAA`)).toMatchObject({ show_alert: true });
  expect(it.commands).toEqual([]);
  expect(await press(data)).toEqual({
    ...{ callback_query_id: expect.any(String), text: 'Done: Ack', show_alert: false },
  });
  expect(it.commands).toMatchObject([
    { command: { name: 'acknowledge' }, by: { login: 'alice' }, carrier: { externalId: '5001' } },
  ]);
  // `null` is not `true`: whether the person saw it is not known.
  expect(it.events().filter((event) => event === 'event_not_answered')).toHaveLength(2);
});

test('a deep link that a person follows links the account, and the person reads so', async () => {
  const it = receiving({ elsewhere: there });
  const person = peer.getClient(TOKEN, { ...ANN, chatId: ANN.userId });
  await person.sendCommand(person.makeCommand(`/start ${'t'.repeat(43)}`));
  await polled(it, 'the link', () => it.tokens[0]);
  expect(it.tokens).toMatchObject([{ account: { externalId: '5001', username: 'ann_tg' } }]);
  expect(await shown(ANN.userId)).toMatchObject([{ message: { text: expect.stringContaining('Alice') } }]);
  expect(it.events()).toEqual(['account_link_linked']);
});

test('an answer outside the published form is a failure, never a success', async () => {
  const { bot, opener, connection } = world(there);
  const access = openBot(opener, connection());
  if (!access) throw new Error('the token cannot be read');
  for (const call of [botCalls.getMe(), botCalls.getWebhookInfo(), botCalls.getChat(String(CHANNEL))]) {
    expect(await bot.call<unknown>(access, call, { class: 'interactive' })).toMatchObject({
      ...{ class: 'transient', code: 'response_invalid' },
    });
  }
});
