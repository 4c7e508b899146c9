/**
 * The whole database as one compressed file, and back (operations §14): a header, then each table as PostgreSQL copies
 * it out, ended by the line `\.`, then a line that says that nothing is missing. It depends on no version of the server
 * and no place, and holds no master key: secrets in it stay sealed.
 */
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import * as v from 'valibot';
import type { DatabaseSettings } from '../runtime/config.ts';
import { isBetweenVersions, knownVersion, migrate, readMigrations, schemaVersion } from './migrate.ts';
import { connect } from './postgres/connection.ts';
import { createPartition, periodNamed } from './postgres/partitions.ts';
import type { Sql, Transaction } from './postgres/records.ts';
import { PARTITIONED_TABLES } from './postgres/retention.ts';
import { inSnapshot, inTransaction } from './postgres/transaction.ts';

const FORMAT = 'tocsin-backup';
const FORMAT_VERSION = 1;
const NEWLINE = 0x0a;
const LINE_END = Buffer.from('\n');
const END_OF_ROWS = Buffer.from('\\.');
/** Rows are handed to the server in pieces of about this size. */
const PIECE_BYTES = 256 * 1024;
/** Longer than any row: a Snapshot of 16 MiB is copied as twice as many hexadecimal digits. */
const LONGEST_LINE = 128 * 1024 * 1024;

/** More than retention ever keeps, and as many as PostgreSQL allows. */
const MOST_PARTITIONS = 100_000;
const MOST_COLUMNS = 1_600;

const name = v.pipe(v.string(), v.regex(/^[a-z][a-z0-9_]{0,62}$/));
const Header = v.object({
  format: v.literal(FORMAT),
  version: v.literal(FORMAT_VERSION),
  schema: v.pipe(v.number(), v.integer(), v.minValue(1)),
  created_at: v.string(),
  partitions: v.pipe(v.array(name), v.maxLength(MOST_PARTITIONS)),
});
const Table = v.object({ table: name, columns: v.pipe(v.array(name), v.maxLength(MOST_COLUMNS)) });
const End = v.object({
  tables: v.number(),
  rows: v.number(),
  sequences: v.record(name, v.nullable(v.pipe(v.number(), v.safeInteger()))),
});

export interface BackupSummary {
  /** Version of the schema. */
  readonly schema: number;
  /** RFC 3339, of the moment that it shows. */
  readonly createdAt: string;
  readonly tables: number;
  readonly rows: number;
}

/** It is no backup, or not a whole one, or the database is not empty. The message says what to do. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}

/**
 * Writes everything as it is at one moment, while the service runs on.
 * @throws {BackupError} when there is no schema; after any error what was written is no backup
 */
export async function writeBackup(
  database: DatabaseSettings,
  to: NodeJS.WritableStream,
  at: Date,
): Promise<BackupSummary> {
  let socket: { resume(): unknown; destroy(): unknown } | null = null;
  const sql = connect(database, {
    ...{ max: 1, applicationName: 'tocsin backup', onStandby: true },
    onSocket: (opened) => {
      socket = opened;
    },
  });
  const file = createOutput(to, () => socket?.destroy());
  try {
    // The driver pauses the socket of a reader that is behind, also with the last rows, and would never read on.
    const summary = await writeAll(sql, file, at, () => socket?.resume());
    await file.end();
    return summary;
  } catch (error) {
    throw (await file.fail()) ?? error;
  } finally {
    await sql.end({ timeout: 5 });
  }
}

interface Output {
  /** Waits while what is written lies before a slow disk. @throws once that failed */
  put(chunk: Buffer): Promise<void>;
  end(): Promise<void>;
  /** @returns why it could not be written; null when that was not the trouble */
  fail(): Promise<Error | null>;
}

/** @param failed called once when it cannot be written: the driver would not end a copy by itself */
function createOutput(to: NodeJS.WritableStream, failed: () => void): Output {
  const gzip = createGzip();
  let failure: Error | null = null;
  let wake: () => void = () => undefined;
  const written = pipeline(gzip, to).catch((error: Error) => {
    failure = error;
    failed();
    wake();
  });
  gzip.on('drain', () => wake());
  return {
    async put(chunk) {
      if (!failure && !gzip.write(chunk)) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      if (failure) throw failure;
    },
    async end() {
      gzip.end();
      await written;
      if (failure) throw failure;
    },
    async fail() {
      const before = failure;
      gzip.destroy();
      await written;
      return before;
    },
  };
}

