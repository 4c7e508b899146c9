import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MINUTE, SECOND } from '../../../runtime/clock.ts';
import type { ReplyCall } from '../../channels/calls.ts';
import { bounded, MOST_REPLIES, nextReply, queued } from './batching.ts';
import type { Delivery, Flight } from './delivery.ts';
import { createMessageWorld } from './world.fixture.ts';

type Queue = Pick<Delivery, 'replies' | 'windowEnd'>;
const EMPTY: Queue = { replies: [], windowEnd: 0 };

function added(sequence: number, loudness: 'loud' | 'quiet' = 'loud'): ReplyCall {
  const facts = { event: 'alerts_added', fingerprints: [`f${sequence}`] } as const;
  return {
    sequence,
    at: 0,
    facts,
    loudness,
    mentions: loudness === 'loud' ? ['new_alerts'] : [],
    owner: null,
  };
}

/** Sends what is due and says when, and how many Alerts it named. */
function sent(seconds: readonly number[], window: number): string[] {
  const replies: string[] = [];
  let queue = EMPTY;
  const send = (until: number) => {
    for (let next = nextReply(queue.replies); next && next.due <= until; next = nextReply(queue.replies)) {
      const { due, facts } = next;
      const count = facts.event === 'alerts_added' ? facts.fingerprints.length : 0;
      replies.push(`${(due - MINUTE) / SECOND} (${count})`);
      queue = { ...queue, replies: queue.replies.filter((one) => one !== next) };
    }
  };
  seconds.forEach((second, index) => {
    const now = MINUTE + second * SECOND;
    send(now - 1);
    queue = queued(queue, added(index + 1), now, window * SECOND);
    send(now);
  });
  send(Number.POSITIVE_INFINITY);
  return replies;
}

describe('Thread batching', () => {
  test('of 60 s: events at 0, 10, 30, 50, 70, 200 s', () => {
    expect(sent([0, 10, 30, 50, 70, 200], 60)).toEqual(['0 (1)', '60 (3)', '120 (1)', '200 (1)']);
  });

  test('of 0: every event is a reply of its own', () => {
    expect(sent([0, 0, 5], 0)).toEqual(['0 (1)', '0 (1)', '5 (1)']);
  });

  test('begins anew after a calm window', () => {
    expect(sent([0, 61, 62], 60)).toEqual(['0 (1)', '61 (1)', '121 (1)']);
  });

  test('takes the Loudness and Mentions of the loudest event', () => {
    const at = (second: number) => MINUTE + second * SECOND;
    let queue = queued(EMPTY, added(1), at(0), MINUTE);
    queue = queued(queue, added(2, 'quiet'), at(1), MINUTE);
    queue = queued(queue, added(3), at(2), MINUTE);
    expect(queue.replies[1]).toMatchObject({ sequence: 2, loudness: 'loud', mentions: ['new_alerts'] });
  });

  test('names an Alert once', () => {
    const at = (second: number) => MINUTE + second * SECOND;
    let queue = queued(EMPTY, added(1), at(0), MINUTE);
    queue = queued(queue, added(2), at(1), MINUTE);
    queue = queued(queue, { ...added(3), facts: added(2).facts }, at(2), MINUTE);
    expect(queue.replies[1]?.facts).toEqual({ event: 'alerts_added', fingerprints: ['f2'] });
  });
});

test('what is no new Alert neither waits for a batch nor joins it', () => {
  const takeover: ReplyCall = { ...added(3), facts: { event: 'alert_replaced', label: 'pod' } };
  let queue = queued(EMPTY, added(1), MINUTE, MINUTE);
  queue = queued(queue, added(2), MINUTE + SECOND, MINUTE);
  queue = queued(queue, takeover, MINUTE + 2 * SECOND, MINUTE);
  expect(queue.replies.map(({ sequence, due }) => [sequence, (due - MINUTE) / SECOND])).toEqual([
    [1, 0],
    [2, 60],
    [3, 2],
  ]);
});

