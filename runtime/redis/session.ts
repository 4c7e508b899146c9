import type { SecureContext } from 'node:tls';
import { type Clock, SECOND, type Timer } from '../clock.ts';
import type { RedisAddress, RedisHost } from './address.ts';
import { type Client, failureOf, type Link, openLink, RedisFailure } from './link.ts';
import { inspectServer, locate, tryWriting } from './server.ts';

/** How often both connections are asked whether they still work, µs: a cut one is noticed within two of these. */
const ASK_EVERY = SECOND;

export interface SessionOptions {
  readonly address: RedisAddress;
  readonly prefix: string;
  /** Trusted roots of TLS connections. */
  readonly trust: () => SecureContext;
  readonly clock: Clock;
  /** Hears every message of a subscribed channel. */
  readonly onMessage: (channel: string, message: string) => void;
}

/**
 * Two connections to one server: one for commands, one that listens. They are given up together, so that there is one
 * answer to the question whether Redis can be used.
 */
export interface Session {
  /** Version of the server. */
  readonly version: string;
  /** As {@link Link.call}, on the connection for commands. */
  call<T>(work: (client: Client) => Promise<T>): Promise<T>;
  /** Resolves once messages of the channels arrive. @throws {RedisFailure} and the session is over */
  subscribe(channels: readonly string[]): Promise<void>;
  /** @throws {RedisFailure} and the session is over */
  unsubscribe(channels: readonly string[]): Promise<void>;
  /** Resolves when the session is over, with the reason. */
  readonly over: Promise<RedisFailure>;
  /** Ends it after the commands under way. */
  close(): Promise<void>;
}

/**
 * Connects to a server that takes writes.
 * @throws {RedisFailure} there is none now
 */
export async function openSession(options: SessionOptions): Promise<Session> {
  const { address, prefix, clock } = options;
  const trust = address.tls ? options.trust() : null;
  const at = await locate(address, trust, clock);
  const { commands, listener } = await openBoth(address, at, trust, clock);
  try {
    const server = await inspectServer(commands);
    const beside = await inspectServer(listener);
    if (server.run !== beside.run) throw new RedisFailure('two connections led to two servers');
    await tryWriting(commands, prefix);
    await listener.call(async (client) => {
      client.on('message', options.onMessage);
    });
    return new LinkedSession(commands, listener, server.version, clock);
  } catch (error) {
    commands.giveUp(failureOf(error));
    listener.giveUp(failureOf(error));
    throw error;
  }
}

async function openBoth(
  { credentials, database }: RedisAddress,
  at: RedisHost,
  trust: SecureContext | null,
  clock: Clock,
): Promise<{ commands: Link; listener: Link }> {
  const common = { at, credentials, database, trust, clock };
  const commands = await openLink({ ...common, name: 'tocsin-commands' });
  try {
    return { commands, listener: await openLink({ ...common, name: 'tocsin-listener' }) };
  } catch (error) {
    commands.giveUp(failureOf(error));
    throw error;
  }
}

class LinkedSession implements Session {
  readonly version: string;
  readonly over: Promise<RedisFailure>;
  readonly #commands: Link;
  readonly #listener: Link;
  readonly #clock: Clock;
  #timer: Timer;

  constructor(commands: Link, listener: Link, version: string, clock: Clock) {
    this.#commands = commands;
    this.#listener = listener;
    this.version = version;
    this.#clock = clock;
    this.over = Promise.race([commands.over, listener.over]).then((reason) => {
      this.#timer.cancel();
      commands.giveUp(reason);
      listener.giveUp(reason);
      return reason;
    });
    this.#timer = this.#askLater();
  }

  call<T>(work: (client: Client) => Promise<T>): Promise<T> {
    return this.#commands.call(work);
  }

  async subscribe(channels: readonly string[]): Promise<void> {
    if (channels.length === 0) return;
    await this.#listener.call((client) => client.subscribe(...channels));
  }

  async unsubscribe(channels: readonly string[]): Promise<void> {
    if (channels.length === 0) return;
    await this.#listener.call((client) => client.unsubscribe(...channels));
  }

  async close(): Promise<void> {
    this.#timer.cancel();
    await Promise.all([this.#commands.quit(), this.#listener.quit()]);
  }

  #askLater(): Timer {
    return this.#clock.after(ASK_EVERY, () => void this.#ask());
  }

  async #ask(): Promise<void> {
    try {
      await Promise.all([this.#commands, this.#listener].map((link) => link.call((client) => client.ping())));
      this.#timer = this.#askLater();
    } catch {
      // Whichever failed is over, and with it the session.
    }
  }
}
