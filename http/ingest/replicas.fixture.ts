/** Several replicas over one queue in memory, for the tests of the intake that reads in passes. */
import { hash } from 'node:crypto';
import { LARGE_BODY } from '../../actors/feed/body.ts';
import type { SnapshotReceived } from '../../actors/feed/messages.ts';
import type { FailedSnapshot, QueuedSnapshot, ShardPage, ShardRange } from '../../actors/feed/ports.ts';
import { type Address, type ShardEpoch, shardOf, UnavailableError } from '../../runtime/actor/index.ts';
import { silentLog } from '../../runtime/log.ts';
import { newPublicId } from '../../runtime/public-id.ts';
import type { StoredSnapshot } from './accept-queue.ts';
import { AwayError, freshMetrics, type HandClock, INTEGRATION } from './ingest.fixture.ts';
import { createPassingIntake, type PassingIntakeDeps } from './intake-passes.ts';
import { createParseCache, createSnapshotShard, type ParseCache, shardOfBody } from './parse-cache.ts';

/** A body of the group of that name; `large K1` is a large one of K1, and anything else is no Snapshot. */
export function bodyOf(text: string): Buffer {
  const [, large, groupKey] = /^(large )?(K.*)$/.exec(text) ?? [];
  if (groupKey === undefined) return Buffer.from(text);
  const pad = large === undefined ? '' : ' '.repeat(LARGE_BODY);
  return Buffer.from(JSON.stringify({ groupKey, status: 'firing', alerts: [] }) + pad);
}

/** The shard of a group of {@link INTEGRATION}. */
export function shardOfGroup(text: string): number {
  const cache = createParseCache();
  return shardOfBody(INTEGRATION, cache.read(text, bodyOf(text)));
}

/** The queue's table. A row that is stored without being committed has a number, and nobody sees it. */
export class SharedQueue {
  rows: StoredSnapshot[] = [];
  readonly failed: number[] = [];
  drawn = 0;
  isAway = false;
  pages = 0;
  /** Shards of each page that was read. */
  readonly asked: (readonly number[])[] = [];
  bodiesRead = 0;
  readonly #uncommitted = new Set<number>();

  async beginAttempt(): Promise<number> {
    return 1;
  }

  async forgetAttempt(): Promise<void> {}

  store(text: string, shard: number | null, isCommitted = true): StoredSnapshot {
    const body = bodyOf(text);
    this.drawn += 1;
    const row: StoredSnapshot = {
      seq: this.drawn,
      id: newPublicId('SS'),
      integrationId: INTEGRATION,
      receivedAt: this.drawn,
      body,
      bodyHash: hash('sha256', body),
      contentType: null,
      shard,
    };
    this.rows.push(row);
    if (!isCommitted) this.#uncommitted.add(row.seq);
    return row;
  }
  commit({ seq }: StoredSnapshot): void {
    this.#uncommitted.delete(seq);
  }
  remove(seq: number): void {
    this.rows = this.rows.filter((row) => row.seq !== seq);
  }
  get visible(): StoredSnapshot[] {
    return this.rows.filter(({ seq }) => !this.#uncommitted.has(seq));
  }
  async pageOf(ranges: readonly ShardRange[], limit: number): Promise<ShardPage> {
    this.pages += 1;
    this.asked.push(ranges.map(({ shard }) => shard));
    if (this.isAway) throw new AwayError();
    const drawn = this.drawn;
    const snapshots = ranges.flatMap(({ shard, after, upTo }) =>
      this.visible
        .filter((row) => row.shard === shard && row.seq > after && row.seq <= (upTo ?? row.seq))
        .slice(0, limit)
        .map((row) => ({ ...queuedOf(row), shard })),
    );
    return { snapshots: snapshots.sort((a, b) => a.seq - b.seq), drawn };
  }
  async unsorted(limit: number): Promise<QueuedSnapshot[]> {
    if (this.isAway) throw new AwayError();
    return this.visible
      .filter(({ shard }) => shard === null)
      .slice(0, limit)
      .map(queuedOf);
  }
  async sort(places: readonly { readonly seq: number; readonly shard: number }[]): Promise<void> {
    const wanted = new Map(places.map(({ seq, shard }) => [seq, shard]));
    this.rows = this.rows.map((row) => ({ ...row, shard: wanted.get(row.seq) ?? row.shard }));
  }
  async body(wanted: QueuedSnapshot): Promise<Buffer | null> {
    return (await this.bodies([wanted])).get(wanted.bodyHash) ?? null;
  }
  async bodies(wanted: readonly QueuedSnapshot[]): Promise<Map<string, Buffer>> {
    this.bodiesRead += 1;
    const hashes = new Set(wanted.map(({ bodyHash }) => bodyHash));
    const found = this.rows.filter(({ bodyHash }) => hashes.has(bodyHash));
    return new Map(found.map(({ bodyHash, body }) => [bodyHash, body]));
  }
  async fail(failures: readonly FailedSnapshot[]): Promise<void> {
    for (const { seq } of failures) {
      this.remove(seq);
      this.failed.push(seq);
    }
  }
}

function queuedOf({ body, contentType: _type, ...row }: StoredSnapshot): QueuedSnapshot {
  return { ...row, sizeBytes: body.length };
}

/** What happened to a Snapshot: which replica handed it on. */
export interface Delivery {
  readonly seq: number;
  readonly feed: string;
  readonly by: string;
}

/** The replicas, and the signals between them. */
export class Cluster {
  readonly queue = new SharedQueue();
  readonly delivered: Delivery[] = [];
  readonly replicas: Replica[] = [];
  readonly clock: HandClock;
  isUp = true;
  /** A replica lives that is not heard. */
  hasIsolated = false;
  /** Calls get lost without anybody knowing. */
  losesCalls = false;
  readonly stateListeners = new Set<(isUp: boolean) => void>();

