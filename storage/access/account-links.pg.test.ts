import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  digestOf,
  type MessengerAccount,
  type TokenOutcome,
  type UserAuthorship,
} from '../../actors/account-links/link.ts';
import { HOUR, MINUTE, type Micros, SECOND } from '../../runtime/clock.ts';
import { silentLog } from '../../runtime/log.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import { createKeyring, masterKey } from '../../runtime/secrets/keyring.ts';
import { firstStart, NOW, recordedAudit } from '../../test/configuration.ts';
import { useDatabase } from '../../test/postgres.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { createAccessStore } from './access.ts';
import { createLinkRequestStore } from './account-link-requests.ts';
import { pruneLinkRequests } from './account-link-tokens.ts';
import { accountsOf, createAccountLinkStore, unlinkConnection, unlinkUser } from './account-links.ts';

const database = useDatabase();
const BOB: MessengerAccount = { externalId: '18', username: 'bob', displayName: 'Bob Jones' };
const OTHER: MessengerAccount = { externalId: '19', username: null, displayName: null };
const RIGHT = digestOf('7QF4H9XJ');
const WRONG = digestOf('XXXXXXXX');

let audit: ReturnType<typeof recordedAudit>;
let alice: PublicId;
let carol: PublicId;
let zulip: PublicId;
let events = 0;

beforeEach(async () => {
  await firstStart(database.sql());
  audit = recordedAudit();
  [alice, carol, zulip] = [await user('alice'), await user('carol'), await connection('Zulip')];
});

const stores = () => {
  const deps = { sql: database.sql(), appendAudit: audit.appendAudit };
  return { links: createAccountLinkStore(deps), requests: createLinkRequestStore(deps) };
};

async function user(login: string, status = 'active'): Promise<PublicId> {
  const id = newPublicId('SR');
  await database.sql()`
    insert into users (id, version, login, login_folded, name, role, source, status, created_at)
    values (${id}, 1, ${login}, ${login}, ${login}, 'responder', 'local', ${status}, ${NOW})`;
  return id;
}

async function connection(name: string): Promise<PublicId> {
  const id = newPublicId('CN');
  await database.sql()`
    insert into connections (id, version, name, type, address, access, event_mode, limiter, created_at)
    values (${id}, 1, ${name}, 'bridge', 'https://bridge.example.org', 1, 'poll', '{}', ${NOW})`;
  return id;
}

function by(userId: PublicId, at: Micros = NOW): UserAuthorship {
  const actor = { kind: 'user', id: userId, name: '', login: '', tokenName: null, transport: 'ui' } as const;
  return { userId, by: actor, at, address: null };
}

async function begunToken(userId = alice, connectionId = zulip, at: Micros = NOW): Promise<Buffer> {
  const digest = digestOf(randomBytes(32).toString('base64url'));
  expect(await stores().requests.beginToken({ connectionId, digest }, by(userId, at))).toBeNull();
  return digest;
}

/** The token comes back from an account. */
async function bring(
  digest: Uint8Array | null,
  account = BOB,
  connectionId = zulip,
  at: Micros = NOW + SECOND,
) {
  const eventId = `event-${events++}`;
  const { outcome } = await stores().requests.useToken(
    { connectionId, eventId, account, digest, at },
    () => null,
  );
  return outcome;
}

function reasonOf(outcome: TokenOutcome | null): string | undefined {
  return outcome?.is === 'rejected' ? outcome.reason : undefined;
}

async function begunCode(userId = alice, account = BOB, at: Micros = NOW) {
  const id = newPublicId('AR');
  const request = { id, connectionId: zulip, account, digest: RIGHT };
  return { id, refusal: await stores().requests.beginCode(request, by(userId, at)) };
}

const rejections = () =>
  audit.entries
    .filter(({ action }) => action === 'account_link.link_rejected')
    .map(({ details }) => details.reason);

