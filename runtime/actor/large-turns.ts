/**
 * Turns that take long to store, each committed apart from the batches of everybody else: on a connection of its own, while
 * the pipeline goes on. One is under way at a time. Its actors take no other turn meanwhile, and what others send them goes
 * through the inbox, so that no batch is built on what is not stored.
 *
 * What such a turn sends goes through the inbox. A large message that its receiver can take at once is applied in the same
 * commit instead: it would be stored twice on its way.
 *
 * Whatever goes wrong, the message returns to the pipeline and is tried there like any other.
 */
import type { Clock, Timer } from '../clock.ts';
import type { Log } from '../log.ts';
import { type Address, addressText, shardOf } from './address.ts';
import { Batch } from './batch.ts';
import type { Committer, Outcome } from './committer.ts';
import type { Send, Turn } from './definition.ts';
import type { EngineLimits } from './limits.ts';
import type { Queue } from './queue.ts';
import type { Recovery } from './recovery.ts';
import { Envelope, type Resident } from './resident.ts';
import { OutdatedError } from './store.ts';

export interface LargeTurnsDeps {
  readonly queue: Queue;
  readonly recovery: Recovery;
  /** Of its own: the pipeline's has a batch under way. */
  readonly committer: Committer;
  readonly clock: Clock;
  readonly limits: EngineLimits;
  readonly log: Log;
  random(size: number): Uint8Array;
  decidedWith(): number;
  /** The actor in memory, made if needed; null when another process owns it. */
  find(address: Address): Resident | null;
  maySkipInbox(receiver: Resident): boolean;
  /** Loads an actor that rests. */
  load(resident: Resident): void;
  /** The actor goes on with its mailbox. */
  goOn(resident: Resident): void;
  /** Does what follows a commit; the batch is undone here when nothing is stored. */
  finished(batch: Batch, outcome: Outcome, spilled: ReadonlyMap<string, Resident>): void;
}

/** Stands for the timer of an actor that rests until it is told otherwise. */
const UNTIL_RELEASED: Timer = { cancel: () => undefined };

export class LargeTurns {
  readonly #deps: LargeTurnsDeps;
  #waiting: Envelope[] = [];
  #batch: Batch | null = null;
  #isRunning = false;
  #isStopping = false;
  #lastId = 0;
  #onChange: (() => void)[] = [];
  #onIdle: (() => void)[] = [];

  constructor(deps: LargeTurnsDeps) {
    this.#deps = deps;
  }

  /** Whether actors have had a turn whose commit has not ended. */
  get isCommitting(): boolean {
    return this.#batch !== null;
  }

