/**
 * The intake of a single process: it stores every Snapshot itself, and owns every feed or none (operations §5.1).
 *
 * Usually a Snapshot goes straight from its commit to its feed, its bytes still in memory. When the feeds are behind,
 * after a restart, and when it is unclear what a failed write stored, the intake reads the queue in the database
 * instead, page by page, until it has caught up. One order for all feeds is more than is asked for, and simple.
 * A sweep now and then finds what a write without an answer stored after all. What the engine and saves commit as
 * Snapshots (Internal alerts) may have lower numbers than what was handed on: they say so, and are looked for at once.
 *
 * A large Snapshot that waits for another, and what must not overtake it, stay in the database (`queued-bodies.ts`): the
 * queue is read again from its beginning when it may begin.
 *
 * When this process loses its feeds, handing on stops and goes back to the oldest Snapshot they gave back. It goes on
 * when placement changes, or after a pause.
 */
import type { QueuedSnapshot, SnapshotQueue } from '../../actors/feed/ports.ts';
import type { ParsedBody } from '../../actors/feed/snapshot.ts';
import type { Placement } from '../../runtime/actor/index.ts';
import type { StoredSnapshot } from './accept-queue.ts';
import {
  type Arrived,
  BEHIND_PAUSE,
  createHandOn,
  createPauses,
  type HandOnDeps,
  type Intake,
  PAGE_SNAPSHOTS,
  pause,
  SWEEP_INTERVAL,
  UnderWay,
} from './intake.ts';
import type { ParseCache } from './parse-cache.ts';
import { createReadQueued, isHeldBack, isLarge, LargeBodies } from './queued-bodies.ts';

export interface DirectIntakeDeps extends HandOnDeps {
  readonly placement: Pick<Placement, 'onChange'>;
  readonly queue: Pick<SnapshotQueue, 'page' | 'body' | 'bodies' | 'fail' | 'beginAttempt' | 'forgetAttempt'>;
  readonly cache: ParseCache;
}

