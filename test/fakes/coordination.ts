/** The rules of {@link Coordination} in memory, on a clock of the test's: what the scripts in Redis do. */
import { SHARDS } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import {
  type Beat,
  type Coordination,
  CoordinationUnavailableError,
  DuplicateReplicaError,
  type LiveReplica,
  type Member,
  type Picture,
  type Targets,
} from '../../runtime/placement/coordination.ts';
import { LEASE_TTL } from '../../runtime/placement/lease-times.ts';

interface Lease extends LiveReplica {
  readonly until: Micros;
}

export interface MeetingPlaceDeps {
  now(): Micros;
  /** How long a message takes there or back; rejects never. */
  travel(): Promise<void>;
  /** How many shards are granted; those of the product unless said. */
  readonly shards?: number;
}

/** A model of Redis, shared by the {@link Coordination}s that it hands out. */
export class MeetingPlace {
  /** No answers while true, and nothing that is asked for happens. */
  isAway = false;
  /** While it is frozen: what was asked for, to happen when it goes on. Nobody waits for the answers any more. */
  #late: (() => void)[] | null = null;
  readonly #deps: MeetingPlaceDeps;
  readonly #listeners = new Map<string, Set<() => void>>();
  #leases = new Map<string, Lease>();
  #leader: { readonly member: Member; readonly until: Micros } | null = null;
  #assignment: { readonly generation: number; readonly targets: Targets } | null = null;
  #grants = new Map<number, Member>();

  constructor(deps: MeetingPlaceDeps) {
    this.#deps = deps;
  }

  /** Forgets everything. */
  flush(): void {
    this.#leases = new Map();
    this.#leader = null;
    this.#assignment = null;
    this.#grants = new Map();
  }

  /** Gives no answers from here on. */
  freeze(): void {
    this.#late ??= [];
  }

  /** Does what was asked for meanwhile, and goes on. */
  thaw(): void {
    const late = this.#late ?? [];
    this.#late = null;
    for (const act of late) act();
  }

  get isReachable(): boolean {
    return !this.isAway && this.#late === null;
  }

  /** Knows from here on what the other knew at this moment, as a copy that was promoted does. */
  copy(other: MeetingPlace): void {
    this.#leases = new Map(other.#leases);
    this.#leader = other.#leader;
    this.#assignment = other.#assignment;
    this.#grants = new Map(other.#grants);
  }

  holderOf(shard: number): Member | null {
    return this.#grants.get(shard) ?? null;
  }

