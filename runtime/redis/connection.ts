import type { SecureContext } from 'node:tls';
import { atMost, type Clock, type Micros, SECOND } from '../clock.ts';
import type { Log } from '../log.ts';
import { CoordinationUnavailableError } from '../placement/coordination.ts';
import type { RedisAddress } from './address.ts';
import { type Client, failureOf, RedisFailure, type RedisMetrics } from './link.ts';
import { openSession, type Session } from './session.ts';
import { type ChannelListener, type PlacedListener, Subscriptions } from './subscriptions.ts';

/** Waits between tries to connect, µs: doubling from the first to the most, for ever. */
const RETRY_FIRST: Micros = SECOND / 20;
const RETRY_MOST: Micros = SECOND;
/** A session that lasted this long, µs, was a good one: the next try follows its end at once. */
const STEADY: Micros = 5 * SECOND;

export interface ConnectionDeps {
  readonly address: RedisAddress;
  readonly prefix: string;
  readonly trust: () => SecureContext;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: RedisMetrics;
  /** From 0 to 1; spreads the tries of many replicas. */
  readonly random: () => number;
}

/** The way to Redis across outages: one session after the other. */
export class Connection {
  readonly #deps: ConnectionDeps;
  readonly #subscriptions: Subscriptions;
  readonly #stateListeners = new Set<(isUp: boolean) => void>();
  readonly #sessionListeners = new Set<() => void>();
  #session: Session | null = null;
  #version = '';
  #wasUp = false;
  #isOut = false;
  #isClosed = false;
  #failures = 0;
  #endRest: () => void = () => undefined;
  #onTry: (failure: RedisFailure | null) => void = () => undefined;
  #life: Promise<void> = Promise.resolve();

  constructor(deps: ConnectionDeps) {
    this.#deps = deps;
    this.#subscriptions = new Subscriptions(() => this.#tellState());
    deps.metrics.up(false);
  }

  /** Whether commands can be sent and messages of every subscribed channel arrive. */
  get isUp(): boolean {
    return this.#session !== null && this.#subscriptions.isInPlace;
  }

  /**
   * Connects, and keeps connecting until {@link close}.
   * @returns the version of the server, once there is a session
   * @throws {RedisFailure} there was none for `patience` µs, or the failure is one that waiting cannot mend
   */
  async start(patience: Micros): Promise<string> {
    let last = new RedisFailure('no answer');
    const first = new Promise<void>((resolve, reject) => {
      const timer = this.#deps.clock.after(patience, () => reject(last));
      this.#onTry = (failure) => {
        last = failure ?? last;
        if (failure !== null && !failure.isFinal) return;
        timer.cancel();
        if (failure === null) resolve();
        else reject(failure);
      };
    });
    this.#life = this.#live();
    await first;
    this.#onTry = () => undefined;
    return this.#version;
  }

  /**
   * Runs commands.
   * @throws {CoordinationUnavailableError} there is no session, or they failed and the session is over
   */
  async call<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const session = this.#session;
    if (session === null) throw new CoordinationUnavailableError('There is no connection to Redis.');
    const { clock, metrics } = this.#deps;
    const from = clock.now();
    try {
      return await session.call(work);
    } catch (error) {
      throw new CoordinationUnavailableError(`Redis failed: ${failureOf(error).message}`);
    } finally {
      metrics.command(clock.now() - from);
    }
  }

  /** Survives sessions. Returns the way to stop. */
  subscribe(channel: string, listener: ChannelListener, onPlaced?: PlacedListener): () => void {
    return this.#subscriptions.add(channel, listener, onPlaced);
  }

  /** Calls back when {@link isUp} changed. Returns the way to stop. */
  onState(listener: (isUp: boolean) => void): () => void {
    this.#stateListeners.add(listener);
    return () => this.#stateListeners.delete(listener);
  }

  /** Calls back when there is a new session with every channel in place. Returns the way to stop. */
  onSession(listener: () => void): () => void {
    this.#sessionListeners.add(listener);
    return () => this.#sessionListeners.delete(listener);
  }

  /** Ends after the commands under way; nothing is logged of it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#endRest();
    // What was published in this turn goes first.
    await new Promise((resolve) => setImmediate(resolve));
    await this.#session?.close();
    // A try to connect may still be under way; it ends by itself.
    await atMost(this.#deps.clock, SECOND, this.#life);
  }

  /** One session after the other. What it throws is a defect and ends the process. */
  async #live(): Promise<void> {
    while (!this.#isClosed) {
      await this.#rest();
      const session = await this.#open();
      if (session !== null) await this.#use(session);
    }
  }

  /** Null when there is none now. */
  async #open(): Promise<Session | null> {
    try {
      const session = await openSession({
        ...this.#deps,
        onMessage: (channel, message) => this.#subscriptions.deliver(channel, message),
      });
      await this.#subscriptions.attach(session);
      return session;
    } catch (error) {
      if (!(error instanceof RedisFailure)) throw error;
      this.#subscriptions.detach();
      this.#failures++;
      this.#noteOutage(error);
      this.#onTry(error);
      return null;
    }
  }

  async #use(session: Session): Promise<void> {
    if (this.#isClosed) return session.close();
    const { clock, metrics } = this.#deps;
    const from = clock.now();
    this.#session = session;
    this.#version = session.version;
    metrics.up(true);
    this.#noteRestored();
    this.#onTry(null);
    this.#tellState();
    for (const listener of this.#sessionListeners) listener();
    const reason = await session.over;
    this.#failures = clock.now() - from < STEADY ? this.#failures + 1 : 0;
    this.#session = null;
    metrics.up(false);
    this.#subscriptions.detach();
    this.#noteOutage(reason);
  }

  #noteOutage({ message }: RedisFailure): void {
    if (this.#isOut || this.#isClosed) return;
    this.#isOut = true;
    this.#deps.log('redis_unavailable', { error: message });
  }

  #noteRestored(): void {
    if (this.#isOut) this.#deps.log('redis_restored');
    this.#isOut = false;
  }

  #tellState(): void {
    const isUp = this.isUp;
    if (isUp === this.#wasUp) return;
    this.#wasUp = isUp;
    for (const listener of this.#stateListeners) listener(isUp);
  }

  /** No wait when nothing failed lately. */
  #rest(): Promise<void> {
    if (this.#failures === 0 || this.#isClosed) return Promise.resolve();
    const longest = Math.min(RETRY_FIRST * 2 ** Math.min(this.#failures - 1, 10), RETRY_MOST);
    return new Promise((resolve) => {
      const timer = this.#deps.clock.after(longest * (0.5 + this.#deps.random() / 2), resolve);
      this.#endRest = () => {
        timer.cancel();
        resolve();
      };
    });
  }
}
