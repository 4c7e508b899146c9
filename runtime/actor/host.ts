import type { Clock, Micros, Monotonic } from '../clock.ts';
import type { Log } from '../log.ts';
import { Activation } from './activation.ts';
import { ActorLocator } from './actor-locator.ts';
import { type Address, shardOf } from './address.ts';
import type { Batch } from './batch.ts';
import { BatchBuilder } from './batch-builder.ts';
import { Committer, type Outcome } from './committer.ts';
import { type ActorMessage, type AnyActorDefinition, WAKE } from './definition.ts';
import { InboxReader } from './inbox.ts';
import { LargeTurns } from './large-turns.ts';
import { DEFAULT_LIMITS, type EngineLimits } from './limits.ts';
import { MessageCompletion, type SetAside, Waiters } from './message-completion.ts';
import type { ActorMetrics, EngineView } from './metrics.ts';
import { Ownership, OwnershipCheck, type Placement } from './ownership.ts';
import { Pipeline, Preparation } from './pipeline.ts';
import { Queue } from './queue.ts';
import { RECENT, readRecent, type Told } from './recent.ts';
import { Recovery } from './recovery.ts';
import { AskLimiter, Remote } from './remote.ts';
import { Envelope, type Resident } from './resident.ts';
import { Residents } from './residents.ts';
import type { ActorStore, DueActor, InboxMessage, Receipt, ShardEpoch } from './store.ts';
import { type ActorSystem, elsewhere, MovedError, type Peers, type Performer } from './system.ts';
import { Wakeups } from './wakeups.ts';

export interface ActorSystemDeps {
  readonly definitions: readonly AnyActorDefinition[];
  readonly store: ActorStore;
  readonly placement: Placement;
  readonly clock: Clock;
  readonly performer: Performer;
  /** Random bytes for turns. */
  readonly random: (size: number) => Uint8Array;
  readonly log: Log;
  readonly metrics: ActorMetrics;
  readonly limits?: Partial<EngineLimits>;
  /** How other processes are reached; null when there are none. */
  readonly peers: Peers | null;
  readonly monotonic: Monotonic;
  /**
   * Whether a due wake-up of this actor has to wait; {@link ActorSystem.poke} has the engine look again. Absent when
   * none ever does.
   */
  readonly holdsBack?: (actor: Address) => boolean;
  /**
   * Version of what turns are decided with, beside messages and states: the store tells by it what was decided too
   * early. Absent when that changes in this process only.
   */
  readonly decidedWith?: () => number;
  /** What to record about a message with a receipt of storage's own that no actor could apply. */
  readonly setAside: SetAside;
}

/** Makes the engine. It does nothing until `start`. */
export function createActorSystem(deps: ActorSystemDeps): ActorSystem {
  return new Host(deps);
}

/** Wires the parts of the engine together and is its face. */
class Host implements ActorSystem {
  readonly #deps: ActorSystemDeps;
  readonly #locator: ActorLocator;
  readonly #completion: MessageCompletion;
  readonly #residents: Residents;
  readonly #waiters: Waiters;
  readonly #askLimiter: AskLimiter;
  readonly #limits: EngineLimits;
  readonly #activation: Activation;
  readonly #queue: Queue;
  readonly #batchBuilder: BatchBuilder;
  readonly #recovery: Recovery;
  readonly #committer: Committer;
  readonly #pipeline: Pipeline;
  readonly #largeTurns: LargeTurns;
  readonly #inbox: InboxReader;
  readonly #wakeups: Wakeups;
  readonly #ownershipCheck: OwnershipCheck;
  readonly #remote: Remote | null;
  #committed = 0;
  #state: 'new' | 'running' | 'stopping' | 'stopped' = 'new';
  #unsubscribe: () => void = () => undefined;

