/**
 * Placement of several replicas (operations §5.2, §5.5). A beat every half second renews this member's lease and returns
 * the members, the Leader and this member's grants; this file acts on them. Correctness does not depend on it: of two
 * members that both believe to own a shard, only the one with the newest epoch can commit.
 */
import type { Placement, ShardEpoch } from '../actor/index.ts';
import type { Clock, Micros, Monotonic } from '../clock.ts';
import type { Log } from '../log.ts';
import { Rounds } from '../rounds.ts';
import { Adoption, Assigner } from './assigner.ts';
import { ContestedShards } from './contested-shards.ts';
import {
  type Coordination,
  CoordinationUnavailableError,
  DuplicateReplicaError,
  type Member,
  memberText,
  type Picture,
} from './coordination.ts';
import type { DatabaseAnswers } from './database-answers.ts';
import { LeaderWithoutRedis } from './leader-without-redis.ts';
import { Lead, type Leadership, Listeners } from './leadership.ts';
import {
  CALLS_LOOK,
  COMPARE_EVERY,
  DOUBT_AFTER,
  DRAIN_WITHIN,
  LEASE_TTL,
  LONE_LOOK_EVERY,
  LOOK_EVERY,
} from './lease-times.ts';
import type { PlacementMetrics } from './metrics.ts';
import type { ReplicaRecords } from './replica-record.ts';
import { ShardAcquisition } from './shard-acquisition.ts';
import { DrainingShards, type EpochStore, ShardBook, Stuck } from './shard-book.ts';

export interface LeasedDeps {
  readonly me: Member;
  readonly version: string;
  readonly coordination: Coordination;
  readonly epochs: EpochStore;
  readonly records: ReplicaRecords;
  /** Without answers this member steps back, so that members with a database take its lead and its shards. */
  readonly database: DatabaseAnswers;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly log: Log;
  readonly metrics: PlacementMetrics;
  /** Whether an outbound call of an actor of the shard is under way, whose outcome should be stored before it moves. */
  isCalling(shard: number): boolean;
  /** How many shards there are; those of the product unless a simulation asks "what if". */
  readonly shards?: number;
}

export interface LeasedPlacement extends Placement {
  readonly leadership: Leadership;
  /** The result of the last beat; null before the first. */
  picture(): Picture | null;
  /** Calls back after every beat that found another set of members or another Leader. */
  onMembers(listener: () => void): () => void;
  /**
   * Begins to beat; resolves with the first beat, or after a while when Redis is unavailable.
   * @throws {Error} another process runs under this id
   */
  start(): Promise<void>;
  /** Hands the lead and the shards over; resolves when others have them, when there is no other member, or after a while. */
  drain(): Promise<void>;
  /** Owns nothing from here on and takes back its lease. */
  stop(): Promise<void>;
}

export function createLeasedPlacement(deps: LeasedDeps): LeasedPlacement {
  return new Leased(deps);
}

class Leased implements LeasedPlacement {
  readonly #deps: LeasedDeps;
  readonly #book: ShardBook;
  readonly #lead: Lead;
  readonly #assigner: Assigner;
  readonly #adoption: Adoption;
  readonly #acquisition: ShardAcquisition;
  readonly #leaderWithoutRedis: LeaderWithoutRedis;
  readonly #draining: DrainingShards;
  readonly #stuck: Stuck;
  readonly #contested = new ContestedShards();
  readonly #rounds: Rounds;
  readonly #ownership = new Listeners();
  readonly #members = new Listeners();
  #picture: Picture | null = null;
  #isDraining = false;
  #isStopped = false;
  #unsubscribe: () => void = () => undefined;
  /** When the last beat that was confirmed began, by the monotonic clock. */
  #confirmedAt: Micros | null = null;
  #wasTold = false;
  #hasSteppedBack = false;

