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
const LOCK_TIMEOUT = '50ms';
const LOCK_PAUSE_MS = 400;
const LOCK_TRIES = 270;
const LOCK_NOT_AVAILABLE = '55P03';
const STATEMENT_TIMEOUT = '10min';
/** What runs outside a transaction keeps nobody waiting, but waits for open transactions, such as that of a backup. */
const OUTSIDE_TIMEOUT = '2h';
/** A batch keeps its rows locked: its size aims at this time, ms. One that takes longer still is undone and halved. */
const BATCH_AIM_MS = 20;
const BATCH_TIMEOUT = '50ms';
const BATCH_LOCK_TIMEOUT = '10ms';
/** Below `few` it is a busy machine that takes the time: fewer rows would only make more batches. */
const BATCH_ROWS = { few: 64, most: 4_096 } as const;
/** Durable with the end of the step; what a crash of the server loses before that is done again. */
const BATCH_COMMIT = 'set local synchronous_commit = off';
const QUERY_CANCELED = '57014';
/** How often another starter asks for the migration lock, ms. */
const LOCK_POLL_MS = 200;

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
 * Applies what is missing, step by step, while holding the migration lock; other starters wait for it. After a crash
 * the next call continues with the step that was not finished.
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
    await session`
      create table if not exists schema_migration_steps (
        version    integer primary key,
        checksum   text not null,
        started_at bigint not null,
        done       integer not null,
        -- Of the batch before, within the step that comes next.
        position   text
      )`;
    const from = await appliedVersion(session, migrations);
    const to = knownVersion(migrations);
    const missing = migrations.filter(({ version }) => version > from);
    const begun = await session<BegunMigration[]>`select * from schema_migration_steps`;
    for (const migration of missing) {
      const before = begun.find(({ version }) => version === migration.version);
      if (before && before.checksum !== migration.checksum) {
        const begunAs = `migration ${migration.version} (${migration.name}) was begun in another form`;
        const problem = `The database schema needs repair: ${begunAs} than this program carries.`;
        throw new SchemaError('dirty', from, to, problem);
      }
      await named(migration, apply(session, clock, migration, before));
    }
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
  // A statement that waits inside the server has a snapshot, which an index that is built concurrently waits for.
  while (!(await takesMigrationLock(session))) await setTimeout(LOCK_POLL_MS);
  try {
    return await run();
  } finally {
    await session`select pg_advisory_unlock(${LOCKS.migration})`;
  }
}

async function takesMigrationLock(session: Sql): Promise<boolean> {
  const [row] = await session<{ taken: boolean }[]>`
    select pg_try_advisory_lock(${LOCKS.migration}) as taken`;
  return row?.taken ?? false;
}

/** The version of the schema in a database; 0 for an empty one. Fully applied migrations only. */
export async function schemaVersion(sql: Sql | Transaction): Promise<number> {
  const rows = await recorded(sql);
  return rows.at(-1)?.version ?? 0;
}

/** Whether a migration was begun and is not finished: the schema is that of no version. */
export async function isBetweenVersions(sql: Sql | Transaction): Promise<boolean> {
  const [table] = await sql<
    { there: boolean }[]
  >`select to_regclass('schema_migration_steps') is not null as there`;
  if (!table?.there) return false;
  const begun = await sql`select from schema_migration_steps`;
  return begun.length > 0;
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
}

interface BegunMigration {
  readonly version: number;
  readonly checksum: string;
  readonly started_at: number;
  /** Finished steps. */
  readonly done: number;
  readonly position: string | null;
}

