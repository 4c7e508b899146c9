import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { AuditEntry, AuditRecorded } from '../../actors/effects.ts';
import { DAY, parseInstant } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { useDatabase } from '../../test/postgres.ts';
import { connect } from '../postgres/connection.ts';
import { dropPartitions, ensurePartitions } from '../postgres/partitions.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { PARTITIONED_TABLES } from '../postgres/retention.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { appendAudit, auditRecords, logAudited } from './audit.ts';

const database = useDatabase();
const NOW = parseInstant('2026-11-21T00:00:00Z') ?? 0;

const ENTRY: AuditEntry = {
  at: NOW,
  actor: {
    kind: 'user',
    id: 'SR0000000001' as PublicId,
    name: 'Ann "the" O\'Neil, {x}',
    login: 'ann',
    tokenId: 'PT0000000001' as PublicId,
    tokenName: 'laptop',
    transport: 'api',
  },
  action: 'route.updated',
  resourceType: 'route',
  resourceId: 'RT0000000001',
  resourceName: 'Default',
  address: '203.0.113.9',
  diff: [
    { pointer: '/name', before: 'a', after: null },
    { pointer: '/secret', secret_changed: true },
  ],
  details: { note: 'a\u0000b' },
};

beforeAll(async () => {
  await ensurePartitions(database.sql(), NOW, PARTITIONED_TABLES);
});

test('an entry of a change and entries of a commit are stored as they are', async () => {
  const sql = database.sql();
  const system: AuditEntry = {
    ...ENTRY,
    at: NOW + 1,
    actor: { kind: 'system', id: null, name: 'Tocsin' },
    resourceType: null,
    resourceId: null,
    resourceName: null,
    address: null,
    diff: [],
    details: {},
  };
  const cli: AuditEntry = { ...system, at: NOW + 2, actor: { kind: 'cli', id: null, name: 'ops' } };
  await sql.begin((tx) => appendAudit(tx, ENTRY));
  const recorded: AuditRecorded[] = [system, cli].map((entry) => ({ type: 'audit.recorded', entry }));
  await sql.begin((tx) => auditRecords.write(tx, recorded, new Map()));
  const rows = await sql`select * from audit_log order by at`;
  expect(rows[0]).toEqual({
    id: expect.stringMatching(/^AE[0-9A-Z]{12}$/),
    at: NOW,
    actor_kind: 'user',
    actor_id: 'SR0000000001',
    actor_name: 'Ann "the" O\'Neil, {x}',
    token_id: 'PT0000000001',
    token_name: 'laptop',
    transport: 'api',
    action: 'route.updated',
    resource_type: 'route',
    resource_id: 'RT0000000001',
    resource_name: 'Default',
    address: '203.0.113.9',
    diff: ENTRY.diff,
    details: { note: 'a\ufffdb' },
  });
  expect(
    rows
      .slice(1)
      .map(({ actor_kind, actor_id, token_name, transport, address }) => [
        actor_kind,
        actor_id,
        token_name,
        transport,
        address,
      ]),
  ).toEqual([
    ['system', null, null, 'system', null],
    ['cli', null, null, 'cli', null],
  ]);
});

test('an entry goes with its change', async () => {
  const sql = database.sql();
  const count = async () => (await sql<{ n: number }[]>`select count(*) as n from audit_log`)[0]?.n;
  const before = await count();
  const failing = sql.begin(async (tx) => {
    await appendAudit(tx, ENTRY);
    throw new Error('changed my mind');
  });
  await expect(failing).rejects.toThrow('changed my mind');
  expect(await count()).toBe(before);
});

describe('what is committed is logged', () => {
  const logged: unknown[] = [];
  let sql: Sql;

  beforeEach(() => {
    logged.length = 0;
    const log: Log = (event, fields) => void logged.push([event, fields]);
    sql = connect(database.settings(), {
      ...{ max: 1, applicationName: 'audit-test' },
      onAudited: logAudited(log),
    });
  });
  afterEach(() => sql.end({ timeout: 1 }));

  test('entries of changes and of commits, as the API answers them, once and in order', async () => {
    const written = inTransaction(sql, async (tx) => {
      await appendAudit(tx, ENTRY);
      const next: AuditRecorded = { type: 'audit.recorded', entry: { ...ENTRY, action: 'route.deleted' } };
      await auditRecords.write(tx, [next], new Map());
      expect(logged).toEqual([]);
      return 'done';
    });
    expect(await written).toBe('done');
    const entry = {
      id: expect.stringMatching(/^AE/),
      at: '2026-11-21T00:00:00Z',
      actor: { kind: 'user', id: 'SR0000000001', name: ENTRY.actor.name },
      token_id: 'PT0000000001',
      token_name: 'laptop',
      transport: 'api',
      action: 'route.updated',
      resource_type: 'route',
      resource_id: 'RT0000000001',
      resource_name: 'Default',
      address: '203.0.113.9',
      diff: ENTRY.diff,
      details: ENTRY.details,
    };
    expect(logged).toEqual([
      ['audit_entry', { entry }],
      ['audit_entry', { entry: { ...entry, action: 'route.deleted' } }],
    ]);
    await sql.begin((tx) => tx`select 1`);
    expect(logged).toHaveLength(2);
  });

  test.each([
    ['that its work undoes', () => Promise.reject(new Error('no'))],
    // Refused by the database as the transaction ends.
    ['that cannot commit', (tx: Transaction) => tx`insert into late (n) values (1), (1)`],
  ])('nothing of a transaction %s', async (_name, fails) => {
    await sql`create table if not exists late (n integer unique deferrable initially deferred)`;
    const failing = sql.begin(async (tx) => {
      await appendAudit(tx, ENTRY);
      await fails(tx);
    });
    await expect(failing).rejects.toThrow();
    expect(logged).toEqual([]);
  });
});

describe('the database keeps what was written', () => {
  test.each(['audit_log', 'audit_log_202611'])(
    '%s: rows are neither changed, nor removed, nor emptied',
    async (table) => {
      const sql = database.sql();
      await sql.begin((tx) => appendAudit(tx, ENTRY));
      for (const statement of [
        `update ${table} set actor_name = 'somebody'`,
        `delete from ${table}`,
        `truncate ${table}`,
      ]) {
        await expect(sql.unsafe(statement), statement).rejects.toThrow('append-only');
      }
    },
  );

  test('only a whole month goes, by retention', async () => {
    const sql = database.sql();
    await ensurePartitions(sql, NOW - 70 * DAY, PARTITIONED_TABLES);
    const table = PARTITIONED_TABLES.find((each) => each.table === 'audit_log');
    if (!table) throw new Error('audit_log has no partitions');
    const dropped = await dropPartitions(sql, table, NOW);
    expect(dropped).toEqual(['audit_log_202609', 'audit_log_202610']);
  });
});
