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
import { seedGroups } from './lists/seed.ts';
import { type Bench, millis, type Row } from './report.ts';

/** `MIGRATION_GROUPS=100000` measures with fewer. */
const OPEN = Number(process.env.MIGRATION_GROUPS ?? 1_000_000);
/** The first version that has all that the rows are made of. Later ones are measured. */
const FILLED_AT = 22;
const PROBE_EVERY_MS = 5;
/** The longest that anybody should wait, ms. */
const GOAL_MS = 100;
const NOW = 1_790_000_000_000_000;

interface Wait {
  readonly ms: number;
  readonly statement: string;
}

interface Measured extends Wait {
  readonly migration: string;
  readonly tookMs: number;
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
      await session`checkpoint`;
      const measured: Measured[] = [];
      for (const migration of all.filter(({ version }) => version > FILLED_AT)) {
        const known = all.filter(({ version }) => version <= migration.version);
        const one = await measure(session, postgres.settings, migration, known);
        progress(`${one.migration} took ${millis(one.tookMs)}; ${one.statement} waited ${millis(one.ms)}`);
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
  ]);
  const over = new AbortController();
  const probes = statements.map((statement) => probe(settings, statement, over.signal));
  // The first try of each opens its connection.
  await pause(50 * PROBE_EVERY_MS);
  const from = performance.now();
  await migrate(session, { migrations: known });
  const tookMs = performance.now() - from;
  over.abort();
  const waits = await Promise.all(probes);
  const longest = waits.toSorted((a, b) => b.ms - a.ms)[0] ?? { ms: 0, statement: 'nobody' };
  return { migration: `${version} ${name}`, tookMs, ...longest };
}

/** @returns the longest that one of many tries took */
async function probe(settings: DatabaseSettings, statement: string, over: AbortSignal): Promise<Wait> {
  const sql = connect(settings, { max: 1, applicationName: 'probe' });
  await sql.unsafe(statement);
  let ms = 0;
  while (!over.aborted) {
    const from = performance.now();
    await sql.unsafe(statement);
    ms = Math.max(ms, performance.now() - from);
    await pause(PROBE_EVERY_MS);
  }
  await sql.end();
  return { ms, statement };
}

async function tablesOf(sql: Sql): Promise<readonly string[]> {
  const rows = await sql<{ name: string }[]>`
    select relname as name from pg_class
    where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace`;
  return rows.map(({ name }) => name);
}

function rowOf({ migration, tookMs, ms, statement }: Measured): Row {
  return {
    what: migration,
    value: `${millis(ms)} (${statement}), took ${millis(tookMs)}`,
    goal: `≤ ${millis(GOAL_MS)}`,
    met: ms <= GOAL_MS,
  };
}
