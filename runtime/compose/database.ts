/** Opens the database, brings its schema and its first rows to where this build needs them. */
import { Gauge, type Registry } from 'prom-client';
import { createPasswords } from '../../actors/access/passwords.ts';
import type { ListenAddress, Listener } from '../../http/server/listeners.ts';
import { appendAudit, logAudited } from '../../storage/access/audit.ts';
import { type BootstrapAdmin, ensureAccess } from '../../storage/access/ensure-access.ts';
import { ensureBootstrapIntegration, ensureDefaults } from '../../storage/configuration/first-rows.ts';
import { ensureKeyring, KeyringError } from '../../storage/keys/keyring.ts';
import { migrate, requireSchema, withMigrationLock } from '../../storage/migrate.ts';
import { connect, createPoolLoad, openSession, type PoolLoad } from '../../storage/postgres/connection.ts';
import {
  inspectDatabase,
  KEEPS_NO_SESSION,
  keepsSession,
  OLDEST_POSTGRES,
  reachDatabase,
} from '../../storage/postgres/database-check.ts';
import { ensurePartitions } from '../../storage/postgres/partitions.ts';
import type { Sql, Transaction } from '../../storage/postgres/records.ts';
import { PARTITIONED_TABLES } from '../../storage/postgres/retention.ts';
import { type Clock, systemMonotonic } from '../clock.ts';
import type { DatabaseSettings } from '../config.ts';
import type { Log, LogLevel } from '../log.ts';
import type { MasterKey, SwitchableKeyring } from '../secrets/keyring.ts';

/** A commit takes milliseconds; what other statements wait for takes seconds at most. Silence beyond is a lost server, ms. */
const COMMIT_ANSWER_WITHIN = 10_000;
const ANSWER_WITHIN = 30_000;

/**
 * After what time the server undoes the transaction of a process that stopped in the middle of it: rows that it holds
 * keep other replicas waiting, for a body that all of them are sent above all.
 */
const STALLED = {
  main: { idle_in_transaction_session_timeout: '5s' },
  commits: { idle_in_transaction_session_timeout: '1500ms', statement_timeout: '3s' },
  accepts: { idle_in_transaction_session_timeout: '1500ms', statement_timeout: '5s' },
} as const;
type Session = (typeof STALLED)[keyof typeof STALLED];

/** How long statements under way may take when the clients are closed, s: by then nobody waits for them. */
const GOODBYE_S = 1;

export interface Database {
  /** The main pool. */
  readonly main: Sql;
  /** One connection for the engine's commits, one for the accept path: neither waits for a reader. */
  readonly commits: Sql;
  readonly accepts: Sql;
  /** How much of each pool is in use, by its purpose. */
  readonly pools: PoolLoads;
  readonly keyring: SwitchableKeyring;
  /** Whether this start made the first Admin. */
  readonly adminCreated: boolean;
  close(): Promise<void>;
}

export interface OpenOptions {
  readonly settings: ServiceSettings;
  readonly migrate: boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** Further first rows, in the transaction of the ensure steps (what quickstart makes). */
  readonly alsoEnsure?: (tx: Transaction, keyring: Pick<SwitchableKeyring, 'sealer'>) => Promise<void>;
}

/**
 * The part of the start that precedes every listener (operations §2.1): schema, keys, first rows, partitions.
 * @throws {SchemaError} the schema is not the one this build knows
 * @throws {Error} the keys do not fit the database, or the bootstrap Admin cannot be made
 */