async function recorded(sql: Sql | Transaction): Promise<RecordedMigration[]> {
  const [table] = await sql<
    { there: boolean }[]
  >`select to_regclass('schema_migrations') is not null as there`;
  if (!table?.there) return [];
  return sql<RecordedMigration[]>`
    select version, name, checksum from schema_migrations order by version`;
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
  if (migration?.version !== row.version)
    return `migrations before ${row.version} (${row.name}) are missing.`;
  if (migration.checksum !== row.checksum && !migration.earlierChecksums.includes(row.checksum)) {
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

/** @param before how far a start before this one went */
async function apply(
  session: Sql,
  clock: Clock,
  migration: Migration,
  before?: BegunMigration,
): Promise<void> {
  const { version, checksum, steps } = migration;
  const started = before?.started_at ?? clock.now();
  const isWhole = steps.length === 1 && steps[0]?.how === 'in one transaction';
  if (!isWhole && !before) {
    await session`
      insert into schema_migration_steps (version, checksum, started_at, done)
      values (${version}, ${checksum}, ${started}, 0)`;
  }
  for (const [index, step] of steps.entries()) {
    if (index < (before?.done ?? 0)) continue;
    const finish = (tx: Transaction) => recordFinished(tx, migration, index, started, clock.now());
    await applyStep(session, step, { version, index }, finish);
  }
}

type Finish = (tx: Transaction) => Promise<void>;

/** A step of a migration. */
interface Place {
  readonly version: number;
  readonly index: number;
}

async function applyStep(session: Sql, step: Step, place: Place, finish: Finish): Promise<void> {
  if (step.extension !== null && !(await hasExtension(session, step.extension))) {
    await session.begin(finish);
    return;
  }
  switch (step.how) {
    case 'in one transaction':
      return applyWhole(session, step.sql, finish);
    case 'outside a transaction':
      await applyOutside(session, step.sql);
      break;
    case 'in batches':
      await applyInBatches(session, step.sql, place);
      break;
    default:
      step.how satisfies never;
  }
  await session.begin(finish);
}

async function hasExtension(sql: Sql, name: string): Promise<boolean> {
  const found = await sql`select from pg_extension where extname = ${name}`;
  return found.length > 0;
}

async function applyWhole(session: Sql, up: string, finish: Finish): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await session.begin(async (tx) => {
        await limit(tx, LOCK_TIMEOUT, STATEMENT_TIMEOUT);
        // Recorded first: should two starters ever get here together, the second fails on the key and changes nothing.
        await finish(tx);
        await tx.unsafe(up);
      });
      return;
    } catch (error) {
      if (codeOf(error) !== LOCK_NOT_AVAILABLE || tries === LOCK_TRIES) throw error;
      await setTimeout(LOCK_PAUSE_MS);
    }
  }
}

const INDEX_OF_ITS_OWN = /^create (?:unique )?index concurrently (\w+)/m;

/** Applied again after a crash. An index that was not finished is invalid, and made anew. */
async function applyOutside(session: Sql, statement: string): Promise<void> {
  const index = INDEX_OF_ITS_OWN.exec(statement)?.[1];
  await session.unsafe(`set statement_timeout = '${OUTSIDE_TIMEOUT}'`);
  try {
    if (index) await session`drop index concurrently if exists ${session(index)}`;
    await session.unsafe(statement);
  } finally {
    await session`reset statement_timeout`;
  }
}

async function applyInBatches(session: Sql, statement: string, place: Place): Promise<void> {
  const [begun] = await session<{ position: string | null }[]>`
    select position from schema_migration_steps where version = ${place.version}`;
  let last = begun?.position ?? null;
  let rows: number = BATCH_ROWS.few;
  for (let tries = 1; ; ) {
    const from = performance.now();
    try {
      last = await applyBatch(session, statement, place, last, rows);
      if (last === null) return;
      tries = 1;
      rows = nextSize(rows, performance.now() - from);
    } catch (error) {
      const isTooSlow = codeOf(error) === QUERY_CANCELED && rows > 1;
      const isKeptWaiting = codeOf(error) === LOCK_NOT_AVAILABLE && tries < LOCK_TRIES;
      if (!isTooSlow && !isKeptWaiting) throw error;
      rows = Math.max(1, rows >> 1);
      if (isTooSlow) continue;
      tries += 1;
      await setTimeout(LOCK_PAUSE_MS);
    }
  }
}

