/** Brings the schema to the version of this build: the migration files, and their run under a lock (operations §3). */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Clock, type Micros, systemClock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { LOCKS } from './postgres/locks.ts';
import type { Sql, Transaction } from './postgres/records.ts';

/** Who comes later waits behind a lock that is waited for: it is given up soon, and asked for again. */
const LOCK_TIMEOUT = '100ms';
const LOCK_PAUSE_MS = 400;
const LOCK_TRIES = 120;
const LOCK_NOT_AVAILABLE = '55P03';
const STATEMENT_TIMEOUT = '10min';

export type SchemaProblem = 'too_new' | 'too_old' | 'dirty';

/** The schema is not the one this build works with. The message names both versions and says what to do. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
  readonly problem: SchemaProblem;
  readonly databaseVersion: number;
  readonly knownVersion: number;

  constructor(problem: SchemaProblem, databaseVersion: number, known: number, message: string) {
    super(message);
    this.problem = problem;
    this.databaseVersion = databaseVersion;
    this.knownVersion = known;
  }
}

export interface MigrateOptions {
  readonly log?: Log;
  readonly clock?: Clock;
  readonly migrations?: readonly Migration[];
}

/**
 * Applies what is missing, one transaction each, while holding the migration lock; other starters wait for it.
 * @param session a client of one connection that keeps its session (no transaction pooler)
 * @returns the versions before and after; equal when nothing was missing
 * @throws {SchemaError} `too_new` or `dirty`; nothing was changed then
 */
export async function migrate(
  session: Sql,
  options: MigrateOptions = {},
): Promise<{ from: number; to: number }> {
  const { log, clock = systemClock, migrations = readMigrations() } = options;
  return withMigrationLock(session, async () => {
    await session`
      create table if not exists schema_migrations (
        version    integer primary key,
        name       text not null,
        checksum   text not null,
        started_at bigint not null,
        applied_at bigint
      )`;
    const from = await appliedVersion(session, migrations);
    const missing = migrations.filter(({ version }) => version > from);
    for (const migration of missing) await named(migration, apply(session, clock, migration));
    const to = knownVersion(migrations);
    if (from === to) log?.('migrations_current', { version: to });
    else log?.('migrations_applied', { from, to });
    return { from, to };
  });
}

/**
 * Runs something while no other starter changes the schema or ensures first rows.
 * @param session a client of one connection; the lock ends with that connection at the latest
 */
export async function withMigrationLock<T>(session: Sql, run: () => Promise<T>): Promise<T> {
  if (session.options.max !== 1)
    throw new Error('The migration lock needs a client of exactly one connection.');
  await session`select pg_advisory_lock(${LOCKS.migration})`;
  try {
    return await run();
  } finally {
    await session`select pg_advisory_unlock(${LOCKS.migration})`;
  }
}

/** The version of the schema in a database; 0 for an empty one. Fully applied migrations only. */
export async function schemaVersion(sql: Sql | Transaction): Promise<number> {
  const rows = await recorded(sql);
  return rows.findLast((row) => row.applied_at !== null)?.version ?? 0;
}

/**
 * Checks that this build may work on the database.
 * @throws {SchemaError} with what to do about it
 */
export async function requireSchema(
  sql: Sql | Transaction,
  migrations: readonly Migration[] = readMigrations(),
): Promise<void> {
  const known = knownVersion(migrations);
  const found = await appliedVersion(sql, migrations);
  if (found === known) return;
  throw new SchemaError(
    'too_old',
    found,
    known,
    `The database schema is version ${found}, this program needs version ${known}. ` +
      'Run `tocsin migrate`, or set SVC_MIGRATE_ON_START=true.',
  );
}

interface RecordedMigration {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
  readonly applied_at: number | null;
}

async function recorded(sql: Sql | Transaction): Promise<RecordedMigration[]> {
  const [table] = await sql<
    { there: boolean }[]
  >`select to_regclass('schema_migrations') is not null as there`;
  if (!table?.there) return [];
  return sql<RecordedMigration[]>`
    select version, name, checksum, applied_at from schema_migrations order by version`;
}

/** The applied version, after making sure that what is applied is a beginning of what this build knows. */
async function appliedVersion(sql: Sql | Transaction, migrations: readonly Migration[]): Promise<number> {
  const rows = await recorded(sql);
  const known = knownVersion(migrations);
  const newest = rows.at(-1)?.version ?? 0;
  if (newest > known) {
    throw new SchemaError(
      'too_new',
      newest,
      known,
      `The database schema is version ${newest}, this program knows up to version ${known}. Use a newer release.`,
    );
  }
  for (const [index, row] of rows.entries()) {
    const problem = dirtiness(row, migrations[index]);
    if (problem)
      throw new SchemaError('dirty', newest, known, `The database schema needs repair: ${problem}`);
  }
  return newest;
}

