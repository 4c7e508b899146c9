import { beforeAll, expect, test } from 'vitest';
import type { AuditEntry, AuditRecorded } from '../actors/effects.ts';
import { parseInstant } from '../runtime/clock.ts';
import type { PublicId } from '../runtime/public-id.ts';
import { useDatabase } from '../test/postgres.ts';
import { appendAudit, auditRecords } from './audit.ts';
import { PARTITIONED_TABLES } from './partitioned-tables.ts';
import { ensurePartitions } from './partitions.ts';

const database = useDatabase();
const NOW = parseInstant('2026-11-21T00:00:00Z') ?? 0;

const ENTRY: AuditEntry = {
  at: NOW,
  actor: {
    kind: 'user',
    id: 'SR0000000001' as PublicId,
    name: 'Ann "the" O\'Neil, {x}',
    login: 'ann',
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
