/** Opens PostgreSQL clients, always with the same conventions, and says what their errors mean. */
import postgres from 'postgres';
import type { AuditLogEntry } from '../../actors/audit.ts';
import { ConflictError, StoreUnavailableError } from '../../runtime/actor/index.ts';
import type { DatabaseSettings } from '../../runtime/config.ts';
import { tellingCommitted } from '../access/audit.ts';
import { openSocket } from './driver-socket.ts';
import type { Sql } from './records.ts';

/** How long a new connection may take, s (operations §5.6). */
const CONNECT_TIMEOUT_S = 5;
/** Pause of a connection that was lost before it is opened again, s. */
const RECONNECT_AFTER_S = 0.2;

export interface ConnectOptions {
  /** Connections at most. */
  readonly max: number;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  /** Prepared statements; false behind a transaction pooler that cannot keep them. Default true. */
  readonly prepare?: boolean;
  /**
   * Whether a standby will do when it is the only server named: for what reads alone. Otherwise it is refused, so that
   * no connection stays at a primary of yesterday.
   */
  readonly onStandby?: true;
  /** Called when a connection of this client is gone. */
  readonly onClose?: () => void;
  /**
   * How long the server may be silent while it owes an answer before the connection counts as lost, ms. Without it a
   * statement may take any time, and a connection that was dropped silently is noticed only by TCP.
   */
  readonly answerWithin?: number;
  /** Server settings of every session, such as `{ lock_timeout: '5s' }`. */
  readonly session?: Readonly<Record<string, string>>;
  /** Told each socket that is opened. */
  readonly onSocket?: (socket: { resume(): unknown; destroy(): unknown }) => void;
  /** Counts what the pool has open and what waits for it. */
  readonly load?: CountedLoad;
  /** Told every Audit entry that a transaction of this client has committed. */
  readonly onAudited?: (entry: AuditLogEntry) => void;
}

/**
 * What the service relies on, whatever the database's own defaults are: an answer means that it is on disk, a
 * statement sees what was committed before it began (fencing), and the server warns of a commit that is on it alone.
 * A transaction pooler takes no such settings.
 */
const DIRECT_SESSION = {
  synchronous_commit: 'on',
  default_transaction_isolation: 'read committed',
  client_min_messages: 'warning',
} as const;

/**
 * A client of a database: a pool of up to `max` connections, opened when first needed.
 *
 * `bigint` columns come back as numbers (all of ours are below 2^53), `jsonb` as parsed values, times in UTC. A text
 * that already is JSON is written as `${text}::text::jsonb`: as `::jsonb` the driver would encode it once more.
 */
export function connect(settings: DatabaseSettings, options: ConnectOptions): Sql {
  const opened = open(settings, options);
  const sql = options.load ? options.load.counting(opened) : opened;
  return options.onAudited ? tellingCommitted(sql, options.onAudited) : sql;
}

function open(settings: DatabaseSettings, options: ConnectOptions): Sql {
  const { prepare = true } = options;
  // Known to the driver, absent from its types. It opens every connection, TLS included.
  const sockets = {
    socket: async () => {
      const socket = await openSocket(settings, {
        patience: CONNECT_TIMEOUT_S * 1000,
        answerWithin: options.answerWithin ?? null,
        // What a pooler says of the server behind it may be old; one alone is its own matter.
        refusesStandby: settings.others !== undefined || (prepare && !options.onStandby),
      });
      options.load?.opened(socket);
      options.onSocket?.(socket);
      return socket;
    },
  };
  return withoutPostgresEnvironment(() =>
    postgres({
      ...sockets,
      host: settings.host,
      port: settings.port,
      database: settings.database,
      user: settings.user,
      // A function, because an empty password would make the driver look into the environment.
      pass: () => settings.password ?? '',
      ssl: false,
      max: options.max,
      prepare,
      connect_timeout: CONNECT_TIMEOUT_S,
      idle_timeout: 0,
      max_lifetime: null,
      backoff: () => RECONNECT_AFTER_S,
      connection: {
        application_name: options.applicationName,
        TimeZone: 'UTC',
        ...(prepare ? DIRECT_SESSION : {}),
        ...options.session,
      },
      types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
      onnotice: () => undefined,
      ...(options.onClose ? { onclose: options.onClose } : {}),
    }),
  );
}

/**
 * The session connection: one connection that keeps its session (operations §1.1), for what lives as long as a
 * session does: advisory locks. It must not go through a transaction pooler.
 */
export function openSession(
  settings: DatabaseSettings,
  options: Pick<ConnectOptions, 'applicationName' | 'onClose'>,
): Sql {
  return connect(settings, { ...options, max: 1 });
}

/** SQLSTATE classes and codes that mean "the server cannot serve now": connection, resources, shutdown, start-up. */
const UNAVAILABLE_STATES = /^(08|53|57P|57014|58|25P03)/;
const UNAVAILABLE_CODES = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  'TLS_REFUSED',
  'UNREPLICATED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
  // A standby: the primary moved and this connection has not noticed.
  '25006',
]);

