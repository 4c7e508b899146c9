/**
 * The intake of one replica among several: Snapshots of its shards are stored by all of them, so it reads the queue
 * (operations §5.2).
 *
 * A reading goes through a shard from its oldest Snapshot on, because one with a lower number may become visible after
 * one with a higher; what is under way is passed over. It goes no further than the numbers that were drawn before it
 * began: whatever was answered before those arrived is then found in front of them, and Snapshots of one group are handed
 * on in the order of arrival, whichever replicas took them. What comes later is for the next reading of the shard.
 *
 * A shard is read when this or another replica says that it stored something for it, when it is won, every second while
 * any replica cannot say so, and now and then in any case.
 */
import type { QueuedSnapshot, ShardedSnapshot, SnapshotQueue } from '../../actors/feed/ports.ts';
import type { ParsedBody } from '../../actors/feed/snapshot.ts';
import type { Placement } from '../../runtime/actor/index.ts';
import type { Signals } from '../../runtime/broadcast.ts';
import { POLL_EVERY } from '../../runtime/placement/lease-times.ts';
import {
  BEHIND_PAUSE,
  createHandOn,
  createPauses,
  type HandOnDeps,
  type Intake,
  PAGE_SNAPSHOTS,
  pause,
  repeat,
  SWEEP_INTERVAL,
  UnderWay,
} from './intake.ts';
import { type ParseCache, shardOfBody } from './parse-cache.ts';
import { createReadQueued, isHeldBack, LargeBodies } from './queued-bodies.ts';
import { type ShardReading, ShardReadings } from './shard-readings.ts';

/** A page takes at least so many Snapshots of each shard, however many shards it is about. */
const PAGE_OF_SHARD = 8;
/** Whose owner looks from time to time for Snapshots without a shard. */
const SORTING_SHARD = 0;

type Place = Parameters<SnapshotQueue['sort']>[0][number];

export interface PassingIntakeDeps extends HandOnDeps {
  readonly placement: Pick<Placement, 'epochOf' | 'owned' | 'onChange'>;
  readonly queue: Pick<
    SnapshotQueue,
    'pageOf' | 'unsorted' | 'sort' | 'body' | 'bodies' | 'fail' | 'beginAttempt' | 'forgetAttempt'
  >;
  readonly cache: ParseCache;
  readonly others: OtherReplicas;
}