function writeAll(sql: Sql, { put }: Output, at: Date, readOn: () => void): Promise<BackupSummary> {
  return inSnapshot(sql, async (tx) => {
    await tx`select set_config('statement_timeout', '0', true)`;
    const schema = await schemaVersion(tx);
    if (schema === 0) throw new BackupError('The database is empty: there is nothing to back up.');
    if (await isBetweenVersions(tx))
      throw new BackupError('A migration is under way, or was interrupted. Back up once it is finished.');
    const createdAt = at.toISOString();
    const header = { format: FORMAT, version: FORMAT_VERSION, schema, created_at: createdAt };
    await put(line({ ...header, partitions: await partitionsIn(tx) }));
    const tables = await tablesIn(tx);
    let rows = 0;
    for (const { table, columns } of tables) {
      await put(line({ table, columns }));
      const copied = await tx`copy (select ${tx(columns)} from ${tx(table)}) to stdout`.readable();
      for await (const chunk of copied as AsyncIterable<Buffer>) {
        rows += newlines(chunk);
        await put(chunk);
      }
      readOn();
      await put(END_OF_ROWS);
      await put(LINE_END);
    }
    const summary = { tables: tables.length, rows };
    await put(line({ ...summary, sequences: await sequencesIn(tx) }));
    return { schema, createdAt, ...summary };
  });
}

/**
 * Fills an empty database with what a backup holds, in one transaction. The schema is left at the backup's version:
 * {@link migrate} goes on from there.
 * @param session a client of one connection that keeps its session
 * @param accept looks at what was read before it is committed; what it throws undoes everything
 * @throws {BackupError}
 */
export async function readBackup(
  session: Sql,
  from: NodeJS.ReadableStream,
  accept: (tx: Transaction) => Promise<unknown>,
): Promise<BackupSummary> {
  const gunzip = createGunzip();
  // What fails on the way is what the next line is refused with.
  pipeline(from, gunzip).catch(() => undefined);
  const lines = linesOf(gunzip);
  const nextOrEnd = async () => {
    const { value } = await lines.next().catch((error: Error) => {
      if (error instanceof BackupError) throw error;
      throw new BackupError(`This is no backup, or it is damaged: ${error.message}.`);
    });
    return value;
  };
  const next = async () => {
    const value = await nextOrEnd();
    if (!value) throw new BackupError('This backup is not whole: its end is missing.');
    return value;
  };
  const header = parsed(Header, await next());
  if (!header) throw new BackupError('This is no backup of Tocsin, or one of a later format.');
  await makeSchema(session, header.schema);
  const { tables, rows } = await inTransaction(session, async (tx) => {
    await tx`select set_config('statement_timeout', '0', true)`;
    for (const partition of header.partitions) await makePartition(tx, partition);
    const known = await tablesIn(tx);
    for (const { table } of known) await tx`alter table ${tx(table)} disable trigger user`;
    for (const { table, trigger } of await fillingTriggersIn(tx))
      await tx`alter table ${tx(table)} enable trigger ${tx(trigger)}`;
    // Migrations make some rows of their own.
    for (const { table } of known.toReversed()) await tx`delete from ${tx(table)}`;
    const filled = { tables: 0, rows: 0 };
    for (let text = await next(); ; text = await next()) {
      const given = parsed(Table, text);
      if (!given) {
        const end = parsed(End, text);
        const isWhole = end?.tables === filled.tables && end.rows === filled.rows;
        if (!end || !isWhole || (await nextOrEnd()))
          throw new BackupError('This backup is damaged: its tables do not add up.');
        for (const { table } of known) await tx`alter table ${tx(table)} enable trigger user`;
        await setSequences(tx, end.sequences);
        await accept(tx);
        return filled;
      }
      const columns = known.find(({ table }) => table === given.table)?.columns ?? [];
      if (given.columns.length === 0 || given.columns.some((column) => !columns.includes(column)))
        throw new BackupError(`The backup has a table ${given.table} that this schema does not know.`);
      const filling = await tx`copy ${tx(given.table)} (${tx(given.columns)}) from stdin`.writable();
      await pipeline(
        rowsUntilEnd(next, () => filled.rows++),
        filling,
      );
      filled.tables++;
    }
  });
  await session`analyze`;
  return { schema: header.schema, createdAt: header.created_at, tables, rows };
}

