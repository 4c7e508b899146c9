import { isIP } from 'node:net';
import type { ConnectionOptions, SecureContext } from 'node:tls';
import { Redis as Client } from 'ioredis';
import { type Clock, type Micros, SECOND, type Timer } from '../clock.ts';
import type { RedisCredentials, RedisHost } from './address.ts';
import { failureOf, type RedisFailure } from './failure.ts';

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