export function createPassingIntake(deps: PassingIntakeDeps): Intake {
  const { placement, queue, clock, log, others } = deps;
  const feeds = createHandOn(deps);
  const large = new LargeBodies(deps, readHeld);
  const readQueued = createReadQueued({ ...deps, large, isStopped: () => state === 'stopped' });
  const underWay = new UnderWay();
  const readings = new ShardReadings();
  /** There may be Snapshots without a shard, which are older than anything that is read. */
  let isSortDue = false;
  let isWorking = false;
  /** How often a Snapshot came back. */
  let setbacks = 0;
  let state: 'waiting' | 'running' | 'stopped' = 'waiting';
  const ends: (() => void)[] = [];

  return {
    start() {
      if (state !== 'waiting') return;
      state = 'running';
      ends.push(
        placement.onChange(follow),
        others.signals.onState(readAll),
        repeat(clock, SWEEP_INTERVAL, sweep),
        repeat(clock, POLL_EVERY, () => {
          if (!others.signals.isUp || others.hasIsolated()) readAll();
        }),
      );
      follow();
    },
    stop() {
      state = 'stopped';
      for (const end of ends) end();
    },
    accepted(snapshots) {
      announce(snapshots.flatMap(({ shard }) => shard ?? []));
    },
    uncertain: readAll,
    stored: announce,
    poke(shards) {
      if (shards === undefined) readings.callAll();
      else readings.call(shards);
      workSoon();
    },
  };

  /** Placement changed: won shards are read from their beginning, after what nobody has sorted yet. */
  function follow(): void {
    if (readings.follow(placement.owned())) isSortDue = true;
    workSoon();
  }

  function sweep(): void {
    // One replica is enough: the whole queue is gone through.
    if (placement.epochOf(SORTING_SHARD) !== null) isSortDue = true;
    readings.forgetRefusals();
    readAll();
  }

  function readAll(): void {
    readings.callAll();
    workSoon();
  }

  /** Snapshots of these shards are stored. */
  function announce(given: readonly number[]): void {
    const shards = [...new Set(given)];
    const elsewhere = shards.filter((shard) => placement.epochOf(shard) === null);
    if (elsewhere.length > 0) others.call(elsewhere);
    readings.call(shards);
    workSoon();
  }

  /** A large Snapshot may begin: it, and what waits behind it, is found from the beginning of its shard on. */
  function readHeld(): void {
    large.release(({ shard }) => shard !== null && placement.epochOf(shard) === null);
    const shards = [...large.held].map(({ shard }) => shard);
    if (shards.includes(null)) isSortDue = true;
    readings.call(shards.filter((shard) => shard !== null));
    workSoon();
  }

  function workSoon(): void {
    if (state === 'running' && !isWorking) void work();
  }

  async function work(): Promise<void> {
    isWorking = true;
    const pauses = createPauses(clock);
    while (state === 'running' && (isSortDue || !readings.areDone)) {
      if (feeds.isBehind()) {
        await pause(clock, BEHIND_PAUSE);
        continue;
      }
      const isSorting = isSortDue;
      try {
        await (isSorting ? sortPage() : underWay.whileReading(readPage));
        pauses.reset();
      } catch (error) {
        isSortDue ||= isSorting;
        log('ingest_failed', { error: String(error) });
        await pauses.next();
      }
    }
    isWorking = false;
  }

  async function sortPage(): Promise<void> {
    // Before the page is read: what becomes due meanwhile may be missing from it.
    isSortDue = false;
    const page = await queue.unsorted(PAGE_SNAPSHOTS);
    large.release(({ shard }) => shard === null);
    const places: Place[] = [];
    const reads: Promise<void>[] = [];
    const place = ({ seq, integrationId }: QueuedSnapshot, parsed: ParsedBody | null) => {
      if (parsed !== null) places.push({ seq, shard: shardOfBody(integrationId, parsed) });
      large.givenBack(seq);
    };
    const begun = (queued: QueuedSnapshot, read: Promise<ParsedBody | null>) => {
      reads.push(read.then((parsed) => place(queued, parsed)));
    };
    // To say where it belongs, one waits for its turn only.
    const pages = readQueued(page, begun, () => large.isBusy);
    for await (const chunk of pages) for (const each of chunk) place(...each);
    await Promise.all(reads);
    await sort(places);
    // What was held back by one that is sorted now can follow it.
    const isPart = page.length === PAGE_SNAPSHOTS || places.length < page.length;
    isSortDue ||= isPart && places.length > 0;
  }

  async function sort(places: readonly Place[]): Promise<void> {
    if (places.length === 0) return;
    await queue.sort(places);
    announce(places.map(({ shard }) => shard));
  }

  async function readPage(): Promise<void> {
    const current = readings.next();
    const limit = Math.max(PAGE_OF_SHARD, Math.ceil(PAGE_SNAPSHOTS / current.size));
    const page = await queue.pageOf([...current.values()], limit);
    const misplaced: Place[] = [];
    large.release(({ shard }) => shard !== null && current.get(shard)?.after === 0);
    const idle = page.snapshots.filter(({ seq }) => !underWay.has(seq));
    const begun = (queued: ShardedSnapshot, read: Promise<ParsedBody | null>) => {
      const reading = current.get(queued.shard);
      if (reading) handOnOnceRead(queued, read, reading);
      else large.givenBack(queued.seq);
    };
    for await (const chunk of readQueued(idle, begun)) {
      for (const [queued, parsed] of chunk) {
        if (isHeldBack(large, queued, parsed)) continue;
        const { seq } = queued;
        const shard = parsed.ok ? shardOfBody(queued.integrationId, parsed) : queued.shard;
        const reading = current.get(queued.shard);
        if (shard === queued.shard && reading && readings.goesOn(reading) && state === 'running') {
          handOn(queued, parsed, reading);
          continue;
        }
        if (shard !== queued.shard) misplaced.push({ seq, shard });
      }
    }
    readings.advance(current, page, limit);
    await sort(misplaced);
  }

  /** A large one. Whatever comes back meanwhile may have to come before it. */
  function handOnOnceRead(
    queued: ShardedSnapshot,
    read: Promise<ParsedBody | null>,
    reading: ShardReading,
  ): void {
    const { seq } = queued;
    const begun = setbacks;
    underWay.add(seq);
    void read
      .then(async (parsed) => {
        const shard = parsed?.ok ? shardOfBody(queued.integrationId, parsed) : queued.shard;
        const isOurs = placement.epochOf(queued.shard) === reading.epoch;
        if (
          parsed !== null &&
          state === 'running' &&
          isOurs &&
          shard === queued.shard &&
          setbacks === begun
        ) {
          handOn(queued, parsed, reading);
          large.handedOn(seq);
          return;
        }
        large.hold(queued);
        underWay.givenBack(seq);
        large.givenBack(seq);
        if (shard !== queued.shard) await sort([{ seq, shard }]);
      })
      .catch((error: unknown) => log('ingest_failed', { error: String(error) }));
  }

  function handOn(queued: ShardedSnapshot, parsed: ParsedBody, { shard, epoch }: ShardReading): void {
    const { seq } = queued;
    underWay.add(seq);
    void feeds.handOn(queued, parsed).then((end) => {
      if (end.kind === 'settled') {
        underWay.settled(seq);
        large.settled(seq);
        return;
      }
      setbacks += 1;
      large.givenBack(seq);
      underWay.givenBack(seq);
      // Of a shard that moved away it is the new owner's.
      const isOurs = readings.giveBack(shard, epoch);
      if (isOurs && state === 'running') {
        log('snapshot_processing_interrupted', { stored_snapshot: queued.id, error: String(end.error) });
      }
      workSoon();
    });
  }
}

/** The other replicas of the installation, as ingestion sees them. */
export interface OtherReplicas {
  /**
   * Tells the owners of shards that Snapshots of theirs are stored, by whatever may get lost: they call `poke` of their
   * ingestion. Never throws. Called once for each commit.
   */
  call(shards: readonly number[]): void;
  /** Whether such calls arrive here now. While they do not, the queue is looked at every second (operations §5.5). */
  readonly signals: Pick<Signals, 'isUp' | 'onState'>;
  /** Whether some replica that lives calls and is not heard: the queue is looked at every second then, too. */
  hasIsolated(): boolean;
}
