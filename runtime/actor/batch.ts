import type { Timer } from '../clock.ts';
import type { Address } from './address.ts';
import type { PerformedEffect, RecordedEffect, Turn } from './definition.ts';
import { type Envelope, PendingWrite, type Resident } from './resident.ts';
import type {
  Asker,
  CommitBatch,
  OutgoingMessage,
  Receipt,
  ReplyOutcome,
  ShardEpoch,
  StoredReply,
} from './store.ts';

/** Turns that will be committed together. */
export class Batch {
  readonly id: number;
  /** Committed beside the others (`large-turns.ts`). */
  readonly isLarge: boolean;
  turns = 0;
  /** Messages from outside, applied here, in order. */
  readonly externals: Envelope[] = [];
  /** Actors with a turn here. */
  readonly touched: Resident[] = [];
  /** Actors that were sent messages in memory; those not yet applied are counted by `waiting`. */
  readonly receivers: Resident[] = [];
  waiting = 0;
  readonly performs: PerformedEffect[] = [];
  readonly performers: Address[] = [];
  /** Whether messages to actors of this process were handed to the inbox. */
  spilled = false;
  /** Shards of other processes that were sent messages. */
  readonly called = new Set<number>();
  /** Holds messages of this retry group, and takes no others; null for messages that never failed. */
  retryGroup: number | null = null;
  /** Takes no more messages from outside: it waits for receivers that are being loaded. */
  closing = false;
  /** It waited long enough for them. */
  overdue = false;
  timer: Timer | null = null;
  /** When its commit was last begun, in monotonic time, µs. */
  begunAt = 0;
  /** Numbers were drawn a second time, with another result: what was built upon the first is wrong. */
  renumbered = false;
  /** Version of what turns are decided with, as it was when the first one ran here. */
  decidedWith: number | null = null;
  readonly #writes: PendingWrite[] = [];
  readonly #claims: PendingWrite[] = [];
  readonly #consumed: Receipt[] = [];
  readonly #sends: OutgoingMessage[] = [];
  readonly #records: RecordedEffect[] = [];
  readonly #epochs = new Map<number, number>();
  #numbers: readonly number[] | null = null;
  /** The first actor that had a turn here; null while messages are only used up. */
  #marker: Resident | null = null;

  constructor(id: number, isLarge = false) {
    this.id = id;
    this.isLarge = isLarge;
  }

  /** Whether there is anything to make durable. */
  get hasEffects(): boolean {
    return (
      this.#writes.length > 0 ||
      this.#consumed.length > 0 ||
      this.#sends.length > 0 ||
      this.#records.length > 0
    );
  }

  get writes(): readonly PendingWrite[] {
    return this.#writes;
  }