export async function openDatabase(options: OpenOptions): Promise<Database> {
  const { settings, log } = options;
  await reachDatabase(settings.sessionDatabase, {
    applicationName: applicationName('start', settings.replicaId),
    monotonic: systemMonotonic,
  });
  await prepareSchema(options);
  const pools: Record<string, PoolLoad> = {};
  const pool = (max: number, purpose: ConnectionPurpose, answerWithin: number, stalledAfter: Session) => {
    const load = createPoolLoad(max);
    pools[purpose] = load;
    return connect(settings.database, {
      max,
      load,
      applicationName: applicationName(purpose, settings.replicaId),
      answerWithin,
      prepare: settings.prepareStatements,
      onAudited: logAudited(log),
      // A transaction pooler takes no settings of a session.
      ...(settings.prepareStatements ? { session: stalledAfter } : {}),
    });
  };
  const main = pool(settings.poolMax, 'main', ANSWER_WITHIN, STALLED.main);
  const commits = pool(1, 'commits', COMMIT_ANSWER_WITHIN, STALLED.commits);
  const accepts = pool(1, 'ingestion', COMMIT_ANSWER_WITHIN, STALLED.accepts);
  const close = async () => {
    await Promise.all([main, commits, accepts].map((sql) => sql.end({ timeout: GOODBYE_S })));
  };
  try {
    await requireDurableCommits(main);
    const { keyring, adminCreated } = await ensureFirstRows(options, main);
    log('keyring_loaded', { key_ids: keyring.heldKeyIds, active_key_id: keyring.activeKeyId });
    return { main, commits, accepts, pools, keyring, adminCreated, close };
  } catch (error) {
    await close();
    if (error instanceof KeyringError) log(error.problem);
    throw error;
  }
}

async function prepareSchema({ settings, migrate: applies, clock, log }: OpenOptions): Promise<void> {
  const session = openSession(settings.sessionDatabase, {
    applicationName: applicationName('start', settings.replicaId),
  });
  try {
    await checkDatabase(settings, session, clock, log);
    if (applies) await migrate(session, { log, clock });
    await requireSchema(session);
  } finally {
    await session.end({ timeout: 5 });
  }
}

/** What must hold before anything is written (operations §1.3). */
async function checkDatabase(settings: ServiceSettings, session: Sql, clock: Clock, log: Log): Promise<void> {
  const { major, encrypted } = await inspectDatabase(session);
  if (major < OLDEST_POSTGRES) {
    throw new Error(`The database is PostgreSQL ${major}; Tocsin needs ${OLDEST_POSTGRES} or newer.`);
  }
  const { sslmode } = settings.sessionDatabase;
  if (!encrypted && sslmode !== 'disable') {
    log('database_connection_security', { connection: 'session', sslmode, encrypted });
  }
  if (await keepsSession(settings.sessionDatabase, clock, applicationName('start', settings.replicaId)))
    return;
  throw new Error(KEEPS_NO_SESSION);
}

/** What is answered 202 is on disk (ingestion §3); behind a transaction pooler no session of ours can ask for it. */
async function requireDurableCommits(main: Sql): Promise<void> {
  const [row] = await main<{ mode: string }[]>`select current_setting('synchronous_commit') as mode`;
  if (row?.mode === 'on' || row?.mode === 'remote_apply') return;
  throw new Error(
    `Commits through the pooler may be lost with a server of the database: synchronous_commit is ${row?.mode} there. ` +
      'Set it to on for the database and the role, and make the pooler reconnect.',
  );
}

/**
 * Everything that exists from the first start on (operations §2.2). The keys come first and on their own: nothing is
 * written into a database of another installation.
 */
async function ensureFirstRows(
  options: OpenOptions,
  main: Sql,
): Promise<{ keyring: SwitchableKeyring; adminCreated: boolean }> {
  const { settings, clock, log } = options;
  const passwords = createPasswords(clock);
  const session = openSession(settings.sessionDatabase, {
    applicationName: applicationName('start', settings.replicaId),
  });
  try {
    return await withMigrationLock(session, async () => {
      const now = clock.now();
      const keyring = await main.begin((tx) => ensureKeyring(tx, settings.masterKeys));
      await ensurePartitions(main, now, PARTITIONED_TABLES);
      return main.begin(async (tx) => {
        const { adminCreated } = await ensureAccess(tx, {
          bootstrap: settings.bootstrap,
          hash: (password) => passwords.hash(password),
          appendAudit,
          now,
          log,
        });
        await ensureDefaults(tx, now);
        const token = settings.bootstrapIntegrationToken;
        if (token !== null) await ensureBootstrapIntegration(tx, { token, now, log });
        await options.alsoEnsure?.(tx, keyring);
        return { keyring, adminCreated };
      });
    });
  } finally {
    await session.end({ timeout: 5 });
  }
}

