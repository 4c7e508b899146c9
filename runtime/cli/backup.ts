/** `tocsin backup` and `tocsin restore`: the whole database in one file, and back (operations §14). */
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { BackupError, type BackupSummary, readBackup, writeBackup } from '../../storage/backup.ts';
import { readKeyring } from '../../storage/keys/keyring.ts';
import { migrate } from '../../storage/migrate.ts';
import { connect } from '../../storage/postgres/connection.ts';
import { embeddedSettings, startEmbeddedPostgres } from '../../storage/postgres/embedded/embedded.ts';
import { findServer } from '../../storage/postgres/embedded/server.ts';
import type { Sql } from '../../storage/postgres/records.ts';
import { inSnapshot } from '../../storage/postgres/transaction.ts';
import { systemClock } from '../clock.ts';
import type { DatabaseSettings } from '../config.ts';
import type { Log } from '../log.ts';
import { parseKeyList } from '../secrets/key-list.ts';
import type { MasterKey } from '../secrets/keyring.ts';
import { type Command, type CommandIo, EXIT, type OptionValues } from './command.ts';
import { createWhole, forgetFirstStart } from './first-start.ts';
import { reportStartFailure } from './run-service.ts';
import { logFor, readCheckedConfig, thisMachine } from './settings.ts';

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
      if (existsSync(to)) throw new BackupError(`${to} is there already. Name a new file.`);
      const summary = await withDatabase(values, io, log, (database) =>
        writeFile(database, path.resolve(to)),
      );
      return told(values, io, summary, path.resolve(to), 'Written to');
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
  --keys FILE     the master keys of the installation, copied into the folder; not needed where SVC_SECRET_KEYS is set
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
      if (!existsSync(from)) throw new BackupError(`There is no file ${from}.`);
      const masterKeys = await keysFor(values, io);
      const summary = await withNewDatabase(values, io, log, async (sql) => {
        const read = await readBackup(sql, createReadStream(from));
        await migrate(sql, { log });
        await inSnapshot(sql, (tx) => readKeyring(tx, masterKeys));
        return read;
      });
      return told(values, io, summary, path.resolve(from), 'Restored from');
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

/** Beside it first: under its name there is a whole backup or none. */
async function writeFile(database: DatabaseSettings, file: string): Promise<BackupSummary> {
  const beside = `${file}.new`;
  await rm(beside, { force: true });
  try {
    const handle = await open(beside, 'wx', 0o600);
    const summary = await writeBackup(database, handle.createWriteStream({ flush: true }), systemTime());
    await rename(beside, file);
    return summary;
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

const systemTime = () => new Date(systemClock.now() / 1000);

/** The database that the variables name; null: that of the folder. */
function namedDatabase(io: CommandIo): DatabaseSettings | null {
  if (!Object.keys(io.env).some((name) => name.startsWith('SVC_DATABASE_') && io.env[name])) return null;
  const read = readCheckedConfig(io.env, { acceptPrintedKeys: true, machine: thisMachine() });
  if ('errors' in read) throw new BackupError(read.errors.join('\n'));
  return read.config.sessionDatabase;
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
  const dataDir = path.join(folderOf(values), 'postgres');
  const cluster = path.join(dataDir, 'cluster');
  if (!existsSync(cluster))
    throw new BackupError(`${folderOf(values)} holds no installation. Name its folder with --data-dir.`);
  if ((await findServer(cluster)) !== null) return run(await embeddedSettings(dataDir));
  const server = await startEmbeddedPostgres({ dataDir, log });
  return run(server.settings).finally(server.stop);
}

/** A folder in which it fails is left without a database. */
async function withNewDatabase<Result>(
  values: OptionValues,
  io: CommandIo,
  log: Log,
  run: (sql: Sql) => Promise<Result>,
): Promise<Result> {
  const named = namedDatabase(io);
  if (named) return withClient(named, run);
  const folder = folderOf(values);
  const dataDir = path.join(folder, 'postgres');
  if (existsSync(path.join(dataDir, 'cluster')))
    throw new BackupError(`${folder} holds an installation already. Name a new folder with --data-dir.`);
  const server = await startEmbeddedPostgres({ dataDir, log });
  try {
    const result = await withClient(server.settings, run);
    // People and Integrations are there: the next start makes up no password.
    await forgetFirstStart(folder);
    return result;
  } catch (error) {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
    throw error;
  } finally {
    await server.stop();
  }
}

async function withClient<Result>(
  settings: DatabaseSettings,
  run: (sql: Sql) => Promise<Result>,
): Promise<Result> {
  const sql = connect(settings, { max: 1, applicationName: 'tocsin restore' });
  return run(sql).finally(() => sql.end({ timeout: 5 }));
}

/** The master keys that open what is restored; of a folder they are put into it. */
async function keysFor(values: OptionValues, io: CommandIo): Promise<readonly MasterKey[]> {
  const { SVC_SECRET_KEYS: listed, SVC_SECRET_KEYS_FILE: listFile } = io.env;
  if (listed) return keysOf(listed, 'SVC_SECRET_KEYS', 'comma');
  const kept = path.join(folderOf(values), 'secret-keys');
  const file = listFile ?? textOf(values.keys) ?? (existsSync(kept) ? kept : null);
  if (file === null)
    throw new BackupError(
      'The master keys are needed, too: name their file with --keys, or set SVC_SECRET_KEYS.',
    );
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new BackupError(`The master keys cannot be read: ${error.message}`);
  });
  const keys = keysOf(text, file, 'line');
  if (file === textOf(values.keys) && path.resolve(file) !== kept) {
    await mkdir(path.dirname(kept), { recursive: true });
    if (existsSync(kept)) throw new BackupError(`${kept} is there already. Remove it, or leave out --keys.`);
    await createWhole(kept, text);
  }
  return keys;
}

function keysOf(text: string, variable: string, separator: 'line' | 'comma'): readonly MasterKey[] {
  const read = parseKeyList(text, { variable, separator, acceptPrinted: true });
  if (!read.ok) throw new BackupError(read.problem);
  return read.keys;
}

function textOf(value: string | boolean | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
