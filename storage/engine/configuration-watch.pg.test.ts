import { beforeEach, describe, expect, test } from 'vitest';
import { newPublicId } from '../../runtime/public-id.ts';
import { firstStart, insertDestination, NOW } from '../../test/configuration.ts';
import { useDatabase } from '../../test/postgres.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import type { ConfigurationPart } from './configuration-watch.ts';

const database = useDatabase();
const USER = newPublicId('SR');
const TOKEN = newPublicId('NK');
const SEALED = 'k-0123456789abcdef:AAAA';
let destination: string;

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql);
  destination = await insertDestination(sql, 'Pager');
  await sql`
    insert into users (id, version, login, login_folded, name, role, source, status, created_at)
    values (${USER}, 1, 'ann', 'ann', 'Ann', 'admin', 'local', 'active', ${NOW})`;
  await sql`
    insert into integration_tokens (id, integration_id, hash, created_at)
    select ${TOKEN}, id, '\\x00', ${NOW} from integrations where builtin`;
});

type Change = (sql: Sql | Transaction) => Promise<unknown>;

/** The parts whose version a change raises. */
async function partsRaisedBy(change: Change): Promise<readonly string[]> {
  const sql = database.sql();
  const before = await versions(sql);
  await change(sql);
  const after = await versions(sql);
  return Object.keys(after).filter(
    (part) => after[part as ConfigurationPart] > before[part as ConfigurationPart],
  );
}

async function versions(sql: Sql): Promise<Record<ConfigurationPart, number>> {
  const [row] = await sql<Record<ConfigurationPart, number>[]>`
    select directory, webhooks, integration_tokens, outbound_policy, links, keyring
    from configuration_versions`;
  if (!row) throw new Error('no versions');
  return row;
}

const CHANGES: readonly (readonly [what: string, parts: readonly ConfigurationPart[], change: Change])[] = [
  ['the Organization', ['directory'], (sql) => sql`update organization set version = version + 1`],
  ['a Route', ['directory'], (sql) => sql`update routes set urgent = true`],
  ['the order of Routes', ['directory'], (sql) => sql`update routes set position = position + 1`],
  ['an Integration', ['directory'], (sql) => sql`update integrations set static_labels = '{"a": "b"}'`],
  [
    'a deleted Integration',
    ['directory', 'integration_tokens'],
    (sql) => sql`update integrations set deleted_at = ${NOW}`,
  ],
  ['a new Destination', ['directory'], (sql) => insertDestination(sql as Sql, 'Other')],
  ["a Destination's name", ['directory'], (sql) => sql`update destinations set name = 'Other'`],
  ["a Destination's request", ['webhooks'], (sql) => sql`update destinations set events = '{}'`],
  [
    'the first keyring',
    ['keyring'],
    (sql) => sql`insert into keyring (active_key_id, canary) values ('k-1', ${SEALED})`,
  ],
  ['a signing secret', ['webhooks'], (sql) => sql`update destinations set signing_secret = ${SEALED}`],
  [
    'a Secret',
    ['webhooks'],
    (sql) => sql`
      insert into destination_secrets (destination_id, name, value, updated_at)
      values (${destination}, 'TOKEN', ${SEALED}, ${NOW})`,
  ],
  ["a user's name", ['directory'], (sql) => sql`update users set name = 'Anna'`],
  [
    'a token that was revoked',
    ['integration_tokens'],
    (sql) => sql`update integration_tokens set revoked_at = ${NOW}`,
  ],
  [
    'the outbound policy',
    ['outbound_policy'],
    (sql) => sql`update organization_outbound_policy set denied = '[]'`,
  ],
  ['a Link rule', ['links'], (sql) => sql`update link_rules set matchers = '[]'`],
  [
    'a new Lookup table',
    ['links'],
    (sql) => sql`
      insert into lookup_tables (id, version, name, description, columns, entries, created_at)
      values (${newPublicId('TB')}, 1, 'owners', '', '["team"]', '[]', ${NOW})`,
  ],
  // What is written while the service works, not when something is saved.
  ['a sign-in', [], (sql) => sql`update users set last_sign_in_at = ${NOW}, password_hash = 'x'`],
  ['a use of a token', [], (sql) => sql`update integration_tokens set last_used_at = ${NOW}`],
  ['a Heartbeat', [], (sql) => sql`update integrations set last_signal_at = ${NOW}`],
  ['the health of a Destination', [], (sql) => sql`update destinations set broken_since = ${NOW}`],
];

describe('versions of the configuration', () => {
  test.each(CHANGES)('%s raises %j', async (_what, parts, change) => {
    expect(await partsRaisedBy(change)).toEqual(parts);
  });

  test('are raised when the transaction commits, so that savers do not wait for each other', async () => {
    const sql = database.sql();
    const { directory } = await versions(sql);
    await sql.begin(async (tx) => {
      await tx`update routes set urgent = true`;
      await sql`update users set name = 'Anna'`;
      expect((await versions(sql)).directory).toBe(directory + 1);
    });
    expect((await versions(sql)).directory).toBe(directory + 2);
  });

  test('are not raised by what was rolled back', async () => {
    const sql = database.sql();
    const raised = await partsRaisedBy(async () => {
      const failed = sql.begin(async (tx) => {
        await tx`update routes set urgent = true`;
        throw new Error('refused');
      });
      await expect(failed).rejects.toThrow('refused');
    });
    expect(raised).toEqual([]);
  });
});
