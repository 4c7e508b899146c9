/** Updates through the strict Bot API, one rule after the other of channel-bot §4, §8.1, §9 and §10. */
import { describe, expect, test } from 'vitest';
import { DAY, HOUR, MINUTE, SECOND } from '../../../runtime/clock.ts';
import { Refusal } from '../../../test/fakes/channel-bot/shapes.ts';
import type { Webhook } from '../../../test/fakes/channel-bot/updates.ts';
import type { FakeMessage } from '../../../test/fakes/channel-bot/world.ts';
import { digestOf } from '../../account-links/link.ts';
import { messageIdOf, UPDATE_KINDS } from './operations.ts';
import { ALICE, GROUP, INGEST, POSTED, receiving, SECRET } from './receiving.fixture.ts';
import { CONNECTION, DESTINATION, TOKEN } from './world.fixture.ts';

const CALLBACK = `${INGEST}/api/v1/callbacks/channel-bot/${CONNECTION}`;
const HEADER = 'x-telegram-bot-api-secret-token';
const LINK = 'https://oncall.example.org/profile';

/** A press of a posted message by the person, up to the answer. */
async function pressed(it: ReturnType<typeof receiving>, message?: FakeMessage) {
  const queryId = it.server.press(message ?? (await it.post()), 'Ack', it.person);
  await it.settle();
  return it.server.answers.find((answer) => answer.queryId === queryId);
}

