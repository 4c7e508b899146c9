/** Copies of posts, and chats whose rights changed (channel-bot §3, §8.1). */
import { beforeEach, expect, test } from 'vitest';
import type { CopySeen } from '../../actors/connection/effects.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../runtime/clock.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import { NOW } from '../../test/configuration.ts';
import { useDatabase } from '../../test/postgres.ts';
import {
  noteWebhookBlocks,
  polledConnections,
  readChannelBotSettings,
} from '../configuration/connection-rows.ts';
import { createBotChats, createCopies, createLostPosts, pruneCopies } from './channel-copies.ts';
import { connectionWriter, createEventFacts } from './connection-events.ts';

const database = useDatabase();
let connectionId: PublicId;

beforeEach(async () => {
  await database.sql()`truncate channel_copies`;
  connectionId = newPublicId('CN');
  await database.sql()`
    insert into connections (id, version, name, type, address, access, update_mode, limiter, created_at)
    values (
      ${connectionId}, 1, ${connectionId}, 'channel_bot', 'https://api.telegram.org', 1, 'long_polling', '{}', ${NOW}
    )`;
});

const seen = (changes: Partial<CopySeen> = {}): CopySeen => ({
  ...{ type: 'connection.copy_seen', connectionId, channelId: '-1001', postId: '57' },
  ...{ groupId: '-1009', copyId: '912', about: null, at: NOW },
  ...changes,
});
const write = (...copies: readonly CopySeen[]) =>
  database.sql().begin((tx) => connectionWriter.write(tx, copies, new Map()));

const chatsOf = (messagesWait: () => void = () => undefined) =>
  createBotChats(database.sql(), messagesWait, () => NOW);

/** A Destination that posts to the channel. */
async function bound(chat: string, group: string): Promise<PublicId> {
  const id = newPublicId('DS');
  await database.sql()`
    insert into destinations (
      id, version, type, name, limiter, mentions, secrets_version, connection_id, created_at, chat_id,
      discussion_group_id
    )
    values (${id}, 1, 'channel_bot', ${id}, '{}', '{}', 1, ${connectionId}, ${NOW}, ${chat}, ${group})`;
  return id;
}

test('the first copy of a post counts, and a press under it leads to the post', async () => {
  await write(seen(), seen({ copyId: '913' }));
  await write(seen({ copyId: '914' }));
  const copies = createCopies(database.sql());
  const post = { connectionId, channelId: '-1001', postId: '57' };
  expect(await copies.find(post)).toEqual({ groupId: '-1009', copyId: '912' });
  expect(await copies.find({ ...post, postId: '58' })).toBeNull();
  const chats = chatsOf();
  expect(await chats.originalOf(connectionId, '-1009', '912')).toEqual({ chatId: '-1001', messageId: '57' });
  expect(await chats.originalOf(connectionId, '-1009', '913')).toBeNull();
});

test('a copy goes a day after it was seen unless its post is a message of the service', async () => {
  const sql = database.sql();
  await write(seen(), seen({ postId: '58', copyId: '913' }));
  await sql`
    insert into delivered_messages (connection_id, message_id, destination_id, kind, is_present, posted_at)
    values (${connectionId}, '-1001/57', ${newPublicId('DS')}, 'root', true, ${NOW})`;
  expect(await pruneCopies(sql, NOW + DAY - 1)).toBe(0);
  expect(await pruneCopies(sql, NOW + DAY)).toBe(1);
  const [left] = await sql<{ post_id: string }[]>`
    select post_id from channel_copies where connection_id = ${connectionId}`;
  expect(left).toEqual({ post_id: '57' });
});

