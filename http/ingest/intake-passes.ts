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
import type { ShardedSnapshot, SnapshotQueue } from '../../actors/feed/ports.ts';
import type { ParsedBody } from '../../actors/feed/snapshot.ts';
import type { Placement } from '../../runtime/actor/index.ts';
import { POLL_EVERY } from '../../runtime/placement/lease-times.ts';
import { createHandOn, type HandOnDeps } from './hand-on.ts';
import { type Intake, PAGE_SNAPSHOTS } from './intake.ts';
import type { OtherReplicas } from './others.ts';
import type { ParseCache } from './parse-cache.ts';
import { BEHIND_PAUSE, createPauses, pause, repeat, SWEEP_INTERVAL } from './pauses.ts';
import { createReadQueued } from './queued-bodies.ts';
import { type ShardReading, ShardReadings } from './shard-readings.ts';
import { shardOfBody } from './snapshot-shard.ts';
import { UnderWay } from './under-way.ts';

/** A page takes at least so many Snapshots of each shard, however many shards it is about. */
const PAGE_OF_SHARD = 8;
/** Whose owner looks from time to time for Snapshots without a shard. */
const SORTING_SHARD = 0;

type Place = Parameters<SnapshotQueue['sort']>[0][number];

export interface PassingIntakeDeps extends HandOnDeps {
  readonly placement: Pick<Placement, 'epochOf' | 'owned' | 'onChange'>;
  readonly queue: Pick<SnapshotQueue, 'pageOf' | 'unsorted' | 'sort' | 'bodies' | 'fail'>;
  readonly cache: ParseCache;
  readonly others: OtherReplicas;
}

export function createPassingIntake(deps: PassingIntakeDeps): Intake {
  const { placement, queue, clock, log, others } = deps;
  const feeds = createHandOn(deps);
  const readQueued = createReadQueued(deps);
  const underWay = new UnderWay();
  const readings = new ShardReadings();
  /** There may be Snapshots without a shard, which are older than anything that is read. */
  let isSortDue = false;
  let isWorking = false;
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
          if (!others.signals.isUp || others.mirrors()) readAll();
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
      try {
        await (isSortDue ? sortPage() : underWay.whileReading(readPage));
        pauses.reset();
      } catch (error) {
        log('ingest_failed', { error: String(error) });
        await pauses.next();
      }
    }
    isWorking = false;
  }

  async function sortPage(): Promise<void> {
    const page = await queue.unsorted(PAGE_SNAPSHOTS);
    const places: Place[] = [];
    for await (const chunk of readQueued(page)) {
      for (const [{ seq, integrationId }, parsed] of chunk) {
        places.push({ seq, shard: shardOfBody(integrationId, parsed) });
      }
    }
    await sort(places);
    isSortDue = page.length === PAGE_SNAPSHOTS;
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
    for await (const chunk of readQueued(page.snapshots.filter(({ seq }) => !underWay.has(seq)))) {
      for (const [queued, parsed] of chunk) {
        const { seq } = queued;
        const shard = parsed.ok ? shardOfBody(queued.integrationId, parsed) : queued.shard;
        const reading = current.get(queued.shard);
        if (shard !== queued.shard) misplaced.push({ seq, shard });
        else if (reading && readings.goesOn(reading) && state === 'running') handOn(queued, parsed, reading);
      }
    }
    readings.advance(current, page, limit);
    await sort(misplaced);
  }

  function handOn(queued: ShardedSnapshot, parsed: ParsedBody, { shard, epoch }: ShardReading): void {
    const { seq } = queued;
    underWay.add(seq);
    void feeds.handOn(queued, parsed).then((end) => {
      if (end.kind === 'settled') {
        underWay.settled(seq);
        return;
      }
      underWay.givenBack(seq);
      // Of a shard that moved away it is the new owner's. After a defect a sweep tries it again.
      const isOurs = end.kind === 'broken' || readings.giveBack(shard, epoch);
      if (isOurs && state === 'running') {
        log('snapshot_processing_interrupted', { stored_snapshot: queued.id, error: String(end.error) });
      }
      workSoon();
    });
  }
}
