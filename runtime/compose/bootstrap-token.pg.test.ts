/** What a start makes of SVC_BOOTSTRAP_INTEGRATION_TOKEN (operations §2.2 rule 7), on a database as it then is. */
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { tokenHash } from '../../actors/integration/snippets.ts';
import { ensureFirstIntegration } from '../../storage/configuration/first-rows.ts';
import { connect } from '../../storage/postgres/connection.ts';
import type { Sql } from '../../storage/postgres/records.ts';
import { createTestDatabase, dropTestDatabase } from '../../test/postgres.ts';
import { settingsOn } from '../../test/scenarios/running-service.ts';
import { systemClock } from '../clock.ts';
import type { DatabaseSettings } from '../config.ts';
import { openDatabase } from './database.ts';

const TOKEN = `svc_int_${'a'.repeat(43)}`;
const OTHER = `svc_int_${'b'.repeat(43)}`;

let settings: DatabaseSettings;
let sql: Sql;
let logged: [event: string, fields: string][];

beforeEach(async () => {
  settings = await createTestDatabase(inject('postgres'));
  sql = connect(settings, { max: 1, applicationName: 'bootstrap-token-test' });
  logged = [];
});

afterEach(async () => {
  await sql.end();
  await dropTestDatabase(inject('postgres'), settings);
});

/** The part of a start that precedes the listeners. */
async function start(token: string | null): Promise<void> {
  const database = await openDatabase({
    settings: { ...settingsOn(settings), bootstrapIntegrationToken: token },
    migrate: false,
    clock: systemClock,
    log: (event, fields) => logged.push([event, JSON.stringify(fields ?? {})]),
  });
  await database.close();
}

const warnings = () => logged.filter(([event]) => event === 'bootstrap_integration_token_ignored');

async function integrations() {
  return sql<{ name: string; heartbeat_enabled: boolean; hash: Buffer | null }[]>`
    select i.name, i.heartbeat_enabled, t.hash
    from integrations i left join integration_tokens t on t.integration_id = i.id and t.revoked_at is null
    where not i.builtin and i.deleted_at is null`;
}

const MADE = { name: 'Alertmanager', heartbeat_enabled: true, hash: tokenHash(TOKEN) };

test('the first start gives the first Integration exactly this token, and the Audit log says so', async () => {
  await start(TOKEN);
  expect(await integrations()).toEqual([MADE]);
  const audit = await sql`select action, actor_kind from audit_log order by action`;
  expect(audit).toEqual([
    { action: 'integration.create', actor_kind: 'bootstrap' },
    { action: 'integration_token.create', actor_kind: 'bootstrap' },
  ]);
  expect(warnings()).toEqual([]);
  expect(JSON.stringify(logged)).not.toContain(TOKEN);
});

test('a start with the same token changes nothing and warns of nothing', async () => {
  await start(TOKEN);
  const before = await sql`select * from integration_tokens`;
  await start(TOKEN);
  expect(await sql`select * from integration_tokens`).toEqual(before);
  expect(await integrations()).toEqual([MADE]);
  expect(warnings()).toEqual([]);
});

test('a start with another token changes nothing, and says what to do', async () => {
  await start(TOKEN);
  await start(OTHER);
  expect(await integrations()).toEqual([MADE]);
  expect(warnings()).toEqual([
    [
      'bootstrap_integration_token_ignored',
      expect.stringMatching(/SVC_BOOTSTRAP_INTEGRATION_TOKEN.*Make a token in the Integration/),
    ],
  ]);
  expect(JSON.stringify(logged)).not.toMatch(/[ab]{43}/);
});

test('without the setting no Integration is made, and a later start with it makes one', async () => {
  await start(null);
  expect(await integrations()).toEqual([]);
  await start(TOKEN);
  expect(await integrations()).toEqual([MADE]);
  await start(null);
  expect(await integrations()).toEqual([MADE]);
  expect(warnings()).toEqual([]);
});

test('replicas that start at once make one Integration', async () => {
  await Promise.all([start(TOKEN), start(TOKEN)]);
  expect(await integrations()).toEqual([MADE]);
  expect(warnings()).toEqual([]);
});

test.each([
  ['a token that was revoked', () => sql`update integration_tokens set revoked_at = 1`],
  ['the token of a deleted Integration', () => sql`update integrations set deleted_at = 1 where not builtin`],
])('%s is not made valid again', async (_, change) => {
  await start(TOKEN);
  await change();
  const before = await integrations();
  await start(TOKEN);
  expect(await integrations()).toEqual(before);
  expect(before.filter(({ hash }) => hash !== null)).toEqual([]);
  expect(warnings()).toHaveLength(1);
});

test('a token that was moved into the setting from another Integration is taken', async () => {
  await start(TOKEN);
  await sql`
    insert into integrations (
      id, version, builtin, name, description, static_labels, duplicate_window_seconds, heartbeat_enabled,
      heartbeat_timeout_seconds, created_at
    )
    values ('NT0000000000A1', 1, false, 'second', '', '{}', 45, false, 300, 1)`;
  await sql`
    insert into integration_tokens (id, integration_id, name, hash, created_at)
    values ('NK0000000000A1', 'NT0000000000A1', null, ${tokenHash(OTHER)}, 1)`;
  await start(OTHER);
  expect(warnings()).toEqual([]);
});

test('quickstart shows a token that an earlier start stored and could not show, and none that is not stored', async () => {
  await start(null);
  const again = (token: string) =>
    sql.begin((tx) => ensureFirstIntegration(tx, { token, heartbeat: false, now: systemClock.now() }));
  const made = await again(TOKEN);
  expect(made).toMatchObject({ name: 'Alertmanager', token: TOKEN });
  expect(await again(TOKEN)).toEqual(made);
  expect(await again(OTHER)).toEqual({ ...made, token: null });
  expect(await integrations()).toEqual([{ ...MADE, heartbeat_enabled: false }]);
});