export function createDirectIntake(deps: DirectIntakeDeps): Intake {
  const { placement, queue, cache, clock, log } = deps;
  const feeds = createHandOn(deps);
  const large = new LargeBodies(deps, lookEverywhere);
  const readQueued = createReadQueued({ ...deps, large, isStopped: () => mode === 'stopped' });
  const underWay = new UnderWay();
  /** Everything up to here was handed on, and is settled or under way unless a sweep has to find it. */
  let handedOn = 0;
  /** How often {@link handedOn} was set back; a page that was read before then is out of date. */
  let setbacks = 0;
  /** The feeds are in nobody's care here: nothing is handed on until placement changes or the pause is over. */
  let isRefused = false;
  const refusals = createPauses(clock);
  let endRefusal: () => void = () => undefined;
  /** The newest number that is known to be stored. */
  let newest = 0;
  /** Something was stored whose number may be behind what was handed on. */
  let isLookDue = false;
  /** Numbers that were accepted while a page is worked on, which may end behind them; null between pages. */
  let acceptedMeanwhile: number[] | null = null;
  let isCatchingUp = false;
  let unsubscribe: () => void = () => undefined;
  let mode: 'waiting' | 'direct' | 'reading' | 'stopped' = 'waiting';

  return {
    start() {
      if (mode !== 'waiting') return;
      mode = 'direct';
      unsubscribe = placement.onChange(() => {
        isRefused = false;
        endRefusal();
      });
      readQueue();
      void sweepForever();
    },
    stop() {
      mode = 'stopped';
      unsubscribe();
    },
    accepted(snapshots) {
      newest = snapshots.at(-1)?.seq ?? newest;
      if (mode === 'reading') notePassed(snapshots.map(({ seq }) => seq));
      if (mode !== 'direct') return;
      for (const snapshot of snapshots) {
        if (feeds.isBehind() || isLarge(snapshot.body.length)) {
          readQueue();
          return;
        }
        // A page that was read after their commit may have shown them before they were told of.
        if (snapshot.seq <= handedOn) notePassed([snapshot.seq]);
        else handOnUnlessHeld(snapshot);
      }
      if (isLookDue) readQueue();
    },
    uncertain: readQueue,
    stored: lookEverywhere,
    // No other process stores Snapshots.
    poke: () => undefined,
  };

  function handOnUnlessHeld(snapshot: StoredSnapshot): void {
    const parsed = cache.read(snapshot.bodyHash, snapshot.body);
    if (isHeldBack(large, snapshot, parsed)) handedOn = snapshot.seq;
    else handOn(snapshot, parsed);
  }

  /** A large one. Whatever goes back meanwhile may have to come before it. */
  function handOnOnceRead(queued: QueuedSnapshot, read: Promise<ParsedBody | null>): void {
    const { seq } = queued;
    const begun = setbacks;
    underWay.add(seq);
    handedOn = Math.max(handedOn, seq);
    void read.then((parsed) => {
      if (parsed !== null && mode !== 'stopped' && setbacks === begun) {
        handOn(queued, parsed);
        large.handedOn(seq);
        return;
      }
      large.hold(queued);
      large.givenBack(seq);
      underWay.givenBack(seq);
      if (mode !== 'stopped') lookEverywhere();
    });
  }

  function handOn(arrived: Arrived, parsed: ParsedBody): void {
    const { seq, id } = arrived;
    handedOn = Math.max(handedOn, seq);
    underWay.add(seq);
    void feeds.handOn(arrived, parsed).then((end) => {
      if (end.kind === 'settled') {
        underWay.settled(seq);
        large.settled(seq);
        refusals.reset();
        return;
      }
      large.givenBack(seq);
      underWay.givenBack(seq);
      // The next process hands it on again.
      if (mode === 'stopped') return;
      log('snapshot_processing_interrupted', { stored_snapshot: id, error: String(end.error) });
      goBackTo(seq);
    });
  }

  /** A feed is not in the care of this process: what comes after must not overtake its Snapshot. */
  function goBackTo(seq: number): void {
    handedOn = Math.min(handedOn, seq - 1);
    setbacks += 1;
    isRefused = true;
    readQueue();
  }

  function readQueue(): void {
    if (mode !== 'direct') return;
    mode = 'reading';
    if (!isCatchingUp) void catchUp();
  }

  /** Also behind what was handed on. */
  function lookEverywhere(): void {
    isLookDue = true;
    readQueue();
  }

  /**
   * Internal alerts draw numbers, too: a page may show theirs and not a lower one that is committed a moment later, so
   * that the next page begins behind it.
   */
  function notePassed(seqs: readonly number[]): void {
    if (seqs.some((seq) => seq <= handedOn && !underWay.has(seq))) isLookDue = true;
    acceptedMeanwhile?.push(...seqs);
  }

  async function catchUp(): Promise<void> {
    isCatchingUp = true;
    const pauses = createPauses(clock);
    while (mode === 'reading') {
      if (isRefused) {
        await Promise.race([refusals.next(), placementChange()]);
        isRefused = false;
        continue;
      }
      if (feeds.isBehind()) {
        await pause(clock, BEHIND_PAUSE);
        continue;
      }
      try {
        await underWay.whileReading(isLookDue ? lookBack : handOnPage);
        pauses.reset();
      } catch (error) {
        log('ingest_failed', { error: String(error) });
        await pauses.next();
      }
    }
    isCatchingUp = false;
  }

  function placementChange(): Promise<void> {
    return new Promise((resolve) => {
      endRefusal = resolve;
    });
  }

  /** Goes back to direct handing on at the end of the queue. */
  async function handOnPage(): Promise<void> {
    const begun = setbacks;
    const meanwhile: number[] = [];
    acceptedMeanwhile = meanwhile;
    let length = 0;
    try {
      const stored = newest;
      const page = await queue.page(handedOn, PAGE_SNAPSHOTS);
      length = page.length;
      await handOnAll(page, begun);
      if (setbacks !== begun) return;
      // Snapshots stored before the last page was read and missing from it are settled.
      handedOn = Math.max(handedOn, page.at(-1)?.seq ?? 0, length < PAGE_SNAPSHOTS ? stored : 0);
    } finally {
      acceptedMeanwhile = null;
      notePassed(meanwhile);
    }
    const isEnd = length < PAGE_SNAPSHOTS && newest <= handedOn && !isLookDue;
    if (isEnd && mode === 'reading') mode = 'direct';
  }

  /** Between two pages, so that everything stored by then is found here or by the next page. */
  async function lookBack(): Promise<void> {
    isLookDue = false;
    large.release(() => true);
    const begun = setbacks;
    const past = handedOn;
    try {
      for (let after = 0; after < past && setbacks === begun; ) {
        const page = await queue.page(after, PAGE_SNAPSHOTS);
        await handOnAll(
          page.filter(({ seq }) => seq <= past),
          begun,
        );
        after = page.length < PAGE_SNAPSHOTS ? past : (page.at(-1)?.seq ?? past);
        while (feeds.isBehind() && mode === 'reading') await pause(clock, BEHIND_PAUSE);
      }
      // What was not reached may be what others have to wait for.
      if (setbacks !== begun) isLookDue = true;
    } catch (error) {
      isLookDue = true;
      throw error;
    }
  }

  /** Hands on the Snapshots of a page but those that are under way. Stops at a setback since `begun`. */
  async function handOnAll(page: readonly QueuedSnapshot[], begun: number): Promise<void> {
    const idle = page.filter(({ seq }) => !underWay.has(seq));
    for await (const chunk of readQueued(idle, handOnOnceRead)) {
      if (mode === 'stopped' || setbacks !== begun) return;
      for (const [queued, parsed] of chunk) if (!isHeldBack(large, queued, parsed)) handOn(queued, parsed);
    }
  }

  /** What nobody told of: a write without an answer stored it, or the command line put it back. */
  async function sweepForever(): Promise<void> {
    for (;;) {
      await pause(clock, SWEEP_INTERVAL);
      if (mode === 'stopped') return;
      lookEverywhere();
    }
  }
}