  get shards(): readonly number[] {
    return [...this.#epochs.keys()];
  }

  get epochs(): Iterable<readonly [shard: number, epoch: number]> {
    return this.#epochs;
  }

  epochOf(shard: number): number | undefined {
    return this.#epochs.get(shard);
  }

  get isOpen(): boolean {
    return !this.closing && this.retryGroup === null;
  }

  /** Notes that the actor takes part; before its first turn here. */
  touch(resident: Resident): void {
    if (resident.touchedBy === this.id) return;
    resident.touchedBy = this.id;
    resident.pins++;
    resident.write = null;
    this.touched.push(resident);
    this.#epochs.set(resident.shard, resident.epoch);
  }

  /** Takes over what a turn led to, except its sends. */
  record(resident: Resident, turn: Turn<unknown>): void {
    this.#marker ??= resident;
    const isChanged = turn.state !== resident.state || turn.wakeAt !== resident.wakeAt;
    const before = resident.state;
    resident.state = turn.state;
    resident.wakeAt = turn.wakeAt;
    if (isChanged || turn.claim) {
      const write = this.#writeOf(resident, before);
      write.state = turn.state;
      write.wakeAt = turn.wakeAt;
      if (turn.claim) this.#claims.push(write);
    }
    for (const record of turn.records) this.#records.push(record);
    for (const effect of turn.performs) {
      this.performs.push(effect);
      this.performers.push(resident.self);
    }
  }

  send(outgoing: OutgoingMessage): void {
    this.#sends.push(outgoing);
  }

  /** To an actor of another process. */
  sendAway(outgoing: OutgoingMessage): void {
    this.#sends.push(outgoing);
    this.called.add(outgoing.shard);
  }

  consume(receipt: Receipt): void {
    this.#consumed.push(receipt);
  }

  /** Uses up a message that no actor will ever apply. */
  setAside(envelope: Envelope, records: readonly RecordedEffect[]): void {
    this.retryGroup = envelope.retryGroup;
    this.turns++;
    this.touch(envelope.resident);
    this.externals.push(envelope);
    if (envelope.receipt === null) return;
    this.consume(envelope.receipt);
    for (const record of records) this.#records.push(record);
  }

  /**
   * What is handed to the store. A batch of turns with effects always writes some actor, even one that did not change:
   * by that row's version one can tell later whether a commit without an answer was stored. Where no actor had a turn,
   * because a message was set aside or answered by the engine, the message that is used up tells it.
   * @param drawnBefore the numbers of the batch that was committed before
   */
  close(drawnBefore: ReadonlyMap<string, number>): CommitBatch {
    if (this.#writes.length === 0 && this.#marker !== null && this.hasEffects)
      this.#writeOf(this.#marker, this.#marker.state);
    const epochs: ShardEpoch[] = [];
    for (const [shard, epoch] of this.#epochs) epochs.push({ shard, epoch });
    return {
      epochs,
      claims: this.#claims.map((claim) => claim.address),
      drawnBefore,
      decidedWith: this.decidedWith,
      writes: this.#writes,
      consumed: this.#consumed,
      sends: this.#sends,
      records: this.#records,
      replies: this.externals.flatMap(replyOf),
      isLarge: this.isLarge,
    };
  }

  /** Members that wait for answers from here. */
  askers(): Set<string> {
    return new Set(this.externals.flatMap(({ asker }) => (asker === null ? [] : [asker.askedBy])));
  }

  /** Hands the drawn numbers to the states that asked, and to what later turns made of those states. */
  bind(numbers: readonly number[]): void {
    const earlier = this.#numbers;
    if (earlier !== null && numbers.some((number, index) => number !== earlier[index]))
      this.renumbered = true;
    this.#numbers = numbers;
    this.#claims.forEach((write, index) => {
      bindNumber(write, numbers[index]!);
    });
  }

  /** By key of the actor: the numbers that its commit drew. */
  drawn(): ReadonlyMap<string, number> {
    const numbers = this.#numbers ?? [];
    return new Map(this.#claims.map(({ address }, index) => [address.key, numbers[index]!]));
  }

  #writeOf(resident: Resident, before: unknown): PendingWrite {
    if (resident.write !== null) return resident.write;
    const write = new PendingWrite(resident, before);
    resident.version++;
    resident.write = write;
    this.#writes.push(write);
    return write;
  }
}

function replyOf(envelope: Envelope): StoredReply[] {
  if (envelope.asker === null) return [];
  const { askedBy, askId }: Asker = envelope.asker;
  return [{ askedBy, askId, outcome: outcomeOf(envelope) }];
}

function outcomeOf({ condemned, hasExpired, reply }: Envelope): ReplyOutcome {
  if (hasExpired) return { expired: true };
  return condemned === null ? { reply: reply ?? null } : { error: String(condemned) };
}

function bindNumber(write: PendingWrite, number: number): void {
  const { resident } = write;
  const { numbered } = resident.kind.definition;
  if (numbered === undefined) throw new Error(`${resident.self.kind} claims a number but takes none`);
  const before = write.state;
  write.state = numbered(before, number);
  const isDiscarded = resident.phase === 'cold' || resident.phase === 'loading';
  if (isDiscarded) return;
  if (resident.state === before) {
    resident.state = write.state;
    if (resident.write !== null && resident.write !== write) resident.write.state = write.state;
    return;
  }
  resident.state = numbered(resident.state, number);
  if (resident.write !== null && resident.write !== write) resident.write.state = resident.state;
}
