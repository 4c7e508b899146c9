/** `tocsin backup` and `tocsin restore`: the whole database in one file, and back (operations §14). */
import { createReadStream, existsSync, type ReadStream, readFileSync, type WriteStream } from 'node:fs';
import { link, open, readFile, realpath, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { BackupError, type BackupSummary, readBackup, writeBackup } from '../../storage/backup.ts';
import { readKeyring } from '../../storage/keys/keyring.ts';
import { migrate } from '../../storage/migrate.ts';
import { connect } from '../../storage/postgres/connection.ts';
import { embeddedSettings, startEmbeddedPostgres } from '../../storage/postgres/embedded/embedded.ts';
import { servingProcess } from '../../storage/postgres/embedded/server.ts';
import type { Sql } from '../../storage/postgres/records.ts';
import { systemClock } from '../clock.ts';
import { type DatabaseSettings, readSessionDatabase } from '../config.ts';
import type { Log } from '../log.ts';
import { parseKeyList } from '../secrets/key-list.ts';
import type { MasterKey } from '../secrets/keyring.ts';
import { type Command, type CommandIo, EXIT, type OptionValues } from './command.ts';
import { createWhole, forgetFirstStart } from './first-start.ts';
import { reportStartFailure } from './run-service.ts';
import { logFor, thisMachine } from './settings.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const PLACE =
  '  --data-dir DIR  the folder of quickstart (default ./data), unless SVC_DATABASE_* name a database';

export const backup: Command = {
  name: 'backup',
  summary: 'write the whole database into one file, while Tocsin runs',
  help: `Usage: tocsin backup --to FILE [--data-dir DIR] [--json]

Writes everything as it is at one moment. The service may run or not. Secrets in the file stay sealed: keep the master
keys as well, in another place ("secret-keys" in the folder, or SVC_SECRET_KEYS). Only the owner can read the file.

  --to FILE       a new file
${PLACE}
  --json          print one JSON object: {"file", "schema", "created_at", "tables", "rows"}

Exit codes: 0 done, 1 failed, and then there is no file, 2 wrong usage.`,
  options: { to: { type: 'string' }, 'data-dir': { type: 'string' }, json: { type: 'boolean' } },
  async run(values, io) {
    const to = textOf(values.to);
    if (!to) return usage(io, 'tocsin backup needs --to FILE.');
    return reported(io, async (log) => {
      const file = path.resolve(to);
      if (existsSync(file)) throw new BackupError(`${file} is there already. Name a new file.`);
      const summary = await withDatabase(values, io, log, (database) => writeFile(database, file));
      return told(values, io, summary, file, 'Written to');
    });
  },
};

export const restore: Command = {
  name: 'restore',
  summary: 'fill a new folder or database with what a backup holds',
  help: `Usage: tocsin restore --from FILE [--data-dir DIR] [--keys FILE] [--json]

Fills an empty database, brings its schema up to date and tries whether the master keys open it. First stop the
installation that the backup is of: two of them would deliver the same messages.

  --from FILE     what "tocsin backup" wrote, by this release or an earlier one
  --keys FILE     the master keys of the installation, copied into the folder; SVC_SECRET_KEYS names them instead
${PLACE}
  --json          print one JSON object: {"file", "schema", "created_at", "tables", "rows"}

Exit codes: 0 done, 1 failed, and then nothing was restored, 2 wrong usage.`,
  options: {
    from: { type: 'string' },
    keys: { type: 'string' },
    'data-dir': { type: 'string' },
    json: { type: 'boolean' },
  },
  async run(values, io) {
    const from = textOf(values.from);
    if (!from) return usage(io, 'tocsin restore needs --from FILE.');
    return reported(io, async (log) => {
      const file = path.resolve(from);
      if (!(await stat(file).catch(() => null))?.isFile()) throw new BackupError(`There is no file ${file}.`);
      const keys = await keysFor(values, io);
      const fill = (sql: Sql) =>
        untilStopped(createReadStream(file), (stream) =>
          readBackup(sql, stream, (tx) => readKeyring(tx, keys.masterKeys)),
        );
      const summary = await withNewDatabase(values, io, log, keys.text, fill);
      return told(values, io, summary, file, 'Restored from');
    });
  },
};

function usage(io: CommandIo, sentence: string): number {
  io.err(sentence);
  return EXIT.usage;
}

async function reported(io: CommandIo, run: (log: Log) => Promise<number>): Promise<number> {
  const log = logFor(io.env, 'warn', thisMachine(), io.err);
  try {
    return await run(log);
  } catch (error) {
    if (!(error instanceof BackupError)) return reportStartFailure(error, io, log);
    io.err(error.message);
    return EXIT.failed;
  }
}

function told(
  values: OptionValues,
  io: CommandIo,
  summary: BackupSummary,
  file: string,
  done: string,
): number {
  const { schema, createdAt, tables, rows } = summary;
  if (values.json) io.out(JSON.stringify({ file, schema, created_at: createdAt, tables, rows }));
  else io.out(`${done} ${file}: ${rows} rows of ${tables} tables, as of ${createdAt}.`);
  return EXIT.done;
}

/** A signal ends what reads or writes the stream, so that what was begun is undone. */
async function untilStopped<Stream extends ReadStream | WriteStream, Result>(
  stream: Stream,
  run: (stream: Stream) => Promise<Result>,
): Promise<Result> {
  const stop = () => void stream.destroy(new BackupError('Stopped by a signal.'));
  for (const signal of SIGNALS) process.once(signal, stop);
  try {
    return await run(stream);
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop);
  }
}