async function makeSchema(session: Sql, version: number): Promise<void> {
  const migrations = readMigrations();
  const known = knownVersion(migrations);
  if (version > known)
    throw new BackupError(
      `This backup has schema version ${version}, this program knows up to version ${known}. Use a newer release.`,
    );
  const found = await schemaVersion(session);
  const [used] = found > 0 ? await session`select from users limit 1` : [];
  if (used || found > version)
    throw new BackupError('The database is not empty. A backup is restored into a new database or folder.');
  await migrate(session, { migrations: migrations.filter((one) => one.version <= version) });
}

async function makePartition(tx: Transaction, partition: string): Promise<void> {
  for (const table of PARTITIONED_TABLES) {
    const period = periodNamed(table, partition);
    if (period) return void (await createPartition(tx, table, period));
  }
  throw new BackupError(`The backup has a partition ${partition} that this schema does not know.`);
}

async function setSequences(
  tx: Transaction,
  sequences: Readonly<Record<string, number | null>>,
): Promise<void> {
  for (const [sequence, last] of Object.entries(sequences)) {
    if (last !== null) await tx`select setval(${sequence}::text::regclass, ${last})`;
  }
}

interface NamedTable {
  readonly table: string;
  readonly columns: readonly string[];
}

/** Triggers that fill a column which backups of earlier versions lack. */
async function fillingTriggersIn(tx: Transaction): Promise<readonly { table: string; trigger: string }[]> {
  return tx`
    select relname as table, tgname as trigger from pg_trigger join pg_class c on c.oid = tgrelid
    where relnamespace = current_schema()::regnamespace and tgname like 'fill\\_%'`;
}

/** Every table of ours but those of migrations, each behind those that its rows refer to. */
async function tablesIn(tx: Transaction): Promise<readonly NamedTable[]> {
  const tables = await tx<(NamedTable & { refers: string[] })[]>`
    select relname as table,
      (select array_agg(attname::text order by attnum) from pg_attribute
       where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns,
      (select coalesce(array_agg(other.relname::text), '{}') from pg_constraint
       join pg_class other on other.oid = confrelid
       where conrelid = c.oid and contype = 'f' and confrelid <> conrelid) as refers
    from pg_class c
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
      and relname not in ('schema_migrations', 'schema_migration_steps')
    order by relname`;
  const placed = new Map<string, NamedTable>();
  while (placed.size < tables.length) {
    const ready = tables.filter(
      ({ table, refers }) => !placed.has(table) && refers.every((other) => placed.has(other)),
    );
    if (ready.length === 0) throw new Error('tables refer to each other in a circle');
    for (const { table, columns } of ready) placed.set(table, { table, columns });
  }
  return [...placed.values()];
}

async function partitionsIn(tx: Transaction): Promise<string[]> {
  const rows = await tx<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind = 'r' and relispartition order by relname`;
  return rows.map(({ name: found }) => found);
}

async function sequencesIn(tx: Transaction): Promise<Record<string, number | null>> {
  const rows = await tx<{ name: string; last: number | null }[]>`
    select sequencename as name, last_value as last from pg_sequences where schemaname = current_schema()`;
  return Object.fromEntries(rows.map(({ name: found, last }) => [found, last]));
}

const line = (value: object): Buffer => Buffer.from(`${JSON.stringify(value)}\n`);

function newlines(chunk: Buffer): number {
  let found = 0;
  for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) found++;
  return found;
}

function parsed<Shape extends v.GenericSchema>(shape: Shape, text: Buffer): v.InferOutput<Shape> | null {
  try {
    const read = v.safeParse(shape, JSON.parse(text.toString()));
    return read.success ? read.output : null;
  } catch {
    return null;
  }
}

/** Without their newlines. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, undefined> {
  let begun: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      yield Buffer.concat([...begun, chunk.subarray(from, at)]);
      begun = [];
      length = 0;
      from = at + 1;
    }
    begun.push(chunk.subarray(from));
    length += chunk.length - from;
    if (length > LONGEST_LINE) throw new BackupError('a line is too long');
  }
}

/** Rows of one table, in larger pieces. */
async function* rowsUntilEnd(next: () => Promise<Buffer>, counted: () => void): AsyncGenerator<Buffer> {
  let piece: Buffer[] = [];
  let size = 0;
  for (let row = await next(); !row.equals(END_OF_ROWS); row = await next()) {
    counted();
    piece.push(row, LINE_END);
    size += row.length + 1;
    if (size < PIECE_BYTES) continue;
    yield Buffer.concat(piece);
    piece = [];
    size = 0;
  }
  yield Buffer.concat(piece);
}
