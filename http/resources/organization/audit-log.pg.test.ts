import { beforeAll, describe, expect, test } from 'vitest';
import { type AuditedChange, auditEntry } from '../../../actors/audit.ts';
import type { AuditEntry } from '../../../actors/effects.ts';
import { DAY, formatInstant, HOUR, type Micros } from '../../../runtime/clock.ts';
import { silentLog } from '../../../runtime/log.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { appendAudit } from '../../../storage/access/audit.ts';
import { auditLogStatement, createAuditLogReader } from '../../../storage/access/audit-log-reader.ts';
import { createDirectory } from '../../../storage/configuration/directory.ts';
import { ensurePartitions } from '../../../storage/postgres/partitions.ts';
import { PARTITIONED_TABLES } from '../../../storage/postgres/retention.ts';
import { firstStart, NOW, stoppedClock } from '../../../test/configuration.ts';
import { type OperationClient, operationClient } from '../../../test/operation-client.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { auditLogOperations } from './audit-log.ts';

const database = useDatabase();
const ANN = 'SR00000000000A' as PublicId;
const BOB = 'SR00000000000B' as PublicId;
/** What the Organization keeps when nobody said otherwise. */
const KEPT = 365 * DAY;
let api: OperationClient;

function person(id: PublicId, name: string): AuditEntry['actor'] {
  return { kind: 'user', id, name, login: name, tokenName: null, transport: 'ui' };
}

const SYSTEM = { kind: 'system', id: null, name: 'system' } as const;

const NAMELESS = { action: 'account_link.linked', resourceId: null, resourceName: null } as const;

async function write(at: Micros, by: AuditEntry['actor'], change: AuditedChange): Promise<void> {
  await database.sql().begin((tx) => appendAudit(tx, auditEntry({ by, at, address: '192.0.2.7' }, change)));
}

async function insertUser(id: PublicId, name: string, status: 'active' | 'deleted'): Promise<void> {
  await database.sql()`
    insert into users (id, version, login, login_folded, name, role, source, status, created_at)
    values (${id}, 1, ${name}, ${name}, ${name}, 'admin', 'local', ${status}, ${NOW})`;
}

beforeAll(async () => {
  const sql = database.sql();
  await firstStart(sql);
  for (const at of [NOW - KEPT - DAY, NOW - KEPT, NOW - 31 * DAY, NOW])
    await ensurePartitions(sql, at, PARTITIONED_TABLES);
  await insertUser(ANN, 'Ann Newname', 'active');
  await insertUser(BOB, `deleted-user-${BOB}`, 'deleted');

  const route = { resourceId: 'RT00000000000A', resourceName: 'Databases' };
  await write(NOW - KEPT - 1, person(ANN, 'Ann'), { action: 'route.created', ...route });
  await write(NOW - KEPT, person(ANN, 'Ann'), { action: 'route.created', ...route });
  await write(NOW - 3 * HOUR, person(ANN, 'Ann'), {
    ...{ action: 'route.updated', ...route },
    diff: [{ pointer: '/name', before: 'DB', after: 'Databases' }],
  });
  await write(NOW - 2 * HOUR, person(BOB, 'Bob'), {
    ...{ action: 'user.updated', resourceId: BOB, resourceName: 'Bob' },
    diff: [
      { pointer: '/email', before: null, after: 'bob@example.org' },
      { pointer: '/name', before: 'Bobby', after: 'Bob' },
      { pointer: '/password', secret_changed: true },
      { pointer: '/time_zone', before: null, after: 'Europe/Berlin' },
    ],
  });
  await write(NOW - HOUR, SYSTEM, {
    ...{ action: 'session.sign_in_failed', resourceId: null, resourceName: null },
    details: { login: 'nobody', reason: 'unknown_login' },
  });
  const directory = createDirectory({ sql, clock: stoppedClock, log: silentLog });
  await directory.reload();
  const operations = auditLogOperations({ reader: createAuditLogReader(sql) });
  api = operationClient({ operations, directory, clock: stoppedClock });
});