  /** Takes over the message at the head of the mailbox. The actor rests until it is stored or returned. */
  take(envelope: Envelope): void {
    envelope.resident.rest = UNTIL_RELEASED;
    this.#waiting.push(envelope);
    if (!this.#isRunning) void this.#run();
  }

  /** An actor was loaded, a batch has ended, or ownership changed: what waits for that looks again. */
  changed(): void {
    for (const resolve of this.#onChange.splice(0)) resolve();
  }

  /** Begins nothing more. Resolves when nothing is under way. */
  stop(): Promise<void> {
    this.#isStopping = true;
    this.#deps.committer.stop();
    this.changed();
    if (!this.#isRunning) return Promise.resolve();
    return new Promise((resolve) => this.#onIdle.push(resolve));
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    try {
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
        await this.#process(next);
      }
    } finally {
      this.#isRunning = false;
      for (const resolve of this.#onIdle.splice(0)) resolve();
    }
  }

  async #process(envelope: Envelope): Promise<void> {
    const { resident } = envelope;
    const readiness = await this.#prepared(envelope);
    if (this.#isStopping || resident.detached) return;
    if (readiness === 'late') this.#waiting.push(envelope);
    if (readiness === 'unknown') envelope.isReturned = true;
    if (readiness === 'unknown' || readiness === 'overtaken') this.#release(resident);
    if (readiness !== 'ready') return;
    const batch = new Batch(--this.#lastId, true);
    this.#batch = batch;
    /** By address: an actor that is idle may leave memory meanwhile. */
    const spilled = new Map<string, Resident>();
    let outcome: Outcome | null = null;
    try {
      await this.#turns(batch, envelope, spilled);
      outcome = await this.#deps.committer.commit(batch);
    } catch (error) {
      // The pipeline runs the turn again, and deals with what it throws.
      this.#deps.log('commit_failed', { error: String(error), turns: batch.turns });
    }
    this.#batch = null;
    for (const touched of batch.touched) {
      touched.rest = null;
      touched.forgetPrepared();
    }
    envelope.isReturned = outcome === null || isRefused(outcome);
    if (outcome === null) this.#deps.recovery.revert(batch);
    else this.#deps.finished(batch, outcome, spilled);
    for (const touched of batch.touched) this.#deps.goOn(touched);
  }

  /** A message that came back and met a write conflict keeps its own rest. */
  #release(resident: Resident): void {
    if (resident.rest === UNTIL_RELEASED) resident.rest = null;
    this.#deps.goOn(resident);
  }

  /**
   * Waits until the actor can take the turn, with what it needs to know. `late`: for so long that others get their turn
   * first, as when it cannot be read; `overtaken`: earlier messages came back to the mailbox; `unknown`: what it needs to
   * know cannot be found out.
   */
  async #prepared(envelope: Envelope): Promise<'ready' | 'late' | 'overtaken' | 'unknown'> {
    const { resident } = envelope;
    const { definition } = resident.kind;
    for (;;) {
      if (!(await this.#becomesFree(resident))) return 'late';
      if (resident.mailbox.peek() !== envelope || resident.rest !== UNTIL_RELEASED) return 'overtaken';
      const { activation } = resident;
      try {
        envelope.prepared = (await definition.prepare?.(resident, envelope.message)) ?? undefined;
      } catch (error) {
        // The pipeline asks again, and deals with what comes of it.
        this.#deps.log('store_read_failed', { what: 'preparation', error: String(error) });
        return 'unknown';
      }
      if (this.#isFree(resident) && resident.activation === activation) return 'ready';
    }
  }

  /** Whether everything of the actor is stored and in memory. Otherwise that is brought about. */
  #isFree(resident: Resident): boolean {
    if (resident.phase === 'cold') this.#deps.load(resident);
    return resident.phase === 'ready' && resident.pins === 0;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#onChange.push(resolve));
  }

  async #turns(batch: Batch, envelope: Envelope, spilled: Map<string, Resident>): Promise<void> {
    const { resident } = envelope;
    this.#deps.queue.take(resident);
    batch.touch(resident);
    batch.externals.push(envelope);
    if (envelope.receipt !== null) batch.consume(envelope.receipt);
    const { sends } = this.#turn(batch, envelope);
    for (const send of sends) await this.#send(batch, resident, send, envelope, spilled);
    await this.#pause();
  }

  /** The turns of a batch are long enough each. */
  #pause(): Promise<void> {
    return new Promise((resolve) => this.#deps.clock.after(0, resolve));
  }

  async #send(
    batch: Batch,
    sender: Resident,
    send: Send,
    root: Envelope,
    spilled: Map<string, Resident>,
  ): Promise<void> {
    const receiver = this.#deps.find(send.to);
    const outgoing = { to: send.to, shard: shardOf(send.to), from: sender.self, message: send.message };
    if (receiver === null) {
      batch.sendAway(outgoing);
      return;
    }
    const sent = new Envelope(receiver, send.message, sender.self, 'send', null, root);
    const isDirect = receiver.kind.definition.isLarge?.(send.message) && !spilled.has(receiver.text);
    if (isDirect && (await this.#acquired(batch, receiver, sender, sent))) {
      for (const next of this.#turn(batch, sent).sends) this.#spill(batch, receiver, next, spilled);
      return;
    }
    this.#spill(batch, sender, send, spilled);
  }

  #spill(batch: Batch, sender: Resident, { to, message }: Send, spilled: Map<string, Resident>): void {
    const receiver = this.#deps.find(to);
    const outgoing = { to, shard: shardOf(to), from: sender.self, message };
    if (receiver === null) {
      batch.sendAway(outgoing);
      return;
    }
    batch.send(outgoing);
    batch.spilled = true;
    spilled.set(receiver.text, receiver);
  }

  /**
   * Takes a receiver into the batch, unless an earlier message of the sender is still on its way to it, or it does not
   * become free in time.
   * @throws what its look-up throws
   */
  async #acquired(batch: Batch, receiver: Resident, sender: Resident, sent: Envelope): Promise<boolean> {
    if (batch.touched.includes(receiver)) return false;
    if (receiver.rest !== null || !this.#mayBeNext(receiver, sender)) return false;
    receiver.rest = UNTIL_RELEASED;
    const isFree = await this.#becomesFree(receiver);
    // A batch that was undone meanwhile may have brought an earlier message back.
    if (!isFree || receiver.rest !== UNTIL_RELEASED || !this.#mayBeNext(receiver, sender)) {
      this.#release(receiver);
      return false;
    }
    batch.touch(receiver);
    sent.prepared = (await receiver.kind.definition.prepare?.(receiver, sent.message)) ?? undefined;
    await this.#pause();
    return true;
  }

  #mayBeNext(receiver: Resident, sender: Resident): boolean {
    const isFromSender = ({ from }: Envelope) => from !== null && addressText(from) === sender.text;
    return this.#deps.maySkipInbox(receiver) && !receiver.mailbox.all().some(isFromSender);
  }

  async #becomesFree(receiver: Resident): Promise<boolean> {
    let isLate = false;
    const timer = this.#deps.clock.after(this.#deps.limits.askTimeout, () => {
      isLate = true;
      this.changed();
    });
    while (!isLate && !this.#isStopping && !receiver.detached && !this.#isFree(receiver))
      await this.#change();
    timer.cancel();
    return !this.#isStopping && !receiver.detached && this.#isFree(receiver);
  }

  #turn(batch: Batch, envelope: Envelope): Turn<unknown> {
    const { resident } = envelope;
    const now = this.#deps.clock.now();
    batch.decidedWith ??= this.#deps.decidedWith();
    const turn = resident.turn(envelope, {
      now,
      from: envelope.from,
      prepared: envelope.prepared,
      random: this.#deps.random,
    });
    batch.turns++;
    batch.record(resident, turn);
    envelope.reply = turn.reply;
    return turn;
  }
}

/** What was only decided too early is decided again, apart from others as before. */
function isRefused(outcome: Outcome): boolean {
  return outcome.kind === 'refused' && !(outcome.error instanceof OutdatedError);
}
