import type { Clock } from '../clock.ts';
import { type Address, shardOf } from './address.ts';
import { Batch } from './batch.ts';
import type { RecordedEffect, Send, TurnEnv } from './definition.ts';
import type { EngineLimits } from './limits.ts';
import type { Queue } from './queue.ts';
import { RECENT, replyOfRecent } from './recent.ts';
import { Envelope, isLarge, type Resident } from './resident.ts';

export interface BatchBuilderDeps {
  readonly queue: Queue;
  readonly clock: Clock;
  readonly limits: EngineLimits;
  random(size: number): Uint8Array;
  /** The actor in memory, made if needed; null when another process owns it. */
  find(address: Address): Resident | null;
  /** Whether a message to the actor may skip the inbox: no earlier one can still be waiting there. */
  maySkipInbox(receiver: Resident): boolean;
  /** Starts an actor that was never stored. Nothing for one that was loaded before or waits to be. */
  startNew(receiver: Resident): void;
  /** A message to an actor of this process goes through the inbox with this batch. */
  spilled(receiver: Resident, batch: Batch): void;
  /** A wake-up came late or twice: there is nothing to wake for. */
  wakeSkipped(envelope: Envelope): void;
  /** The actor kept the wake-up it was just given. */
  wakeIgnored(resident: Resident): void;
  /** Records that go with a message that is set aside. */
  recordsOf(envelope: Envelope, error: Error): readonly RecordedEffect[];
  /** A message broke its actor. The batch is of no use any more; call {@link BatchBuilder.restart}. */
  broken(envelope: Envelope, error: Error): void;
  /** Version of what turns are decided with now. */
  decidedWith(): number;
  /** Whether large messages are committed apart at all. */
  readonly mayRunApart: boolean;
  /** The message at the head is committed apart from this batch; its actor rests until then. */
  apart(envelope: Envelope): void;
  /** Starts looking up what the message at the head needs. True when there is nothing to wait for. */
  prepare(resident: Resident, envelope: Envelope): boolean;
}

function recentOf(resident: Resident, { message, prepared }: Envelope): unknown {
  const waiting = typeof prepared === 'number' ? prepared : resident.waiting;
  return replyOfRecent(message, { messages: resident.recent.list(), waiting });
}

/** Runs turns and collects them into a batch, following messages from actor to actor. */
export class BatchBuilder {
  batch = new Batch(1);
  readonly #deps: BatchBuilderDeps;
  #deferred: Resident[] = [];
  #isStopping = false;

  constructor(deps: BatchBuilderDeps) {
    this.#deps = deps;
  }

  /** Runs every turn that can be part of the batch now. */
  run(): void {
    for (;;) {
      const resident = this.#deps.queue.next();
      if (resident === undefined) return;
      this.#serve(resident);
    }
  }

  /**
   * Starts the next batch and gives those that had to wait for it their turn. Messages that failed before and those that
   * did not take turns, so that however many fail the others wait for one batch of them at most.
   */
  restart(): void {
    const wasRetry = this.batch.retryGroup !== null;
    this.batch = new Batch(this.batch.id + 1);
    const deferred = this.#deferred;
    this.#deferred = [];
    const isInTurn = (resident: Resident) => (resident.mailbox.peek()?.retryGroup == null) === wasRetry;
    for (const resident of [...deferred.filter(isInTurn), ...deferred.filter((it) => !isInTurn(it))]) {
      resident.queued = false;
      this.#deps.queue.offer(resident);
    }
  }

  /** From now on only what a batch under way has started is finished. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Whether messages of this batch wait for actors that may become ready soon. */
  isWaitingForReceivers(): boolean {
    return this.batch.waiting > 0 && this.batch.receivers.some((it) => it.sends > 0 && it.phase !== 'ready');
  }

  /** Hands what could not be applied in this batch to the inbox. */
  spillRest(): void {
    if (this.batch.waiting === 0) return;
    for (const receiver of this.batch.receivers) this.#spillWaiting(receiver);
  }