/** @returns where the next one begins; null after the last */
function applyBatch(
  session: Sql,
  statement: string,
  place: Place,
  after: string | null,
  rows: number,
): Promise<string | null> {
  return session.begin(async (tx) => {
    // A single row takes what it takes.
    await limit(tx, BATCH_LOCK_TIMEOUT, rows === 1 ? STATEMENT_TIMEOUT : BATCH_TIMEOUT, BATCH_COMMIT);
    const [batch] = await tx.unsafe<{ last: string | null }[]>(statement, [after, rows]);
    const last = batch?.last ?? null;
    if (last !== null) await recordProgress(tx, place, { position: last });
    return last;
  });
}

function nextSize(rows: number, tookMs: number): number {
  if (rows < BATCH_ROWS.few || tookMs < BATCH_AIM_MS / 2) return Math.min(rows * 2, BATCH_ROWS.most);
  return tookMs > BATCH_AIM_MS ? Math.max(BATCH_ROWS.few, rows >> 1) : rows;
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown }).code);
}

async function limit(tx: Transaction, lock: string, statement: string, more = ''): Promise<void> {
  await tx.unsafe(
    `set local lock_timeout = '${lock}'; set local statement_timeout = '${statement}'; ${more}`,
  );
}

async function recordFinished(
  tx: Transaction,
  { version, name, checksum, steps }: Migration,
  index: number,
  started: Micros,
  now: Micros,
): Promise<void> {
  if (index + 1 < steps.length) {
    await recordProgress(tx, { version, index }, { done: index + 1, position: null });
    return;
  }
  await tx`
    insert into schema_migrations (version, name, checksum, started_at, applied_at)
    values (${version}, ${name}, ${checksum}, ${started}, ${now})`;
  await tx`delete from schema_migration_steps where version = ${version}`;
}

/** @throws {Error} when another starter went on with it: this one's session was cut, and the lock went with it */
async function recordProgress(
  tx: Transaction,
  { version, index }: Place,
  progress: { done?: number; position: string | null },
): Promise<void> {
  const recorded = await tx`
    update schema_migration_steps set ${tx(progress)} where version = ${version} and done = ${index}`;
  if (recorded.count !== 1) throw new Error('Another process is applying it. Start again.');
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
  /** Checksums of earlier forms, which may have been applied: the schema after the newest migration is the same. */
  readonly earlierChecksums: readonly string[];
  readonly steps: readonly Step[];
}

export interface Step {
  /**
   * - `in one transaction`: whole or not at all.
   * - `outside a transaction`: one statement that keeps nobody waiting and may be run again: an index that is created
   *   concurrently, a constraint that is validated, a vacuum.
   * - `in batches`: one statement, run in a transaction each time until it returns no row or null. `$1` is the `last`,
   *   a text, that it returned before, null at first; `$2` is how many rows it may go through.
   */
  readonly how: (typeof HOWS)[number];
  /** The step is left out where this extension is not installed. */
  readonly extension: string | null;
  readonly sql: string;
}

const FILE = /^(\d{4})_([a-z0-9_]+)\.sql$/;
const HOWS = ['in one transaction', 'outside a transaction', 'in batches'] as const;
const STEP = /^-- step: /m;
const STEP_LINE = /^([a-z ]+)(?:, with (\w+))?\n/;
const EARLIER = /^-- earlier form: ([0-9a-f]{64})$/gm;
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
    earlierChecksums: [...up.matchAll(EARLIER)].map((match) => match[1] ?? ''),
    steps: stepsOf(up),
  };
}

/**
 * The steps of a migration, each below a line such as `-- step: in batches` or `-- step: outside a transaction, with
 * pg_trgm`. Without such lines all of it is one transaction.
 * @throws {Error} when a step is to be applied in a way that there is not
 */
export function stepsOf(up: string): readonly Step[] {
  const [, ...parts] = up.split(STEP);
  if (parts.length === 0) return [{ how: 'in one transaction', extension: null, sql: up }];
  return parts.map((part) => {
    const [line = '', name, extension = null] = STEP_LINE.exec(part) ?? [];
    const how = HOWS.find((one) => one === name);
    if (!how) throw new Error(`There is no such step: ${part.split('\n')[0]}`);
    return { how, extension, sql: part.slice(line.length) };
  });
}
