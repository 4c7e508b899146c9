import { beforeEach, describe, expect, it } from 'vitest';
import type { NewSnapshot } from '../../actors/feed/ports.ts';
import { SECOND } from '../../runtime/clock.ts';
import { newPublicId } from '../../runtime/public-id.ts';
import {
  ACCEPT_QUEUE_BYTES,
  ACCEPT_QUEUE_REQUESTS,
  type AcceptQueue,
  createAcceptQueue,
  type StoredSnapshot,
  type WriteOutcome,
} from './accept-queue.ts';
import {
  AwayError,
  createHandClock,
  type HandClock,
  HeldWriter,
  INTEGRATION,
  isAway,
} from './ingest.fixture.ts';

let clock: HandClock;
let writer: HeldWriter;
let committed: StoredSnapshot[];
let uncertain: unknown[];
let queue: AcceptQueue;

beforeEach(() => {
  clock = createHandClock();
  writer = new HeldWriter();
  const of = { committed: [] as StoredSnapshot[], uncertain: [] as unknown[] };
  ({ committed, uncertain } = of);
  queue = createAcceptQueue({
    writer,
    clock,
    isUnavailable: isAway,
    committed: (snapshots) => of.committed.push(...snapshots),
    uncertain: (error) => of.uncertain.push(error),
  });
});

function snapshot(body = Buffer.from('{}')): NewSnapshot {
  return {
    id: newPublicId('SS'),
    integrationId: INTEGRATION,
    receivedAt: clock.now(),
    body,
    bodyHash: 'ab',
    contentType: null,
    shard: null,
  };
}

/** Puts a Snapshot as the accept path does; resolves with its outcome. */
function put(given = snapshot()): Promise<WriteOutcome> {
  queue.hold(given.body.length);
  return new Promise((resolve) => queue.put(given, resolve));
}

/** As many rounds of the event loop. */
async function rounds(count: number): Promise<void> {
  for (let round = 0; round < count; round++) await new Promise(setImmediate);
}

async function putAndHold(): Promise<{ outcome: Promise<WriteOutcome> }> {
  writer.open = false;
  const written = writer.nextWrite();
  const outcome = put();
  await written;
  return { outcome };
}