/** Beside it first: under its name there is a whole backup or none. */
async function writeFile(database: DatabaseSettings, file: string): Promise<BackupSummary> {
  const beside = `${file}.${process.pid}.new`;
  try {
    const handle = await open(beside, 'wx', 0o600);
    const at = new Date(systemClock.now() / 1000);
    const summary = await untilStopped(handle.createWriteStream({ flush: true }), (stream) =>
      writeBackup(database, stream, at),
    );
    await link(beside, file);
    return summary;
  } catch (error) {
    const { code, message, syscall } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new BackupError(`${file} is there already. Name a new file.`);
    if (syscall === 'write' || syscall === 'open')
      throw new BackupError(`${file} cannot be written: ${message}`);
    throw error;
  } finally {
    await rm(beside, { force: true });
  }
}

/** The database that the variables name; null: that of the folder. */
function namedDatabase(io: CommandIo): DatabaseSettings | null {
  const read = readSessionDatabase(io.env, (file) => readFileSync(file, 'utf8'));
  if (read && 'errors' in read) throw new BackupError(read.errors.join('\n'));
  return read;
}

const folderOf = (values: OptionValues) => path.resolve(textOf(values['data-dir']) ?? 'data');

async function withDatabase<Result>(
  values: OptionValues,
  io: CommandIo,
  log: Log,
  run: (database: DatabaseSettings) => Promise<Result>,
): Promise<Result> {
  const named = namedDatabase(io);
  if (named) return run(named);
  const folder = path.join(folderOf(values), 'postgres');
  if (!existsSync(path.join(folder, 'cluster')))
    throw new BackupError(`${folderOf(values)} holds no installation. Name its folder with --data-dir.`);
  // A server knows its folder by the real path.
  const dataDir = await realpath(folder);
  if ((await servingProcess(path.join(dataDir, 'cluster'))) !== null)
    return run(await embeddedSettings(dataDir));
  const server = await startEmbeddedPostgres({ dataDir, log });
  return run(server.settings).finally(server.stop);
}

/** A folder in which it fails is left as it was. */
async function withNewDatabase(
  values: OptionValues,
  io: CommandIo,
  log: Log,
  keys: string | null,
  fill: (sql: Sql) => Promise<BackupSummary>,
): Promise<BackupSummary> {
  const named = namedDatabase(io);
  if (named) return withClient(named, (sql) => filled(sql, log, fill));
  const folder = folderOf(values);
  const dataDir = path.join(folder, 'postgres');
  if (existsSync(path.join(dataDir, 'cluster')))
    throw new BackupError(`${folder} holds an installation already. Name a new folder with --data-dir.`);
  const server = await startEmbeddedPostgres({ dataDir, log });
  try {
    const summary = await withClient(server.settings, (sql) => filled(sql, log, fill));
    if (keys !== null) await createWhole(keyFileIn(folder), keys);
    // People and Integrations are there: the next start makes up no password.
    await forgetFirstStart(folder);
    return summary;
  } catch (error) {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
    throw error;
  } finally {
    await server.stop();
  }
}

async function filled(
  sql: Sql,
  log: Log,
  fill: (sql: Sql) => Promise<BackupSummary>,
): Promise<BackupSummary> {
  const summary = await fill(sql);
  await migrate(sql, { log }).catch((error: Error) => {
    throw new Error(`all rows are there, but not the newest schema ("tocsin migrate"): ${error.message}`, {
      cause: error,
    });
  });
  return summary;
}

async function withClient<Result>(
  settings: DatabaseSettings,
  run: (sql: Sql) => Promise<Result>,
): Promise<Result> {
  const sql = connect(settings, { max: 1, applicationName: 'tocsin restore' });
  return run(sql).finally(() => sql.end({ timeout: 5 }));
}

const keyFileIn = (folder: string) => path.join(folder, 'secret-keys');

interface RestoredKeys {
  readonly masterKeys: readonly MasterKey[];
  /** For the folder's file of keys; null: it has them, or variables name them. */
  readonly text: string | null;
}

/** The master keys that must open what is restored. */
async function keysFor(values: OptionValues, io: CommandIo): Promise<RestoredKeys> {
  const { SVC_SECRET_KEYS: listed, SVC_SECRET_KEYS_FILE: listFile } = io.env;
  const given = textOf(values.keys);
  if (given && (listed || listFile))
    throw new BackupError('Name the master keys with --keys or with SVC_SECRET_KEYS, not with both.');
  if (listed) return { masterKeys: keysOf(listed, 'SVC_SECRET_KEYS', 'comma'), text: null };
  const kept = keyFileIn(folderOf(values));
  const file = listFile ?? given ?? (existsSync(kept) ? kept : null);
  if (!file)
    throw new BackupError(
      'The master keys are needed, too: name their file with --keys, or set SVC_SECRET_KEYS.',
    );
  const isNew = given !== undefined && path.resolve(given) !== kept;
  if (isNew && existsSync(kept))
    throw new BackupError(`${kept} is there already. Remove it, or leave out --keys.`);
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new BackupError(`The master keys cannot be read: ${error.message}`);
  });
  return { masterKeys: keysOf(text, file, 'line'), text: isNew ? text : null };
}

function keysOf(text: string, variable: string, separator: 'line' | 'comma'): readonly MasterKey[] {
  const read = parseKeyList(text, { variable, separator, acceptPrinted: true });
  if (!read.ok) throw new BackupError(read.problem);
  return read.keys;
}

function textOf(value: string | boolean | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