  constructor(deps: ActorSystemDeps) {
    const limits = { ...DEFAULT_LIMITS, ...deps.limits };
    const { clock, log, store, metrics } = deps;
    this.#deps = deps;
    const ownership = new Ownership(deps.placement);
    this.#ownershipCheck = new OwnershipCheck({
      ...{ store, ownership, monotonic: deps.monotonic },
      lost: (epochs) => this.#lost(epochs),
    });
    this.#remote = deps.peers && new Remote({ ...{ store, clock, log }, peers: deps.peers });
    this.#residents = new Residents(deps.definitions, limits.memory);
    this.#waiters = new Waiters(clock);
    this.#askLimiter = new AskLimiter(limits);
    this.#limits = limits;
    this.#activation = new Activation({
      ...{ store, clock, log, limits, metrics },
      ready: (resident) => this.#resume(resident),
      unreadable: (resident, error) => this.#completion.unreadable(resident, error),
    });
    this.#queue = new Queue((resident) => this.#activation.request(resident));
    this.#completion = new MessageCompletion({
      ...{ waiters: this.#waiters, clock, log, setAside: deps.setAside },
      inbox: () => this.#inbox,
      wakeups: () => this.#wakeups,
    });
    this.#locator = new ActorLocator({
      ...{ ownership, residents: this.#residents, queue: this.#queue, completion: this.#completion },
      recovery: () => this.#recovery,
      isCommitting: () => this.#isCommitting,
      followed: () => deps.placement.followed(),
      fenced: (lost) => deps.placement.fenced(lost),
      ownershipChanged: () => this.#inbox.restart(),
      settledIn: () => {
        this.#largeTurns.changed();
        this.#wakeups.check();
        this.#pipeline.schedule();
      },
    });
    const preparation = new Preparation({
      ...{ clock, log, limits },
      ready: (resident) => this.#resume(resident),
      failed: (envelope, error) => {
        this.#recovery.unprepared(envelope, error);
        this.#pipeline.schedule();
      },
    });
    this.#batchBuilder = new BatchBuilder({
      ...{ queue: this.#queue, clock, limits, random: deps.random },
      find: (address) => this.#locator.find(address),
      maySkipInbox: (receiver) => this.#inbox.maySkip(receiver),
      startNew: (receiver) => this.#activation.startNew(receiver),
      spilled: (receiver, batch) => this.#inbox.fence(receiver, batch.id),
      wakeSkipped: (envelope) => this.#completion.finish(envelope),
      wakeIgnored: ({ self }) =>
        this.#completion.wakeIgnored(self, 'the turn left the due wake-up as it was'),
      recordsOf: (envelope, error) => this.#completion.recordsOf(envelope, error),
      broken: (envelope, error) => this.#recovery.broken(envelope, error),
      mayRunApart: deps.placement.isAlone,
      apart: (envelope) => this.#largeTurns.take(envelope),
      prepare: (resident, envelope) => preparation.start(resident, envelope),
      decidedWith: deps.decidedWith ?? (() => 0),
    });
    this.#recovery = new Recovery({
      ...{ queue: this.#queue, batchBuilder: this.#batchBuilder, clock, log, limits, metrics },
      rested: (resident) => this.#resume(resident),
      finish: (envelope) => this.#completion.finish(envelope),
      giveUp: (envelope, error) => this.#completion.giveUp(envelope, error),
      refuse: (envelope, error) => this.#completion.refuse(envelope, error),
    });
    this.#committer = new Committer({ store, clock, log, limits, metrics, monotonic: deps.monotonic });
    this.#pipeline = new Pipeline({
      ...{ batchBuilder: this.#batchBuilder, committer: this.#committer, clock, limits },
      finished: (batch, outcome) => this.#finished(batch, outcome),
    });
    this.#largeTurns = new LargeTurns({
      ...{ queue: this.#queue, recovery: this.#recovery, clock, limits, log, random: deps.random },
      committer: new Committer({ store, clock, log, limits, metrics, monotonic: deps.monotonic }),
      decidedWith: deps.decidedWith ?? (() => 0),
      find: (address) => this.#locator.find(address),
      maySkipInbox: (receiver) => this.#inbox.maySkip(receiver),
      load: (resident) => this.#activation.request(resident),
      goOn: (resident) => this.#resume(resident),
      finished: (batch, outcome, spilled) => this.#finishedLarge(batch, outcome, spilled),
    });
    const owned = () => ownership.shards();
    this.#inbox = new InboxReader({
      ...{ store, clock, log, limits, owned },
      committed: () => this.#committed,
      dispatch: (row) => this.#receiveRow(row),
    });
    this.#wakeups = new Wakeups({
      ...{ store, clock, log, limits, owned },
      dispatch: (due) => this.#wake(due),
    });
    metrics.watch(viewOf(this.#residents, this.#queue));
  }

  async start(): Promise<void> {
    this.#state = 'running';
    this.#unsubscribe = this.#deps.placement.onChange(() => this.#locator.replace());
    this.#locator.replace();
  }

  async stop(): Promise<void> {
    if (this.#state !== 'running') return;
    this.#state = 'stopping';
    this.#unsubscribe();
    this.#inbox.stop();
    this.#wakeups.stop();
    this.#batchBuilder.stop();
    this.#committer.stop();
    await Promise.all([this.#pipeline.idle(), this.#largeTurns.stop()]);
    this.#activation.stop();
    this.#state = 'stopped';
    this.#remote?.stop();
    for (const resident of this.#residents.all()) this.#locator.drop(resident);
  }

  deliver(to: Address, message: ActorMessage, receipt: Receipt): Promise<void> {
    const underWay = this.#waiters.delivery(receipt);
    if (underWay !== undefined) return underWay;
    const resident = this.#state === 'running' ? this.#locator.find(to) : null;
    if (resident === null) return Promise.reject(elsewhere(to));
    const envelope = new Envelope(resident, message, null, 'deliver', receipt, null);
    const delivered = this.#waiters.delivered(envelope, receipt);
    this.#accept(envelope);
    return delivered;
  }

  async ask(to: Address, message: ActorMessage): Promise<unknown> {
    const leave = this.#askLimiter.enter(to);
    const deadline = this.#deps.clock.now() + this.#limits.askTimeout;
    try {
      return await this.#askHere(to, message, deadline);
    } catch (error) {
      if (!(error instanceof MovedError) || this.#remote === null || this.#state !== 'running') throw error;
      return await this.#remote.ask(to, message, deadline);
    } finally {
      leave();
    }
  }

  tell(to: Address, message: ActorMessage): void {
    if (this.#state !== 'running') return;
    const resident = this.#locator.find(to);
    if (resident === null) this.#remote?.tell(to, message);
    else this.#accept(new Envelope(resident, message, null, 'tell', null, null));
  }

  async recent(actor: Address): Promise<Told> {
    const here = this.#state === 'running' ? this.#locator.recentOf(actor) : null;
    if (here !== null) return here;
    if (this.#remote === null || this.#state !== 'running') throw elsewhere(actor);
    const leave = this.#askLimiter.enter(actor);
    try {
      const deadline = this.#deps.clock.now() + this.#limits.askTimeout;
      return readRecent(await this.#remote.ask(actor, RECENT, deadline));
    } finally {
      leave();
    }
  }

  stillOwns(actor: Address): Promise<boolean> {
    return this.#ownershipCheck.stillOwns(shardOf(actor));
  }

  called(): void {
    this.#inbox.poke();
  }

  answered(): void {
    this.#remote?.read();
  }

  poke(): void {
    this.#inbox.poke();
    this.#wakeups.check();
  }

  backlog(): number {
    return this.#queue.backlog + (this.#remote?.outgoing ?? 0);
  }

  /** @throws {MovedError} before the message had any effect */
  async #askHere(to: Address, message: ActorMessage, deadline: Micros): Promise<unknown> {
    const resident = this.#state === 'running' ? this.#locator.find(to) : null;
    if (resident === null) throw elsewhere(to);
    const envelope = new Envelope(resident, message, null, 'ask', null, null);
    const reply = this.#waiters.ask(envelope, deadline);
    this.#accept(envelope);
    return reply;
  }

  #accept(envelope: Envelope): void {
    this.#queue.push(envelope);
    this.#pipeline.schedule();
  }

  get #isCommitting(): boolean {
    return this.#pipeline.isCommitting || this.#largeTurns.isCommitting;
  }

  #resume(resident: Resident): void {
    this.#largeTurns.changed();
    this.#queue.offer(resident);
    this.#pipeline.schedule();
  }

  #receiveRow({ to, from, message, seq, asker }: InboxMessage): boolean {
    if (!this.#residents.kinds.has(to.kind)) {
      this.#completion.logSetAside(to, message.type, 'unknown kind of actor; the message stays stored');
      return true;
    }
    const resident = this.#locator.find(to);
    if (resident === null) return false;
    const envelope = new Envelope(resident, message, from, 'inbox', { kind: 'inbox', seq }, null);
    envelope.asker = asker;
    // The engine answers it, and the actor is not asked what it needs for it. Until then it waits behind the others.
    if (message.type === RECENT.type) {
      envelope.isPrepared = true;
      envelope.prepared = resident.waiting;
    }
    this.#accept(envelope);
    return true;
  }

  #wake({ address }: DueActor): boolean {
    if (!this.#residents.kinds.has(address.kind)) {
      this.#completion.wakeIgnored(address, 'unknown kind of actor');
      return false;
    }
    if (this.#deps.holdsBack?.(address)) return false;
    const resident = this.#locator.find(address);
    if (resident === null || resident.wake !== null) return false;
    // A batch under way moves the wake-up. The store has the old time until the commit, which notes the new one.
    const { pins, wakeAt } = resident;
    if (pins > 0 && (wakeAt === null || wakeAt > this.#deps.clock.now())) return false;
    resident.wake = new Envelope(resident, WAKE, null, 'wake', null, null);
    this.#accept(resident.wake);
    return true;
  }

  #finished(batch: Batch, outcome: Outcome): void {
    const isStored = outcome.kind === 'committed' || outcome.kind === 'landed';
    if (isStored) this.#committed = batch.id;
    // What gathered meanwhile was built on the batch.
    this.#conclude(batch, outcome, () => this.#recovery.abandonOpenBatch());
    this.#settleIn();
  }

  #finishedLarge(batch: Batch, outcome: Outcome, spilled: ReadonlyMap<string, Resident>): void {
    const isStored = outcome.kind === 'committed' || outcome.kind === 'landed';
    // A pass under way may have begun before this commit. Those that know of the batch which gathers now did not.
    if (isStored)
      for (const receiver of spilled.values()) this.#inbox.fence(receiver, this.#batchBuilder.batch.id);
    this.#conclude(batch, outcome, () => undefined);
    this.#settleIn();
  }

  /** Ownership is followed while nothing is under way. */
  #settleIn(): void {
    if (!this.#isCommitting) this.#locator.settle();
    this.#largeTurns.changed();
  }

  /** @param abandon undoes what was built upon the batch */
  #conclude(batch: Batch, outcome: Outcome, abandon: () => void): void {
    if ('isDoubtful' in outcome && outcome.isDoubtful) this.#recovery.giveUpUnsure(batch);
    switch (outcome.kind) {
      case 'committed':
        this.#settle(batch);
        if (batch.renumbered) abandon();
        return;
      case 'landed':
        this.#settle(batch);
        abandon();
        this.#recovery.reload(batch.touched);
        return;
      case 'refused':
        abandon();
        this.#recovery.refused(batch, outcome.error);
        return;
      case 'gone':
        abandon();
        this.#recovery.gone(batch, outcome.error);
        return;
      case 'fenced':
        this.#fenced(batch, outcome.shards, abandon);
        return;
      case 'unanswered':
        abandon();
        this.#recovery.revert(batch);
        return;
      default:
        outcome satisfies never;
    }
  }

  #settle(batch: Batch): void {
    this.#ownershipCheck.note(batch.epochs, batch.begunAt);
    this.#deps.metrics.turns.inc(batch.turns);
    batch.performs.forEach((effect, index) => {
      this.#deps.performer(effect, batch.performers[index]!);
    });
    for (const envelope of batch.externals) this.#completion.finish(envelope);
    for (const write of batch.writes) if (write.wakeAt !== null) this.#wakeups.note(write.wakeAt);
    const now = this.#deps.clock.now();
    for (const resident of batch.touched) {
      resident.pins--;
      resident.recent.committed(batch.id, now);
      if (resident.detached) continue;
      this.#residents.used(resident);
      if (resident.phase === 'cold') this.#queue.offer(resident);
    }
    if (batch.spilled) this.#inbox.poke();
    if (batch.called.size > 0) this.#deps.peers?.call(batch.called);
    const askers = batch.askers();
    if (askers.size > 0) this.#deps.peers?.answered(askers);
    this.#deps.metrics.passivations.inc(this.#residents.passivate());
  }

  /** The database was asked and has newer epochs. */
  #lost(epochs: readonly ShardEpoch[]): void {
    this.#deps.log('lease_fenced', { kind: 'shard', actor: epochs.map(({ shard }) => shard).join() });
    this.#deps.metrics.fenced.inc();
    this.#locator.lost(epochs);
    if (!this.#isCommitting) this.#locator.settle();
  }

  #fenced(batch: Batch, shards: readonly number[], abandon: () => void): void {
    const first = batch.touched.find((resident) => shards.includes(resident.shard));
    this.#deps.log('lease_fenced', first && { kind: first.self.kind, actor: first.self.key });
    this.#deps.metrics.fenced.inc();
    this.#locator.lose(batch, shards);
    abandon();
    this.#recovery.revert(batch);
  }
}

function viewOf(residents: Residents, queue: Queue): EngineView {
  return {
    backlog: () => queue.backlog,
    *kinds() {
      for (const [kind, { residents: actors }] of residents.kinds) {
        let longestMailbox = 0;
        for (const actor of actors.values()) longestMailbox = Math.max(longestMailbox, actor.mailbox.size);
        yield { kind, actors: actors.size, longestMailbox };
      }
    },
  };
}
