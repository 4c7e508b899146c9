import type { ApiMethods, Opts } from '@grammyjs/types';
import { expect, expectTypeOf, test } from 'vitest';
import { FakeBotApi } from '../../../test/fakes/channel-bot/server.ts';
import { type BotOperation, type BotRequest, botCalls, type InlineKeyboard } from './operations.ts';

type Known = Opts<never>;
const keyboard: InlineKeyboard = { inline_keyboard: [[{ text: 'Ack', callback_data: 'AQ' }]] };
const root = { text: '<b>one</b>', isHtml: true, isQuiet: false, replyTo: null, keyboard } as const;

function messenger() {
  const time = { now: 1_791_020_467_000 };
  const server = new FakeBotApi({ now: () => time.now, token: '123456:secret-token' });
  return {
    ...{ server, time },
    async call<Value>({ operation, method, body, read }: BotRequest<Value>): Promise<Value> {
      const { body: text } = await server.answer({
        ...{ method, target: `/bot123456:secret-token/${operation}` },
        headers: { 'content-type': 'application/json' },
        body: body === null ? '' : JSON.stringify(body),
      });
      const answer = JSON.parse(text) as { readonly result?: unknown };
      const value = read(answer.result);
      if (value === null) throw new Error(text);
      return value;
    },
  };
}

test('every operation is a method of the Bot API, and its body has only parameters of it', () => {
  expectTypeOf<BotOperation>().toExtend<keyof ApiMethods<never>>();
  const { body: sent } = botCalls.sendMessage({ chatId: '-1001', ...root, replyTo: '7' });
  const { body: edited } = botCalls.editMessageText({ chatId: '-1001', messageId: '7' }, root);
  const { body: polled } = botCalls.getUpdates(5);
  const { body: hooked } = botCalls.setWebhook('https://ingest.example/x', 'secret');
  const { body: answered } = botCalls.answerCallbackQuery('1', 'Acknowledged', false);
  expect(sent).toEqual({
    ...{ chat_id: -1001, text: '<b>one</b>', parse_mode: 'HTML', disable_notification: false },
    ...{ link_preview_options: { is_disabled: true }, reply_parameters: { message_id: 7 } },
    reply_markup: keyboard,
  } satisfies Known['sendMessage']);
  expect(edited).toEqual({
    ...{ chat_id: -1001, message_id: 7, text: '<b>one</b>', parse_mode: 'HTML' },
    ...{ link_preview_options: { is_disabled: true }, reply_markup: keyboard },
  } satisfies Known['editMessageText']);
  const allowed: Known['getUpdates']['allowed_updates'] = ['message', 'callback_query', 'my_chat_member'];
  expect(polled).toEqual({
    ...{ offset: 5, limit: 100, timeout: 25, allowed_updates: allowed },
  } satisfies Known['getUpdates']);
  expect(hooked).toEqual({
    ...{ url: 'https://ingest.example/x', secret_token: 'secret', max_connections: 1 },
    ...{ allowed_updates: allowed, drop_pending_updates: false },
  } satisfies Known['setWebhook']);
  expect(answered).toEqual({
    ...{ callback_query_id: '1', text: 'Acknowledged', show_alert: false },
  } satisfies Known['answerCallbackQuery']);
});

test('a post, its copy in the group, an edit, a comment and a press are understood on both sides', async () => {
  const { server, call } = messenger();
  const { channel, group } = server.world;
  const chatId = String(channel.id);
  const chat = await call(botCalls.getChat('@alerts'));
  expect(chat).toMatchObject({ id: channel.id, type: 'channel', linked_chat_id: group.id });
  const post = await call(botCalls.sendMessage({ chatId, ...root }));
  const ref = { chatId, messageId: String(post.message_id) };
  await call(botCalls.editMessageText(ref, { ...root, text: 'two' }));
  const [copy] = group.messages;
  expect(copy).toMatchObject({ text: 'two', copyOf: { chatId: channel.id, messageId: post.message_id } });
  const replyTo = String(copy?.messageId);
  await call(botCalls.sendMessage({ ...root, chatId: String(group.id), replyTo, keyboard: null }));
  const ann = server.world.addPerson(5001, 'ann_tg');
  const [shown] = channel.messages;
  if (!shown) throw new Error('no post');
  const queryId = server.press(shown, 'Ack', ann);
  await call(botCalls.answerCallbackQuery(queryId, 'Acknowledged', false));
  const updates = await call(botCalls.getUpdates(null));
  expect(updates.map((update) => Object.keys(update)[1])).toEqual(['message', 'callback_query']);
  expect(await call(botCalls.getUpdates(Number(updates[1]?.update_id) + 1))).toEqual([]);
  expect(server.answers).toMatchObject([{ queryId, text: 'Acknowledged' }]);
  expect(server.violations).toEqual([]);
});