describe('a press', () => {
  test('of a linked person is carried out, and answered without an alert', async () => {
    const it = receiving();
    expect(await pressed(it)).toMatchObject({ text: 'Done: Ack', isAlert: false });
    expect(it.commands).toMatchObject([
      {
        ...{ type: 'command', command: { name: 'acknowledge' } },
        by: { login: 'alice', transport: 'channel_bot' },
        carrier: { externalId: '5001', answer: { way: 'channel_bot_press' } },
      },
    ]);
    expect(it.told).toMatchObject([
      { type: 'press_began', groupId: GROUP },
      { type: 'press_ended', groupId: GROUP },
    ]);
  });

  test('of somebody who is not linked says how to link, in an alert', async () => {
    const it = receiving({ person: null });
    const answer = await pressed(it);
    expect(answer?.text).toContain(LINK);
    expect(answer?.isAlert).toBe(true);
    expect(it.commands).toEqual([]);
  });

  test.each([
    ['a disabled User', { ...ALICE, status: 'disabled' as const }],
    ['a Viewer', { ...ALICE, role: 'viewer' as const }],
  ])('of %s changes nothing', async (_who, person) => {
    const it = receiving({ person });
    expect(await pressed(it)).toMatchObject({ isAlert: true });
    expect(it.commands).toEqual([]);
  });

  test('that is refused is answered by an alert', async () => {
    const reply = {
      outcome: { outcome: 'refused', code: 'already_resolved' },
      say: 'Already resolved',
    } as const;
    const it = receiving({ reply: reply as never });
    expect(await pressed(it)).toMatchObject({ text: 'Already resolved', isAlert: true });
  });

  test('with a flipped bit, on the message of another group, or on a message of nobody changes nothing', async () => {
    const it = receiving();
    const flipped = await it.post();
    const [[button] = []] = flipped.keyboard;
    if (button) Object.assign(button, { callback_data: `${button.callback_data.slice(0, -4)}AAAA` });
    for (const message of [
      flipped,
      await it.post({ groupId: 'AGOTHER2P9X3QR' as never }),
      await it.post(null),
    ]) {
      expect(await pressed(it, message)).toMatchObject({ isAlert: true });
      expect(it.logged.splice(0)).toMatchObject([{ event: 'press_handled', fields: { outcome: 'invalid' } }]);
    }
    expect(it.commands).toEqual([]);
  });

  test('on a test message says so', async () => {
    const it = receiving();
    const message = await it.post(
      { kind: 'test', groupId: null },
      { subject: 'test_message', id: DESTINATION },
    );
    expect(await pressed(it, message)).toMatchObject({ isAlert: true });
    expect(it.commands).toEqual([]);
  });

  test('under the copy of a post counts for the post', async () => {
    const it = receiving();
    it.server.settings.copiesShowButtons = true;
    const post = await it.post();
    await it.settle();
    const [copy] = it.server.world.group.messages;
    if (!copy) throw new Error('no copy');
    copy.keyboard = post.keyboard;
    expect(await pressed(it, copy)).toMatchObject({ text: 'Done: Ack' });
  });

  test('of a post that was made again, since its answer was lost, is carried out once its copy shows it', async () => {
    const it = receiving();
    await it.settle();
    const post = await it.post(null);
    it.lost.set(messageIdOf(post.chatId, post.messageId), { ...POSTED, isPresent: false });
    it.server.press(post, 'Ack', it.person);
    await it.settle();
    expect(it.server.answers).toMatchObject([{ text: 'Done: Ack', isAlert: false }]);
    expect(it.commands).toHaveLength(1);
  });

  test('of a bot is not answered', async () => {
    const it = receiving();
    const post = await it.post();
    const data = post.keyboard[0]?.[0]?.callback_data;
    it.server.updates.add('callback_query', {
      ...{ id: '1', from: { id: 7, is_bot: true, first_name: 'B' }, data },
      message: { message_id: post.messageId, chat: { id: post.chatId, type: 'channel' }, date: 0 },
    });
    await it.settle();
    expect([it.server.answers, it.commands]).toEqual([[], []]);
    expect(it.cursor()).not.toBeNull();
  });

  test('of a message that the bot can no longer see is carried out all the same', async () => {
    const it = receiving();
    const post = await it.post();
    it.server.updates.add('callback_query', {
      ...{ id: '1', from: { id: 5001, is_bot: false, first_name: 'Ann' } },
      message: { message_id: post.messageId, chat: { id: post.chatId, type: 'channel' }, date: 0 },
      data: post.keyboard[0]?.[0]?.callback_data,
    });
    await it.settle();
    expect(it.commands).toHaveLength(1);
  });

  test('that comes before its message is recorded waits for that', async () => {
    const it = receiving();
    it.on.posting = true;
    const post = await it.post(null);
    it.server.press(post, 'Ack', it.person);
    await it.pass(SECOND / 2);
    it.recordPost(post);
    await it.pass(SECOND / 10);
    expect(it.server.answers).toMatchObject([{ text: 'Done: Ack' }]);
  });

  test('is answered within 2 s, once, also when its message is recorded later; it is carried out then', async () => {
    const it = receiving();
    it.on.posting = true;
    const post = await it.post(null);
    it.server.press(post, 'Ack', it.person);
    await it.pass(2 * SECOND);
    expect(it.server.answers).toMatchObject([{ isAlert: true, after: 1_500 }]);
    expect(it.commands).toEqual([]);
    it.recordPost(post);
    it.on.posting = false;
    await it.pass(3 * SECOND);
    expect(it.commands).toHaveLength(1);
    expect(it.server.answers).toHaveLength(1);
  });

  test('is answered within 2 s while the database is away, and carried out once when it is back', async () => {
    const it = receiving();
    const post = await it.post();
    await it.settle();
    it.on.databaseAway = true;
    it.server.press(post, 'Ack', it.person);
    await it.pass(2 * SECOND);
    expect(it.server.answers).toMatchObject([{ isAlert: true }]);
    it.on.databaseAway = false;
    await it.pass(3 * SECOND);
    expect(it.commands).toHaveLength(1);
    expect(it.server.violations).toEqual([]);
  });

  test('whose Command takes long is answered that nobody knows yet', async () => {
    const it = receiving({ reply: new Promise(() => undefined) });
    await pressed(it);
    await it.pass(2 * SECOND);
    expect(it.server.answers).toMatchObject([
      { text: 'No answer yet, look at the Alert Group', isAlert: true },
    ]);
    await it.pass(10 * SECOND);
    expect(it.server.answers).toHaveLength(1);
  });

  test('is carried out and answered once, however often its update comes', async () => {
    const it = receiving();
    it.server.press(await it.post(), 'Ack', it.person);
    const [update] = it.server.updates.waiting;
    await it.settle();
    if (update) it.server.updates.repeat(update);
    it.server.press(await it.post(), 'Ack', it.person);
    await it.settle();
    await it.pass(3 * SECOND);
    expect(it.commands).toHaveLength(2);
    expect(it.server.answers).toHaveLength(2);
    expect(it.server.violations).toEqual([]);
  });

  test('of a batch that a dead process had handled is not answered again', async () => {
    const it = receiving();
    it.server.press(await it.post(), 'Ack', it.person);
    await it.settle();
    it.restart();
    await it.pass(3 * SECOND);
    expect([it.commands.length, it.server.answers.length]).toEqual([1, 1]);
  });
});

