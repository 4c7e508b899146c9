/** Members with leased placement around one Redis and one database, on virtual time. */
import { Registry } from 'prom-client';
import { SHARDS } from '../../runtime/actor/index.ts';
import { type Clock, SECOND } from '../../runtime/clock.ts';
import type { Log, LogEvent } from '../../runtime/log.ts';
import { type Coordination, type Member, memberText } from '../../runtime/placement/coordination.ts';
import { createDatabaseAnswers } from '../../runtime/placement/database-answers.ts';
import { RECORD_EVERY } from '../../runtime/placement/lease-times.ts';
import { createLeasedPlacement, type LeasedPlacement } from '../../runtime/placement/leased.ts';
import { createPlacementMetrics } from '../../runtime/placement/metrics.ts';
import { eitherPlace, MeetingPlace } from '../fakes/coordination.ts';
import { ShardTable } from './shard-table.ts';
import type { World } from './world.ts';

/** One process with nothing but placement: its engine follows every change at once unless a test wants it slow. */
export class PlacementMember {
  readonly me: Member;
  readonly placement: LeasedPlacement;
  readonly logged: LogEvent[] = [];
  /** Nothing fires while the process is stopped; what was due fires afterwards. */
  isPaused = false;
  isDead = false;
  /** Why it could not start. */
  refusal: string | null = null;
  isCut = false;
  /** The database does not answer it. */
  isBlind = false;
  /** It meets at the other place. */
  isThere = false;
  isSlow = false;
  calling = new Set<number>();
  readonly #held: (() => void)[] = [];

  constructor(hall: PlacementWorld, id: string, boot: string) {
    this.me = { id, boot };
    const { world, table } = hall;
    const clock = this.#clock(world.clock);
    const database = createDatabaseAnswers({
      ask: () => this.#read(() => undefined),
      clock,
      monotonic: () => world.now,
    });
    database.start();
    this.placement = createLeasedPlacement({
      me: this.me,
      version: '1.0.0',
      coordination: this.#coordination(hall),
      epochs: {
        raise: async (shards, owner) => {
          await this.#travel(world);
          if (this.isBlind) return new Promise(() => undefined);
          const raised = table.raise(shards, owner, world.now);
          await this.#travel(world);
          return raised;
        },
        ownedBy: (owner) => this.#read(() => table.ownedBy(owner)),
        newest: () => this.#read(() => table.newest()),
      },
      records: {
        live: (now) => this.#read(() => table.live(now)),
        leaders: (now) => this.#read(() => table.leaders(now)),
        orphans: (now) => this.#read(() => table.orphans(now)),
      },
      database,
      clock,
      monotonic: () => world.now,
      log: this.#log(world),
      metrics: createPlacementMetrics(new Registry()),
      isCalling: (shard) => this.calling.has(shard),
    });
    this.placement.onChange(() => {
      if (!this.isSlow) this.placement.followed();
    });
    const write = () => {
      if (!this.isDead && !this.isBlind) table.refresh(this.me, world.now, this.isLeader);
    };
    const record = () => {
      write();
      clock.after(RECORD_EVERY, record);
    };
    record();
    this.placement.leadership.onChange(write);
  }

  shards(): number[] {
    return this.placement.owned().map(({ shard }) => shard);
  }

  get isLeader(): boolean {
    return this.placement.leadership.isLeader;
  }

  kill(): void {
    this.isDead = true;
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
    for (const run of this.#held.splice(0)) run();
  }

  async #read<T>(read: () => T): Promise<T> {
    if (this.isBlind) throw new Error('the database does not answer');
    return read();
  }

  /** Runs it unless the process is dead, and not before it goes on. */
  #feel(run: () => void): void {
    if (this.isDead) return;
    if (this.isPaused) this.#held.push(run);
    else run();
  }

  #clock(clock: Clock): Clock {
    return { now: () => clock.now(), after: (delay, run) => clock.after(delay, () => this.#feel(run)) };
  }

  #coordination({ place, other }: PlacementWorld): Coordination {
    const isCut = () => this.isCut || this.isDead;
    const name = memberText(this.me);
    const inner = eitherPlace(
      place.coordination(name, isCut),
      other.coordination(name, isCut),
      () => this.isThere,
    );
    const felt = <T>(answer: Promise<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        answer.then(
          (value) => this.#feel(() => resolve(value)),
          (error) => this.#feel(() => reject(error)),
        );
      });
    return {
      beat: (beat) => felt(inner.beat(beat)),
      assign: (...args) => felt(inner.assign(...args)),
      release: (...args) => felt(inner.release(...args)),
      leave: (...args) => felt(inner.leave(...args)),
      onChange: (listener) => inner.onChange(() => this.#feel(listener)),
    };
  }

  #travel(world: World): Promise<void> {
    return new Promise((resolve) => {
      world.after(world.random.between(200, 3000), () => this.#feel(resolve));
    });
  }

  #log(world: World): Log {
    return (event, fields) => {
      this.logged.push(event);
      world.note(() => `${this.me.id} ${event} ${JSON.stringify(fields ?? {})}`);
    };
  }
}

export class PlacementWorld {
  readonly world: World;
  readonly table = new ShardTable();
  readonly place: MeetingPlace;
  /** A second one, where some members meet when a failover left two. */
  readonly other: MeetingPlace;
  readonly members: PlacementMember[] = [];
  #boots = 0;

  constructor(world: World) {
    this.world = world;
    const deps = { now: () => world.now, travel: () => world.pause(100, 2000) };
    this.place = new MeetingPlace(deps);
    this.other = new MeetingPlace(deps);
  }

  /** Starts a member and does not wait for it; one that cannot start is dead. */
  launch(id: string): PlacementMember {
    const member = new PlacementMember(this, id, String(++this.#boots));
    this.members.push(member);
    member.placement.start().catch((error: Error) => {
      member.refusal = error.message;
      member.kill();
    });
    return member;
  }

  pass(seconds: number): Promise<void> {
    return this.world.runUntil(() => false, this.world.now + seconds * SECOND);
  }

  /** By shard: how many members own it under its newest epoch. */
  owners(): number[] {
    const counts: number[] = new Array(SHARDS).fill(0);
    for (const member of this.members) {
      if (member.isDead) continue;
      for (const { shard, epoch } of member.placement.owned()) {
        if (this.table.epochs[shard] === epoch) counts[shard]!++;
      }
    }
    return counts;
  }

  isWhole(): boolean {
    return this.owners().every((count) => count === 1);
  }
}