test('the bot, its rights and its webhook are read', async () => {
  const { server, call } = messenger();
  expect(await call(botCalls.getMe())).toMatchObject({ id: 123456, username: 'oncall_bot' });
  const member = await call(botCalls.getChatMember(String(server.world.channel.id), '123456'));
  expect(member).toEqual({ status: 'administrator', can_post_messages: true, can_edit_messages: true });
  await call(botCalls.setWebhook('https://ingest.example/x', 'secret'));
  expect(await call(botCalls.getWebhookInfo())).toMatchObject({ url: 'https://ingest.example/x' });
  await expect(call(botCalls.getUpdates(null))).rejects.toThrow('webhook is active');
  await call(botCalls.deleteWebhook());
  expect(await call(botCalls.getUpdates(null))).toEqual([]);
});

test.each([
  ['<x>one</x>', 'Unsupported start tag "x" at byte offset 0'],
  ['é<b>one', "Can't find end tag corresponding to start tag"],
  ['<b>one</i>', 'Unmatched end tag at byte offset 6, expected "</b>", found "</i>"'],
  ['one</b>', 'Unexpected end tag at byte offset 3'],
  ['one < two', 'Unclosed start tag at byte offset 4'],
  ['<b> </b>', 'message text is empty'],
  ['🔥'.repeat(2_049), 'message is too long'],
  ['&amp;'.repeat(6_600), 'text is too long'],
])('the strict messenger refuses %j', async (text, said) => {
  const { server, call } = messenger();
  const sent = call(botCalls.sendMessage({ ...root, chatId: String(server.world.channel.id), text }));
  await expect(sent).rejects.toThrow(said.replaceAll('"', '\\"'));
  expect(server.world.channel.messages).toEqual([]);
});

test('the strict messenger takes 20 messages a minute in a group, and 30 calls a second of a bot', async () => {
  const { server, time, call } = messenger();
  const chats = [server.world.channel, server.world.addChat(-1_002, 'channel', 'Two')].map(({ id }) =>
    String(id),
  );
  const send = (chat = 0) => call(botCalls.sendMessage({ ...root, chatId: chats[chat] ?? '' }));
  for (let sent = 0; sent < 20; sent++) await send();
  await expect(send()).rejects.toThrow('"retry_after":60');
  for (let sent = 0; sent < 10; sent++) await send(1);
  await expect(send(1)).rejects.toThrow('"retry_after":1}');
  time.now += 1_000;
  await send(1);
  time.now += 59_000;
  await send();
});

test('the strict messenger takes 64 bytes of data behind a button, and one answer to a press within its time', async () => {
  const { server, time, call } = messenger();
  const chatId = String(server.world.channel.id);
  const withData = (data: string) =>
    botCalls.sendMessage({
      ...{ ...root, chatId },
      keyboard: { inline_keyboard: [[{ text: 'Ack', callback_data: data }]] },
    });
  await expect(call(withData('é'.repeat(33)))).rejects.toThrow('BUTTON_DATA_INVALID');
  await call(withData('é'.repeat(32)));
  const [post] = server.world.channel.messages;
  if (!post) throw new Error('no post');
  const queryId = server.press(post, 'Ack', server.world.addPerson(5001, 'ann'));
  time.now += 15_001;
  await expect(call(botCalls.answerCallbackQuery(queryId, 'late', false))).rejects.toThrow(
    'query is too old',
  );
});
