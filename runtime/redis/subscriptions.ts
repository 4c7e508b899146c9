import { RedisFailure } from './link.ts';
import type { Session } from './session.ts';

export type ChannelListener = (message: string) => void;
export type PlacedListener = (isPlaced: boolean) => void;

interface Listening {
  readonly heard: ChannelListener;
  readonly placed: PlacedListener;
}

/** Who listens to which channel, across sessions. */
export class Subscriptions {
  readonly #listeners = new Map<string, Set<Listening>>();
  readonly #onChange: () => void;
  #session: Session | null = null;
  /** What the session subscribes to by its own word. */
  readonly #placed = new Set<string>();
  #isSettling = false;

  /** @param onChange called whenever {@link isInPlace} may have changed */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Whether messages of every channel that somebody listens to arrive. */
  get isInPlace(): boolean {
    return this.#session !== null && this.#missing().length === 0;
  }

  /**
   * Returns the way to stop. A listener given twice is called twice.
   * @param placed hears true when messages of the channel begin to arrive, and false when they do no longer
   */
  add(channel: string, heard: ChannelListener, placed: PlacedListener = () => undefined): () => void {
    const own: Listening = { heard, placed };
    const listeners = this.#listeners.get(channel);
    if (listeners) listeners.add(own);
    else {
      this.#listeners.set(channel, new Set([own]));
      this.#settleSoon();
    }
    if (this.#placed.has(channel)) placed(true);
    return () => this.#remove(channel, own);
  }

  deliver(channel: string, message: string): void {
    for (const { heard } of this.#listeners.get(channel) ?? []) heard(message);
  }

  /** Puts every channel in place in a new session, and keeps to it. @throws {RedisFailure} the session is over */
  async attach(session: Session): Promise<void> {
    this.#session = session;
    this.#isSettling = true;
    await this.#settle(session);
  }

  detach(): void {
    this.#session = null;
    const gone = [...this.#placed];
    this.#placed.clear();
    this.#tell(gone, false);
    this.#onChange();
  }

  #tell(channels: readonly string[], isPlaced: boolean): void {
    for (const channel of channels) {
      for (const { placed } of this.#listeners.get(channel) ?? []) placed(isPlaced);
    }
  }

  #remove(channel: string, own: Listening): void {
    const listeners = this.#listeners.get(channel);
    if (!listeners?.delete(own) || listeners.size > 0) return;
    this.#listeners.delete(channel);
    this.#settleSoon();
  }

  /** Channels that come and go in one turn are asked for together. */
  #settleSoon(): void {
    this.#onChange();
    const session = this.#session;
    if (session === null || this.#isSettling) return;
    this.#isSettling = true;
    queueMicrotask(() => {
      this.#settle(session).catch((error: unknown) => {
        // A session that is over is no loss, the next one is given every channel. Anything else is a listener's defect.
        if (!(error instanceof RedisFailure)) throw error;
      });
    });
  }

  /** Until the session subscribes to what is listened to, and to nothing else. */
  async #settle(session: Session): Promise<void> {
    while (this.#session === session) {
      const missing = this.#missing();
      const spare = [...this.#placed].filter((channel) => !this.#listeners.has(channel));
      if (missing.length === 0 && spare.length === 0) break;
      for (const channel of spare) this.#placed.delete(channel);
      await Promise.all([session.unsubscribe(spare), session.subscribe(missing)]);
      if (this.#session !== session) return;
      for (const channel of missing) this.#placed.add(channel);
      this.#tell(missing, true);
      this.#onChange();
    }
    if (this.#session === session) this.#isSettling = false;
  }

  #missing(): string[] {
    return [...this.#listeners.keys()].filter((channel) => !this.#placed.has(channel));
  }
}
