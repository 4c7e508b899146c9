import type { Clock, Micros, Monotonic } from '../clock.ts';
import type { Log } from '../log.ts';
import { sameTargets, targetsOf } from './assignment.ts';
import type { Coordination, Member, Picture, Targets } from './coordination.ts';
import type { ReplicaRecords } from './replica-records.ts';

export interface AssignerDeps {
  readonly me: Member;
  readonly coordination: Pick<Coordination, 'assign'>;
  readonly records: ReplicaRecords;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly log: Log;
  readonly shards?: number;
  /** Who lives by the records is known now: the next beat may assign. */
  onKnown(): void;
}

/** The Leader's part: says who shall act for which shard whenever the members changed (operations §5.2 rule 1). */
export class Assigner {
  readonly #deps: AssignerDeps;
  /** Until when absent members are waited for, by the monotonic clock. */
  #settledAt: Micros = 0;
  #isNew = false;
  /** Who lives by the records, as read since waiting began; null before. */
  #live: readonly Member[] | null = null;
  #isReading = false;
  #members = '';
  #targets: Targets = [];

  constructor(deps: AssignerDeps) {
    this.#deps = deps;
  }

  /**
   * The place to meet was away or forgot everything, or this member is new: those who were there before have until then
   * to come back.
   * @param isNew then one that drains stops for good; after an outage it may be one that is about to come back
   */
  waitUntil(at: Micros, isNew: boolean): void {
    this.#settledAt = at;
    this.#isNew = isNew;
    this.#live = null;
  }

  /** Call it with what a beat of the Leader found. @throws {CoordinationUnavailableError} */
  async assign(picture: Picture): Promise<void> {
    const ids = picture.replicas.filter((it) => !it.isDraining).map(({ id }) => id);
    if (ids.length === 0) return;
    const targets = this.#targetsOf(ids);
    if (picture.targets !== null && sameTargets(picture.targets, targets)) return;
    const present = this.#isNew ? picture.replicas.map(({ id }) => id) : ids;
    if (this.#deps.monotonic() < this.#settledAt && !this.#isComplete(present)) return;
    await this.#deps.coordination.assign(this.#deps.me, picture.generation, targets);
  }

  /** Members seldom change and beats are many. */
  #targetsOf(ids: readonly string[]): Targets {
    const members = JSON.stringify(ids);
    if (this.#members !== members) this.#targets = targetsOf(ids, this.#deps.shards);
    this.#members = members;
    return this.#targets;
  }

  /** Whether everybody is there who was before. The database is read beside the beats, which go on. */
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
