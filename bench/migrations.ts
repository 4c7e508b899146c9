/** How long readers and writers of a table wait while migrations are applied to it, with many Alert Groups open. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { DatabaseSettings } from '../runtime/config.ts';
import { type Migration, migrate, readMigrations } from '../storage/migrate.ts';
import { connect } from '../storage/postgres/connection.ts';
import { startEmbeddedPostgres } from '../storage/postgres/embedded/embedded.ts';
import type { Sql } from '../storage/postgres/records.ts';
import { seedActors, seedGroups } from './lists/seed.ts';
import { type Bench, millis, type Row } from './report.ts';

/** `MIGRATION_GROUPS=100000` measures with fewer. */
const OPEN = Number(process.env.MIGRATION_GROUPS ?? 1_000_000);
/** The first version that has all that the rows are made of. Later ones are measured. */
const FILLED_AT = 22;
const PROBE = 'probe';
const PROBE_EVERY_MS = 5;
/** The longest that anybody should wait for a lock, ms. */
const GOAL_MS = 100;
/** Rows are locked as well: one of them, `$1`, is written. */
const WRITES: Readonly<Record<string, readonly string[]>> = {
  alert_groups: ['update alert_groups set title = title where number = $1'],
  group_alerts: [
    `update group_alerts set position = position where group_id = 'AG' || lpad($1::bigint::text, 12, '0')`,
  ],
  deliveries: [
    `update deliveries set updated_at = updated_at where group_id = 'AG' || lpad($1::bigint::text, 12, '0')`,
  ],
  actors: [
    `update actors set version = version where kind = 'alert_group' and key = 'AG' || lpad($1::bigint::text, 12, '0')`,
  ],
};
const NOW = 1_790_000_000_000_000;

interface Wait {
  readonly ms: number;
  readonly statement: string;
}

interface Measured extends Wait {
  readonly migration: string;
  readonly tookMs: number;
  /** The longest that any of them waited for a lock. The rest of what a statement takes is the machine's, and its disk's. */
  readonly lockedMs: number;
}

export const migrations: Bench = {
  name: 'migrations',
  title: `Applying migrations with ${OPEN} open Alert Groups`,
  async run({ progress }) {
    const home = await mkdtemp(path.join(os.tmpdir(), 'tocsin-migrations-'));
    const postgres = await startEmbeddedPostgres({ dataDir: home, role: 'superuser' });
    const session = connect(postgres.settings, { max: 1, applicationName: 'bench' });
    try {
      const all = readMigrations();
      progress(`filling the database at version ${FILLED_AT}`);
      await migrate(session, { migrations: all.filter(({ version }) => version <= FILLED_AT) });
      await seedGroups(session, NOW, { open: OPEN, resolved: 0, routes: 50, integrations: 20, days: 1 });
      await seedActors(session, NOW);
      await session`checkpoint`;
      const measured: Measured[] = [];
      for (const migration of all.filter(({ version }) => version > FILLED_AT)) {
        const known = all.filter(({ version }) => version <= migration.version);
        const one = await measure(session, postgres.settings, migration, known);
        progress(`${one.migration}: ${described(one)}`);
        measured.push(one);
      }
      return { rows: measured.map(rowOf), raw: measured };
    } finally {
      await session.end();
      await postgres.stop();
      await rm(home, { recursive: true, force: true });
    }
  },
};

/** Applies one migration while every table that it names is read and written again and again. */
async function measure(
  session: Sql,
  settings: DatabaseSettings,
  { version, name, up }: Migration,
  known: readonly Migration[],
): Promise<Measured> {
  const tables = (await tablesOf(session)).filter((table) => new RegExp(`\\b${table}\\b`).test(up));
  const statements = tables.flatMap((table) => [
    `select from ${table} limit 1`,
    `delete from ${table} where false`,
    ...(WRITES[table] ?? []),
  ]);
  const over = new AbortController();
  const locked = lockWaits(settings, over.signal);
  const probes = statements.map((statement) => probe(settings, statement, over.signal));
  // The first try of each opens its connection.
  await pause(50 * PROBE_EVERY_MS);
  const from = performance.now();
  await migrate(session, { migrations: known });
  const tookMs = performance.now() - from;
  over.abort();
  const waits = await Promise.all(probes);
  const longest = waits.toSorted((a, b) => b.ms - a.ms)[0] ?? { ms: 0, statement: 'nobody' };
  return { migration: `${version} ${name}`, tookMs, lockedMs: await locked, ...longest };
}

/** @returns the longest that one of many tries took */
async function probe(settings: DatabaseSettings, statement: string, over: AbortSignal): Promise<Wait> {
  // A commit that waits for a slow disk waits for nobody's lock.
  const session = { synchronous_commit: 'off' };
  const sql = connect(settings, { max: 1, applicationName: PROBE, session });
  const once = () =>
    sql.unsafe(statement, statement.includes('$1') ? [1 + Math.floor(Math.random() * OPEN)] : []);
  await once();
  let ms = 0;
  while (!over.aborted) {
    const from = performance.now();
    await once();
    ms = Math.max(ms, performance.now() - from);
    await pause(PROBE_EVERY_MS);
  }
  await sql.end();
  return { ms, statement };
}

/** @returns the longest that a probe waited for a lock, ms, as seen every {@link PROBE_EVERY_MS} */
async function lockWaits(settings: DatabaseSettings, over: AbortSignal): Promise<number> {
  const sql = connect(settings, { max: 1, applicationName: 'bench' });
  let longest = 0;
  while (!over.aborted) {
    const [row] = await sql<{ ms: number }[]>`
      select coalesce(extract(epoch from max(clock_timestamp() - waitstart)) * 1000, 0)::float8 as ms
      from pg_locks join pg_stat_activity using (pid) where not granted and application_name = ${PROBE}`;
    longest = Math.max(longest, row?.ms ?? 0);
    await pause(PROBE_EVERY_MS);
  }
  await sql.end();
  return longest;
}

async function tablesOf(sql: Sql): Promise<readonly string[]> {
  const rows = await sql<{ name: string }[]>`
    select relname as name from pg_class
    where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace`;
  return rows.map(({ name }) => name);
}

function rowOf(measured: Measured): Row {
  return {
    what: measured.migration,
    value: described(measured),
    goal: `≤ ${millis(GOAL_MS)} for a lock`,
    met: measured.lockedMs <= GOAL_MS,
  };
}

function described({ tookMs, lockedMs, ms, statement }: Measured): string {
  return `${millis(lockedMs)} for a lock, ${millis(ms)} in all (${statement}), took ${millis(tookMs)}`;
}