  /** What was sent to the receiver in this batch and has had no turn. */
  #spillWaiting(receiver: Resident): void {
    for (const envelope of this.#deps.queue.takeSends(receiver)) {
      envelope.settled = true;
      this.batch.waiting--;
      this.#spill(receiver, envelope.from, envelope.message);
    }
  }

  #serve(resident: Resident): void {
    while (resident.phase === 'ready' && resident.rest === null) {
      const envelope = resident.mailbox.peek();
      if (envelope === undefined) return;
      if (envelope.settled) {
        this.#deps.queue.take(resident);
        continue;
      }
      if (this.#deps.mayRunApart && isLarge(resident.kind.definition, envelope)) {
        this.#deps.apart(envelope);
        return;
      }
      if (!this.#mayApply(resident, envelope)) {
        resident.queued = true;
        this.#deferred.push(resident);
        return;
      }
      if (!envelope.isPrepared && envelope.condemned === null && !this.#deps.prepare(resident, envelope))
        return;
      this.#deps.queue.take(resident);
      this.#apply(resident, envelope);
    }
  }

  #mayApply(resident: Resident, envelope: Envelope): boolean {
    const { batch } = this;
    if (envelope.retryGroup !== null) return this.#joins(envelope.retryGroup);
    if (batch.turns >= this.#deps.limits.cascade) return false;
    if (resident.sends > 0) return true;
    return batch.isOpen && batch.turns < this.#deps.limits.turns && !this.#isStopping;
  }

  #joins(retryGroup: number): boolean {
    const { batch } = this;
    if (this.#isStopping || batch.closing || batch.turns >= this.#deps.limits.turns) return false;
    return batch.turns === 0 || batch.retryGroup === retryGroup;
  }

  #apply(resident: Resident, envelope: Envelope): void {
    const { batch } = this;
    if (envelope.condemned !== null) {
      batch.setAside(envelope, this.#deps.recordsOf(envelope, envelope.condemned));
      return;
    }
    const now = this.#deps.clock.now();
    if (envelope.asker !== null && this.#isNoTurn(resident, envelope, envelope.asker.expiresAt < now)) return;
    const isWake = envelope.origin === 'wake';
    const due = resident.wakeAt;
    if (isWake && (due === null || due > now)) {
      this.#deps.wakeSkipped(envelope);
      return;
    }
    batch.touch(resident);
    if (envelope.isExternal) this.#admit(envelope);
    else {
      resident.sends--;
      batch.waiting--;
    }
    try {
      this.#turn(resident, envelope, now);
    } catch (error) {
      this.#deps.broken(envelope, error instanceof Error ? error : new Error(String(error)));
      return;
    }
    if (isWake && resident.wakeAt === due) this.#deps.wakeIgnored(resident);
  }

  /**
   * Uses up a request from another process without a turn of the actor: one whose asker waits no longer, by this clock,
   * and is told so, because it must not have effect now; or one that the engine answers itself.
   */
  #isNoTurn(resident: Resident, envelope: Envelope, hasExpired: boolean): boolean {
    if (!hasExpired && envelope.message.type !== RECENT.type) return false;
    if (hasExpired) envelope.hasExpired = true;
    else envelope.reply = recentOf(resident, envelope);
    this.batch.touch(resident);
    this.batch.turns++;
    this.#admit(envelope);
    return true;
  }

  #admit(envelope: Envelope): void {
    this.batch.externals.push(envelope);
    this.batch.retryGroup = envelope.retryGroup;
    if (envelope.receipt !== null) this.batch.consume(envelope.receipt);
  }

  #turn(resident: Resident, envelope: Envelope, now: number): void {
    const env: TurnEnv = {
      now,
      from: envelope.from,
      prepared: envelope.prepared,
      random: this.#deps.random,
    };
    this.batch.decidedWith ??= this.#deps.decidedWith();
    const turn = resident.turn(envelope, env);
    this.batch.turns++;
    this.batch.record(resident, turn);
    envelope.reply = turn.reply;
    for (const send of turn.sends) this.#send(resident, send, envelope.root);
  }

  #send(sender: Resident, send: Send, root: Envelope): void {
    const { batch } = this;
    const receiver = this.#deps.find(send.to);
    if (receiver === null) {
      const { to, message } = send;
      batch.sendAway({ to, shard: shardOf(to), from: sender.self, message });
      return;
    }
    const isApart = this.#deps.mayRunApart && receiver.kind.definition.isLarge?.(send.message) === true;
    if (
      isApart ||
      batch.retryGroup !== null ||
      receiver.rest !== null ||
      !this.#deps.maySkipInbox(receiver)
    ) {
      // Nothing overtakes what waits for its turn in memory.
      if (receiver.sends > 0) this.#spillWaiting(receiver);
      this.#spill(receiver, sender.self, send.message);
      return;
    }
    if (send.isNew) this.#deps.startNew(receiver);
    receiver.sends++;
    batch.waiting++;
    this.#deps.queue.push(new Envelope(receiver, send.message, sender.self, 'send', null, root));
    if (receiver.sends > 1) return;
    batch.receivers.push(receiver);
    if (receiver.phase === 'ready') this.#deps.queue.urge(receiver);
  }

  #spill(receiver: Resident, from: Address | null, message: Envelope['message']): void {
    this.batch.send({ to: receiver.self, shard: receiver.shard, from, message });
    this.batch.spilled = true;
    this.#deps.spilled(receiver, this.batch);
  }
}
