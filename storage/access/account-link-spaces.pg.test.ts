/** Where a link counts, by messenger: on one Connection, or on all of a messenger (account-links §2). */
import { randomBytes } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { digestOf, type Messenger, type UserAuthorship } from '../../actors/account-links/link.ts';
import { HOUR, SECOND } from '../../runtime/clock.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import { firstStart, NOW, recordedAudit } from '../../test/configuration.ts';
import { useDatabase } from '../../test/postgres.ts';
import { createEventFacts } from '../delivery/connection-events.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { createLinkRequestStore } from './account-link-requests.ts';
import { accountsOf, createAccountLinkStore, unlinkConnection } from './account-links.ts';

const database = useDatabase();
const BOB = { externalId: '5001', username: 'bob_tg', displayName: 'Bob' };
const CODE = digestOf('7QF4H9XJ');

let audit: ReturnType<typeof recordedAudit>;
let alice: PublicId;
let carol: PublicId;
let events = 0;

beforeEach(async () => {
  await firstStart(database.sql());
  audit = recordedAudit();
  [alice, carol] = [await user('alice'), await user('carol')];
});

const deps = () => ({ sql: database.sql(), appendAudit: audit.appendAudit });
const requests = () => createLinkRequestStore(deps());
const linksOf = (userId: PublicId) => createAccountLinkStore(deps()).of(userId);
const personBehind = (connectionId: PublicId) =>
  createEventFacts(database.sql(), () => undefined).person(connectionId, BOB.externalId);
const mentioned = async (connectionId: PublicId) => [
  ...(await accountsOf(database.sql(), connectionId, [alice, carol])).keys(),
];

async function user(login: string): Promise<PublicId> {
  const id = newPublicId('SR');
  await database.sql()`
    insert into users (id, version, login, login_folded, name, role, source, status, created_at)
    values (${id}, 1, ${login}, ${login}, ${login}, 'responder', 'local', 'active', ${NOW})`;
  return id;
}

async function connection(type: Messenger): Promise<PublicId> {
  const id = newPublicId('CN');
  const mode = type === 'bridge' ? 'poll' : null;
  await database.sql()`
    insert into connections (id, version, name, type, address, access, event_mode, limiter, created_at)
    values (${id}, 1, ${id}, ${type}, 'https://chat.example.org', 1, ${mode}, '{}', ${NOW})`;
  return id;
}

async function destinationOn(connectionId: PublicId, type: Messenger): Promise<PublicId> {
  const id = newPublicId('DS');
  await database.sql()`
    insert into destinations (id, version, type, name, limiter, mentions, secrets_version, connection_id, created_at)
    values (${id}, 1, ${type}, ${id}, '{}', '{}', 1, ${connectionId}, ${NOW})`;
  return id;
}

function by(userId: PublicId): UserAuthorship {
  const actor = { kind: 'user', id: userId, name: '', login: '', tokenName: null, transport: 'ui' } as const;
  return { userId, by: actor, at: NOW, address: null };
}

/** The User asks for a token, and the account sends it to the bot of a Connection. */
async function bring(userId: PublicId, connectionId: PublicId, sentTo = connectionId, account = BOB) {
  const digest = digestOf(randomBytes(32).toString('base64url'));
  await requests().beginToken({ connectionId, digest }, by(userId));
  const use = { connectionId: sentTo, eventId: `${events++}`, account, digest, at: NOW + SECOND };
  return (await requests().useToken(use, () => null)).outcome;
}

async function confirmed(userId: PublicId, connectionId: PublicId, messenger: Messenger) {
  const id = newPublicId('AR');
  const refusal = await requests().beginCode({ id, connectionId, account: BOB, digest: CODE }, by(userId));
  return refusal ?? requests().confirmCode(messenger, id, CODE, by(userId));
}

const deleted = (connectionId: PublicId) =>
  inTransaction(database.sql(), (tx) =>
    unlinkConnection({ ...deps(), tx, author: by(carol) }, connectionId, 'connection_deleted'),
  );