/** How the connections of a replica are called in `pg_stat_activity`, so that an operator sees who is who. */

export type ConnectionPurpose = 'main' | 'commits' | 'ingestion' | 'lock' | 'start';

/** PostgreSQL cuts what is longer, bytes. */
const LONGEST = 63;

/**
 * `tocsin <purpose> <replica id>`, at most 63 bytes. Of a long id the end is kept: replicas of one installation begin
 * alike.
 * @param replicaId ASCII (operations §1.1)
 */
export function applicationName(purpose: ConnectionPurpose, replicaId: string): string {
  const start = `tocsin ${purpose} `;
  return start + replicaId.slice(-(LONGEST - start.length));
}

/** By the purpose of the pool. */
type PoolLoads = Readonly<Record<string, PoolLoad>>;

export function createPoolMetrics(registry: Registry) {
  let pools: PoolLoads = {};
  const inUse = ({ begun, open }: PoolLoad) => Math.min(begun, open);
  new Gauge({
    name: 'svc_db_pool_connections',
    help: 'Open connections to the database: in_use run a statement or a transaction.',
    labelNames: ['pool', 'state'] as const,
    registers: [registry],
    collect() {
      for (const [pool, load] of Object.entries(pools)) {
        this.set({ pool, state: 'in_use' }, inUse(load));
        this.set({ pool, state: 'idle' }, load.open - inUse(load));
      }
    },
  });
  const show = (name: string, help: string, value: (load: PoolLoad) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['pool'] as const,
      registers: [registry],
      collect() {
        for (const [pool, load] of Object.entries(pools)) this.set({ pool }, value(load));
      },
    });
  show('svc_db_pool_max_connections', 'Connections that the pool opens at most.', ({ max }) => max);
  show(
    'svc_db_pool_waiting',
    'Statements and transactions that were begun beyond the connections of the pool.',
    ({ begun, max }) => Math.max(0, begun - max),
  );
  return {
    /** Makes the gauges show these pools; to be called once. */
    watch(loads: PoolLoads) {
      pools = loads;
    },
  };
}

/** What the service is started with, whoever worked it out: `serve` from the environment, `quickstart` from a folder. */
export interface ServiceSettings {
  readonly listen: Readonly<Record<Listener, ListenAddress>>;
  readonly ingestFraming: 'strict' | 'fast';
  readonly httpEngine: 'auto' | 'node';
  /** Address for people, without a trailing slash. */
  readonly publicUrl: string;
  /** Address for machines, without a trailing slash. */
  readonly ingestUrl: string;
  /** CIDR notation. */
  readonly trustedProxies: readonly string[];
  readonly database: DatabaseSettings;
  /** Where connections keep their session; the same as `database` unless a transaction pooler stands before it. */
  readonly sessionDatabase: DatabaseSettings;
  /** False behind a transaction pooler, which cannot keep prepared statements. */
  readonly prepareStatements: boolean;
  /** Connections of the main pool at most. */
  readonly poolMax: number;
  /** In the order of the list; the first becomes active on a new database. */
  readonly masterKeys: readonly MasterKey[];
  readonly bootstrap: BootstrapAdmin | null;
  readonly bootstrapIntegrationToken: string | null;
  /** Where several replicas meet; null for the only one. */
  readonly redis: { readonly url: string; readonly prefix: string } | null;
  readonly replicaId: string;
  /** Of the runbook links in Internal alerts; null for none, undefined for the pages that Tocsin serves itself. */
  readonly runbookBaseUrl: string | null | undefined;
  readonly logLevel: LogLevel;
  /** Whether accepted Snapshots are processed. Only the accept bench measures without. */
  readonly processing: 'on' | 'paused';
}
