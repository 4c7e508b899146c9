import { isIP } from 'node:net';
import type { ConnectionOptions, SecureContext } from 'node:tls';
import { Redis as Client } from 'ioredis';
import { Gauge, Histogram, type Registry } from 'prom-client';
import { type Clock, type Micros, SECOND, type Timer } from '../clock.ts';
import type { RedisCredentials, RedisHost } from './address.ts';

export type { Redis as Client } from 'ioredis';

/** A server that takes longer to connect or to answer a command counts as gone. */
export const ANSWER_WITHIN: Micros = SECOND;
/** Name, connection, TLS and login together. */
const OPEN_WITHIN: Micros = 2 * SECOND;

export interface LinkOptions {
  readonly at: RedisHost;
  readonly credentials: RedisCredentials;
  readonly database: number;
  /** Trusted roots; null for a connection without TLS. */
  readonly trust: SecureContext | null;
  /** As `CLIENT LIST` shows it. */
  readonly name: string;
  readonly clock: Clock;
}

/**
 * One connection to one server, used until the first doubt: an error, a closed socket, no answer in time. Then it is
 * over for good, and whoever needs one opens another; so no command waits in a queue, none is sent twice, and an
 * answer that comes late reaches nobody.
 */
export interface Link {
  /**
   * Runs commands.
   * @throws {RedisFailure} whatever they failed with; the link is over then
   */
  call<T>(work: (client: Client) => Promise<T>): Promise<T>;
  /** Resolves when the link is over, with the reason. */
  readonly over: Promise<RedisFailure>;
  /** Ends it at once. Commands under way fail. */
  giveUp(reason: RedisFailure): void;
  /** Ends it after the commands under way. */
  quit(): Promise<void>;
}

/**
 * Connects and logs in.
 * @throws {RedisFailure} when that was refused or took too long
 */
export async function openLink(options: LinkOptions): Promise<Link> {
  const link = new ClientLink(newClient(options), options.clock);
  await link.connect();
  return link;
}

function newClient({ at, credentials, database, trust, name }: LinkOptions): Client {
  return new Client({
    host: at.host,
    port: at.port,
    ...(trust === null ? {} : { tls: tlsOptions(at.host, trust) }),
    ...(credentials.username === null ? {} : { username: credentials.username }),
    ...loginPassword(credentials),
    db: database,
    connectionName: name,
    disableClientInfo: true,
    connectTimeout: ANSWER_WITHIN / 1000,
    disconnectTimeout: 1,
    lazyConnect: true,
    retryStrategy: null,
    enableOfflineQueue: false,
    // Session asks itself whether the server is ready for what is needed.
    enableReadyCheck: false,
  });
}

/** NODE_TLS_REJECT_UNAUTHORIZED changes nothing (operations §1.2); an address is not sent as the name of the server. */
function tlsOptions(host: string, trust: SecureContext): ConnectionOptions {
  const name = isIP(host) === 0 ? { servername: host } : {};
  return { ...name, secureContext: trust, rejectUnauthorized: true };
}

/** A user without a password still has to log in. */
function loginPassword({ username, password }: RedisCredentials): { password?: string } {
  if (password !== null) return { password };
  return username === null ? {} : { password: '' };
}

class ClientLink implements Link {
  readonly over: Promise<RedisFailure>;
  readonly #client: Client;
  readonly #clock: Clock;
  #end: (reason: RedisFailure) => void = () => undefined;
  #reason: RedisFailure | null = null;
  /** What the socket said; the commands that it takes with it only know that it closed. */
  #cause: Error | null = null;
  #isOpen = false;