describe('the accept queue', () => {
  it('hands on what was committed in order of arrival, with rising numbers', async () => {
    const sent = [snapshot(), snapshot(), snapshot()];
    expect(await Promise.all(sent.map(put))).toEqual(['accepted', 'accepted', 'accepted']);
    clock.advance(SECOND / 1000);
    await queue.drained();
    expect(committed.map(({ id }) => id)).toEqual(sent.map(({ id }) => id));
    expect(committed.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(writer.batches).toHaveLength(1);
  });

  it('has one write under way at a time', async () => {
    const { outcome } = await putAndHold();
    const more = [put(), put()];
    expect(writer.batches).toHaveLength(1);
    writer.open = true;
    writer.release();
    await outcome;
    clock.advance(SECOND / 1000);
    await Promise.all(more);
    expect(writer.batches.map((batch) => batch.length)).toEqual([1, 2]);
  });

  it('waits for as many as were answered together, and writes them together', async () => {
    const first = Promise.all([put(), put(), put(), put()]);
    await first;
    const [one, two] = [put(), put()];
    await rounds(2);
    const [three, four] = [put(), put()];
    await Promise.all([one, two, three, four]);
    expect(writer.batches.map((batch) => batch.length)).toEqual([4, 4]);
  });

  it('counts those that wait at the end of a write among whom the next one waits for', async () => {
    const { outcome } = await putAndHold();
    const more = [put(), put()];
    writer.open = true;
    writer.release();
    await outcome;
    const again = put();
    await Promise.all([...more, again]);
    expect(writer.batches.map((batch) => batch.length)).toEqual([1, 3]);
  });

  it('waits a millisecond for senders that do not come back', async () => {
    await Promise.all([put(), put(), put()]);
    const back = put();
    await rounds(5);
    expect(writer.batches).toHaveLength(1);
    clock.advance(SECOND / 1000);
    expect(await back).toBe('accepted');
    expect(writer.batches.map((batch) => batch.length)).toEqual([3, 1]);
  });

  it('writes what a lone sender brings in the round of the event loop in which it came', async () => {
    await put();
    const again = put();
    await rounds(1);
    expect(writer.batches).toHaveLength(2);
    await again;
  });

  it('waits for nobody when enough wait', async () => {
    const { outcome } = await putAndHold();
    const more = Array.from({ length: 64 }, () => put());
    writer.open = true;
    writer.release();
    await Promise.all([outcome, ...more]);
    const most = Array.from({ length: 64 }, () => put());
    await rounds(1);
    expect(writer.batches.map((batch) => batch.length)).toEqual([1, 64, 64]);
    await Promise.all(most);
  });

  it('hands on what was committed when the next write has begun', async () => {
    const { outcome } = await putAndHold();
    await rounds(1);
    const next = put();
    const begun = writer.nextWrite().then(() => committed.length);
    writer.open = true;
    writer.release();
    expect(await outcome).toBe('accepted');
    clock.advance(SECOND / 1000);
    expect(await begun).toBe(0);
    await next;
    await queue.drained();
    expect(committed.map(({ seq }) => seq)).toEqual([1, 2]);
  });

  it.each([
    ['unavailable', new AwayError()],
    ['failed', new Error('bug')],
  ])('answers %s and asks to look again when a write fails', async (expected, error) => {
    const { outcome } = await putAndHold();
    writer.release(error);
    expect(await outcome).toBe(expected);
    await queue.drained();
    expect(uncertain).toEqual([error]);
    expect(committed).toEqual([]);
  });

  it('goes on after a failed write', async () => {
    const { outcome } = await putAndHold();
    writer.open = true;
    writer.release(new AwayError());
    await outcome;
    expect(await put()).toBe('accepted');
  });

  it('answers after ten seconds what is not committed by then, and hands it on all the same', async () => {
    const { outcome } = await putAndHold();
    const waiting = put();
    clock.advance(10 * SECOND);
    expect(await Promise.all([outcome, waiting])).toEqual(['unavailable', 'unavailable']);
    writer.release();
    await queue.drained();
    expect(committed.map(({ seq }) => seq)).toEqual([1]);
    expect(writer.batches).toHaveLength(1);
  });

  it('leaves those alone that have not waited for ten seconds', async () => {
    const { outcome } = await putAndHold();
    clock.advance(6 * SECOND);
    const later = put();
    clock.advance(6 * SECOND);
    expect(await outcome).toBe('unavailable');
    writer.open = true;
    writer.release();
    await rounds(1);
    clock.advance(SECOND / 1000);
    expect(await later).toBe('accepted');
  });

  it('admits a bounded number of requests and bytes', () => {
    expect(queue.fits(ACCEPT_QUEUE_BYTES)).toBe(true);
    expect(queue.fits(ACCEPT_QUEUE_BYTES + 1)).toBe(false);
    queue.hold(ACCEPT_QUEUE_BYTES);
    expect(queue.fits(1)).toBe(false);
    queue.hold(-ACCEPT_QUEUE_BYTES);
    for (let count = 0; count < ACCEPT_QUEUE_REQUESTS; count++) queue.enter();
    expect(queue.admits()).toBe(false);
    queue.leave();
    expect(queue.admits()).toBe(true);
  });

  it('is drained when the last request was answered', async () => {
    queue.enter();
    let isDrained = false;
    const drained = queue.drained().then(() => {
      isDrained = true;
    });
    await put();
    expect(isDrained).toBe(false);
    queue.leave();
    await drained;
  });

  it('lets go of the bytes it held, however it ended', async () => {
    const body = Buffer.alloc(1000);
    const accepted = put(snapshot(body));
    await accepted;
    const { outcome } = await putAndHold();
    writer.release(new AwayError());
    await outcome;
    await queue.drained();
    expect(queue.fits(ACCEPT_QUEUE_BYTES)).toBe(true);
  });
});