describe('long polling', () => {
  test('acknowledges a batch by the next poll, once all of it is handled', async () => {
    const it = receiving();
    await it.post();
    await it.settle();
    expect(it.server.updates.waiting).toEqual([]);
    expect(it.cursor()).toMatch(/^918273646@/);
  });

  test('leaves a batch at the messenger while something of it cannot be handled', async () => {
    const it = receiving();
    it.on.databaseAway = true;
    it.server.press(await it.post(), 'Ack', it.person);
    await it.pass(5 * SECOND);
    expect(it.server.updates.waiting.length).toBeGreaterThan(0);
    expect(it.cursor()).toBeNull();
  });

  test('passes what it cannot read', async () => {
    const it = receiving();
    it.server.updates.add('message', { chat: 'no chat' });
    it.server.updates.add('callback_query', { id: 7 });
    it.server.updates.add('my_chat_member', {});
    await it.settle();
    expect(it.server.updates.waiting).toEqual([]);
  });

  test.each([
    ['the same batch', '[{"update_id":5}]'],
    ['numbers below zero', '[{"update_id":-5}]'],
  ])('a server that answers with %s for ever is asked once a second', async (_what, result) => {
    const it = receiving();
    await it.settle();
    it.server.settings.instead = { status: 200, headers: {}, body: `{"ok":true,"result":${result}}` };
    await it.pass(30 * SECOND);
    const before = it.server.calls.length;
    await it.pass(5 * SECOND);
    expect(it.server.calls.length - before).toBeLessThanOrEqual(6);
    expect(it.server.calls.length).toBeGreaterThan(before);
  });

  test.each([
    ['a redirect, which may be over in a moment, delays presses by a second', 302, 2 * SECOND],
    ['a refused token delays them by a minute', 401, 61 * SECOND],
  ])('%s', async (_what, status, delay) => {
    const it = receiving();
    await it.settle();
    const headers = { location: 'https://login.example/' };
    it.server.settings.instead = { status, headers, body: '{"ok":false,"error_code":401}' };
    while (it.trouble() === null) await it.pass(SECOND);
    it.server.settings.instead = null;
    it.server.press(await it.post(), 'Ack', it.person);
    await it.pass(delay - 2 * SECOND);
    expect(it.commands).toEqual([]);
    await it.pass(2 * SECOND);
    expect(it.commands).toHaveLength(1);
  });

  test('takes a lower number after a quiet week', async () => {
    const it = receiving();
    await it.post();
    await it.settle();
    it.server.updates.next = 4_000;
    await it.pass(7 * DAY, HOUR);
    expect(await pressed(it)).toMatchObject({ text: 'Done: Ack' });
  });

  test('another poller of the bot is met with pauses, and is no trouble', async () => {
    const it = receiving();
    await it.settle();
    void it.server.updates.poll({ limit: 1, timeout: 1, allowed_updates: UPDATE_KINDS });
    await it.settle();
    expect(it.events()).toContain('poll_conflict');
    expect(it.trouble()).toBeNull();
    expect(await pressed(it)).toBeUndefined();
    await it.pass(5 * SECOND);
    expect(it.server.answers).toHaveLength(1);
  });

  test('leaves a foreign webhook alone and shows it; one that is gone is shown no more', async () => {
    const it = receiving();
    it.server.updates.webhook = { url: 'https://elsewhere.example/hook', secret: 'x', allowed: [] };
    await it.pass(26 * SECOND);
    expect(it.settings.webhookBlocks).toBe(true);
    expect(it.server.updates.webhook).not.toBeNull();
    it.server.updates.webhook = null;
    await it.pass(2 * MINUTE, SECOND);
    expect(it.settings.webhookBlocks).toBe(false);
  });

  test('learns which bot it is where nobody has checked the Connection', async () => {
    const it = receiving();
    it.settings.info = null;
    await it.settle();
    // As of a bot that is used twice: its poll is ended by the other.
    void it.server.answer({
      ...{
        method: 'POST',
        target: `/bot${TOKEN}/getUpdates`,
        headers: { 'content-type': 'application/json' },
      },
      body: JSON.stringify({ limit: 1, timeout: 5, allowed_updates: UPDATE_KINDS }),
    });
    await it.pass(SECOND);
    expect(it.settings.info).toEqual({ bot_id: '123456', bot_username: 'oncall_bot' });
    expect(it.requests.filter(({ operation }) => operation === 'getMe')).toHaveLength(1);
  });

  test('removes its own webhook, which a save left that failed half-way', async () => {
    const it = receiving();
    it.server.updates.webhook = { url: CALLBACK, secret: 'x', allowed: [] };
    await it.pass(26 * SECOND);
    expect(it.server.updates.webhook).toBeNull();
    expect(it.settings.webhookBlocks).toBe(false);
  });

  test('leaves its own webhook, met before the save that set it was stored', async () => {
    const it = receiving();
    it.server.updates.webhook = { url: CALLBACK, secret: SECRET, allowed: [] };
    await it.pass(SECOND);
    expect(it.events()).toContain('poll_conflict');
    it.configure('webhook');
    await it.pass(MINUTE, SECOND);
    expect(it.server.updates.webhook).not.toBeNull();
  });

  test('shows a revoked token, and asks once a minute', async () => {
    const it = receiving();
    await it.settle();
    it.server.settings.token = '123456:another-one';
    await it.pass(26 * SECOND);
    expect(it.trouble()?.error).toBe('The messenger refuses the bot token.');
    const before = it.server.calls.length;
    await it.pass(58 * SECOND);
    expect(it.server.calls).toHaveLength(before);
    it.server.settings.token = TOKEN;
    await it.pass(2 * SECOND);
    await it.pass(26 * SECOND);
    expect(it.trouble()).toBeNull();
  });

  test('a press in the first batch after more than an hour is too old, one in the next is carried out', async () => {
    const it = receiving();
    const post = await it.post();
    await it.pass(26 * SECOND);
    it.server.settings.instead = { status: 502, headers: {}, body: '' };
    await it.pass(61 * MINUTE, SECOND);
    it.server.press(post, 'Ack', it.person);
    it.server.settings.instead = null;
    await it.pass(MINUTE);
    expect(it.commands).toEqual([]);
    expect(it.server.calls).toContain('answerCallbackQuery');
    expect(it.logged).toContainEqual({
      event: 'update_dropped',
      fields: { connection: CONNECTION, reason: 'press_too_old', gap_seconds: expect.any(Number) },
    });
    await pressed(it, post);
    expect(it.commands).toHaveLength(1);
  });

  test('quiet hours with polls are no gap', async () => {
    const it = receiving();
    const post = await it.post();
    await it.pass(3 * HOUR, SECOND);
    await pressed(it, post);
    expect(it.commands).toHaveLength(1);
  });

  test('an empty poll is known as one by the Request log', async () => {
    const it = receiving();
    await it.pass(26 * SECOND, SECOND);
    expect(it.requests).toMatchObject([{ operation: 'getUpdates', isEmptyPoll: true }]);
  });

  test('100 presses of one batch are each answered once, within 2 s', async () => {
    const it = receiving();
    it.server.settings.limits = false;
    const posts = [];
    while (posts.length < 50) posts.push(await it.post());
    await it.settle();
    for (let press = 0; press < 100; press++) {
      const post = posts[press % 50];
      if (post) it.server.press(post, 'Ack', it.server.world.addPerson(6000 + press, `p${press}`));
    }
    await it.pass(2 * SECOND);
    expect(it.server.answers).toHaveLength(100);
    expect(it.commands).toHaveLength(100);
    expect(it.server.violations).toEqual([]);
  });
});