  constructor(client: Client, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
    this.over = new Promise((resolve) => {
      this.#end = resolve;
    });
    client.on('error', (error) => {
      this.#cause ??= error;
      // Answers that belong to no command come this way; whose the next one is, nobody knows.
      if (this.#isOpen) this.#lose(error);
    });
    client.on('end', () => this.giveUp(this.#failure(new Error('the connection was closed'))));
  }

  async connect(): Promise<void> {
    try {
      await this.#within(OPEN_WITHIN, this.#client.connect());
    } catch (error) {
      throw this.#lose(error);
    }
    // A refused SELECT is no reason for the library not to be ready, on a database that is not the one asked for.
    if (this.#cause !== null) throw this.#lose(this.#cause);
    this.#isOpen = true;
  }

  async call<T>(work: (client: Client) => Promise<T>): Promise<T> {
    if (this.#reason !== null) throw this.#reason;
    try {
      return await this.#within(ANSWER_WITHIN, work(this.#client));
    } catch (error) {
      throw this.#lose(error);
    }
  }

  giveUp(reason: RedisFailure): void {
    if (this.#reason !== null) return;
    this.#reason = reason;
    this.#client.disconnect();
    this.#end(reason);
  }

  async quit(): Promise<void> {
    try {
      await this.call((client) => client.quit());
    } catch {
      // It ends either way.
    }
    this.giveUp(failureOf(new Error('closed')));
  }

  /**
   * The answer, or an error when it takes longer. After a pause of this process both may be there at once; the answer
   * counts then, because the loop reads what arrived before it comes to `setImmediate`.
   */
  async #within<T>(longest: Micros, answer: Promise<T>): Promise<T> {
    let timer: Timer = { cancel: () => undefined };
    const late = new Promise<never>((_, reject) => {
      const refuse = () => reject(new Error(`no answer within ${longest / SECOND} s`));
      timer = this.#clock.after(longest, () => setImmediate(refuse));
    });
    try {
      return await Promise.race([answer, late]);
    } finally {
      timer.cancel();
    }
  }

  #lose(error: unknown): RedisFailure {
    const reason = this.#failure(error);
    this.giveUp(reason);
    return reason;
  }

  #failure(error: unknown): RedisFailure {
    return failureOf(this.#cause ?? error);
  }
}

/** Metrics of Redis (operations §8). */
export interface RedisMetrics {
  up(isUp: boolean): void;
  /** One round trip, answered or not. */
  command(took: Micros): void;
}

export function createRedisMetrics(registry: Registry): RedisMetrics {
  const up = new Gauge({
    name: 'svc_redis_up',
    help: '1 while this replica can use Redis, 0 otherwise.',
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'svc_redis_command_duration_seconds',
    help: 'Round trips to Redis, those without an answer included.',
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    registers: [registry],
  });
  return {
    up: (isUp) => up.set(isUp ? 1 : 0),
    command: (took) => durations.observe(took / SECOND),
  };
}

/**
 * Why Redis could not be used: a server that does not answer, or answers with a refusal. Holds words only; what the
 * client library attaches to its errors includes the arguments of the command, passwords among them.
 */
export class RedisFailure extends Error {
  override readonly name = 'RedisFailure';
  /** Whether waiting cannot mend it: somebody has to change the settings or the server. */
  readonly isFinal: boolean;

  constructor(message: string, isFinal = false) {
    super(message);
    this.isFinal = isFinal;
  }
}

/** Refusals of the login or of what the user may do. */
const REFUSALS = /^(WRONGPASS|NOAUTH|NOPERM)\b/;
/** Codes of a certificate whose issuer is none of the trusted roots. */
const UNTRUSTED = /^(UNABLE_TO_(GET_ISSUER_CERT|VERIFY_LEAF_SIGNATURE)|\w*SELF_SIGNED_CERT)/;

/** The failure behind whatever was thrown. */
export function failureOf(error: unknown): RedisFailure {
  if (error instanceof RedisFailure) return error;
  if (!(error instanceof Error)) return new RedisFailure(String(error));
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  // A refused connection to a name with several addresses has a code and no message.
  const words = error.message || code;
  if (!UNTRUSTED.test(code)) return new RedisFailure(words, REFUSALS.test(words));
  const remedy = 'name a PEM file with the certificate of its issuer in NODE_EXTRA_CA_CERTS';
  return new RedisFailure(`its certificate is not trusted (${words}): ${remedy}`, true);
}
