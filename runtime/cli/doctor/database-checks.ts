/** Whether the database can be reached, is one that Tocsin works with, and has the schema of this build. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { knownVersion, requireSchema, SchemaError } from '../../../storage/migrate.ts';
import { connect } from '../../../storage/postgres/connection.ts';
import {
  type DatabaseFacts,
  inspectDatabase,
  keepsSession,
  OLDEST_POSTGRES,
} from '../../../storage/postgres/database-check.ts';
import type { Transaction } from '../../../storage/postgres/records.ts';
import { inSnapshot } from '../../../storage/postgres/transaction.ts';
import { type Clock, type Micros, SECOND } from '../../clock.ts';
import { type DatabaseSettings, namedServers } from '../../config.ts';
import { type Check, type Finding, fail, milliseconds, ok, reasonOf, warn } from './check.ts';

/** A round trip above this makes every commit slow, µs. */
const SLOW: Micros = SECOND / 20;
const ROUND_TRIPS = 5;

export interface DatabaseCheckDeps {
  readonly settings: DatabaseSettings;
  readonly sessionSettings: DatabaseSettings;
  readonly main: ReadOnlyDatabase;
  readonly session: ReadOnlyDatabase;
  readonly clock: Clock;
}

export function databaseChecks(deps: DatabaseCheckDeps): readonly Check[] {
  const { main, session, clock } = deps;
  const facts = () => main.read(inspectDatabase);
  const base = { needs: ['database'], atWorst: 'FAIL', within: 10 * SECOND } as const;
  return [
    { ...base, name: 'database', needs: [], run: () => checkReachable(deps) },
    { ...base, name: 'postgresql_version', run: async () => judgeVersion(await facts()) },
    { ...base, name: 'schema', run: () => main.read(checkSchema) },
    { ...base, name: 'session_connection', within: 20 * SECOND, run: () => checkSession(deps) },
    {
      ...base,
      name: 'tls_main',
      atWorst: 'WARN',
      run: async () => judgeTls(await facts(), deps.settings),
    },
    {
      ...base,
      name: 'tls_session',
      needs: ['database', 'session_connection'],
      atWorst: 'WARN',
      run: async () => judgeTls(await session.read(inspectDatabase), deps.sessionSettings),
    },
  ];

  async function checkSession({ sessionSettings }: DatabaseCheckDeps): Promise<Finding> {
    if (!(await keepsSession(sessionSettings, clock, DOCTOR))) return fail(KEEPS_NOTHING);
    const [one, other] = [await facts(), await session.read(inspectDatabase)];
    if (one.identity !== other.identity) return fail(ELSEWHERE);
    return ok('keeps its session, and a notification arrives');
  }
}

const SESSION_SETTINGS =
  'SVC_DATABASE_SESSION_URL, or SVC_DATABASE_SESSION_HOST and SVC_DATABASE_SESSION_PORT';
const KEEPS_NOTHING = `keeps no session state: probably a transaction pooler stands before the database. Name a direct connection with ${SESSION_SETTINGS}.`;
const ELSEWHERE = `leads to another database than the main connection. Correct ${SESSION_SETTINGS}.`;

async function checkReachable({ settings, main, clock }: DatabaseCheckDeps): Promise<Finding> {
  const { database, user } = settings;
  const where = `${database} on ${namedServers(settings)}`;
  try {
    const { isStandby } = await main.read(inspectDatabase);
    if (isStandby) return fail(`${where} is a standby, which takes no writes: name the primary server.`);
    return judgeLatency(where, await main.read((tx) => quickestRoundTrip(tx, clock)));
  } catch (error) {
    return fail(
      `${where} as ${user}: ${reasonOf(error)}. See that the server runs, and that SVC_DATABASE_URL or SVC_DATABASE_HOST, _PORT, _NAME, _USER and _PASSWORD name it.`,
    );
  }
}

async function quickestRoundTrip(tx: Transaction, clock: Clock): Promise<Micros> {
  let quickest = Number.POSITIVE_INFINITY;
  for (let trip = 0; trip < ROUND_TRIPS; trip += 1) {
    const asked = clock.now();
    await tx`select 1`;
    quickest = Math.min(quickest, clock.now() - asked);
  }
  return quickest;
}

/** @param roundTrip the quickest of some, µs */
export function judgeLatency(where: string, roundTrip: Micros): Finding {
  const answers = `${where} answers in ${milliseconds(roundTrip)}`;
  return roundTrip > SLOW
    ? warn(`${answers}: every commit takes several times as long. Run Tocsin near its database.`)
    : ok(answers);
}

export function judgeVersion({ major, version }: Pick<DatabaseFacts, 'major' | 'version'>): Finding {
  return major < OLDEST_POSTGRES
    ? fail(`PostgreSQL ${version}; Tocsin needs ${OLDEST_POSTGRES} or newer. Upgrade the server.`)
    : ok(`PostgreSQL ${version}`);
}

async function checkSchema(tx: Transaction): Promise<Finding> {
  try {
    await requireSchema(tx);
    return ok(`version ${knownVersion()}, as this build needs it`);
  } catch (error) {
    if (error instanceof SchemaError) return fail(error.message);
    throw error;
  }
}

/** What does not leave this machine needs no encryption. */
export function judgeTls(
  { encrypted, tlsVersion }: Pick<DatabaseFacts, 'encrypted' | 'tlsVersion'>,
  { host, others = [], sslmode }: Pick<DatabaseSettings, 'host' | 'others' | 'sslmode'>,
): Finding {
  if (encrypted) {
    const trust = sslmode.startsWith('verify-') ? 'certificate verified' : 'certificate not verified';
    return ok(`${tlsVersion ?? 'encrypted'}, ${trust} (sslmode=${sslmode})`);
  }
  if ([host, ...others.map((server) => server.host)].every(staysHere))
    return ok(`not encrypted, and does not leave this machine (${host})`);
  return warn(
    `not encrypted (sslmode=${sslmode}): passwords and alerts cross the network in clear text. Switch TLS on at the server and use sslmode=verify-full.`,
  );
}

function staysHere(host: string): boolean {
  if (host.startsWith('/') || host === 'localhost') return true;
  return isIP(host) !== 0 && ipaddr.process(host).range() === 'loopback';
}

/** Shown in `pg_stat_activity`. */
export const DOCTOR = 'tocsin doctor';

/** How long the server may be silent before the connection counts as lost, ms. */
const ANSWER_WITHIN = 5_000;

export interface ReadOnlyDatabase {
  /**
   * Runs reads in one transaction that can write nothing, seeing one moment.
   * @throws what the driver throws; a statement ends after 4 s, and a wait for a lock after 2 s
   */
  read<Result>(run: (tx: Transaction) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/** @param prepare false behind a transaction pooler, which also takes no settings for a session */
export function openReadOnly(settings: DatabaseSettings, prepare: boolean): ReadOnlyDatabase {
  const sql = connect(settings, {
    max: 1,
    applicationName: DOCTOR,
    onStandby: true,
    prepare,
    answerWithin: ANSWER_WITHIN,
    ...(prepare ? { session: { default_transaction_read_only: 'on' } } : {}),
  });
  return {
    read: (run) =>
      inSnapshot(sql, async (tx) => {
        await tx`select set_config('statement_timeout', '4s', true), set_config('lock_timeout', '2s', true)`;
        return run(tx);
      }),
    close: () => sql.end({ timeout: 1 }),
  };
}