test('a link made through one channel bot counts for every other, and outlives its Connection', async () => {
  const [made, other] = [await connection('channel_bot'), await connection('channel_bot')];
  expect(await bring(alice, made)).toMatchObject({ is: 'linked' });
  expect(audit.entries).toMatchObject([
    { actor: { transport: 'channel_bot' }, details: { messenger: 'channel_bot', connection: { id: made } } },
  ]);
  expect(await linksOf(alice)).toMatchObject([{ messenger: 'channel_bot', connection: { id: made } }]);

  expect(await deleted(made)).toEqual([]);
  expect(await linksOf(alice)).toMatchObject([{ externalId: '5001', connection: null }]);
  expect(await personBehind(other)).toMatchObject({ id: alice });
  expect(await mentioned(other)).toEqual([alice]);
});

test('an account that one channel bot knows is nobody else’s through another', async () => {
  const [first, second] = [await connection('channel_bot'), await connection('channel_bot')];
  await bring(alice, first);
  expect(await bring(carol, second)).toMatchObject({ reason: 'conflict' });
  expect(await bring(alice, second, first)).toMatchObject({ reason: 'wrong_connection' });
});

test('whoever sends tokens side by side, an account has one User and a User one account', async () => {
  const connections = [await connection('channel_bot'), await connection('channel_bot')] as const;
  const outcomes = await Promise.all([
    ...[alice, carol].map((userId, at) => bring(userId, connections[at]!)),
    ...[alice, carol].map((userId, at) => bring(userId, connections[1 - at]!)),
  ]);
  expect(new Set(outcomes.map((outcome) => outcome && 'user' in outcome && outcome.user?.id)).size).toBe(2);
  const links = [...(await linksOf(alice)), ...(await linksOf(carol))];
  expect(links).toMatchObject([{ externalId: BOB.externalId }]);

  const others = ['6001', '6002', '6003'].map((externalId) => ({ ...BOB, externalId }));
  const free = (await linksOf(alice)).length === 0 ? alice : carol;
  await Promise.all(
    others.map((account, at) => bring(free, connections[at % 2]!, connections[at % 2]!, account)),
  );
  expect(await linksOf(free)).toHaveLength(1);
});

test('two chat servers are two spaces: one account each, and a press on the other is not linked', async () => {
  const [first, second] = [await connection('chat_server'), await connection('chat_server')];
  expect(await confirmed(alice, first, 'chat_server')).toMatchObject({
    is: 'linked',
    link: { messenger: 'chat_server' },
  });
  expect(await personBehind(second)).toBeNull();
  expect(await mentioned(second)).toEqual([]);
  expect(await confirmed(carol, second, 'chat_server')).toMatchObject({ is: 'linked' });
  expect(await personBehind(first)).toMatchObject({ id: alice });
  expect(await deleted(first)).toEqual([alice]);
  expect(await linksOf(carol)).toHaveLength(1);
});

test('a code is confirmed through the messenger that it was sent by', async () => {
  const chat = await connection('chat_server');
  expect(await confirmed(alice, chat, 'bridge')).toEqual({ is: 'unknown' });
});

test('a link and a rename reach the Destinations of its space alone', async () => {
  const bots = [await connection('channel_bot'), await connection('channel_bot')] as const;
  const posting = [
    await destinationOn(bots[0], 'channel_bot'),
    await destinationOn(bots[1], 'channel_bot'),
  ].sort();
  await destinationOn(await connection('chat_server'), 'chat_server');
  await bring(alice, bots[0]);
  const told = async () => {
    const rows = await database.sql()<{ receiver_key: string }[]>`
      delete from inbox returning receiver_key`;
    return rows.map((row) => row.receiver_key).sort();
  };
  expect(await told()).toEqual(posting);
  const person = await personBehind(bots[1]);
  const facts = createEventFacts(database.sql(), () => undefined);
  await facts.used(person!.linkId, { ...BOB, username: 'robert' }, NOW + HOUR);
  expect(await linksOf(alice)).toMatchObject([{ username: 'robert', lastUsedAt: NOW + HOUR }]);
  expect(await told()).toEqual(posting);
});