describe('a token', () => {
  test('links the account that brings it to the User who asked for it', async () => {
    const outcome = await bring(await begunToken());
    expect(outcome).toMatchObject({ is: 'linked', user: { id: alice, login: 'alice' } });
    expect(await stores().links.of(alice)).toMatchObject([
      { messenger: 'bridge', connection: { id: zulip, name: 'Zulip' }, externalId: '18', username: 'bob' },
    ]);
    expect(await accountsOf(database.sql(), zulip, [alice, carol])).toEqual(new Map([[alice, BOB]]));
    expect(audit.entries).toMatchObject([
      {
        action: 'account_link.linked',
        actor: { kind: 'system', transport: 'bridge' },
        resourceName: '@bob',
        details: { external_id: '18', replaced: null, user: { login: 'alice' } },
      },
    ]);
  });

  test('works once, whoever brings it', async () => {
    const digest = await begunToken();
    await bring(digest);
    expect(reasonOf(await bring(digest))).toBe('token_used');
    expect(reasonOf(await bring(digest, OTHER))).toBe('token_used');
  });

  test('ends after 10 minutes', async () => {
    expect(reasonOf(await bring(await begunToken(), BOB, zulip, NOW + 10 * MINUTE + SECOND))).toBe(
      'token_expired',
    );
  });

  test('of another Connection, or that nobody made, leads nowhere', async () => {
    const mattermost = await connection('Other');
    expect(reasonOf(await bring(await begunToken(), BOB, mattermost))).toBe('wrong_connection');
    expect(reasonOf(await bring(digestOf('made up')))).toBe('token_unknown');
  });

  test('is void once a newer one was asked for', async () => {
    const first = await begunToken();
    await begunToken();
    expect(reasonOf(await bring(first))).toBe('token_used');
  });

  test('does not take an account from another User, and stays usable', async () => {
    await bring(await begunToken(carol));
    const digest = await begunToken(alice);
    expect(reasonOf(await bring(digest))).toBe('conflict');
    expect(await stores().links.of(carol)).toHaveLength(1);
    expect(await bring(digest, OTHER)).toMatchObject({ is: 'linked' });
  });

  test('of a User who was disabled leads nowhere', async () => {
    const digest = await begunToken();
    await database.sql()`update users set status = 'disabled' where id = ${alice}`;
    expect(reasonOf(await bring(digest))).toBe('user_disabled');
  });

  test('from a second account takes the place of the first', async () => {
    await bring(await begunToken());
    await bring(await begunToken(), OTHER);
    expect(await stores().links.of(alice)).toMatchObject([{ externalId: '19' }]);
    expect(audit.actions()).toEqual(['account_link.linked', 'account_link.unlinked', 'account_link.linked']);
    expect(audit.entries[1]?.details).toMatchObject({ reason: 'replaced' });
    expect(audit.entries[2]?.details).toMatchObject({ replaced: '18' });
  });

  test('from the account that is linked already brings its name up to date', async () => {
    await bring(await begunToken());
    const [before] = await stores().links.of(alice);
    await bring(await begunToken(), { ...BOB, username: 'robert' });
    expect(await stores().links.of(alice)).toEqual([{ ...before, username: 'robert' }]);
    expect(audit.actions()).toEqual(['account_link.linked']);
  });

  test('is handled once, however often its event comes', async () => {
    const digest = await begunToken();
    const use = { connectionId: zulip, eventId: 'event-x', account: BOB, digest, at: NOW };
    const both = await Promise.all(
      [0, 1].map(() => stores().requests.useToken(use, ({ is }) => `answer: ${is}`)),
    );
    expect(both.map(({ say }) => say)).toEqual(['answer: linked', 'answer: linked']);
    expect(both.filter(({ outcome }) => outcome !== null)).toHaveLength(1);
  });

  test('that is bad is answered and recorded ten times an hour for each account', async () => {
    for (let tries = 1; tries <= 11; tries++) {
      expect(await bring(digestOf(`guess ${tries}`))).toMatchObject({ isAnswered: tries <= 10 });
    }
    expect(rejections()).toHaveLength(10);
    expect(await bring(digestOf('guess'), OTHER)).toMatchObject({ isAnswered: true });
    const later = await bring(digestOf('guess'), BOB, zulip, NOW + HOUR + 2 * SECOND);
    expect(later).toMatchObject({ isAnswered: true });
  });

  test('is given to a User 20 times an hour', async () => {
    for (let asked = 0; asked < 20; asked++) await begunToken(alice, zulip, NOW + asked * SECOND);
    const digest = digestOf('one more');
    const { requests } = stores();
    const wanted = { connectionId: zulip, digest };
    expect(await requests.beginToken(wanted, by(alice, NOW + MINUTE))).toEqual({ retryAt: NOW + HOUR });
    expect(await requests.beginToken(wanted, by(alice, NOW + HOUR))).toBeNull();
  });
});