const at = (instant: Micros) => encodeURIComponent(formatInstant(instant));

async function actionsOf(query: string): Promise<readonly string[]> {
  const { status, body } = await api.get(`/audit-log?${query}`);
  expect(status).toBe(200);
  return body.items.map(({ action }: { action: string }) => action);
}

test('an entry shows who, whence, what and the difference', async () => {
  const { body } = await api.get('/audit-log?action=route.updated');
  expect(body).toEqual({
    items: [
      {
        id: expect.stringMatching(/^AE[0-9A-Z]{12}$/),
        at: formatInstant(NOW - 3 * HOUR),
        actor: { kind: 'user', id: ANN, name: 'Ann Newname' },
        token_id: null,
        token_name: null,
        transport: 'ui',
        action: 'route.updated',
        resource_type: 'route',
        resource_id: 'RT00000000000A',
        resource_name: 'Databases',
        address: '192.0.2.7',
        diff: [{ pointer: '/name', before: 'DB', after: 'Databases' }],
        details: {},
      },
    ],
    next_cursor: null,
  });
});

describe('filters', () => {
  const ALL = ['session.sign_in_failed', 'user.updated', 'route.updated', 'route.created'];
  test.each([
    ['nothing: everything that is kept, newest first', '', ALL],
    ['from, included', `from=${at(NOW - 3 * HOUR)}`, ALL.slice(0, 3)],
    ['to, not included', `to=${at(NOW - 2 * HOUR)}`, ALL.slice(2)],
    ['from the time of to', `from=${at(NOW - HOUR)}&to=${at(NOW - HOUR)}`, []],
    ['from after to', `from=${at(NOW)}&to=${at(NOW - HOUR)}`, []],
    ['an actor', `actor=${ANN}`, ALL.slice(2)],
    ['an actor as people type ids', `actor=${ANN.toLowerCase()}`, ALL.slice(2)],
    ['an actor that is unknown', 'actor=SA00000000000Z', []],
    ['an action, exactly', 'action=route.updated', ['route.updated']],
    ['the beginning of an action', 'action=route', []],
    ['a type', 'resource_type=user', ['user.updated']],
    ['a resource', 'resource_id=RT00000000000A', ALL.slice(2)],
    ['a resource as people type ids', 'resource_id=rtoooooooooooa', ALL.slice(2)],
    ['several at once', `resource_type=route&from=${at(NOW - DAY)}`, ['route.updated']],
  ])('%s', async (_name, query, actions) => {
    expect(await actionsOf(query)).toEqual(actions);
  });

  test.each([
    ['from=yesterday', '/query/from', 'invalid_format'],
    ['actor=Ann', '/query/actor', 'invalid_format'],
    ['limit=0', '/query/limit', 'out_of_range'],
    ['cursor=x', '/query/cursor', 'invalid_cursor'],
  ])('%s is refused', async (query, pointer, code) => {
    const { status, body } = await api.get(`/audit-log?${query}`);
    expect(status).toBe(400);
    expect(body.errors).toEqual([expect.objectContaining({ pointer, code })]);
  });

  test('a text that no database can hold matches nothing and fails nothing', async () => {
    const { status } = await api.get('/audit-log?action=%00&resource_type=%00&resource_id=%00');
    expect(status).toBeLessThan(500);
  });
});

test('pages follow each other without gaps, and a cursor belongs to its filters', async () => {
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const { body } = await api.get(`/audit-log?limit=1${cursor === null ? '' : `&cursor=${cursor}`}`);
    seen.push(...body.items.map(({ action }: { action: string }) => action));
    cursor = body.next_cursor;
    if (cursor) {
      const elsewhere = await api.get(`/audit-log?limit=1&actor=${ANN}&cursor=${cursor}`);
      expect(elsewhere.body.errors?.[0]?.code).toBe('invalid_cursor');
    }
  } while (cursor !== null);
  expect(seen).toEqual(['session.sign_in_failed', 'user.updated', 'route.updated', 'route.created']);
});