  constructor(clock: HandClock) {
    this.clock = clock;
  }
  add(name: string, shards: readonly number[]): Replica {
    const replica = new Replica(this, name);
    this.replicas.push(replica);
    replica.own(shards);
    replica.intake.start();
    return replica;
  }
  call(shards: readonly number[]): void {
    if (!this.isUp || this.losesCalls) return;
    for (const replica of this.replicas) replica.intake.poke(shards);
  }
  setUp(isUp: boolean): void {
    this.isUp = isUp;
    for (const listener of this.stateListeners) listener(isUp);
  }
  /** What was handed on, by whom. */
  get deliveries(): string[] {
    return this.delivered.map(({ seq, by }) => `${seq} by ${by}`);
  }
  get seqs(): number[] {
    return this.delivered.map(({ seq }) => seq);
  }
}

/** One replica: its shards, its feeds and its intake. */
export class Replica {
  readonly cluster: Cluster;
  readonly name: string;
  readonly calls: (readonly number[])[] = [];
  /** Messages that wait for a turn. */
  depth = 0;
  /** Keeps what is delivered under way. */
  holds = false;
  /** The feeds refuse although placement says that they are here. */
  refuses = false;
  #cache: ParseCache = createParseCache();
  readonly #held: { readonly seq: number; end(): void; giveBack(): void }[] = [];
  readonly #listeners = new Set<() => void>();
  #epochs = new Map<number, number>();
  #epoch = 0;
  readonly intake;

  constructor(cluster: Cluster, name: string) {
    this.cluster = cluster;
    this.name = name;
    const deps: PassingIntakeDeps = {
      system: {
        deliver: (to, message) => this.#deliver(to, message as SnapshotReceived),
        backlog: () => this.depth,
      },
      placement: {
        epochOf: (shard) => this.#epochs.get(shard) ?? null,
        owned: () => [...this.#epochs].map(([shard, epoch]): ShardEpoch => ({ shard, epoch })),
        onChange: (listener) => {
          this.#listeners.add(listener);
          return () => this.#listeners.delete(listener);
        },
      },
      queue: cluster.queue,
      cache: { get: (bodyHash) => this.#cache.get(bodyHash), read: (...body) => this.#cache.read(...body) },
      others: {
        call: (shards) => {
          this.calls.push(shards);
          cluster.call(shards);
        },
        hasIsolated: () => cluster.hasIsolated,
        signals: {
          get isUp() {
            return cluster.isUp;
          },
          onState: (listener) => {
            cluster.stateListeners.add(listener);
            return () => cluster.stateListeners.delete(listener);
          },
        },
      },
      clock: cluster.clock,
      log: silentLog,
      metrics: freshMetrics(),
    };
    this.intake = createPassingIntake(deps);
  }

  /** Owns these shards from now on, under a new epoch where it did not own them. */
  own(shards: readonly number[]): void {
    this.#epoch += 1;
    this.#epochs = new Map(shards.map((shard) => [shard, this.#epochs.get(shard) ?? this.#epoch]));
    for (const listener of this.#listeners) listener();
  }
  /** What the accept path does: reads the body, stores the Snapshot, and tells the intake. */
  accept(...texts: string[]): StoredSnapshot[] {
    const stored = texts.map((text) => this.begin(text));
    this.commit(...stored);
    return stored;
  }
  /** Draws the number; the Snapshot is seen by nobody before its {@link commit}. */
  begin(text: string): StoredSnapshot {
    const body = bodyOf(text);
    const shardOfSnapshot = createSnapshotShard(this.#cache);
    const shard = shardOfSnapshot({ integrationId: INTEGRATION, bodyHash: hash('sha256', body), body });
    return this.cluster.queue.store(text, shard, false);
  }
  commit(...stored: StoredSnapshot[]): void {
    for (const snapshot of stored) this.cluster.queue.commit(snapshot);
    this.intake.accepted(stored);
  }
  forgetBodies(): void {
    this.#cache = createParseCache();
  }
  settleHeld(): void {
    for (const held of this.#held.splice(0)) held.end();
  }
  giveBackHeld(): void {
    for (const held of this.#held.splice(0)) held.giveBack();
  }

  async #deliver(to: Address, { seq }: SnapshotReceived): Promise<void> {
    if (this.refuses || !this.#epochs.has(shardOf(to))) throw new UnavailableError('elsewhere');
    this.cluster.delivered.push({ seq, feed: to.key, by: this.name });
    if (this.holds) {
      await new Promise<void>((resolve, reject) =>
        this.#held.push({ seq, end: resolve, giveBack: () => reject(new UnavailableError('moved')) }),
      );
    }
    this.cluster.queue.remove(seq);
  }
}

/** Lets everything happen that needs no time to pass. */
export async function settled(): Promise<void> {
  for (let round = 0; round < 20; round++) await new Promise<void>((resolve) => setImmediate(resolve));
}

export const ALL = Array.from({ length: 256 }, (_, shard) => shard);
export const K1 = shardOfGroup('K1');
/** A group of another shard than K1. */
export const OTHER = Array.from({ length: 100 }, (_, number) => `K${number + 2}`).find(
  (text) => shardOfGroup(text) !== K1,
) as string;
export const WITHOUT_K1 = ALL.filter((shard) => shard !== K1);

/** Ann owns the shard of K1, Bob all others. */
export async function annAndBob(cluster: Cluster): Promise<{ ann: Replica; bob: Replica }> {
  const ann = cluster.add('ann', [K1]);
  const bob = cluster.add('bob', WITHOUT_K1);
  await settled();
  return { ann, bob };
}