  constructor(deps: LeasedDeps) {
    this.#deps = deps;
    this.#book = new ShardBook(deps.me, deps.shards);
    this.#lead = new Lead(deps.log);
    this.#assigner = new Assigner({ ...deps, onKnown: () => this.#rounds.soon() });
    this.#adoption = new Adoption(deps);
    this.#acquisition = new ShardAcquisition({ ...deps, book: this.#book });
    this.#leaderWithoutRedis = new LeaderWithoutRedis({ ...deps, lead: this.#lead });
    this.#draining = new DrainingShards(deps);
    this.#stuck = new Stuck({ ...deps, book: this.#book });
    this.#rounds = new Rounds(deps.clock, () => this.#round());
    deps.metrics.watchShards(() => this.#book.owned().length);
  }

  get leadership(): Leadership {
    return this.#lead;
  }

  epochOf(shard: number): number | null {
    return this.#book.epochOf(shard);
  }

  owned(): readonly ShardEpoch[] {
    return this.#book.owned();
  }

  onChange(listener: () => void): () => void {
    return this.#ownership.add(listener);
  }

  onMembers(listener: () => void): () => void {
    return this.#members.add(listener);
  }

  readonly isAlone = false;

  picture(): Picture | null {
    return this.#picture;
  }

  followed(): void {
    const left = this.#book.left();
    if (left.length > 0) this.#release(left);
  }

  fenced(lost: readonly ShardEpoch[]): void {
    const shards = this.#book.fenced(lost);
    if (shards.length === 0) return;
    this.#contested.fenced(shards, this.#deps.monotonic());
    queueMicrotask(() => this.#ownership.call());
    this.#rounds.soon();
  }

  async start(): Promise<void> {
    await admission({ ...this.#deps, beat: () => this.#beat(), isStopped: () => this.#isStopped });
    if (this.#isStopped) return;
    // Not before: rounds would look while this waits. What changed meanwhile, by its own beat too, is looked at now.
    this.#unsubscribe = this.#deps.coordination.onChange(() => this.#rounds.soon());
    this.#rounds.begin();
  }

  async drain(): Promise<void> {
    const { monotonic } = this.#deps;
    this.#isDraining = true;
    this.#leaderWithoutRedis.stop();
    const end = monotonic() + DRAIN_WITHIN;
    this.#rounds.soon();
    while (!this.#book.isEmpty && !this.#isAlone() && monotonic() < end) await this.#wait(CALLS_LOOK / 5);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#isDraining = true;
    this.#rounds.stop();
    this.#leaderWithoutRedis.stop();
    this.#unsubscribe();
    this.#lead.set(false, 'this process stops');
    this.#book.clear();
    this.#ownership.call();
    try {
      await this.#deps.coordination.leave(this.#deps.me);
    } catch (error) {
      // The lease lapses by itself.
      if (!(error instanceof CoordinationUnavailableError)) throw error;
    }
  }

  /** Nobody else could take what this member has. */
  #isAlone(): boolean {
    const { me } = this.#deps;
    const others = this.#picture?.replicas.some(({ id, isDraining }) => id !== me.id && !isDraining);
    return this.#isAway() || others !== true;
  }

  /** No beat was confirmed for so long that Redis must be unavailable, or this process was paused. */
  #isAway(): boolean {
    return this.#confirmedAt === null || this.#deps.monotonic() - this.#confirmedAt > DOUBT_AFTER;
  }

  async #round(): Promise<Micros> {
    try {
      await this.#beat();
    } catch (error) {
      this.#failed(error);
    }
    void this.#compare();
    return this.#draining.isWaiting ? CALLS_LOOK : LOOK_EVERY;
  }

  async #compare(): Promise<void> {
    const isAway = this.#isAway();
    const lost = await this.#acquisition.outdated(isAway ? LONE_LOOK_EVERY : COMPARE_EVERY);
    this.fenced(lost);
    if (lost.length > 0 && isAway && this.#isAway())
      this.#lead.set(false, 'others took shards of this member');
  }

  async #beat(): Promise<void> {
    const { coordination, me, version, monotonic, database } = this.#deps;
    const begun = monotonic();
    const stepsBack = database.areMissing;
    const picture = await coordination.beat({
      ...{ id: me.id, boot: me.boot, version },
      isDraining: this.#isDraining || stepsBack,
      holds: this.#book.holds(),
    });
    if (this.#isStopped) return;
    const isBack = this.#isAway() || (this.#hasSteppedBack && !stepsBack);
    const isNew = this.#confirmedAt === null;
    if (isBack || hasForgotten(this.#picture, picture)) this.#assigner.waitUntil(begun + LEASE_TTL, isNew);
    this.#tellStep(stepsBack);
    this.#confirmedAt = begun;
    this.#leaderWithoutRedis.met();
    this.#wasTold = false;
    this.#see(picture);
    // A missing answer may mean that other members, too, are about to step back: nothing is assigned meanwhile.
    if (this.#lead.isLeader && database.arrive) await this.#assigner.assign(picture);
  }

  #see(picture: Picture): void {
    const before = this.#picture;
    this.#picture = picture;
    this.#acquisition.see(picture);
    const { leader } = picture;
    const leads = leader !== null && memberText(leader) === memberText(this.#deps.me);
    this.#lead.set(leads, this.#isDraining ? 'this process stops' : undefined);
    this.#follow(picture);
    if (before === null || membersText(before) !== membersText(picture)) this.#members.call();
  }

  #follow(picture: Picture): void {
    const now = this.#deps.monotonic();
    const { take, leave, lost, giveBack } = this.#book.compare(picture);
    const ready = this.#draining.over(leave);
    this.#book.drop(lost);
    this.#book.leave(ready);
    if (lost.length + ready.length > 0) this.#ownership.call();
    const unwanted = [...giveBack, ...this.#stuck.shards()];
    if (unwanted.length > 0) this.#release(unwanted);
    this.#contested.granted(picture.granted);
    void this.#take(take.filter((shard) => this.#contested.mayTake(shard, now)));
  }

  async #take(shards: readonly number[]): Promise<void> {
    if (shards.length === 0) return;
    const taken = await this.#acquisition.take(shards);
    if (taken.length === 0) return;
    this.#contested.taken(taken, this.#deps.monotonic());
    this.#ownership.call();
  }

  #release(shards: readonly number[]): void {
    this.#deps.coordination.release(this.#deps.me, shards).catch((error: unknown) => {
      // Still granted and of no use: the next beat gives them back.
      if (!(error instanceof CoordinationUnavailableError)) throw error;
    });
  }

  #failed(error: unknown): void {
    if (error instanceof DuplicateReplicaError) this.#superseded();
    else if (!(error instanceof CoordinationUnavailableError)) throw error;
    else if (!this.#isDraining) {
      void this.#adopt();
      void this.#leaderWithoutRedis.look();
    }
  }

  async #adopt(): Promise<void> {
    const confirmedAt = this.#confirmedAt;
    const wanted = await this.#adoption.wanted((shard) => this.#book.isFree(shard));
    // Redis is back: what was read is outdated.
    if (this.#confirmedAt === confirmedAt && !this.#isDraining) await this.#take(wanted);
  }

  /** Another process was started under this id while this one was paused. It must not act, and waits for its id. */
  #superseded(): void {
    if (!this.#wasTold) this.#deps.log('replica_id_taken', { id: this.#deps.me.id });
    this.#wasTold = true;
    this.#lead.set(false, 'another process runs under this id');
    this.#book.clear();
    this.#ownership.call();
  }

  #tellStep(stepsBack: boolean): void {
    if (stepsBack && !this.#hasSteppedBack) this.#deps.log('replica_stepped_back');
    this.#hasSteppedBack = stepsBack;
  }

  #wait(delay: Micros): Promise<void> {
    return new Promise((resolve) => void this.#deps.clock.after(delay, resolve));
  }
}

/** Whether Redis was emptied between two pictures: the assignment is gone, or is still missing and members are, too. */
function hasForgotten(before: Picture | null, now: Picture): boolean {
  if (now.targets !== null) return false;
  const here = new Set(now.replicas.map(memberText));
  return before?.targets !== null || before.replicas.some((it) => !here.has(memberText(it)));
}

function membersText({ replicas, leader }: Picture): string {
  return JSON.stringify([replicas.map(({ id, boot, isDraining }) => [id, boot, isDraining]), leader]);
}

export interface AdmissionDeps {
  readonly me: Member;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  beat(): Promise<void>;
  isStopped(): boolean;
}

/**
 * Resolves with the first confirmed beat, when the member is stopped, or when Redis stays unavailable: then it starts
 * without leases, as the others continue, and may adopt ownerless shards.
 * @throws {Error} another process runs under this id
 */
async function admission({ me, clock, monotonic, beat, isStopped }: AdmissionDeps): Promise<void> {
  // The lease of a process that was killed under this id may not have lapsed yet.
  const patience = monotonic() + 2 * LEASE_TTL;
  const loneliness = monotonic() + LEASE_TTL;
  while (!isStopped()) {
    try {
      return await beat();
    } catch (error) {
      const isTaken = error instanceof DuplicateReplicaError;
      if (!isTaken && !(error instanceof CoordinationUnavailableError)) throw error;
      if (isTaken && monotonic() > patience) {
        throw new Error(`another process runs as ${me.id}: give every replica an SVC_REPLICA_ID of its own`);
      }
      if (!isTaken && monotonic() > loneliness) return;
      await new Promise<void>((resolve) => clock.after(LOOK_EVERY, resolve));
    }
  }
}
