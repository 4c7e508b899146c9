/** Which replica should own which shard (operations §5.2, §5.5): rendezvous hashing, the Leader's assignment, and adoption without Redis. */
import { SHARDS } from '../actor/index.ts';
import type { Clock, Micros, Monotonic } from '../clock.ts';
import type { Log } from '../log.ts';
import { type Coordination, type Member, memberText, type Picture, type Targets } from './coordination.ts';
import { ORPHANS_EVERY } from './lease-times.ts';
import type { ReplicaRecords } from './replica-record.ts';
import type { EpochStore } from './shard-book.ts';

export interface AssignerDeps {
  readonly me: Member;
  readonly coordination: Pick<Coordination, 'assign'>;
  readonly records: ReplicaRecords;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly log: Log;
  readonly shards?: number;
  /** The live members are read from the records: the next beat may assign. */
  onKnown(): void;
}

/** Run by the Leader: assigns shards to replicas whenever the members changed (operations §5.2 rule 1). */
export class Assigner {
  readonly #deps: AssignerDeps;
  /** Absent members may return until then, monotonic clock. */
  #settledAt: Micros = 0;
  #isNew = false;
  /** Live members by the records, read since waiting began; null before. */
  #live: readonly Member[] | null = null;
  #isReading = false;
  #members = '';
  #targets: Targets = [];

  constructor(deps: AssignerDeps) {
    this.#deps = deps;
  }

  /**
   * Redis was unavailable or emptied, or this member is new: absent members have until `at` to return before their shards
   * are assigned to others.
   * @param isNew this member is new: a draining member is then stopping. After an outage it may be one that returns
   */
  waitUntil(at: Micros, isNew: boolean): void {
    this.#settledAt = at;
    this.#isNew = isNew;
    this.#live = null;
  }

  /** Call it with the result of each of the Leader's beats. @throws {CoordinationUnavailableError} */
  async assign(picture: Picture): Promise<void> {
    const ids = picture.replicas.filter((it) => !it.isDraining).map(({ id }) => id);
    if (ids.length === 0) return;
    const targets = this.#targetsOf(ids);
    if (picture.targets !== null && sameTargets(picture.targets, targets)) return;
    const present = this.#isNew ? picture.replicas.map(({ id }) => id) : ids;
    if (this.#deps.monotonic() < this.#settledAt && !this.#isComplete(present)) return;
    await this.#deps.coordination.assign(this.#deps.me, picture.generation, targets);
  }

  /** Cached, because members change seldom and beats are frequent. */
  #targetsOf(ids: readonly string[]): Targets {
    const members = JSON.stringify(ids);
    if (this.#members !== members) this.#targets = targetsOf(ids, this.#deps.shards);
    this.#members = members;
    return this.#targets;
  }

  /** Whether every live member by the records is present. The records are read while beats go on. */
  #isComplete(present: readonly string[]): boolean {
    const here = new Set(present);
    const isComplete = this.#live?.every(({ id }) => here.has(id)) === true;
    if (!isComplete && !this.#isReading) void this.#read();
    return isComplete;
  }

  async #read(): Promise<void> {
    const { records, clock, log, onKnown } = this.#deps;
    const until = this.#settledAt;
    const wasKnown = this.#live !== null;
    this.#isReading = true;
    try {
      const live = await records.live(clock.now());
      if (this.#settledAt === until) this.#live = live;
    } catch (error) {
      log('store_read_failed', { what: 'replicas', error: String(error) });
    }
    this.#isReading = false;
    if (!wasKnown && this.#live !== null) onKnown();
  }
}

/**
 * Rendezvous hashing: every shard goes to the replica that scores highest for it. A joining replica only takes shards, a
 * leaving one only gives up its own, and the same replicas always give the same targets.
 * @param replicas ids, in any order
 * @param shards how many there are; another number than the product's answers "what if"
 */
export function targetsOf(replicas: readonly string[], shards = SHARDS): Targets {
  const seeds = [...new Set(replicas)].sort().map((id) => ({ id, seed: seedOf(id) }));
  return Array.from({ length: shards }, (_, shard) => {
    let best: string | null = null;
    let most = -1;
    for (const { id, seed } of seeds) {
      const score = scoreOf(seed, shard);
      if (score <= most) continue;
      most = score;
      best = id;
    }
    return best;
  });
}

export function sameTargets(a: Targets, b: Targets): boolean {
  return a.length === b.length && a.every((id, shard) => id === b[shard]);
}

/** FNV-1a over UTF-16 code units, 32 bits. */
function seedOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < id.length; index++) {
    hash = Math.imul(hash ^ id.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}

/** Mixes until every bit of the outcome depends on every bit of both (MurmurHash3's finaliser, twice). */
function scoreOf(seed: number, shard: number): number {
  return mixed(mixed(seed) ^ Math.imul(shard + 1, 0x9e3779b1));
}

function mixed(value: number): number {
  let bits = value;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

export interface AdoptionDeps {
  readonly me: Member;
  readonly epochs: Pick<EpochStore, 'ownedBy'>;
  readonly records: ReplicaRecords;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly log: Log;
  readonly shards?: number;
}

/**
 * Without Redis placement is frozen, except for ownerless shards: one whose move was interrupted returns to its last
 * owner, and those of a dead member are divided among the live ones (operations §5.5 rule 3).
 */
export class Adoption {
  readonly #deps: AdoptionDeps;
  #lookedAt: Micros | null = null;

  constructor(deps: AdoptionDeps) {
    this.#deps = deps;
  }

  /** Free shards that this member should take; reads the database once per {@link ORPHANS_EVERY}, otherwise none. */
  async wanted(isFree: (shard: number) => boolean): Promise<number[]> {
    const { me, epochs, records, clock, monotonic, log, shards } = this.#deps;
    if (this.#lookedAt !== null && monotonic() - this.#lookedAt < ORPHANS_EVERY) return [];
    this.#lookedAt = monotonic();
    const now = clock.now();
    try {
      const [live, orphans, own] = await Promise.all([
        records.live(now),
        records.orphans(now),
        epochs.ownedBy(memberText(me)),
      ]);
      const targets = targetsOf([me.id, ...live.map(({ id }) => id)], shards);
      const adopted = orphans.filter((shard) => targets[shard] === me.id);
      return [...new Set([...adopted, ...own])].filter(isFree);
    } catch (error) {
      // The database is unavailable, too: the next call reads again.
      log('store_read_failed', { what: 'shards', error: String(error) });
      return [];
    }
  }
}
