/** One simulated process of several: the real engine, the real placement, the real calls, in a world that breaks. */
import { Registry } from 'prom-client';
import {
  type ActorStore,
  type ActorSystem,
  type Address,
  type AnyActorDefinition,
  createActorMetrics,
  createActorSystem,
  type EngineLimits,
  type PerformedEffect,
  type Placement,
  shardOf,
} from '../../runtime/actor/index.ts';
import { type Clock, type Micros, SECOND } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { type Calls, createCalls } from '../../runtime/placement/calls.ts';
import { type Coordination, type Member, memberText } from '../../runtime/placement/coordination.ts';
import { createIsolatedReplicas, whenGone } from '../../runtime/placement/isolated-replicas.ts';
import { RECORD_EVERY } from '../../runtime/placement/lease-times.ts';
import { createLeasedPlacement, type LeasedPlacement } from '../../runtime/placement/leased.ts';
import { createPlacementMetrics } from '../../runtime/placement/metrics.ts';
import type { ReplicaRecords } from '../../runtime/placement/replica-record.ts';
import type { EpochStore } from '../../runtime/placement/shard-book.ts';
import { eitherPlace, type MeetingPlace } from '../fakes/coordination.ts';
import { answering } from '../fakes/database-answers.ts';
import type { Database, SetAsideRecord } from './database.ts';
import type { Faults } from './faults.ts';
import { type Endpoint, Link } from './link.ts';
import { SimIntake } from './sim-intake.ts';
import type { SignalsBetween, SignalsEnd } from './sim-signals.ts';
import type { World } from './world.ts';

/** How often a process looks for stored messages that nobody told it of, and for signals. */
const SWEEP: Micros = 10 * SECOND;
const NOTICE: Micros = SECOND / 2;

export interface ReplicaDeps {
  readonly world: World;
  readonly database: Database;
  readonly faults: Faults;
  /** Where replicas meet, and the second such place that a failover leaves behind. */
  readonly places: readonly [MeetingPlace, MeetingPlace];
  readonly signals: SignalsBetween;
  readonly definitions: readonly AnyActorDefinition[];
  readonly limits: Partial<EngineLimits>;
  /** Stored messages of a shard that are read together. */
  readonly intakePage: number;
  /** Seams for broken worlds. */
  readonly wrapEpochs: (epochs: EpochStore) => EpochStore;
  readonly wrapRecords: (records: ReplicaRecords) => ReplicaRecords;
  readonly wrapPlacement: (placement: Placement) => Placement;
  readonly stillOwns: (system: ActorSystem, actor: Address) => Promise<boolean>;
  /** An outbound call begins. */
  readonly called: (effect: PerformedEffect, from: Address, by: string) => void;
  readonly setAside: (what: string) => void;
  /** A commit was refused: its shard has a newer owner. */
  readonly fenced: () => void;
  /** For how long the process stops between a commit and the calls that it led to, µs; mostly 0. */
  readonly pauseBeforeCall: () => Micros;
}

export class SimReplica implements Endpoint {
  readonly me: Member;
  readonly system: ActorSystem;
  readonly placement: LeasedPlacement;
  isCut = false;
  /** It meets at the second place. */
  isThere = false;
  isPaused = false;
  isAlive = true;
  /** It has started, and is asked. */
  isServing = false;
  readonly #deps: ReplicaDeps;
  readonly #held: (() => void)[] = [];
  readonly #calling = new Map<number, number>();
  readonly #signals: SignalsEnd;
  readonly #calls: Calls;
  readonly #intake: SimIntake;
  readonly #clock: Clock;