describe('copies', () => {
  test('of posts are recorded with the update', async () => {
    const it = receiving();
    const { messageId } = await it.post();
    await it.settle();
    const [copy] = it.server.world.group.messages;
    expect(it.records.filter(({ type }) => type === 'connection.copy_seen')).toMatchObject([
      {
        ...{ channelId: String(it.server.world.channel.id), postId: String(messageId) },
        ...{ groupId: String(it.server.world.group.id), copyId: String(copy?.messageId) },
      },
    ]);
  });

  test.each<[string, string, string, boolean]>([
    ['a Root message', '🔴 ', `https://oncall.example/alert-groups/${GROUP}`, true],
    ['a Root message of an emoji of several signs', '🏔️ ', `http://10.0.0.1/a/alert-groups/${GROUP}`, true],
    ['a test message', '🔴 Test message: ', `https://oncall.example/alert-groups/${GROUP}`, false],
    ['another page', '🔴 ', 'https://oncall.example/alert-groups', false],
    ['a group of nobody', '🔴 ', 'https://oncall.example/alert-groups/AGx', false],
  ])('of %s are recorded with what they are about', async (_what, before, href, isKnown) => {
    const it = receiving();
    await it.post(null, {}, `${before}<b><a href="${href}">#412 HighErrorRate</a></b>`);
    await it.settle();
    const about = isKnown ? GROUP : null;
    expect(it.records.filter(({ type }) => type === 'connection.copy_seen')).toMatchObject([{ about }]);
  });

  test('a comment under one teaches it, too', async () => {
    const it = receiving();
    const { world } = it.server;
    world.group.bot = null;
    await it.post();
    await it.settle();
    world.group.bot = { status: 'administrator', canPost: false, canEdit: false };
    const [copy] = world.group.messages;
    it.server.write(world.group, it.person, 'on it', copy?.messageId ?? null);
    await it.settle();
    expect(it.records.filter(({ type }) => type === 'connection.copy_seen')).toHaveLength(1);
  });

  test('other talk in the group is nothing', async () => {
    const it = receiving();
    it.server.write(it.server.world.group, it.person, 'hello /start');
    await it.settle();
    expect(it.records.filter(({ type }) => type === 'connection.event_handled')).toEqual([]);
    expect(it.cursor()).not.toBeNull();
  });

  test('of numbers that no message has are passed', async () => {
    const it = receiving();
    it.server.updates.add('message', {
      ...{ message_id: -912, chat: { id: -1009, type: 'supergroup' }, date: 1, is_automatic_forward: true },
      ...{ forward_from_chat: { id: -1001, type: 'channel' }, forward_from_message_id: 57 },
    });
    await it.settle();
    expect(it.records).not.toContainEqual(expect.objectContaining({ type: 'connection.copy_seen' }));
    expect(it.server.updates.waiting).toEqual([]);
  });

  test('those of older servers name the post in two fields', async () => {
    const it = receiving();
    it.server.updates.add('message', {
      ...{ message_id: 912, chat: { id: -1009, type: 'supergroup' }, date: 1, is_automatic_forward: true },
      ...{ forward_from_chat: { id: -1001, type: 'channel' }, forward_from_message_id: 57 },
    });
    await it.settle();
    expect(it.records).toContainEqual(
      expect.objectContaining({
        type: 'connection.copy_seen',
        channelId: '-1001',
        postId: '57',
        copyId: '912',
      }),
    );
  });
});