describe('a code', () => {
  test('links the account that it was sent to', async () => {
    const { id } = await begunCode();
    const confirmed = await stores().requests.confirmCode('bridge', id, RIGHT, by(alice));
    expect(confirmed).toMatchObject({
      is: 'linked',
      link: { externalId: '18' },
      connection: { name: 'Zulip' },
    });
    expect(await stores().requests.confirmCode('bridge', id, RIGHT, by(alice))).toEqual({
      is: 'invalid',
      reason: null,
    });
  });

  test('of another User is unknown', async () => {
    const { id } = await begunCode();
    expect(await stores().requests.confirmCode('bridge', id, RIGHT, by(carol))).toEqual({ is: 'unknown' });
  });

  test('is void after five wrong ones', async () => {
    const { id } = await begunCode();
    for (let tries = 0; tries < 5; tries++) {
      expect(await stores().requests.confirmCode('bridge', id, WRONG, by(alice))).toMatchObject({
        is: 'invalid',
      });
    }
    expect(await stores().requests.confirmCode('bridge', id, RIGHT, by(alice))).toEqual({
      is: 'invalid',
      reason: null,
    });
    expect(rejections()).toEqual(Array(5).fill('wrong_code'));
  });

  test('is compared at most five times, however many tries come side by side', async () => {
    const { id } = await begunCode();
    const tries = Array.from({ length: 12 }, () =>
      stores().requests.confirmCode('bridge', id, WRONG, by(alice)),
    );
    await Promise.all(tries);
    expect(await stores().requests.confirmCode('bridge', id, RIGHT, by(alice))).toMatchObject({
      is: 'invalid',
    });
    expect(rejections()).toHaveLength(5);
  });

  test('ends after 10 minutes', async () => {
    const { id } = await begunCode();
    const late = await stores().requests.confirmCode('bridge', id, RIGHT, by(alice, NOW + 10 * MINUTE));
    expect(late).toEqual({ is: 'invalid', reason: 'token_expired' });
  });

  test('is not sent to an account of another User', async () => {
    await bring(await begunToken(carol));
    expect((await begunCode()).refusal).toBe('conflict');
    expect(rejections()).toEqual(['conflict']);
  });

  test('stays open when another User was quicker', async () => {
    const { id } = await begunCode();
    await bring(await begunToken(carol));
    expect(await stores().requests.confirmCode('bridge', id, RIGHT, by(alice))).toEqual({ is: 'conflict' });
    await unlink(carol);
    expect(await stores().requests.confirmCode('bridge', id, RIGHT, by(alice))).toMatchObject({
      is: 'linked',
    });
  });

  test('is sent five times an hour for a User and three times to an account; those that were not sent do not count', async () => {
    const { requests } = stores();
    const { id } = await begunCode(alice);
    await requests.codeNotSent(id);
    for (let asked = 0; asked < 3; asked++) expect((await begunCode(alice)).refusal).toBeNull();
    expect((await begunCode(carol)).refusal).toEqual({ retryAt: NOW + HOUR });
    for (let asked = 0; asked < 2; asked++) expect((await begunCode(alice, OTHER)).refusal).toBeNull();
    expect((await begunCode(alice, OTHER)).refusal).toEqual({ retryAt: NOW + HOUR });
    expect(await requests.codesExhausted(alice, NOW)).toEqual({ retryAt: NOW + HOUR });
    expect(await requests.codesExhausted(carol, NOW)).toBeNull();
  });

  test('is not asked for again after five names that nobody has, and leaves the open one open', async () => {
    const { requests } = stores();
    const { id } = await begunCode();
    for (let asked = 0; asked < 4; asked++) await requests.codeForNobody(zulip, by(alice));
    expect(await requests.codesExhausted(alice, NOW)).toEqual({ retryAt: NOW + HOUR });
    expect(await requests.codesExhausted(carol, NOW)).toBeNull();
    expect(await requests.confirmCode('bridge', id, RIGHT, by(alice))).toMatchObject({ is: 'linked' });
  });
});

async function unlink(userId: PublicId): Promise<boolean> {
  const [link] = await stores().links.of(userId);
  return link !== undefined && stores().links.remove(userId, link.id, by(userId));
}