test('a post that no id is stored of is found by its copy, if it is newer than those that are known', async () => {
  const sql = database.sql();
  const about = newPublicId('AG');
  const of = { connectionId, channelId: '-1001', about, since: NOW };
  const { lost } = createCopies(sql);
  await write(
    seen({ about, at: NOW - 1 }),
    seen({ about, postId: '101', copyId: '913' }),
    seen({ about, postId: '99', copyId: '914' }),
    seen({ postId: '102', copyId: '915' }),
    seen({ about: newPublicId('AG'), postId: '103', copyId: '916' }),
    seen({ about, channelId: '-1002', postId: '104', copyId: '917' }),
  );
  expect(await lost(of)).toEqual([
    { postId: '101', groupId: '-1009', copyId: '913' },
    { postId: '99', groupId: '-1009', copyId: '914' },
  ]);
  const post = (message: string, kind = 'root', by = connectionId) => sql`
    insert into delivered_messages (
      connection_id, message_id, destination_id, kind, group_id, is_present, posted_at
    )
    values (${by}, ${message}, ${newPublicId('DS')}, ${kind}, ${about}, true, ${NOW})`;
  await post('-1009/950', 'reply');
  // Of other messengers, where the Alert Group is as well.
  for (const id of ['o3ejnmtx6bnadr', '-1001/x', '-1001/99999999999999999999'])
    await post(id, 'root', newPublicId('CN'));
  await post('-1001/100');
  expect((await lost(of)).map(({ postId }) => postId)).toEqual(['101']);
  await post('-1001/101');
  expect(await lost(of)).toEqual([]);
});

test('a post that was made again is a message of the service once its copy is seen, until its last edit', async () => {
  const sql = database.sql();
  const about = newPublicId('AG');
  const destinationId = await bound('-1001', '-1009');
  await sql`
    insert into delivered_messages (
      connection_id, message_id, destination_id, kind, group_id, is_present, posted_at
    )
    values
      (${connectionId}, '-1001/100', ${destinationId}, 'root', ${about}, true, ${NOW}),
      (${connectionId}, '-1001/90', ${destinationId}, 'root', ${about}, false, ${NOW}),
      (${newPublicId('CN')}, '-1001/95', ${destinationId}, 'root', ${about}, true, ${NOW}),
      (${newPublicId('CN')}, 'o3ejnmtx6bnadr', ${destinationId}, 'root', ${about}, true, ${NOW})`;
  const seenAt = (postId: string, copyId: string, at = NOW) => seen({ about, postId, copyId, at });
  await write(
    seenAt('99', '1'),
    seenAt('90', '2'),
    seenAt('95', '3'),
    seenAt('101', '4'),
    seenAt('98', '5', NOW - HOUR),
  );
  await write(
    seen({ postId: '97', copyId: '6' }),
    seen({ about: newPublicId('AG'), postId: '96', copyId: '7' }),
  );
  const time = { now: NOW };
  const posts = createLostPosts(sql, () => time.now);
  const lost = {
    messageId: '-1001/99',
    connectionId,
    groupId: about,
    destinationId,
    target: 1,
    postedAt: NOW,
  };
  expect(await posts.read()).toEqual([]);
  expect([await posts.learn(), await posts.learn()]).toEqual([1, 0]);
  expect(await createEventFacts(sql, () => undefined).message(connectionId, '-1001/99')).toMatchObject({
    ...{ destinationId, kind: 'root', groupId: about, isPresent: false },
  });
  // The call of another Destination may still be under way.
  expect(await posts.read()).toEqual([]);
  time.now = NOW + MINUTE;
  expect(await posts.read()).toEqual([lost]);
  await posts.ended(lost);
  expect(await posts.read()).toEqual([]);
  const press = (postId: string, of: PublicId = about) =>
    posts.learn({ connectionId, channelId: '-1001', postId, about: of });
  expect(await press('100')).toBe(0);
  expect(await press('101')).toBe(0);
  expect(await press('94', newPublicId('AG'))).toBe(0);
  expect(await press('94')).toBe(1);
  time.now += MINUTE;
  expect(await posts.read()).toMatchObject([{ messageId: '-1001/94' }]);
  time.now += DAY;
  expect(await posts.read()).toEqual([]);
});