describe('a private message', () => {
  const talk = (it: ReturnType<typeof receiving>) =>
    it.server.world.addChat(it.person.id, 'private', it.person.firstName);
  const token = 't'.repeat(43);

  test.each([
    `/start ${token}`,
    `/start@oncall_bot ${token} `,
    `/link ${token}`,
    `/link@oncall_bot ${token}`,
  ])('%j links the account, and is answered', async (text) => {
    const it = receiving();
    const chat = talk(it);
    it.server.write(chat, it.person, text);
    await it.settle();
    expect(it.tokens).toMatchObject([
      {
        ...{ connectionId: CONNECTION, account: { externalId: '5001', username: 'ann_tg' } },
        digest: digestOf(token),
      },
    ]);
    expect(chat.messages.at(-1)?.text).toContain('Alice');
  });

  test.each(['long_polling', 'webhook'] as const)(
    'leaves no token of a link in records (%s)',
    async (mode) => {
      const it = receiving({ mode });
      if (mode === 'webhook')
        it.server.updates.webhook = { url: CALLBACK, secret: SECRET, allowed: ['message'] };
      const chat = talk(it);
      it.server.write(chat, it.person, `/start  ${token}`);
      it.server.write(chat, it.person, `https://t.me/oncall_bot?start=${token}`);
      it.server.write(chat, it.person, `/link ${token}`);
      await it.settle();
      expect(it.tokens).toHaveLength(2);
      expect(JSON.stringify(it.requests)).toContain('start=[redacted]');
      expect(JSON.stringify(it.requests)).not.toContain(token);
    },
  );

  test('from a name that cannot be stored links under one that can', async () => {
    const it = receiving();
    const chat = talk(it);
    it.person.username = 'ann\0tg';
    it.server.write(chat, it.person, `/start ${'a'.repeat(43)}`);
    await it.settle();
    expect(it.tokens).toMatchObject([{ account: { username: 'ann\ufffdtg' } }]);
  });

  test('/start and /help are answered with help, once a minute', async () => {
    const it = receiving();
    const chat = talk(it);
    for (const text of ['/start', '/help', '/start']) it.server.write(chat, it.person, text);
    await it.settle();
    expect(chat.messages.filter(({ by }) => by === null).map(({ text }) => text)).toEqual([
      expect.stringContaining(LINK),
    ]);
    await it.pass(MINUTE);
    it.server.write(chat, it.person, '/help');
    await it.settle();
    expect(chat.messages.filter(({ by }) => by === null)).toHaveLength(2);
  });

  test.each(['/unlink', '/unlink@oncall_bot '])('%j ends the link, and says whose it was', async (text) => {
    const it = receiving();
    const chat = talk(it);
    it.server.write(chat, it.person, text);
    it.server.write(it.server.world.group, it.person, text);
    await it.settle();
    expect(it.tokens).toMatchObject([{ digest: null, account: { externalId: '5001' } }]);
    expect(chat.messages.at(-1)?.text).toBe('This account is no longer Alice (alice) in Tocsin');
  });

  test('/unlink without a link says that there is none', async () => {
    const it = receiving();
    it.on.linked = false;
    const chat = talk(it);
    it.server.write(chat, it.person, '/unlink');
    await it.settle();
    expect(chat.messages.at(-1)?.text).toBe('This account belongs to no Tocsin user');
  });

  test('anything else is not answered', async () => {
    const it = receiving();
    const chat = talk(it);
    for (const text of ['hello', '/start short', '/link short', 'unlink me'])
      it.server.write(chat, it.person, text);
    await it.settle();
    expect([chat.messages.length, it.tokens]).toEqual([4, []]);
  });

  test('of who has blocked the bot since is handled all the same', async () => {
    const it = receiving();
    it.server.write(talk(it), it.person, '/help');
    it.person.bot = 'blocked';
    await it.settle();
    expect(it.events()).not.toContain('event_not_answered');
    expect(it.handled()).toHaveLength(1);
  });
});