describe('a link goes', () => {
  beforeEach(async () => {
    await bring(await begunToken());
    audit.entries.length = 0;
  });

  test('when it is removed, which only concerns its own User', async () => {
    const [link] = await stores().links.of(alice);
    if (!link) throw new Error('nothing is linked');
    expect(await stores().links.remove(carol, link.id, by(carol))).toBe(false);
    expect(await stores().links.remove(alice, link.id, by(alice))).toBe(true);
    expect(audit.entries).toMatchObject([{ action: 'account_link.unlinked', details: { reason: null } }]);
  });

  test('when its account asks for it, in the name of its User, even a disabled one', async () => {
    await database.sql()`update users set status = 'disabled' where id = ${alice}`;
    expect(await bring(null, OTHER)).toEqual({ is: 'not_linked', hasOther: false, isAnswered: true });
    expect(await stores().links.of(alice)).toHaveLength(1);
    expect(await bring(null)).toMatchObject({ is: 'unlinked', user: { id: alice, login: 'alice' } });
    expect(await stores().links.of(alice)).toEqual([]);
    expect(audit.entries).toMatchObject([
      {
        action: 'account_link.unlinked',
        actor: { kind: 'user', id: alice, transport: 'bridge' },
        details: { reason: 'by_messenger', external_id: '18' },
      },
    ]);
  });

  test('by a button that was made for it, and not by one of an earlier link', async () => {
    const [link] = await stores().links.of(alice);
    const press = async (linkId: PublicId) => {
      const use = {
        connectionId: zulip,
        eventId: `event-${events++}`,
        account: BOB,
        digest: null,
        linkId,
        at: NOW,
      };
      return (await stores().requests.useToken(use, () => null)).outcome;
    };
    expect(await press(newPublicId('AK'))).toMatchObject({ is: 'not_linked', hasOther: true });
    expect(await press(link!.id)).toMatchObject({ is: 'unlinked', user: { id: alice } });
    expect(await press(link!.id)).toMatchObject({ is: 'not_linked', hasOther: false });
  });

  test('once, however often the event comes in which its account asks for it', async () => {
    const use = { connectionId: zulip, eventId: 'event-u', account: BOB, digest: null, at: NOW };
    const both = await Promise.all(
      [0, 1].map(() => stores().requests.useToken(use, ({ is }) => `answer: ${is}`)),
    );
    expect(both.map(({ say }) => say)).toEqual(['answer: unlinked', 'answer: unlinked']);
    expect(both.filter(({ outcome }) => outcome !== null)).toHaveLength(1);
  });

  test('and asking for it without one is answered ten times an hour, like bad tokens', async () => {
    for (let tries = 1; tries <= 11; tries++)
      expect(await bring(null, OTHER)).toEqual({
        is: 'not_linked',
        hasOther: false,
        isAnswered: tries <= 10,
      });
    expect(audit.entries).toEqual([]);
  });

  test('with its User, and what they began leads nowhere', async () => {
    const digest = await begunToken();
    await inTransaction(database.sql(), (tx) =>
      unlinkUser({ tx, appendAudit: audit.appendAudit, author: by(carol) }, alice),
    );
    expect(await stores().links.of(alice)).toEqual([]);
    expect(reasonOf(await bring(digest, OTHER))).toBe('token_used');
    expect(audit.entries[0]?.details).toMatchObject({ reason: 'user_deleted' });
  });

  test('with its Connection', async () => {
    const users = await inTransaction(database.sql(), (tx) =>
      unlinkConnection(
        { tx, appendAudit: audit.appendAudit, author: by(carol) },
        zulip,
        'connection_deleted',
      ),
    );
    expect(users).toEqual([alice]);
    expect(audit.entries[0]?.details).toMatchObject({ reason: 'connection_deleted' });
  });

  test('and Destinations of its Connection look whether messages name the person otherwise now', async () => {
    const sql = database.sql();
    const destination = newPublicId('DS');
    await sql`
      insert into destinations (id, version, type, name, limiter, mentions, secrets_version, connection_id, created_at)
      values (${destination}, 1, 'bridge', 'Ops', '{}', '{}', 1, ${zulip}, ${NOW})`;
    await unlink(alice);
    expect([...(await sql`select receiver_key, message from inbox`)]).toEqual([
      { receiver_key: destination, message: { type: 'rerender', routeId: null } },
    ]);
  });
});

test('the directory says whom a Mention through a Connection reaches', async () => {
  await bring(await begunToken());
  const other = await connection('Elsewhere');
  const key = masterKey(randomBytes(32));
  const { users } = createAccessStore({
    ...{ sql: database.sql(), appendAudit: audit.appendAudit, log: silentLog },
    keyring: createKeyring([key], key.id),
  });
  const linked = async (through: PublicId | null) => {
    const { users: found } = await users.page(null, through, null, 50);
    return found.map(({ login, isLinked }) => [login, isLinked]);
  };
  expect(await linked(zulip)).toEqual([
    ['alice', true],
    ['carol', false],
  ]);
  expect((await linked(other)).map(([, isLinked]) => isLinked)).toEqual([false, false]);
  expect((await linked(null)).map(([, isLinked]) => isLinked)).toEqual([null, null]);
});

test('requests are forgotten a day after their end', async () => {
  const digest = await begunToken();
  const end = NOW + 10 * MINUTE + 24 * HOUR;
  expect((await pruneLinkRequests(database.sql(), end - 1)).account_link_requests).toBe(0);
  expect(reasonOf(await bring(digest, BOB, zulip, end - 1))).toBe('token_expired');
  expect((await pruneLinkRequests(database.sql(), end)).account_link_requests).toBe(1);
});

test('neither a token nor a code is stored', async () => {
  await begunCode();
  const [row] = await database.sql()<{ text: string }[]>`select r::text as text from account_link_requests r`;
  expect(row?.text).not.toContain('7QF4H9XJ');
  expect(row?.text).toContain(RIGHT.toString('hex'));
});