test('of a deleted user neither name nor login nor address is left', async () => {
  const { body } = await api.get(`/audit-log?resource_id=${BOB}`);
  const [entry] = body.items;
  expect(entry.actor.name).toBe(`deleted-user-${BOB}`);
  expect(entry.resource_name).toBe(`deleted-user-${BOB}`);
  expect(entry.diff).toEqual([
    { pointer: '/email', before: null, after: '[erased]' },
    { pointer: '/name', before: '[erased]', after: '[erased]' },
    { pointer: '/password', secret_changed: true },
    { pointer: '/time_zone', before: null, after: 'Europe/Berlin' },
  ]);
});

test('nor in what is told of the owner of a token, or of who linked an account', async () => {
  const bob = { id: BOB, name: 'Bob', login: 'bob' };
  const ann = { id: ANN, name: 'Ann', login: 'ann' };
  const told = (details: object) => ({ ...NAMELESS, details: { ...details, reason: 'replaced' } });
  await write(NOW - KEPT + 1, SYSTEM, told({ owner: { kind: 'user', id: BOB, name: 'Bob' } }));
  await write(NOW - KEPT + 2, SYSTEM, told({ user: bob, owner: { kind: 'user', id: ANN, name: 'Ann' } }));
  await write(NOW - KEPT + 3, SYSTEM, told({ user: ann }));
  const { body } = await api.get(`/audit-log?action=${NAMELESS.action}`);
  const name = `deleted-user-${BOB}`;
  expect(body.items.map(({ details }: { details: object }) => details)).toEqual([
    { user: ann, reason: 'replaced' },
    {
      user: { id: BOB, name, login: name },
      owner: { kind: 'user', id: ANN, name: 'Ann' },
      reason: 'replaced',
    },
    { owner: { kind: 'user', id: BOB, name }, reason: 'replaced' },
  ]);
});

test.each(['responder', 'viewer'] as const)('a %s may not read it', async (role) => {
  expect((await api.as(role).get('/audit-log')).status).toBe(403);
});

describe('of a large log every filter reads an index in its order', () => {
  const NOTHING = {
    ...{ from: null, to: null, actorId: null, action: null, resourceType: null, resourceId: null },
    ...{ after: null, limit: 50 },
  };

  beforeAll(async () => {
    const sql = database.sql();
    await sql`
      insert into audit_log (
        id, at, actor_kind, actor_id, actor_name, transport, action, resource_type, resource_id, diff, details
      )
      select
        'AE' || n, ${NOW}::bigint - n, 'user', 'SR' || n % 300, 'x', 'ui', 'a' || n % 300 || '.b', 'a' || n % 300,
        'RT' || n % 300, '[]', '{}'
      from generate_series(1, 20000) n`;
    await sql`analyze audit_log`;
  });

  test.each([
    ['none', NOTHING, /_pkey/],
    ['actor', { ...NOTHING, actorId: 'SR7' as PublicId }, /actor_id_at_idx/],
    ['action', { ...NOTHING, action: 'a7.b' }, /action_at_idx/],
    ['resource_type', { ...NOTHING, resourceType: 'a7' }, /resource_type_at_idx/],
    ['resource_id', { ...NOTHING, resourceId: 'RT7' }, /resource_id_at_idx/],
  ])('%s', async (_name, query, index) => {
    const rows = await database.sql()<
      { 'QUERY PLAN': string }[]
    >`explain ${auditLogStatement(database.sql(), query, NOW - KEPT)}`;
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toMatch(index);
    // Other months hold next to nothing.
    expect(plan).not.toMatch(/Seq Scan on audit_log.* rows=(?![1-9] )/);
  });
});