  constructor(deps: ReplicaDeps, me: Member, wallOffset: Micros) {
    const { world, database, places } = deps;
    this.#deps = deps;
    this.me = me;
    this.#clock = {
      now: () => world.now + wallOffset,
      after: (delay, run) => world.after(delay, () => this.#feel(run)),
    };
    const clock = this.#clock;
    const side = () => (this.isThere ? 1 : 0);
    const isCut = () => this.isCut || !this.isAlive;
    const reaches = () => !isCut() && places[side()].isReachable;
    this.#signals = deps.signals.end(reaches, (run) => this.#feel(run), side);
    const [here, there] = places.map((place) => place.coordination(memberText(me), isCut));
    const log: Log = (event, fields) => {
      world.note(() => `${memberText(me)} ${event} ${JSON.stringify(fields ?? {})}`);
      if (event === 'lease_fenced') deps.fenced();
      if (event === 'message_set_aside') deps.setAside(`${me.id} ${JSON.stringify(fields)}`);
    };
    const records = deps.wrapRecords({
      live: () => this.#read(() => database.table.live(world.now)),
      leaders: () => this.#read(() => database.table.leaders(world.now)),
      orphans: () => this.#read(() => database.table.orphans(world.now)),
    });
    this.placement = createLeasedPlacement({
      ...{ me, clock, log, version: '1.0.0', monotonic: () => world.now },
      coordination: this.#felt(eitherPlace(here!, there!, () => this.isThere)),
      epochs: deps.wrapEpochs({
        raise: (shards, owner) => this.#read(() => database.raise(shards, owner, world.now)),
        newest: () => this.#read(() => database.table.newest()),
        ownedBy: (owner) => this.#read(() => database.table.ownedBy(owner)),
      }),
      records,
      database: answering,
      metrics: createPlacementMetrics(new Registry()),
      isCalling: (shard) => this.#calling.has(shard),
    });
    const isolated = createIsolatedReplicas({ placement: this.placement, records, clock, log });
    this.#calls = createCalls({
      ...{ me, clock, signals: this.#signals, placement: this.placement, hasIsolated: isolated.any },
      onGone: (listener) => whenGone(this.placement, listener),
    });
    this.system = createActorSystem({
      definitions: deps.definitions,
      limits: deps.limits,
      store: this.#feltStore(new Link(world, database, deps.faults, this)),
      placement: deps.wrapPlacement(this.placement),
      peers: this.#calls,
      clock,
      monotonic: () => world.now,
      performer: (effect, from) => void this.#perform(effect, from),
      random: (size) => world.random.bytes(size),
      log,
      metrics: createActorMetrics(new Registry()),
      setAside: (to, message) => [{ type: 'snapshot.failed', to, from: null, message } as SetAsideRecord],
    });
    this.#intake = this.#makeIntake();
  }

  #makeIntake(): SimIntake {
    const { world, database, intakePage } = this.#deps;
    return new SimIntake({
      placement: this.placement,
      page: intakePage,
      read: (ranges, limit) => this.#read(() => database.pageOf(ranges, limit)),
      deliver: (seq, to, message) =>
        this.system.deliver(to, message, { kind: 'snapshot', seq, receivedAt: world.now }),
      broken: (seq, error) => world.note(() => `${this.name} does not deliver snapshot#${seq}: ${error}`),
    });
  }

  get name(): string {
    return memberText(this.me);
  }

  /** As the composition root starts a process. */
  async start(): Promise<void> {
    this.#refreshRecord();
    this.placement.leadership.onChange(() => this.#writeRecord());
    this.#noticeSignals();
    try {
      await this.placement.start();
    } catch (error) {
      this.#deps.world.note(() => `${this.name} does not start: ${error}`);
      this.isAlive = false;
      return;
    }
    await this.system.start();
    this.#calls.start({
      heard: (what, shard) => (what === 'inbox' ? this.system.called() : this.#intake.call(shard)),
      answered: () => this.system.answered(),
    });
    this.#intake.start();
    this.#sweep();
    this.isServing = true;
  }

  /** As the composition root stops one. */
  async stop(): Promise<void> {
    await this.placement.drain();
    this.#calls.stop();
    this.#intake.stop();
    await this.system.stop();
    await this.placement.stop();
    this.#deps.database.table.records.delete(memberText(this.me));
    this.isAlive = false;
  }

  crash(): void {
    if (this.isAlive) this.#deps.world.note(() => `${this.name} dies`);
    this.isAlive = false;
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
    for (const run of this.#held.splice(0)) this.#feel(run);
  }

  /** A message from outside was stored by this process. */
  accepted(to: Address): void {
    this.#feel(() => {
      const shard = shardOf(to);
      if (this.placement.epochOf(shard) === null) this.#calls.snapshotsWait([shard]);
      this.#intake.call(shard);
    });
  }

  async #perform(effect: PerformedEffect, from: Address): Promise<void> {
    const { world, stillOwns, called } = this.#deps;
    const shard = shardOf(from);
    const stopped = this.#deps.pauseBeforeCall();
    if (stopped > 0 && !this.isPaused) {
      world.note(() => `${this.name} stops for ${stopped} µs before a call`);
      this.pause();
      world.after(stopped, () => this.resume());
    }
    await new Promise<void>((resolve) =>
      world.after(world.random.between(0, 20_000), () => this.#feel(resolve)),
    );
    try {
      if (!(await stillOwns(this.system, from))) return;
    } catch (error) {
      world.note(() => `${this.name} cannot tell whether it owns ${from.key}: ${error}`);
      return;
    }
    called(effect, from, this.name);
    this.#calling.set(shard, (this.#calling.get(shard) ?? 0) + 1);
    world.after(world.random.between(1000, 2e6), () => {
      const left = (this.#calling.get(shard) ?? 1) - 1;
      if (left === 0) this.#calling.delete(shard);
      else this.#calling.set(shard, left);
    });
  }

  #refreshRecord(): void {
    if (!this.isAlive) return;
    this.#writeRecord();
    this.#clock.after(RECORD_EVERY, () => this.#refreshRecord());
  }

  #writeRecord(): void {
    if (!this.isAlive) return;
    const { database, world } = this.#deps;
    database.table.refresh(this.me, world.now, this.placement.leadership.isLeader);
  }

  #noticeSignals(): void {
    this.#signals.notice();
    this.#clock.after(NOTICE, () => this.#noticeSignals());
  }

  #sweep(): void {
    this.#intake.sweep();
    this.#clock.after(SWEEP, () => this.#sweep());
  }

  /** Runs it unless the process is dead, and not before it goes on. */
  #feel(run: () => void): void {
    if (!this.isAlive) return;
    if (this.isPaused) this.#held.push(run);
    else run();
  }

  #read<T>(read: () => T): Promise<T> {
    const { world } = this.#deps;
    return new Promise((resolve) => {
      world.after(world.random.between(100, 3000), () => {
        if (!this.isAlive) return;
        const answer = read();
        world.after(world.random.between(100, 3000), () => this.#feel(() => resolve(answer)));
      });
    });
  }

  #arrives<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      answer.then(
        (value) => this.#feel(() => resolve(value)),
        (error) => this.#feel(() => reject(error)),
      );
    });
  }

  #felt(inner: Coordination): Coordination {
    return {
      beat: (beat) => this.#arrives(inner.beat(beat)),
      assign: (...args) => this.#arrives(inner.assign(...args)),
      release: (...args) => this.#arrives(inner.release(...args)),
      leave: (...args) => this.#arrives(inner.leave(...args)),
      onChange: (listener) => inner.onChange(() => this.#feel(listener)),
    };
  }

  #feltStore(link: Link): ActorStore {
    return {
      load: (...args) => this.#arrives(link.load(...args)),
      inbox: (...args) => this.#arrives(link.inbox(...args)),
      due: (...args) => this.#arrives(link.due(...args)),
      nextWake: (...args) => this.#arrives(link.nextWake(...args)),
      post: (...args) => this.#arrives(link.post(...args)),
      takeReplies: (...args) => this.#arrives(link.takeReplies(...args)),
      epochs: (...args) => this.#arrives(link.epochs(...args)),
      commit: (...args) => this.#arrives(link.commit(...args)),
    };
  }
}