test('rights that the bot loses and gets back are told to what posts there', async () => {
  const it = receiving();
  const { channel, group } = it.server.world;
  await it.settle();
  it.server.setRights(channel, { status: 'administrator', canPost: false, canEdit: true });
  it.server.setRights(channel, { status: 'administrator', canPost: true, canEdit: true });
  it.server.setRights(group, { status: 'member' });
  await it.settle();
  expect(it.rights.filter(([chatId]) => chatId === String(channel.id))).toEqual([
    [String(channel.id), { channel: 'The bot may not post messages in the channel.', group: null }],
    [String(channel.id), null],
  ]);
  expect(it.rights.filter(([chatId]) => chatId === String(group.id))).toEqual([
    [String(group.id), expect.objectContaining({ group: expect.stringContaining('discussion group') })],
  ]);
});

describe('a group that became a supergroup', () => {
  const NEXT = -1_001_112_223_334;

  test('has its new id at once, before anything is sent there', async () => {
    const it = receiving();
    const { world } = it.server;
    const next = it.server.upgrade(world.group, NEXT);
    world.link(world.channel, next);
    await it.settle();
    const of = { connectionId: CONNECTION, channelId: String(world.channel.id) };
    expect(it.moved).toEqual([{ ...of, from: String(world.group.id), to: String(NEXT) }]);
    expect(it.rights).toEqual([]);
  });

  test('and is the group of the channel no more breaks what posts there', async () => {
    const it = receiving();
    const { world } = it.server;
    it.server.upgrade(world.group, NEXT);
    world.link(world.channel, null);
    await it.settle();
    const changed = expect.stringContaining('changed since the Destination was saved');
    expect(it.rights).toEqual([[String(world.group.id), { channel: changed, group: changed }]]);
    expect(it.moved).toEqual([]);
  });

  test('while the messenger does not say whose group it is comes again', async () => {
    const it = receiving();
    const { world } = it.server;
    world.link(world.channel, it.server.upgrade(world.group, NEXT));
    const { bot } = world.channel;
    world.channel.bot = null;
    await it.settle();
    expect(it.moved).toEqual([]);
    world.channel.bot = bot;
    await it.pass(2 * SECOND);
    expect(it.moved).toHaveLength(1);
    expect(it.handled()).toHaveLength(1);
  });

  test('that nothing posts to is nothing', async () => {
    const it = receiving();
    it.server.upgrade(it.server.world.addChat(-5, 'group', 'Others'), NEXT);
    await it.settle();
    expect([it.moved, it.rights]).toEqual([[], []]);
    expect(it.server.calls).not.toContain('getChat');
  });
});

