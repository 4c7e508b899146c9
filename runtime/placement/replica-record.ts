/** This process's record in the database: that it is alive, its version, and the keys it holds (operations §5.7). */
import type { Signals } from '../broadcast.ts';
import type { Clock, Micros, Timer } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Member } from './coordination.ts';
import type { Leadership } from './leadership.ts';
import { RECORD_EVERY } from './lease-times.ts';

export interface ReplicaRecord extends Member {
  readonly version: string;
  /** Commit of the build; may be empty. */
  readonly revision: string;
  readonly keyIds: readonly string[];
  readonly isLeader: boolean;
  /** Whether it is configured with Redis, reachable now or not. */
  readonly hasRedis: boolean;
  readonly startedAt: Micros;
}

export interface ReplicaRecordStore {
  /** Writes the record, refreshed now. @returns id of the key that is active in the database */
  write(record: ReplicaRecord, now: Micros): Promise<string>;
  remove(me: Member): Promise<void>;
}

export interface OwnRecordDeps {
  readonly me: Member;
  readonly version: string;
  readonly revision: string;
  readonly keyIds: readonly string[];
  readonly leadership: Leadership;
  /** Null without Redis. */
  readonly signals: Pick<Signals, 'onState'> | null;
  readonly store: ReplicaRecordStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Told with every write which key is active in the database. */
  readonly activeKey: (keyId: string) => void;
}

export interface OwnRecord {
  /** Writes the record now, every {@link RECORD_EVERY}, and when the lead or the state of Redis changed. */
  start(): void;
  /** Stops writing and removes the record; without a database it lapses instead. */
  stop(): Promise<void>;
}

export function createOwnRecord(deps: OwnRecordDeps): OwnRecord {
  return new Own(deps);
}

class Own implements OwnRecord {
  readonly #deps: OwnRecordDeps;
  readonly #startedAt: Micros;
  #stopListening: readonly (() => void)[] = [];
  #timer: Timer | null = null;
  /** The write under way. */
  #writing: Promise<void> | null = null;
  /** Something changed since it began. */
  #isOld = false;
  #isStopped = false;

  constructor(deps: OwnRecordDeps) {
    this.#deps = deps;
    this.#startedAt = deps.clock.now();
  }

  start(): void {
    if (this.#isStopped) return;
    const { leadership, signals } = this.#deps;
    const changed = () => this.#refresh();
    this.#stopListening = [leadership.onChange(changed), ...(signals ? [signals.onState(changed)] : [])];
    this.#refresh();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const stop of this.#stopListening) stop();
    this.#timer?.cancel();
    await this.#writing;
    await this.#orLog(() => this.#deps.store.remove(this.#deps.me));
  }

  #refresh(): void {
    if (this.#writing !== null) {
      this.#isOld = true;
      return;
    }
    this.#timer?.cancel();
    this.#isOld = false;
    this.#writing = this.#orLog(() => this.#write()).finally(() => this.#written());
  }

  #written(): void {
    this.#writing = null;
    if (this.#isStopped) return;
    if (this.#isOld) this.#refresh();
    else this.#timer = this.#deps.clock.after(RECORD_EVERY, () => this.#refresh());
  }

  async #write(): Promise<void> {
    const { me, version, revision, keyIds, leadership, signals, store, clock } = this.#deps;
    const activeKey = await store.write(
      {
        ...me,
        version,
        revision,
        keyIds,
        isLeader: leadership.isLeader,
        hasRedis: signals !== null,
        startedAt: this.#startedAt,
      },
      clock.now(),
    );
    this.#deps.activeKey(activeKey);
  }

  async #orLog(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      // The next refresh writes everything again; without any the record lapses.
      this.#deps.log('replica_record_failed', { error: String(error) });
    }
  }
}

/** A member whose record claims the lead. */
export interface LeaderRecord extends Member {
  readonly refreshedAt: Micros;
}

/**
 * Which replicas are alive, by their records in the database. Placement uses them without Redis (operations §5.5 rule 3),
 * so they err on the side of a replica that may still act: it counts as alive until its record is older than
 * `RECORD_LAPSES`.
 */
export interface ReplicaRecords {
  /** Members whose record is fresh, by id. @throws {StoreUnavailableError} */
  live(now: number): Promise<readonly Member[]>;
  /** Members whose record is fresh and says that they lead. @throws {StoreUnavailableError} */
  leaders(now: number): Promise<readonly LeaderRecord[]>;
  /** Shards whose owner has no fresh record, or that never had one; ascending. @throws {StoreUnavailableError} */
  orphans(now: number): Promise<readonly number[]>;
}
