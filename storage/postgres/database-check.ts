/** What is found out about the database before the service begins to use it, and by the doctor (operations §1.3, §10). */
import { randomInt } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { type Clock, type Micros, type Monotonic, SECOND } from '../../runtime/clock.ts';
import type { DatabaseSettings } from '../../runtime/config.ts';
import { connect, isUnavailable, openSession } from './connection.ts';
import type { Sql, Transaction } from './records.ts';

/** The oldest major version that is supported. */
export const OLDEST_POSTGRES = 15;
/** How long a notification may be under way, µs. */
const NOTIFY_WITHIN = 5 * SECOND;
const NUMBERS_PER_MAJOR = 10_000;

export interface DatabaseFacts {
  /** Major version of the server. */
  readonly major: number;
  /** As people call it: `18.4`. */
  readonly version: string;
  /** Whether this connection is encrypted; behind a pooler, the pooler's connection to the server. */
  readonly encrypted: boolean;
  /** `TLSv1.3`; null without encryption. */
  readonly tlsVersion: string | null;
  /** Whether it takes no writes, because it follows another server. */
  readonly isStandby: boolean;
  /** The same for all connections to one database of one run of a server, and only for those. */
  readonly identity: string;
}

/** Asks a server what it is. */
export async function inspectDatabase(sql: Sql | Transaction): Promise<DatabaseFacts> {
  const [row] = await sql<
    {
      number: number;
      version: string;
      encrypted: boolean | null;
      tls_version: string | null;
      is_standby: boolean;
      identity: string;
    }[]
  >`
    select
      current_setting('server_version_num')::int as number,
      current_setting('server_version') as version,
      tls.ssl as encrypted,
      tls.version as tls_version,
      pg_is_in_recovery() as is_standby,
      db.oid || ' ' || pg_postmaster_start_time() as identity
    from pg_database db left join pg_stat_ssl tls on tls.pid = pg_backend_pid()
    where db.datname = current_database()`;
  if (!row) throw new Error('The database did not say what it is.');
  return {
    major: Math.floor(row.number / NUMBERS_PER_MAJOR),
    version: row.version.split(' ', 1)[0] ?? row.version,
    encrypted: row.encrypted ?? false,
    tlsVersion: row.tls_version,
    isStandby: row.is_standby,
    identity: row.identity,
  };
}

/**
 * Whether a connection keeps its session between statements: a lock taken in one is there in the next, and a
 * notification arrives. Both fail behind a transaction pooler.
 * @param applicationName shown in `pg_stat_activity` meanwhile
 */
export async function keepsSession(
  settings: DatabaseSettings,
  clock: Clock,
  applicationName: string,
): Promise<boolean> {
  const session = openSession(settings, { applicationName });
  try {
    return (await keepsLock(session)) && (await hearsNotification(session, clock));
  } catch (error) {
    if (isRefusedByPooler(error)) return false;
    throw error;
  } finally {
    await session.end({ timeout: 1 });
  }
}

/** What a start says of a session connection that keeps no session (operations §1.3). */
export const KEEPS_NO_SESSION =
  'The session connection keeps no session state, probably because a transaction pooler stands before the ' +
  'database. Name a direct connection with SVC_DATABASE_SESSION_HOST and SVC_DATABASE_SESSION_PORT, or with ' +
  'SVC_DATABASE_SESSION_URL.';

/** A pooler that shares server connections takes no settings for a session, and says so before any statement. */
function isRefusedByPooler(error: unknown): boolean {
  return error instanceof Error && error.message.includes('unsupported startup parameter');
}

async function keepsLock(session: Sql): Promise<boolean> {
  const key = randomInt(1, 2 ** 31);
  await session`select pg_advisory_lock(${key})`;
  const [row] = await session<{ kept: boolean }[]>`
    select exists (
      select from pg_locks
      where locktype = 'advisory' and pid = pg_backend_pid() and classid = 0 and objid::bigint = ${key}
    ) as kept`;
  return row?.kept ?? false;
}

async function hearsNotification(session: Sql, clock: Clock): Promise<boolean> {
  const channel = `tocsin_check_${randomInt(1, 2 ** 31)}`;
  let heard: (was: boolean) => void = () => undefined;
  const answer = new Promise<boolean>((resolve) => {
    heard = resolve;
  });
  const timer = clock.after(NOTIFY_WITHIN, () => heard(false));
  await session.listen(channel, () => heard(true));
  await session.notify(channel, '');
  const was = await answer;
  timer.cancel();
  return was;
}

/** The clock of the database, µs. Only to compare clocks with: times of the service come from its own `Clock`. */
export async function readDatabaseClock(sql: Sql | Transaction): Promise<Micros> {
  const [row] = await sql<{ now: Micros }[]>`
    select (extract(epoch from clock_timestamp()) * 1000000)::bigint as now`;
  if (!row) throw new Error('a statement without a condition gave no row');
  return row.now;
}

/** How long a start waits for the database, and how long between two tries (operations §1.3). */
const PATIENCE: Micros = 30 * SECOND;
const PAUSE_MS = 500;

export interface ReachOptions {
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  readonly monotonic: Monotonic;
  readonly patience?: Micros;
  /** As of {@link connect}. */
  readonly prepare?: boolean;
}

/**
 * Waits until the database answers.
 * @throws {Error} for people, with host, port and cause: it did not in time, or it refuses this user or its session
 */
export async function reachDatabase(settings: DatabaseSettings, options: ReachOptions): Promise<void> {
  const { monotonic, patience = PATIENCE } = options;
  const end = monotonic() + patience;
  for (;;) {
    const failure = await tryOnce(settings, options);
    if (failure === null) return;
    if (isRefusedByPooler(failure)) throw new Error(KEEPS_NO_SESSION, { cause: failure });
    if (!isUnavailable(failure) || monotonic() >= end) throw unreachable(settings, failure);
    // Nothing else keeps the process alive meanwhile: a wait of the clock would let it end.
    await setTimeout(PAUSE_MS);
  }
}

async function tryOnce(
  settings: DatabaseSettings,
  { applicationName, prepare = true }: ReachOptions,
): Promise<unknown> {
  const session = connect(settings, { max: 1, applicationName, prepare });
  try {
    await session`select 1`;
    return null;
  } catch (error) {
    return error;
  } finally {
    await session.end({ timeout: 1 });
  }
}

function unreachable({ host, port, others = [] }: DatabaseSettings, cause: unknown): Error {
  const why = cause instanceof Error ? cause.message : String(cause);
  const where = [{ host, port }, ...others]
    .map((server) => `${server.host}, port ${server.port}`)
    .join(', or at ');
  return new Error(`The database at ${where}, cannot be used: ${why}`, { cause });
}
