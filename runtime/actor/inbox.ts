import type { Clock, Timer } from '../clock.ts';
import type { Log } from '../log.ts';
import { addressText } from './address.ts';
import { Backoff, type EngineLimits } from './limits.ts';
import type { Resident } from './resident.ts';
import type { ActorStore, InboxMessage } from './store.ts';

/** Addresses as text; the sender is null when no actor sent it. */
interface HeldRow {
  readonly sender: string | null;
  readonly receiver: string;
}

export interface InboxDeps {
  readonly store: ActorStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: EngineLimits;
  owned(): readonly number[];
  /** Id of the newest batch that is known to be stored. */
  committed(): number;
  /** Hands a row to its actor. False when the actor lives elsewhere by now. */
  dispatch(row: InboxMessage): boolean;
}

/**
 * Reads inbox rows in passes. Every page of a pass begins at the oldest row that is not in memory, because a row with a
 * lower number may appear after one with a higher, between two pages as well: its sender's next row must not overtake it.
 * Of a sender to very many some rows are in memory at a time. Those behind them are passed over until these are used up:
 * as a whole, so that the sender's order stays, and rows of others that were stored later come first.
 *
 * It also knows when a message between two actors of this process may skip the inbox: only when no earlier one can
 * still be waiting there, which would be overtaken.
 */
export class InboxReader {
  readonly #deps: InboxDeps;
  readonly #backoff: Backoff;
  /** The rows in memory, by their numbers. */
  readonly #held = new Map<number, HeldRow>();
  /** By sender and receiver: how many of them are not used up. */
  readonly #bySender = new Map<string, Map<string, number>>();
  /** Senders that may have rows which were not read because of those in memory. */
  readonly #passedOver = new Set<string>();
  /** The pass under way left rows out for that. */
  #isPartial = false;
  /** By receiver: the latest batch that put a message to it into the inbox. */
  readonly #fences = new Map<string, number>();
  /** Rows of before this process owned its shards may be unread. */
  #isBehind = true;
  #isReading = false;
  #isPoked = false;
  #isStopped = false;
  #generation = 0;
  #timer: Timer | null = null;
  #onRoom: (() => void) | null = null;

  constructor(deps: InboxDeps) {
    this.#deps = deps;
    this.#backoff = new Backoff(deps.limits);
  }

  maySkip(receiver: Resident): boolean {
    if (this.#isBehind) return false;
    return this.#fences.size === 0 || !this.#fences.has(receiver.text);
  }

  /** A message to the receiver goes through the inbox with this batch; later ones must not overtake it. */
  fence(receiver: Resident, batch: number): void {
    this.#fences.set(receiver.text, batch);
  }

  /** Shards were won: their rows have to be read before anything may skip the inbox. */
  restart(): void {
    this.#generation++;
    this.#isBehind = true;
    this.poke();
  }

  /** Reads what is new. */
  poke(): void {
    if (this.#isStopped) return;
    this.#isPoked = true;
    if (this.#isReading) return;
    this.#timer?.cancel();
    this.#isReading = true;
    void this.#passes();
  }

  /**
   * A row leaves memory: used up, or left as it is stored for whoever owns its actor next. A page that is being read
   * does not bring back one that was used up: every page leaves out the rows that were in memory when it was asked for.
   */
  released(seq: number): void {
    this.#discount(seq);
    this.#held.delete(seq);
    this.#checkRoom();
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#onRoom?.();
  }

  async #passes(): Promise<void> {
    try {
      while (this.#isPoked && !this.#isStopped) {
        this.#isPoked = false;
        await this.#pass();
      }
      this.#backoff.succeeded();
      this.#isReading = false;
    } catch (error) {
      this.#deps.log('store_read_failed', { what: 'inbox', error: String(error) });
      this.#isReading = false;
      this.#timer = this.#deps.clock.after(this.#backoff.failed(), () => this.poke());
    }
  }

  async #pass(): Promise<void> {
    const { store, limits } = this.#deps;
    const generation = this.#generation;
    const committed = this.#deps.committed();
    const shards = this.#deps.owned();
    if (shards.length === 0) return;
    const left = new Set<number>();
    this.#isPartial = false;
    for (;;) {
      await this.#room();
      if (this.#isStopped) return;
      const known = [...this.#held.keys(), ...left];
      const page = await store.inbox(shards, known, limits.inboxPage, this.#passOverFull());
      // Shards changed: rows that this pass left out before may be ours now, and come first.
      if (generation === this.#generation) for (const row of page) if (!this.#take(row)) left.add(row.seq);
      if (generation !== this.#generation) return;
      if (page.length < limits.inboxPage) break;
    }
    if (this.#isPartial) return;
    this.#isBehind = false;
    for (const [receiver, batch] of this.#fences) {
      if (batch <= committed) this.#fences.delete(receiver);
    }
  }

  /** False when the row is not for this process. */
  #take(row: InboxMessage): boolean {
    if (this.#held.has(row.seq) || this.#isStopped) return true;
    const held: HeldRow = { sender: row.from && addressText(row.from), receiver: addressText(row.to) };
    if (held.sender !== null && this.#isFull(held.sender)) {
      this.#passOver(held.sender);
      return true;
    }
    if (!this.#deps.dispatch(row)) return false;
    this.#held.set(row.seq, held);
    this.#count(held, 1);
    return true;
  }

  /** Told by receivers, not by rows: one that takes none for long does not keep those to others waiting. */
  #isFull(sender: string): boolean {
    return (this.#bySender.get(sender)?.size ?? 0) >= this.#deps.limits.inboxReceivers;
  }

  /** @returns to how many receivers the sender has rows in memory now */
  #count({ sender, receiver }: HeldRow, change: 1 | -1): number {
    if (sender === null) return 0;
    const counts = this.#bySender.get(sender) ?? new Map<string, number>();
    const count = (counts.get(receiver) ?? 0) + change;
    if (count > 0) counts.set(receiver, count);
    else counts.delete(receiver);
    if (counts.size > 0) this.#bySender.set(sender, counts);
    else this.#bySender.delete(sender);
    return counts.size;
  }

  #passOver(sender: string): void {
    this.#passedOver.add(sender);
    this.#isPartial = true;
  }

  /** @returns the senders of which enough is in memory */
  #passOverFull(): readonly string[] {
    const full = [...this.#bySender.keys()].filter((sender) => this.#isFull(sender));
    for (const sender of full) this.#passOver(sender);
    return full;
  }

  /** A row of memory is done with. When half of its sender's are, its next ones are read. */
  #discount(seq: number): void {
    const held = this.#held.get(seq);
    if (held === undefined) return;
    const left = this.#count(held, -1);
    if (held.sender === null || left > this.#deps.limits.inboxReceivers / 2) return;
    if (this.#passedOver.delete(held.sender)) this.poke();
  }

  /** Waits while too many rows are in memory. */
  async #room(): Promise<void> {
    while (this.#held.size >= this.#deps.limits.inboxHeld && !this.#isStopped) {
      await new Promise<void>((resolve) => {
        this.#onRoom = resolve;
      });
      this.#onRoom = null;
    }
  }

  #checkRoom(): void {
    if (this.#held.size <= this.#deps.limits.inboxHeld / 2) this.#onRoom?.();
  }
}