describe('one reply too many', () => {
  const LAST = MOST_REPLIES + 1;
  const notice = (sequence: number, loudness: 'loud' | 'quiet' = 'loud'): ReplyCall => ({
    ...added(sequence, loudness),
    facts: { event: 'alert_replaced', label: 'pod' },
  });
  const inFlight = (sequence: number) => ({ kind: 'reply', sequence }) as Flight;
  /** A queue of Loud notices, some of them replaced, and what making room for the last one does. */
  const overflow = (replies: readonly ReplyCall[], call: Flight | null = null) => {
    const given = new Map(replies.map((reply) => [reply.sequence, reply]));
    let queue = EMPTY;
    for (let sequence = 1; sequence <= LAST; sequence++)
      queue = queued(queue, given.get(sequence) ?? notice(sequence), MINUTE, 0);
    const { delivery, dropped } = bounded({ ...queue, call });
    expect(delivery.replies).toHaveLength(MOST_REPLIES);
    const has = (sequence: number) => delivery.replies.find((one) => one.sequence === sequence);
    return { dropped: dropped?.sequence ?? null, has };
  };

  test('joins the newest two batches, although a Quiet reply waits', () => {
    const { dropped, has } = overflow([added(3), notice(4, 'quiet'), added(7), added(LAST)]);
    expect(dropped).toBeNull();
    expect(has(3)?.facts).toEqual(added(3).facts);
    expect(has(7)?.facts).toEqual({ event: 'alerts_added', fingerprints: ['f7', `f${LAST}`] });
    expect(has(4)).toBeDefined();
  });

  test('drops the oldest Quiet reply where there are no two batches', () => {
    expect(overflow([added(3), notice(5, 'quiet'), notice(9, 'quiet')]).dropped).toBe(5);
  });

  test('drops the oldest where all are Loud, and says so', () => {
    expect(overflow([]).dropped).toBe(1);
  });

  test('leaves the reply in flight alone', () => {
    expect(overflow([], inFlight(1)).dropped).toBe(2);
    expect(overflow([added(3), added(7)], inFlight(7))).toMatchObject({ dropped: 1 });
  });
});

test('a reply that is dropped for lack of room is recorded as not delivered', async () => {
  const world = createMessageWorld();
  await world.begin();
  world.pause();
  await world.create('A');
  const change = { mentions: ['new_alerts'], facts: { event: 'alert_replaced', label: 'pod' } } as const;
  const missed = () => world.notes.filter(({ note }) => note.event === 'not_delivered');
  for (let count = 0; count < MOST_REPLIES; count++) await world.event('A', 'alert_replaced', change);
  expect(missed()).toEqual([]);
  await world.event('A', 'alert_replaced', change);
  expect(missed().map(({ note }) => note.error)).toEqual(['more than 200 replies wait under the message']);
  await world.resume();
  expect(world.calls().filter((call) => call.includes('reply'))).toHaveLength(MOST_REPLIES);
});

test('every Alert is named in exactly one reply, and no two batches begin within a window', () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 100 }), { maxLength: 12 });
  fc.assert(
    fc.property(gaps, fc.constantFrom(0, 1, 30, 60), (seconds, window) => {
      const times = seconds.map((_, index) => seconds.slice(0, index + 1).reduce((sum, gap) => sum + gap, 0));
      const replies = sent(times, window).map((text) => /^(\S+) \((\d+)\)$/.exec(text) ?? []);
      const named = replies.reduce((sum, [, , count]) => sum + Number(count), 0);
      expect(named).toBe(times.length);
      const due = replies.map(([, at]) => Number(at));
      for (const [index, at] of due.slice(1).entries()) {
        expect(at - (due[index] ?? 0)).toBeGreaterThanOrEqual(window === 0 ? 0 : window);
      }
    }),
    { numRuns: 60 },
  );
});