function dirtiness(row: RecordedMigration, migration: Migration | undefined): string | null {
  if (row.applied_at === null) {
    return (
      `migration ${row.version} (${row.name}) was started and not finished. ` +
      `Undo what it left, delete its row from schema_migrations and migrate again.`
    );
  }
  if (migration?.version !== row.version)
    return `migrations before ${row.version} (${row.name}) are missing.`;
  if (migration.checksum !== row.checksum) {
    return `migration ${row.version} (${row.name}) was applied in another form than this program carries.`;
  }
  return null;
}

/** A failure says which migration it was. */
async function named({ version, name }: Migration, applied: Promise<void>): Promise<void> {
  try {
    await applied;
  } catch (error) {
    throw new Error(`Migration ${version} (${name}) failed: ${(error as Error).message}`, { cause: error });
  }
}

async function apply(session: Sql, clock: Clock, migration: Migration): Promise<void> {
  const { version, name, checksum, up } = migration;
  const started = clock.now();
  if (!migration.transactional) {
    await session`
      insert into schema_migrations (version, name, checksum, started_at)
      values (${version}, ${name}, ${checksum}, ${started})`;
    await session.unsafe(up);
    await session`update schema_migrations set applied_at = ${clock.now()} where version = ${version}`;
    return;
  }
  for (let tries = 1; ; tries += 1) {
    try {
      return await applyWhole(session, migration, started);
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (code !== LOCK_NOT_AVAILABLE || tries === LOCK_TRIES) throw error;
      await setTimeout(LOCK_PAUSE_MS);
    }
  }
}

async function applyWhole(
  session: Sql,
  { version, name, checksum, up }: Migration,
  started: Micros,
): Promise<void> {
  await session.begin(async (tx) => {
    await tx.unsafe(
      `set local lock_timeout = '${LOCK_TIMEOUT}'; set local statement_timeout = '${STATEMENT_TIMEOUT}'`,
    );
    // Inserted first: should two starters ever get here together, the second fails on the key and changes nothing.
    await tx`
      insert into schema_migrations (version, name, checksum, started_at, applied_at)
      values (${version}, ${name}, ${checksum}, ${started}, ${started})`;
    await tx.unsafe(up);
  });
}

/** The migration files that this build carries. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly up: string;
  /** The way back, where there is one. Downgrades are not supported; tests use it to prove that nothing is left over. */
  readonly down: string | null;
  /** SHA-256 of {@link up}. */
  readonly checksum: string;
  /** False for a single statement that PostgreSQL refuses inside a transaction; it must bear being run again. */
  readonly transactional: boolean;
}

const FILE = /^(\d{4})_([a-z0-9_]+)\.sql$/;
const OUTSIDE = '-- outside a transaction';
const FOLDER = path.join(import.meta.dirname, 'migrations');

/**
 * Reads `NNNN_name.sql` (and `NNNN_name.down.sql` beside it), in order.
 * @throws {Error} when two have one number
 */
export function readMigrations(folder: string = FOLDER): readonly Migration[] {
  const migrations = readdirSync(folder)
    .flatMap((file) => {
      const match = FILE.exec(file);
      return match ? [readMigration(folder, Number(match[1]), match[2] ?? '', file)] : [];
    })
    .sort((a, b) => a.version - b.version);
  for (const [index, { version, name }] of migrations.entries()) {
    if (migrations[index - 1]?.version === version)
      throw new Error(`Two migrations are number ${version}, one of them ${name}.`);
  }
  return migrations;
}

/** The newest version that this build knows. */
export function knownVersion(migrations: readonly Migration[] = readMigrations()): number {
  return migrations.at(-1)?.version ?? 0;
}

function readMigration(folder: string, version: number, name: string, file: string): Migration {
  const up = readFileSync(path.join(folder, file), 'utf8');
  const downFile = path.join(folder, file.replace(/\.sql$/, '.down.sql'));
  return {
    version,
    name,
    up,
    down: existsSync(downFile) ? readFileSync(downFile, 'utf8') : null,
    checksum: createHash('sha256').update(up).digest('hex'),
    transactional: !up.startsWith(OUTSIDE),
  };
}