test('last edits that failed wait, with all of their Connection or alone, and nothing else does', async () => {
  const sql = database.sql();
  const about = newPublicId('AG');
  const destinationId = await bound('-1001', '-1009');
  const other = newPublicId('CN');
  const post = (by: PublicId, id: string) => sql`
    insert into delivered_messages (
      connection_id, message_id, destination_id, kind, group_id, is_present, posted_at
    )
    values (${by}, ${id}, ${destinationId}, 'root', ${about}, true, ${NOW})`;
  await Promise.all([post(connectionId, '-1001/100'), post(other, '-1002/100')]);
  const time = { now: NOW };
  const posts = createLostPosts(sql, () => time.now);
  const learn = (postId: string, by = connectionId, channelId = '-1001') =>
    posts.learn({ connectionId: by, channelId, postId, about });
  const due = async () => (await posts.read()).map(({ messageId }) => messageId);
  for (const [index] of Array.from({ length: 20 }).entries()) await learn(String(index + 10));
  time.now += SECOND;
  await learn('50', other, '-1002');
  time.now += MINUTE;
  const [first = '', ...others] = await due();
  expect([others.length, others.includes('-1002/50')]).toEqual([19, false]);
  await posts.later({ connectionId, messageId: first }, time.now + MINUTE);
  expect((await due()).at(-1)).toBe('-1002/50');
  // The one that failed is due again, after those that were not tried yet.
  time.now += MINUTE;
  expect((await due()).at(-1)).toBe('-1002/50');
  const until = time.now + 15 * MINUTE;
  await posts.later({ connectionId, messageId: null }, until);
  expect(await due()).toEqual(['-1002/50']);
  time.now = until - 1;
  expect(await due()).toEqual(['-1002/50']);
  time.now = until;
  expect(await due()).toHaveLength(20);
  await sql`update delivered_messages set is_present = true where connection_id = ${connectionId}`;
  expect(await due()).toEqual(['-1002/50']);
  const [left] = await sql`select count(*) from lost_posts where connection_id = ${connectionId}`;
  expect(left).toEqual({ count: 0 });
});

test('a group that became a supergroup is that of its channel, and its copies are known no more', async () => {
  const sql = database.sql();
  await Promise.all([bound('-1001', '-1009'), bound('-1002', '-1009'), bound('-1001', '-1008')]);
  await write(seen(), seen({ channelId: '-1002', copyId: '913' }));
  const chats = chatsOf();
  expect([...(await chats.channelsOf(connectionId, '-1009'))].sort()).toEqual(['-1001', '-1002']);
  await chats.groupMoved({ connectionId, channelId: '-1001', from: '-1009', to: '-1007' });
  expect(await chats.channelsOf(connectionId, '-1007')).toEqual(['-1001']);
  expect(await chats.channelsOf(connectionId, '-1008')).toEqual(['-1001']);
  expect(await chats.channelsOf(connectionId, '-1009')).toEqual(['-1002']);
  const copies = createCopies(sql);
  expect(await copies.find({ connectionId, channelId: '-1001', postId: '57' })).toBeNull();
  expect(await copies.find({ connectionId, channelId: '-1002', postId: '57' })).not.toBeNull();
  await write(seen({ groupId: '-1007', copyId: '12' }));
  expect(await copies.find({ connectionId, channelId: '-1001', postId: '57' })).toMatchObject({
    copyId: '12',
  });
});

test('rights that changed are told to the Destinations of the chat, as its channel or its group', async () => {
  const sql = database.sql();
  const destination = await bound('-1001', '-1009');
  const other = await bound('-1002', '-1008');
  let waits = 0;
  const chats = chatsOf(() => waits++);
  await chats.rightsChanged(connectionId, '-1001', { channel: 'lost', group: null });
  await chats.rightsChanged(connectionId, '-1009', { channel: 'lost', group: 'no admin' });
  await chats.rightsChanged(connectionId, '-1001', null);
  await chats.rightsChanged(connectionId, '-1003', null);
  const told = await sql<{ key: string; message: object }[]>`
    select receiver_key as key, message from inbox where receiver_key = any(${[destination, other]}) order by seq`;
  expect(told.map(({ key, message }) => [key, message])).toEqual([
    [destination, { type: 'rights_lost', reason: 'lost' }],
    [destination, { type: 'rights_lost', reason: 'no admin' }],
    [destination, { type: 'saved' }],
  ]);
  expect(waits).toBe(3);
});

test('a Connection that polls is told to go on; a foreign webhook is noted for its access', async () => {
  const sql = database.sql();
  expect(await polledConnections(sql)).toContain(connectionId);
  await noteWebhookBlocks(sql, connectionId, 2, true);
  expect(await readChannelBotSettings(sql, connectionId)).toMatchObject({
    ...{ access: 1, baseUrl: 'https://api.telegram.org', updateMode: 'long_polling', webhookBlocks: false },
  });
  await noteWebhookBlocks(sql, connectionId, 1, true);
  expect(await readChannelBotSettings(sql, connectionId)).toMatchObject({ webhookBlocks: true });
});
