import { hash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { LARGE_BODY } from '../../actors/feed/body.ts';
import type { SnapshotReceived } from '../../actors/feed/messages.ts';
import type { FailedSnapshot, QueuedSnapshot, SnapshotQueue } from '../../actors/feed/ports.ts';
import { UnavailableError } from '../../runtime/actor/index.ts';
import { SECOND } from '../../runtime/clock.ts';
import { silentLog } from '../../runtime/log.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import type { StoredSnapshot } from './accept-queue.ts';
import { AwayError, createHandClock, freshMetrics, type HandClock, INTEGRATION } from './ingest.fixture.ts';
import type { Intake } from './intake.ts';
import { createDirectIntake } from './intake-direct.ts';
import { createParseCache, largeSnapshotShard } from './parse-cache.ts';

const OTHER_INTEGRATION = 'NT0000000000CD' as PublicId;

/** The queue's table and the engine, in memory. */
class World
  implements Pick<SnapshotQueue, 'page' | 'body' | 'bodies' | 'fail' | 'beginAttempt' | 'forgetAttempt'>
{
  rows: StoredSnapshot[] = [];
  delivered: { seq: number; feed: string }[] = [];
  refused: number[] = [];
  failed: FailedSnapshot[] = [];
  pages = 0;
  depth = 0;
  isAway = false;
  areBodiesAway = false;
  /** How often bodies were asked for. */
  reads = 0;
  /** Leaves what is delivered unsettled until told. */
  holds = false;
  /** The feeds are in nobody's care. */
  refuses = false;
  /** The engine gives every Snapshot up. */
  breaks = false;
  /** Delivered and held, for {@link loseFeeds}. */
  #held: { go(): void; fail(error: Error): void }[] = [];
  readonly #listeners = new Set<() => void>();
  #changes: (() => void)[] = [];

  async page(after: number, limit: number): Promise<QueuedSnapshot[]> {
    this.pages += 1;
    this.#changed();
    if (this.pages > 1_000) throw new Error('the queue is read without end');
    if (this.isAway) throw new AwayError();
    const page = this.rows.filter(({ seq }) => seq > after).slice(0, limit);
    return page.map(({ body, ...row }) => ({ ...row, sizeBytes: body.length }));
  }
  async body(wanted: QueuedSnapshot): Promise<Buffer | null> {
    return (await this.bodies([wanted])).get(wanted.bodyHash) ?? null;
  }
  async bodies(wanted: readonly QueuedSnapshot[]): Promise<Map<string, Buffer>> {
    this.reads += 1;
    this.#changed();
    if (this.areBodiesAway) throw new AwayError();
    const hashes = new Set(wanted.map(({ bodyHash }) => bodyHash));
    const found = this.rows.filter(({ bodyHash }) => hashes.has(bodyHash));
    return new Map(found.map(({ bodyHash, body }) => [bodyHash, body]));
  }
  async fail(failures: readonly FailedSnapshot[]): Promise<void> {
    for (const failure of failures) this.#remove(failure.seq);
    this.failed.push(...failures);
    this.#changed();
  }
  /** By number. */
  attempts = new Map<number, number>();
  async beginAttempt(seq: number): Promise<number> {
    const attempts = (this.attempts.get(seq) ?? 0) + 1;
    this.attempts.set(seq, attempts);
    return attempts;
  }
  async forgetAttempt(seq: number): Promise<void> {
    this.attempts.set(seq, (this.attempts.get(seq) ?? 0) - 1);
  }
  readonly system = {
    deliver: async ({ key }: { key: string }, message: object): Promise<void> => {
      const { seq } = message as SnapshotReceived;
      if (this.refuses) {
        this.refused.push(seq);
        this.#changed();
        throw new UnavailableError('elsewhere');
      }
      this.delivered.push({ seq, feed: key });
      this.#changed();
      if (this.breaks) throw new Error('value\0 out of range');
      if (this.holds) await new Promise<void>((go, fail) => this.#held.push({ go, fail }));
      this.#remove(seq);
      this.#changed();
    },
    backlog: () => this.depth,
  };
  readonly placement = {
    onChange: (listener: () => void) => {
      this.#listeners.add(listener);
      return () => this.#listeners.delete(listener);
    },
  };
  /** The lock session ends: what the feeds hold comes back, and nothing more is taken. */
  loseFeeds(): void {
    this.refuses = true;
    this.holds = false;
    for (const listener of this.#listeners) listener();
    for (const { fail } of this.#held.splice(0)) fail(new UnavailableError('elsewhere'));
  }
  /** The engine sets aside what it holds. */
  giveUpHeld(error: Error): void {
    for (const { fail } of this.#held.splice(0)) fail(error);
  }
  settleHeld(): void {
    for (const { go } of this.#held.splice(0)) go();
  }
  regainFeeds(): void {
    this.refuses = false;
    for (const listener of this.#listeners) listener();
  }
  /** Resolves when `holds` does. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#changes.push(resolve));
  }
  #remove(seq: number): void {
    this.rows = this.rows.filter((row) => row.seq !== seq);
  }
  #changed(): void {
    for (const resolve of this.#changes.splice(0)) resolve();
  }
}

let clock: HandClock;
let world: World;
let intake: Intake;
let seq: number;
/** Large ones are as an earlier release stored them. */
let areFeedsUnknown: boolean;

beforeEach(() => {
  areFeedsUnknown = false;
  clock = createHandClock();
  world = new World();
  intake = newIntake();
  seq = 0;
});

function newIntake(): Intake {
  return createDirectIntake({
    system: world.system,
    placement: world.placement,
    queue: world,
    cache: createParseCache(),
    clock,
    log: silentLog,
    metrics: freshMetrics(),
  });
}

/**
 * Stores Snapshots as the accept path does before it tells the intake. Texts name groups: those with L are large, l2 is a
 * small one of the group L2, and `K1 of B` is from another Integration.
 */
function store(...texts: string[]): StoredSnapshot[] {
  const stored = texts.map((text) => {
    const group = /^([KLl]\d+)(?: of B)?$/.exec(text)?.[1];
    const pad = text.startsWith('L') ? ' '.repeat(LARGE_BODY) : '';
    const body = Buffer.from(
      group ? JSON.stringify({ groupKey: group.toUpperCase(), status: 'firing', alerts: [] }) + pad : text,
    );
    const integrationId = text.endsWith(' of B') ? OTHER_INTEGRATION : INTEGRATION;
    const bodyHash = hash('sha256', body);
    seq += 1;
    return {
      ...{ seq, id: newPublicId('SS'), integrationId, receivedAt: clock.now(), body, bodyHash },
      contentType: null,
      shard: areFeedsUnknown ? null : largeSnapshotShard({ integrationId, body, bodyHash }),
    };
  });
  world.rows.push(...stored);
  return stored;
}

const seqs = () => world.delivered.map((each) => each.seq);

async function started(): Promise<void> {
  intake.start();
  await world.until(() => world.pages > 0);
  // The empty page is worked off before the next macrotask.
  await macrotask();
}

function macrotask(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe('the intake of a single process', () => {
  it('hands Snapshots straight to their feeds, a feed for each group', async () => {
    await started();
    intake.accepted(store('K1', 'K2', 'K1'));
    expect(seqs()).toEqual([1, 2, 3]);
    const feeds = world.delivered.map(({ feed }) => feed);
    expect(feeds[0]).toBe(feeds[2]);
    expect(feeds[0]).not.toBe(feeds[1]);
    expect(feeds[0]).toMatch(new RegExp(`^${INTEGRATION}\\.[a-z2-7]{26}$`));
  });

  it('hands on what the last process left before anything newer', async () => {
    store('K1', 'K2', 'K1');
    intake.start();
    intake.accepted(store('K1'));
    await world.until(() => world.delivered.length === 4);
    expect(seqs()).toEqual([1, 2, 3, 4]);
  });

  it('hands on nothing before it is started', async () => {
    intake.accepted(store('K1'));
    expect(seqs()).toEqual([]);
    intake.start();
    await world.until(() => world.delivered.length === 1);
  });

  it('leaves Snapshots in the database while the feeds are behind, and then keeps their order', async () => {
    await started();
    world.depth = 1_000_000;
    intake.accepted(store('K1', 'K1'));
    intake.accepted(store('K2'));
    expect(seqs()).toEqual([]);
    world.depth = 0;
    clock.advance(SECOND);
    await world.until(() => world.delivered.length === 3);
    await macrotask();
    intake.accepted(store('K1'));
    await world.until(() => world.delivered.length === 4);
    expect(seqs()).toEqual([1, 2, 3, 4]);
  });

  it.each([
    ['is under way', true],
    ['is settled', false],
  ])('hands on once what a page showed before it was told of, and %s', async (_, holds) => {
    await started();
    world.holds = holds;
    const shown = store('K1');
    intake.stored([]);
    await world.until(() => world.delivered.length === 1);
    await macrotask();
    intake.accepted(shown);
    intake.accepted(store('K2'));
    await world.until(() => world.delivered.length >= 2);
    await macrotask();
    expect(seqs()).toEqual([1, 2]);
  });

  it('reads a long queue page by page', async () => {
    store(...Array.from({ length: 1_234 }, (_, index) => `K${index % 7}`));
    intake.start();
    await world.until(() => world.delivered.length === 1_234);
    expect(seqs()).toEqual(Array.from({ length: 1_234 }, (_, index) => index + 1));
  });

  it('fails what is no Snapshot, and blocks nothing by it (#24)', async () => {
    await started();
    intake.accepted(store('not json', 'K1'));
    await world.until(() => world.failed.length === 1);
    expect(world.failed[0]).toMatchObject({ seq: 1, error: 'body: not JSON' });
    expect(seqs()).toEqual([2]);
  });

  it('fails what the engine gives up, with the reason, and never hands it on again', async () => {
    await started();
    world.breaks = true;
    intake.accepted(store('K1'));
    await world.until(() => world.failed.length === 1);
    expect(world.failed).toMatchObject([{ seq: 1, error: 'processing: value\uFFFD out of range' }]);
    clock.advance(31 * SECOND);
    await macrotask();
    expect(seqs()).toEqual([1]);
  });

  it('tries again with pauses while the database is away', async () => {
    store('K1');
    world.isAway = true;
    intake.start();
    await world.until(() => world.pages === 1);
    await macrotask();
    world.isAway = false;
    clock.advance(SECOND);
    await world.until(() => world.delivered.length === 1);
  });

  it('finds what a write without an answer stored', async () => {
    await started();
    store('K1');
    intake.uncertain();
    await world.until(() => world.delivered.length === 1);
    expect(seqs()).toEqual([1]);
  });

  it('finds what such a write stored late, and hands on nothing twice', async () => {
    await started();
    const [late, busy] = [store('K1'), store('K1')];
    world.rows = busy;
    world.holds = true;
    intake.accepted(busy);
    world.rows = [...late, ...busy];
    clock.advance(30 * SECOND);
    await world.until(() => world.delivered.length === 2);
    clock.advance(30 * SECOND);
    await macrotask();
    expect(seqs()).toEqual([2, 1]);
  });

  it.each([
    ['while a page is read', 1],
    ['while a page is handed on', 2],
  ])('hands on at once what was stored behind the page: %s', async (_, moments) => {
    await started();
    const [late, internal] = [store('K1'), store('K2')];
    world.rows = internal;
    const before = world.pages;
    intake.stored([0]);
    await world.until(() => world.pages > before);
    for (let moment = 1; moment < moments; moment++) await Promise.resolve();
    // It drew its number first, and was committed second.
    world.rows = [...late, ...internal];
    intake.accepted(late);
    for (let turn = 0; turn < 20; turn++) await macrotask();
    expect(seqs().sort()).toEqual([1, 2]);
    expect(world.rows).toEqual([]);
  });

  it('goes back to what the feeds gave back, and hands on all of it in order once they are here again', async () => {
    await started();
    world.holds = true;
    intake.accepted(store('K1', 'K2', 'K1'));
    world.loseFeeds();
    await macrotask();
    world.delivered = [];
    intake.accepted(store('K1', 'K2'));
    await macrotask();
    expect(world.delivered).toEqual([]);
    world.regainFeeds();
    await world.until(() => world.delivered.length === 5);
    await macrotask();
    intake.accepted(store('K1'));
    await macrotask();
    expect(seqs()).toEqual([1, 2, 3, 4, 5, 6]);
    expect(world.rows).toEqual([]);
  });

  it('stops reading when it went back behind Snapshots that are settled meanwhile', async () => {
    await started();
    world.holds = true;
    intake.accepted(store('K1'));
    world.holds = false;
    intake.accepted(store('K2'));
    await macrotask();
    world.loseFeeds();
    await macrotask();
    world.regainFeeds();
    await macrotask();
    expect(seqs()).toEqual([1, 2, 1]);
    const { pages } = world;
    await macrotask();
    await macrotask();
    expect(world.pages).toBe(pages);
    expect(pages).toBeLessThan(10);
    intake.accepted(store('K1'));
    expect(seqs().at(-1)).toBe(3);
  });

  it('does not go through the queue while nobody here takes its Snapshots', async () => {
    await started();
    store(...Array.from({ length: 1_200 }, (_, index) => `K${index % 7}`));
    world.refuses = true;
    intake.uncertain();
    await world.until(() => world.refused.length === 500);
    await macrotask();
    expect(world.pages).toBe(2);
    // One page for each pause of 1 s and 2 s.
    for (const pages of [3, 4]) {
      clock.advance(2 * SECOND);
      await world.until(() => world.pages === pages);
      await macrotask();
    }
    expect(new Set(world.refused).size).toBe(500);
    world.regainFeeds();
    await world.until(() => world.delivered.length === 1_200);
    expect(seqs()).toEqual(Array.from({ length: 1_200 }, (_, index) => index + 1));
  });

  it('tries again after a pause when placement says nothing', async () => {
    await started();
    world.refuses = true;
    intake.accepted(store('K1', 'K1'));
    await macrotask();
    world.refuses = false;
    clock.advance(SECOND);
    await world.until(() => world.delivered.length === 2);
    expect(seqs()).toEqual([1, 2]);
  });

  it('hands on nothing twice that is still under way when it goes back', async () => {
    await started();
    world.holds = true;
    intake.accepted(store('K1'));
    world.holds = false;
    world.refuses = true;
    intake.accepted(store('K2'));
    await macrotask();
    world.regainFeeds();
    await world.until(() => world.delivered.length === 2);
    await macrotask();
    expect(seqs()).toEqual([1, 2]);
  });

  it('finds with a sweep all that somebody else put into the queue, in front of and behind what was handed on', async () => {
    await started();
    store(...Array.from({ length: 1_100 }, (_, index) => `K${index % 7}`));
    intake.accepted(store('K1'));
    store('K2', 'K3');
    clock.advance(30 * SECOND);
    await world.until(() => world.delivered.length === 1_103);
    await macrotask();
    expect(seqs().slice(1)).toEqual([
      ...Array.from({ length: 1_100 }, (_, index) => index + 1),
      ...[1_102, 1_103],
    ]);
    intake.accepted(store('K1'));
    expect(seqs().at(-1)).toBe(1_104);
  });

  it('hands on nothing after it was stopped', async () => {
    await started();
    intake.stop();
    intake.accepted(store('K1'));
    expect(seqs()).toEqual([]);
  });
});

describe('what was committed together with something else', () => {
  it('is handed on at once, in front of and behind what was handed on', async () => {
    await started();
    const [late, , newer] = [store('K1'), intake.accepted(store('K2')), store('K3')];
    expect(seqs()).toEqual([2]);
    intake.stored([]);
    await world.until(() => world.delivered.length === 3);
    expect(seqs()).toEqual([2, late[0]?.seq, newer[0]?.seq]);
    await macrotask();
    expect(world.rows).toEqual([]);
    intake.accepted(store('K1'));
    expect(seqs()).toEqual([2, 1, 3, 4]);
  });

  it('is found although its number is passed by a page that was read before it was there', async () => {
    await started();
    const [hidden] = store('K1');
    if (!hidden) throw new Error('nothing was stored');
    store('K2');
    world.rows = world.rows.filter((row) => row !== hidden);
    const page = world.page.bind(world);
    let isFirst = true;
    world.page = async (after, limit) => {
      const read = await page(after, limit);
      if (isFirst) {
        isFirst = false;
        world.rows = [hidden, ...world.rows];
        intake.stored([]);
      }
      return read;
    };
    intake.uncertain();
    await world.until(() => world.delivered.length === 2);
    expect(seqs()).toEqual([2, 1]);
  });

  it('is found behind a page of Snapshots that are under way, and those are handed on once', async () => {
    await started();
    world.holds = true;
    intake.accepted(store(...Array.from({ length: 499 }, () => 'K1')));
    store('K2');
    intake.accepted(store(...Array.from({ length: 3 }, () => 'K1')));
    intake.stored([]);
    await world.until(() => world.delivered.length === 503);
    await macrotask();
    expect(seqs().at(-1)).toBe(500);
    expect(new Set(seqs()).size).toBe(503);
  });

  it('is looked for again after the database was away', async () => {
    await started();
    store('K1');
    intake.accepted(store('K2'));
    world.isAway = true;
    const before = world.pages;
    intake.stored([]);
    await world.until(() => world.pages > before);
    world.isAway = false;
    await macrotask();
    clock.advance(SECOND);
    await world.until(() => world.delivered.length === 2);
    expect(seqs()).toEqual([2, 1]);
  });
});

describe('large bodies', () => {
  it('are processed one at a time, each with its attempt counted before', async () => {
    await started();
    world.holds = true;
    intake.accepted(store('L1', 'L2'));
    await world.until(() => world.delivered.length === 1);
    await macrotask();
    expect(seqs()).toEqual([1]);
    expect([...world.attempts]).toEqual([[1, 1]]);
    world.settleHeld();
    await world.until(() => world.delivered.length === 2);
    expect(seqs()).toEqual([1, 2]);
    expect([...world.attempts]).toEqual([
      [1, 1],
      [2, 1],
    ]);
  });

  it('share no read with an empty one after them', async () => {
    await started();
    intake.accepted(store('L1', ''));
    await world.until(() => world.rows.length === 0);
    expect(seqs()).toEqual([1]);
    expect(world.failed.map((failure) => failure.seq)).toEqual([2]);
    expect(world.reads).toBe(2);
  });

  it('count no attempt while the database does not give them', async () => {
    world.areBodiesAway = true;
    await started();
    intake.accepted(store('L1'));
    for (let read = 1; read <= 5; read++) {
      await world.until(() => world.reads === read);
      await macrotask();
      clock.advance(2 ** (read - 1) * SECOND);
    }
    world.areBodiesAway = false;
    await world.until(() => world.reads === 6);
    clock.advance(60 * SECOND);
    await world.until(() => world.delivered.length === 1);
    expect(world.failed).toEqual([]);
  });

  /** L1 is under way, L2 waits for it. */
  async function oneUnderWayAnotherWaits(...behind: string[]): Promise<void> {
    await started();
    world.holds = true;
    intake.accepted(store('L1', 'L2', ...behind));
    await world.until(() => seqs().includes(1));
    await macrotask();
    world.holds = false;
  }

  it('that have to wait hold back their own feed only, in a page and afterwards', async () => {
    await oneUnderWayAnotherWaits('K1 of B', 'l2', 'K1', 'L3', 'l3');
    expect(seqs().sort()).toEqual([1, 3, 5]);
    intake.accepted(store('l2', 'K1', 'K1 of B', 'l1', 'not json'));
    await macrotask();
    expect(seqs().slice(3)).toEqual([9, 10, 11]);
    expect(world.failed.map((failure) => failure.seq)).toEqual([12]);
    world.settleHeld();
    await world.until(() => world.rows.length === 0);
    const after = seqs().slice(6);
    expect(after.filter((each) => [2, 4, 8].includes(each))).toEqual([2, 4, 8]);
    expect(after.filter((each) => [6, 7].includes(each))).toEqual([6, 7]);
    await macrotask();
    intake.accepted(store('l2'));
    expect(seqs().at(-1)).toBe(13);
  });

  it('of feeds that are not known hold back their Integration only', async () => {
    areFeedsUnknown = true;
    await oneUnderWayAnotherWaits('K1 of B', 'K1', 'L1 of B', 'K2 of B');
    expect(seqs().sort()).toEqual([1, 3]);
    world.settleHeld();
    await world.until(() => world.rows.length === 0);
    expect(seqs().slice(2)).toEqual([2, 4, 5, 6]);
  });

  it('keep those of other feeds waiting for 10 s at most, and their own feed until they are settled', async () => {
    await oneUnderWayAnotherWaits('L1', 'l1', 'L2', 'l2');
    clock.advance(9 * SECOND);
    await macrotask();
    expect(seqs()).toEqual([1]);
    world.holds = true;
    clock.advance(SECOND);
    await world.until(() => world.delivered.length === 2);
    clock.advance(40 * SECOND);
    await macrotask();
    expect(seqs()).toEqual([1, 2]);
    world.holds = false;
    world.settleHeld();
    await world.until(() => world.rows.length === 0);
    expect(seqs()).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('that wait are begun in order by the next process', async () => {
    await oneUnderWayAnotherWaits('l2', 'K1');
    world.delivered = [];
    intake.stop();
    intake = newIntake();
    intake.start();
    await world.until(() => world.delivered.length === 4);
    expect(seqs().filter((each) => [2, 3].includes(each))).toEqual([2, 3]);
  });

  it('that wait are begun once the database is back', async () => {
    await oneUnderWayAnotherWaits('l2');
    world.isAway = true;
    const before = world.pages;
    world.settleHeld();
    await world.until(() => world.pages > before);
    await macrotask();
    intake.accepted(store('l2'));
    expect(seqs()).toEqual([1]);
    world.isAway = false;
    clock.advance(SECOND);
    await world.until(() => world.rows.length === 0);
    expect(seqs()).toEqual([1, 2, 3, 4]);
  });

  it('that wait are begun when the one before is given up', async () => {
    await oneUnderWayAnotherWaits('l2');
    world.giveUpHeld(new Error('given up'));
    await world.until(() => world.rows.length === 0);
    expect(seqs()).toEqual([1, 2, 3]);
    expect(world.failed.map((failure) => failure.seq)).toEqual([1]);
  });

  it('that wait keep their place when the feeds are lost and won', async () => {
    await oneUnderWayAnotherWaits('l2', 'K1');
    world.loseFeeds();
    await macrotask();
    intake.accepted(store('l2'));
    world.regainFeeds();
    await world.until(() => world.rows.length === 0);
    const ofL2 = seqs().filter((each) => [2, 3, 5].includes(each));
    expect(ofL2).toEqual([2, 3, 5]);
    expect(seqs().filter((each) => each === 1)).toHaveLength(2);
  });

  it('are set aside once the process ended three times while they were processed', async () => {
    for (let start = 1; start <= 3; start++) {
      world.holds = true;
      intake = newIntake();
      if (start === 1) store('L1');
      intake.start();
      await world.until(() => world.delivered.length === start);
    }
    intake = newIntake();
    intake.start();
    await world.until(() => world.failed.length === 1);
    expect(world.failed[0]?.error).toBe(
      'processing: the service ended 3 times while it processed this Snapshot',
    );
    expect(world.delivered).toHaveLength(3);
  });

  it('are tried again without a count when the feeds gave them back', async () => {
    await started();
    for (let round = 1; round <= 5; round++) {
      world.holds = true;
      if (round === 1) intake.accepted(store('L1'));
      await world.until(() => world.delivered.length === round);
      world.loseFeeds();
      await macrotask();
      world.regainFeeds();
    }
    world.holds = false;
    await world.until(() => world.rows.length === 0);
    expect(world.failed).toEqual([]);
  });
});