describe('a webhook', () => {
  const update = (it: ReturnType<typeof receiving>, body: object | string, headers = { [HEADER]: SECRET }) =>
    it.push(CALLBACK, typeof body === 'string' ? body : JSON.stringify(body), headers);

  test('is answered once its update is handled; a repeated one, too', async () => {
    const it = receiving({ mode: 'webhook' });
    it.server.updates.webhook = { url: CALLBACK, secret: SECRET, allowed: ['message', 'callback_query'] };
    expect(await pressed(it)).toMatchObject({ text: 'Done: Ack' });
    await it.settle();
    expect(it.server.updates.waiting).toEqual([]);
    expect(it.server.calls).not.toContain('getUpdates');
    const message = { update_id: 1, message: { chat: { id: 1, type: 'group' }, message_id: 1 } };
    expect(await update(it, message)).toEqual({ status: 200, body: '{}' });
    expect(await update(it, message)).toEqual({ status: 200, body: '{}' });
  });

  test.each<[string, Readonly<Record<string, string>>, 'webhook' | 'long_polling', string]>([
    ['without its header', {}, 'webhook', CALLBACK],
    ['with a wrong one', { [HEADER]: 'x'.repeat(43) }, 'webhook', CALLBACK],
    ['to a Connection that polls', { [HEADER]: SECRET }, 'long_polling', CALLBACK],
  ])('%s is refused', async (_name, headers, mode, url) => {
    const it = receiving({ mode });
    expect(await it.push(url, '{"update_id":1}', headers)).toEqual({ status: 401, body: '' });
    expect(it.handled()).toEqual([]);
  });

  test.each(['{"update_id":"1"}', '[]', 'no json', '{}'])(
    'with the body %s can never be handled',
    async (body) => {
      expect(await update(receiving({ mode: 'webhook' }), body)).toEqual({ status: 400, body: '' });
    },
  );

  test('of a kind that nobody asked for is passed over', async () => {
    const it = receiving({ mode: 'webhook' });
    expect(await update(it, { update_id: 1, poll: {} })).toEqual({ status: 200, body: '{}' });
  });

  test('is asked for again while the database is away', async () => {
    const it = receiving({ mode: 'webhook' });
    it.on.databaseAway = true;
    const help = {
      message_id: 1,
      chat: { id: 5, type: 'private' },
      from: { id: 5, is_bot: false },
      text: '/help',
    };
    expect(await update(it, { update_id: 1, message: help })).toMatchObject({ status: 500 });
    expect(it.events()).toContain('update_deferred');
  });

  test('in the first two minutes after a downtime of more than an hour brings old presses', async () => {
    const now = receiving().clock.now();
    const downtime = { startedAt: now - 2 * HOUR, endedAt: now - MINUTE };
    const it = receiving({ mode: 'webhook', downtime });
    it.server.updates.webhook = { url: CALLBACK, secret: SECRET, allowed: ['message', 'callback_query'] };
    const post = await it.post();
    expect(await pressed(it, post)).toMatchObject({ isAlert: true });
    expect(it.commands).toEqual([]);
    await it.pass(2 * MINUTE);
    expect(await pressed(it, post)).toMatchObject({ text: 'Done: Ack' });
  });

  test('leaves a record without its secret', async () => {
    const it = receiving({ mode: 'webhook' });
    await update(it, { update_id: 1, poll: {} });
    const [record] = it.requests;
    expect(record).toMatchObject({ direction: 'inbound', operation: 'webhookUpdate', status: 200 });
    expect(JSON.stringify(it.requests)).not.toContain(SECRET);
  });
});

