/** How commands that change or read the database reach it, and what they share in words. */
import { codePoints } from '../../actors/text.ts';
import { logAudited } from '../../storage/access/audit.ts';
import { requireSchema, withMigrationLock } from '../../storage/migrate.ts';
import { connect, openSession } from '../../storage/postgres/connection.ts';
import { reachDatabase } from '../../storage/postgres/database-check.ts';
import type { Sql, Transaction } from '../../storage/postgres/records.ts';
import { inTransaction } from '../../storage/postgres/transaction.ts';
import { SECOND, systemMonotonic } from '../clock.ts';
import type { ServiceSettings } from '../compose/database.ts';
import type { Log } from '../log.ts';
import type { MasterKey } from '../secrets/keyring.ts';
import { type CommandIo, EXIT, type OptionValues } from './command.ts';
import { reportStartFailure } from './run-service.ts';
import { logFor, readSettings, thisMachine } from './settings.ts';

/** Somebody waits at a terminal. */
const PATIENCE = 5 * SECOND;
const LONGEST_ACTOR = 200;

export const NO_KEYRING =
  'this database has no keyring yet: the first start makes it, with the first key of the list.';

export const SINCE_RULE = '--since is a number of minutes, hours or days, such as 90m, 12h or 3d.';

export interface CommandDatabase {
  readonly sql: Sql;
  readonly settings: ServiceSettings;
  /** In the order of the list. */
  readonly masterKeys: readonly MasterKey[];
  readonly log: Log;
  /** One transaction, while no replica starts. */
  alone<Result>(run: (tx: Transaction) => Promise<Result>): Promise<Result>;
}

/** Opens the database with the environment of the service. @returns the exit code; failures are told here */
export async function withDatabase(
  name: string,
  io: CommandIo,
  run: (database: CommandDatabase) => Promise<number>,
): Promise<number> {
  const machine = thisMachine();
  const log = logFor(io.env, 'warn', machine, io.err);
  const read = readSettings(io.env, log, { acceptPrintedKeys: true, machine });
  if ('errors' in read) {
    for (const line of read.errors) io.err(line);
    return EXIT.failed;
  }
  const { settings } = read;
  const about = { applicationName: name, prepare: settings.prepareStatements };
  const sql = connect(settings.database, { ...about, max: 1, onAudited: logAudited(log) });
  try {
    await reachDatabase(settings.database, { ...about, monotonic: systemMonotonic, patience: PATIENCE });
    await requireSchema(sql);
    const { masterKeys } = settings;
    return await run({
      sql,
      settings,
      masterKeys,
      log,
      alone: (change) => alone(name, settings, sql, change),
    });
  } catch (error) {
    return reportStartFailure(error, io, log);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

async function alone<Result>(
  name: string,
  { sessionDatabase }: ServiceSettings,
  sql: Sql,
  change: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  const session = openSession(sessionDatabase, { applicationName: name });
  try {
    return await withMigrationLock(session, () => inTransaction(sql, change));
  } finally {
    await session.end({ timeout: 5 });
  }
}

/** Who does it, for the Audit log; or what is wrong with it. */
export function readActor({ actor }: OptionValues): { readonly actor: string } | { readonly wrong: string } {
  const name = typeof actor === 'string' ? actor.trim() : '';
  if (name === '') return { wrong: '--actor is needed: the Audit log names who did it.' };
  if (codePoints(name) > LONGEST_ACTOR) return { wrong: `--actor has at most ${LONGEST_ACTOR} characters.` };
  return { actor: name };
}

/** Says what is wrong with the words of a command. */
export function wrongUsage(io: CommandIo, name: string, wrong: string): number {
  io.err(`${name}: ${wrong}`);
  io.err(`"${name} --help" shows its options.`);
  return EXIT.usage;
}

export function refuse(io: CommandIo, name: string, why: string): number {
  io.err(`${name}: ${why}`);
  return EXIT.failed;
}

/** `1 value`, `2 values`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

export function sumOf(fields: Readonly<Record<string, number>>): number {
  return Object.values(fields).reduce((sum, count) => sum + count, 0);
}