/** Whether an error means that the database cannot be reached or cannot serve now; what was asked may have happened. */
export function isUnavailable(error: unknown): boolean {
  const code = codeOf(error);
  return code !== null && (UNAVAILABLE_STATES.test(code) || UNAVAILABLE_CODES.has(code));
}

/** Whether an error means that the disk of the database has no room; that counts as unavailable, too. */
export function isDiskFull(error: unknown): boolean {
  return codeOf(error) === '53100';
}

/**
 * Runs something on the database.
 * @throws {StoreUnavailableError} instead of whatever says that the database cannot serve
 */
export async function unlessUnavailable<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (isUnavailable(error)) throw new StoreUnavailableError((error as Error).message, { cause: error });
    throw error;
  }
}

/**
 * SQLSTATE classes and codes that an administrator mends: rights, a schema or a table that is missing, another state of the
 * server than is needed. None of them says anything about what was to be written.
 */
const MISCONFIGURED_STATES = /^(25|28|3D|3F|42501|42P01|42703|55(?!P03))/;

/** A row whose partition is missing violates a check that has no name. */
const CHECK_VIOLATION = '23514';

/**
 * Whether a refused commit says something about the server and nothing about what was to be written: as it is, the commit
 * may succeed later, and nothing in it may be set aside.
 */
export function isServersFault(error: unknown): boolean {
  const code = codeOf(error);
  if (code === null) return false;
  const isUnnamed = !(error as { constraint_name?: unknown }).constraint_name;
  return isUnavailable(error) || MISCONFIGURED_STATES.test(code) || (code === CHECK_VIOLATION && isUnnamed);
}

/**
 * For look-ups before a turn, judged as its commit is.
 * @throws {ConflictError} another transaction was first
 * @throws {StoreUnavailableError} the server cannot serve, or refuses for a reason of its own
 */
export async function unlessServersFault<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await unlessConflict(run);
  } catch (error) {
    if (isServersFault(error)) throw new StoreUnavailableError((error as Error).message, { cause: error });
    throw error;
  }
}

/** Serialisation failure, deadlock, uniqueness, lock timeout: another transaction was first; trying again may succeed. */
const CONFLICT_STATES = new Set(['40001', '40P01', '23505', '55P03']);

/** Whether an error means that another transaction was first. */
export function isConflict(error: unknown): boolean {
  const code = codeOf(error);
  return code !== null && CONFLICT_STATES.has(code);
}

/** @throws {ConflictError} instead of whatever says that another transaction was first */
export async function unlessConflict<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (isConflict(error)) throw new ConflictError((error as Error).message, { cause: error });
    throw error;
  }
}

function codeOf(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}

/** The driver reads PG* variables while it is being set up; they must change nothing (operations §1.2 rule 4). */
function withoutPostgresEnvironment<T>(run: () => T): T {
  const hidden = Object.entries(process.env).filter(([name]) => name.startsWith('PG'));
  for (const [name] of hidden) delete process.env[name];
  try {
    return run();
  } finally {
    for (const [name, value] of hidden) process.env[name] = value;
  }
}

/** How much of a connection pool is in use: the driver does not tell, so statements and transactions are counted. */
export interface PoolLoad {
  /** Connections at most. */
  readonly max: number;
  /** Connections that are open. */
  readonly open: number;
  /** Statements outside of a transaction, and transactions, that were begun and are not over. */
  readonly begun: number;
}

interface CountedLoad extends PoolLoad {
  opened(socket: { once(event: 'close', listener: () => void): unknown }): void;
  /** The same client, counted. */
  counting(sql: Sql): Sql;
}

/** A statement as the driver keeps it: `handler` is called once, when the statement is sent or queued. */
interface DriverQuery extends Promise<unknown> {
  handler(query: DriverQuery): unknown;
}

export function createPoolLoad(max: number): CountedLoad {
  let open = 0;
  let begun = 0;
  const until = (end: Promise<unknown>) => {
    begun += 1;
    const over = () => {
      begun -= 1;
    };
    Promise.prototype.then.call(end, over, over);
  };
  const counted = (query: unknown): unknown => {
    if (!isQuery(query)) return query;
    const send = query.handler;
    query.handler = (sent) => {
      until(sent);
      return send(sent);
    };
    return query;
  };
  return {
    max,
    get open() {
      return open;
    },
    get begun() {
      return begun;
    },
    opened(socket) {
      open += 1;
      socket.once('close', () => {
        open -= 1;
      });
    },
    counting(sql) {
      const plain = { begin: sql.begin.bind(sql), unsafe: sql.unsafe.bind(sql) };
      Object.assign(sql, {
        begin: (...asked: Parameters<typeof plain.begin>) => {
          const transaction = plain.begin(...asked);
          until(transaction);
          return transaction;
        },
        unsafe: (...asked: Parameters<typeof plain.unsafe>) => counted(plain.unsafe(...asked)),
      });
      return new Proxy(sql, { apply: (target, self, asked) => counted(Reflect.apply(target, self, asked)) });
    },
  };
}

function isQuery(value: unknown): value is DriverQuery {
  return value instanceof Promise && 'handler' in value && typeof value.handler === 'function';
}