  /** @param isCut says whether this member's messages are swallowed now */
  coordination(name: string, isCut: () => boolean = () => false): Coordination {
    const listeners = new Set<() => void>();
    this.#listeners.set(name, listeners);
    const visit = async <T>(act: () => T): Promise<T> => {
      await this.#deps.travel();
      if (this.isAway || isCut()) throw new CoordinationUnavailableError('no answer');
      if (this.#late !== null) {
        this.#late.push(() => void attempt(act));
        throw new CoordinationUnavailableError('no answer in time');
      }
      const outcome = act();
      await this.#deps.travel();
      if (!this.isReachable || isCut()) throw new CoordinationUnavailableError('no answer');
      return outcome;
    };
    return {
      beat: (beat) => visit(() => this.#beat(beat)),
      assign: (me, generation, targets) => visit(() => this.#assign(me, generation, targets)),
      release: (me, shards) => visit(() => this.#release(me, shards)),
      leave: (me) => visit(() => this.#leave(me)),
      onChange: (listener) => {
        const heard = () => {
          if (this.isReachable && !isCut()) listener();
        };
        listeners.add(heard);
        return () => listeners.delete(heard);
      },
    };
  }

  #beat({ id, boot, version, isDraining, holds }: Beat): Picture {
    const now = this.#deps.now();
    for (const [other, { until }] of this.#leases) if (until <= now) this.#leases.delete(other);
    if (this.#leader !== null && this.#leader.until <= now) this.#leader = null;
    const known = this.#leases.get(id);
    if (known && known.boot !== boot) throw new DuplicateReplicaError(id);
    this.#leases.set(id, { id, boot, version, isDraining, until: now + LEASE_TTL });
    const me = { id, boot };
    const hasLed = this.#stillLeads(me);
    if (isDraining && hasLed) this.#leader = null;
    else if (!isDraining && (hasLed || this.#leader === null)) {
      this.#leader = { member: me, until: now + LEASE_TTL };
    }
    this.#grant(me, isDraining, new Set(holds));
    const isNews = known === undefined || known.isDraining !== isDraining || hasLed !== this.#stillLeads(me);
    if (isNews) this.#tell();
    return this.#pictureFor(me);
  }

  #grant(me: Member, isDraining: boolean, holds: ReadonlySet<number>): void {
    const shards = this.#deps.shards ?? SHARDS;
    for (let shard = 0; shard < shards; shard++) {
      const holder = this.#grants.get(shard);
      if (holder !== undefined && this.#leases.get(holder.id)?.boot === holder.boot) continue;
      const isWanted = !isDraining && this.#assignment?.targets[shard] === me.id;
      if (holds.has(shard) || isWanted) this.#grants.set(shard, me);
    }
  }

  #pictureFor(me: Member): Picture {
    return {
      replicas: [...this.#leases.values()]
        .map(({ id, boot, version, isDraining }) => ({ id, boot, version, isDraining }))
        .sort((a, b) => (a.id < b.id ? -1 : 1)),
      leader: this.#leader?.member ?? null,
      generation: this.#assignment?.generation ?? 0,
      targets: this.#assignment?.targets ?? null,
      granted: this.#grantedTo(me),
    };
  }

  #grantedTo(me: Member): number[] {
    const granted: number[] = [];
    for (const [shard, holder] of this.#grants) if (isSame(holder, me)) granted.push(shard);
    return granted;
  }

  #assign(me: Member, generation: number, targets: Targets): boolean {
    if (!this.#stillLeads(me) || (this.#assignment?.generation ?? 0) !== generation) return false;
    this.#assignment = { generation: generation + 1, targets };
    this.#tell();
    return true;
  }

  #release(me: Member, shards: readonly number[]): void {
    for (const shard of shards) {
      const holder = this.#grants.get(shard);
      if (holder && isSame(holder, me)) this.#grants.delete(shard);
    }
    this.#tell();
  }

  #leave(me: Member): void {
    this.#release(me, [...this.#grants.keys()]);
    if (this.#leases.get(me.id)?.boot === me.boot) this.#leases.delete(me.id);
    if (this.#stillLeads(me)) this.#leader = null;
    this.#tell();
  }

  #stillLeads(me: Member): boolean {
    if (this.#leader === null) return false;
    const { member, until } = this.#leader;
    return isSame(member, me) && until > this.#deps.now();
  }

  #tell(): void {
    for (const listeners of this.#listeners.values()) {
      void this.#deps.travel().then(() => {
        for (const listener of [...listeners]) listener();
      });
    }
  }
}

/** What comes of it nobody hears, a refusal included. */
function attempt(act: () => unknown): void {
  try {
    act();
  } catch (error) {
    if (!(error instanceof DuplicateReplicaError)) throw error;
  }
}

function isSame(a: Member, b: Member): boolean {
  return a.id === b.id && a.boot === b.boot;
}

/** A member's way to the one of two places that it reaches now: after a failover there may be two for a while. */
export function eitherPlace(here: Coordination, there: Coordination, isThere: () => boolean): Coordination {
  const current = () => (isThere() ? there : here);
  return {
    beat: (beat) => current().beat(beat),
    assign: (...args) => current().assign(...args),
    release: (...args) => current().release(...args),
    leave: (me) => current().leave(me),
    onChange(listener) {
      const stops = [
        here.onChange(() => isThere() || listener()),
        there.onChange(() => isThere() && listener()),
      ];
      return () => {
        for (const stop of stops) stop();
      };
    },
  };
}
