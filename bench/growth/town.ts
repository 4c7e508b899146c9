/**
 * Thousands of members with the real placement around one Redis and one table of shards, on virtual time. What
 * is between them is counted. Nothing fails here but members that a scenario ends: `test/simulation` is for faults.
 */
import { type Clock, type Micros, SECOND } from '../../runtime/clock.ts';
import { targetsOf } from '../../runtime/placement/assigner.ts';
import type { Coordination, Member } from '../../runtime/placement/coordination.ts';
import { LOOK_EVERY } from '../../runtime/placement/lease-times.ts';
import { createLeasedPlacement, type LeasedPlacement } from '../../runtime/placement/leased.ts';
import { MeetingPlace } from '../../test/fakes/coordination.ts';
import { ShardTable } from '../../test/simulation/shard-table.ts';
import { World } from '../../test/simulation/world.ts';
import { replicaIds } from './spread.ts';

/** One way to Redis or to the database, µs. */
const TRAVEL = [200, 600] as const;
/** How often a scenario looks whether it is over. */
const LOOK: Micros = 0.001 * SECOND;
/** Far more than any scenario needs. */
const MOST_EVENTS = 100_000_000;

/** What passed between members, Redis and the database. */
export interface Passed {
  readonly beats: number;
  /** Deliveries: one told to every member counts once a member. */
  readonly notices: number;
  readonly releases: number;
  readonly assignments: number;
  /** Shards whose epoch was raised. */
  readonly taken: number;
  /** Transactions that raised them. */
  readonly takeovers: number;
}

export type Passing = { -readonly [Key in keyof Passed]: Passed[Key] };

export interface Resident {
  readonly me: Member;
  readonly placement: LeasedPlacement;
  isDead: boolean;
}

export class Town {
  readonly world: World;
  readonly table: ShardTable;
  readonly passed: Passing = {
    ...{ beats: 0, notices: 0, releases: 0, assignments: 0, taken: 0, takeovers: 0 },
  };
  readonly residents = new Map<string, Resident>();
  readonly #shards: number;
  readonly #beatCost: Micros;
  /** Until when Redis is occupied with the beats that have reached it. */
  #busyUntil: Micros = 0;
  readonly #coordination: Coordination;
  readonly #listeners = new Set<() => void>();
  #boots = 0;

  private constructor(shards: number, beatCost: Micros) {
    this.#shards = shards;
    this.#beatCost = beatCost;
    this.world = new World(1, false, MOST_EVENTS);
    this.table = new ShardTable(shards);
    const place = new MeetingPlace({
      now: () => this.world.now,
      travel: () => this.world.pause(...TRAVEL),
      shards,
    });
    this.#coordination = place.coordination('town');
    this.#coordination.onChange(() => this.#tellAll());
  }

  /**
   * A town in which everybody is there and has what is meant for it.
   * @param beatCost for how long a beat occupies Redis, which serves one after the other, µs
   */
  static async settled(replicas: number, shards: number, beatCost: Micros = 0): Promise<Town> {
    const town = new Town(shards, beatCost);
    await town.#meet(replicaIds(replicas));
    for (const { placement } of town.residents.values()) {
      town.world.after(town.world.random.between(0, LOOK_EVERY), () => void placement.start());
    }
    await town.pass(1.5);
    if (!town.isWhole()) throw new Error('The town did not settle.');
    return town;
  }