describe('between polls and webhook', () => {
  const place = (
    it: ReturnType<typeof receiving>,
    mode: 'webhook' | 'long_polling',
    secret: string | null = null,
  ) => {
    const access = it.access();
    if (!access) throw new Error('no access');
    return { access, mode, secret };
  };

  test('there and back no press is lost, and none is carried out twice', async () => {
    const it = receiving();
    const post = await it.post();
    await it.settle();
    const press = () => it.server.press(post, 'Ack', it.person);
    press();
    await it.settle();

    const to = await it.webhooks.change(CONNECTION, place(it, 'long_polling'), place(it, 'webhook'));
    // Posted before the save is stored: refused, and posted again.
    press();
    await it.settle();
    if (!to.ok || to.secret === null) throw new Error('refused');
    it.settings.webhookSecret = it.seal(to.secret);
    it.configure('webhook');
    await it.server.updates.deliver();
    await it.settle();
    expect(it.commands).toHaveLength(2);

    const back = await it.webhooks.change(
      CONNECTION,
      place(it, 'webhook', to.secret),
      place(it, 'long_polling'),
    );
    expect(back).toEqual({ ok: true, url: null, secret: null });
    press();
    it.configure('long_polling');
    await it.pass(26 * SECOND);
    expect(it.commands).toHaveLength(3);
    expect(it.server.answers).toHaveLength(3);
    expect(it.server.violations).toEqual([]);
  });

  test('a refused address stores nothing, and the webhook in use is set again with its own secret', async () => {
    const it = receiving({ mode: 'webhook' });
    it.server.updates.webhook = { url: CALLBACK, secret: SECRET, allowed: [] };
    const { clock, server } = it;
    // The messenger looks at the address after it removed the old one.
    server.updates.setWebhook = refusingOnce(server.updates.setWebhook.bind(server.updates));
    const changed = it.webhooks.change(CONNECTION, place(it, 'webhook', SECRET), place(it, 'webhook'));
    await it.settle();
    clock.advance(SECOND);
    expect(await changed).toMatchObject({ ok: false, isLost: false });
    expect(server.updates.webhook).toMatchObject({ url: CALLBACK, secret: SECRET });
  });

  test('a second change within a second waits as long as it is asked to', async () => {
    const it = receiving({ mode: 'webhook' });
    expect((await it.webhooks.change(CONNECTION, null, place(it, 'webhook'))).ok).toBe(true);
    const second = it.webhooks.change(CONNECTION, null, place(it, 'webhook'));
    await it.settle();
    it.clock.advance(SECOND);
    expect((await second).ok).toBe(true);
  });

  test('a bot that is gone does not hold back a new token', async () => {
    const it = receiving({ mode: 'webhook' });
    const old = place(it, 'webhook', SECRET);
    const before = { ...old, access: { ...old.access, token: '123456:revoked-since' } };
    expect(await it.webhooks.change(CONNECTION, before, place(it, 'webhook'))).toMatchObject({
      ...{ ok: true, url: CALLBACK },
    });
    expect(it.events()).toContain('webhook_not_removed');
    expect(await it.webhooks.change(CONNECTION, before, place(it, 'long_polling'))).toMatchObject({
      ok: true,
    });
  });
});

/** Refuses the first webhook that is set after one was removed, as for an address that it does not take. */
function refusingOnce(set: (webhook: Webhook | null) => void): (webhook: Webhook | null) => void {
  let isRefused = false;
  return (webhook) => {
    if (webhook === null || isRefused) return set(webhook);
    isRefused = true;
    throw new Refusal(400, 'bad webhook: IP address 10.0.0.1 is reserved');
  };
}