  /** Lets them meet and agree before the first of them acts, so that no beginning has to be simulated. */
  async #meet(ids: readonly string[]): Promise<void> {
    const members = ids.map((id) => this.#settle(id).me);
    const met = Promise.all(
      members.map((me) => this.#coordination.beat({ ...me, version: '1.0.0', isDraining: false, holds: [] })),
    );
    await this.pass(0.01);
    const [picture] = await met;
    await Promise.all([
      this.#coordination.assign(picture!.leader!, 0, targetsOf(ids, this.#shards)),
      this.pass(0.01),
    ]);
  }

  /** Who leads and lives; null for a moment after it ended. */
  get leader(): Resident | null {
    return [...this.residents.values()].find((it) => !it.isDead && it.placement.leadership.isLeader) ?? null;
  }

  resident(id: string): Resident {
    const found = this.residents.get(id);
    if (found === undefined) throw new Error(`There is no ${id}`);
    return found;
  }

  /** Starts a member under a new id, or again under one that has ended. */
  join(id: string): Resident {
    const resident = this.#settle(id);
    void resident.placement.start();
    return resident;
  }

  /** Ends it as SIGKILL does. @returns its shards */
  kill(id: string): number[] {
    const resident = this.resident(id);
    resident.isDead = true;
    return resident.placement.owned().map(({ shard }) => shard);
  }

  pass(seconds: number): Promise<void> {
    return this.world.runUntil(() => false, this.world.now + Math.round(seconds * SECOND));
  }

  /** Seconds until the condition holds. @throws {Error} it does not within a minute */
  async until(holds: () => boolean): Promise<number> {
    const start = this.world.now;
    while (!holds()) {
      if (this.world.now - start > 60 * SECOND) throw new Error('It does not come to pass within a minute.');
      await this.pass(LOOK / SECOND);
    }
    return (this.world.now - start) / SECOND;
  }

  isWhole(): boolean {
    return this.table.owners.every((_, shard) => this.isOwned(shard));
  }

  /** Whether a living member acts for the shard under its newest epoch. */
  isOwned(shard: number): boolean {
    const [id] = this.table.owners[shard]?.split('/') ?? [];
    const owner = id === undefined ? undefined : this.residents.get(id);
    return (
      owner !== undefined &&
      !owner.isDead &&
      owner.placement.epochOf(shard) === (this.table.epochs[shard] ?? null)
    );
  }

  #settle(id: string): Resident {
    const me = { id, boot: String(++this.#boots) };
    const isDead = () => resident.isDead;
    const placement = createLeasedPlacement({
      me,
      version: '1.0.0',
      coordination: this.#coordinationOf(isDead),
      epochs: {
        raise: async (shards, owner) => {
          this.passed.takeovers++;
          this.passed.taken += shards.length;
          await this.world.pause(...TRAVEL);
          const raised = this.table.raise(shards, owner, this.world.now);
          await this.world.pause(...TRAVEL);
          return raised;
        },
        newest: async () => this.table.newest(),
        ownedBy: async (owner) => this.table.ownedBy(owner),
      },
      database: { arrive: true, areMissing: false },
      records: {
        live: async () => [...this.residents.values()].map((it) => it.me),
        leaders: async () => [],
        orphans: async () => [],
      },
      clock: this.#clockOf(isDead),
      monotonic: () => this.world.now,
      log: () => undefined,
      metrics: { moved: () => undefined, watchShards: () => undefined },
      isCalling: () => false,
      shards: this.#shards,
    });
    placement.onChange(() => placement.followed());
    const resident: Resident = { me, placement, isDead: false };
    this.residents.set(id, resident);
    return resident;
  }

  #clockOf(isDead: () => boolean): Clock {
    const { clock } = this.world;
    return {
      now: () => clock.now(),
      after: (delay, run) =>
        clock.after(delay, () => {
          if (!isDead()) run();
        }),
    };
  }

  /** Nothing leaves a dead member. */
  #coordinationOf(isDead: () => boolean): Coordination {
    const place = this.#coordination;
    const { passed } = this;
    return {
      beat: async (beat) => {
        passed.beats++;
        await this.#turn(this.#beatCost);
        return place.beat(beat);
      },
      assign: async (...args) => {
        passed.assignments++;
        await this.#turn(0);
        return place.assign(...args);
      },
      release: async (...args) => {
        passed.releases++;
        await this.#turn(0);
        return place.release(...args);
      },
      leave: async (me) => {
        await this.#turn(0);
        return place.leave(me);
      },
      onChange: (listener) => {
        const heard = () => {
          if (!isDead()) listener();
        };
        this.#listeners.add(heard);
        return () => this.#listeners.delete(heard);
      },
    };
  }

  /** Waits until Redis has served everybody who came before, and this one. */
  #turn(cost: Micros): Promise<void> {
    const { now } = this.world;
    this.#busyUntil = Math.max(now, this.#busyUntil) + cost;
    if (this.#beatCost === 0) return Promise.resolve();
    return new Promise((resolve) => this.world.after(this.#busyUntil - now, resolve));
  }

  /** Everybody hears at once: what one notice costs is the same, and there are fewer events. */
  #tellAll(): void {
    this.passed.notices += this.#listeners.size;
    for (const listener of [...this.#listeners]) listener();
  }
}
