import { afterEach, expect, it, vi } from 'vitest';
import { createCatchUp } from './catch-up.ts';
import { createVirtualTime } from './live.fixture.ts';
import { createLiveness } from './liveness.ts';

afterEach(() => void vi.unstubAllGlobals());

/** A tab whose first stream is open. Each round of reads waits for `answer`. */
function setUp() {
  const time = createVirtualTime();
  const start = time.now();
  const liveness = createLiveness();
  const state = { session: 'S1' as string | null, rounds: [] as (string | null)[] };
  const open: ((answered: boolean | Promise<boolean>) => void)[] = [];
  const catchUp = createCatchUp({
    liveness,
    timers: time.timers,
    now: time.now,
    random: () => 0.5,
    session: () => state.session,
    readAll: () => {
      state.rounds.push(state.session);
      return new Promise((resolve) => open.push(resolve));
    },
    done: () => undefined,
  });
  const stream = (id: string) => catchUp.streamCame({ id, openedAt: time.now() }, time.now());
  catchUp.started();
  stream('first');
  return {
    ...{ time, state, catchUp, stream },
    /** Seconds after the start since when what is shown is old; null while it is not. */
    since() {
      const { staleSince } = liveness.getSnapshot().context;
      return staleSince === null ? null : (staleSince - start) / 1_000;
    },
    async answer(answered: boolean | Promise<boolean>) {
      open.shift()?.(answered);
      await time.settle();
    },
  };
}

it('a short interruption whose reads were answered does not show', async () => {
  const { time, catchUp, stream, state, answer, since } = setUp();
  await time.pass(5);
  catchUp.lost();
  await time.pass(4);
  stream('second');
  await time.pass(2);
  await answer(true);
  catchUp.bytesCame(time.now());
  await time.pass(2);
  expect([state.rounds, since()]).toEqual([['S1'], null]);
});

it('reads that were not answered after a short interruption make it old from the last byte on, and are repeated', async () => {
  const { time, catchUp, stream, state, answer, since } = setUp();
  await time.pass(5);
  catchUp.bytesCame(time.now());
  await time.pass(3);
  catchUp.lost();
  await time.pass(4);
  stream('second');
  await time.pass(2);
  await answer(false);
  expect(since()).toBe(5);
  await time.pass(2);
  catchUp.bytesCame(time.now());
  await time.pass(1);
  await answer(false);
  expect(since()).toBe(5);
  await time.pass(4);
  catchUp.bytesCame(time.now());
  await time.pass(1);
  await answer(true);
  expect([state.rounds.length, since()]).toEqual([3, null]);
});

it('so do reads after a stream whose loss was never announced', async () => {
  const { time, stream, answer, since } = setUp();
  await time.pass(5);
  stream('second');
  await time.pass(2);
  await answer(false);
  expect(since()).toBe(0);
});

it('what a later interruption missed is counted from the last byte before that one', async () => {
  const { time, catchUp, stream, answer, since } = setUp();
  for (const [id, answered] of [
    ['second', true],
    ['third', false],
  ] as const) {
    await time.pass(8);
    catchUp.bytesCame(time.now());
    catchUp.lost();
    await time.pass(1);
    stream(id);
    await time.pass(1);
    await answer(answered);
  }
  expect(since()).toBe(18);
});

it.each([
  ['another session takes its place', false],
  ['it ends and another one begins', true],
])('what is due for the next session is read when, during a read, %s', async (_, ends) => {
  const { time, catchUp, stream, state, answer, since } = setUp();
  await time.pass(5);
  stream('second');
  await time.pass(2);
  state.session = 'S2';
  if (ends) catchUp.started();
  await time.pass(1);
  stream('of the next session');
  await answer(false);
  await time.pass(2);
  expect(state.rounds).toEqual(['S1', 'S2']);
  await answer(true);
  expect(since()).toBe(null);
});

it('nothing is read once the session is over', async () => {
  const { time, stream, state } = setUp();
  stream('second');
  state.session = null;
  await time.pass(5);
  expect(state.rounds).toEqual([]);
});

it('a stream from before the tab began brought every hint, unless the tab came to it by a detour', () => {
  const { state, catchUp, time } = setUp();
  const older = { id: 'older', openedAt: time.now() - 1_000 };
  catchUp.started();
  catchUp.streamCame(older, time.now());
  expect(state.rounds).toEqual([]);
  catchUp.started();
  catchUp.moved();
  catchUp.streamCame(older, time.now());
  return time.pass(2).then(() => expect(state.rounds).toEqual(['S1']));
});

/** A tab that shows something old, because a round was not answered. */
async function withUnanswered() {
  const tab = setUp();
  const { time, catchUp, stream, state, answer } = tab;
  stream('second');
  await time.pass(2);
  await answer(false);
  const start = time.now();
  const begun: number[] = [];
  /** A byte comes every second, and nothing is answered. */
  const bytes = async (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      await time.pass(1);
      const { length } = state.rounds;
      catchUp.bytesCame(time.now());
      await time.pass(0);
      if (state.rounds.length > length) begun.push((time.now() - start) / 1_000);
      await answer(false);
    }
  };
  return { ...tab, begun, bytes };
}

it('rounds that are not answered are repeated after 2, 4, 8, 16 and then 18 s', async () => {
  const { begun, bytes } = await withUnanswered();
  await bytes(75);
  expect(begun).toEqual([1, 5, 13, 29, 47, 65]);
});

it('with the next byte once the network is back, and then again after 2 s', async () => {
  const { begun, bytes, catchUp } = await withUnanswered();
  await bytes(31);
  catchUp.hurry();
  await bytes(4);
  expect(begun.slice(-2)).toEqual([32, 34]);
});

it.each([
  ['a round was answered', false],
  ['another session begins', true],
])('the wait is 2 s again after %s', async (_, isOther) => {
  const { begun, bytes, catchUp, stream, time, answer } = await withUnanswered();
  await bytes(31);
  if (isOther) catchUp.started();
  stream('third');
  await time.pass(2);
  await answer(true);
  stream('fourth');
  await time.pass(2);
  begun.length = 0;
  await answer(false);
  await bytes(3);
  expect(begun).toHaveLength(1);
});

it('a round that throws counts as not answered, and is repeated', async () => {
  vi.stubGlobal('reportError', () => undefined);
  const { time, stream, state, answer, since, catchUp } = setUp();
  stream('second');
  await time.pass(2);
  await answer(Promise.reject(new TypeError('an answer of something else')));
  expect(since()).toBe(0);
  await time.pass(2);
  catchUp.bytesCame(time.now());
  await time.pass(1);
  expect(state.rounds).toHaveLength(2);
});

it('a single read that is not answered makes all old from before it, and all is read again 2 s later', async () => {
  const { time, catchUp, state, answer, since } = setUp();
  await time.pass(5);
  catchUp.bytesCame(time.now());
  catchUp.unanswered(time.now() - 3_000);
  expect(since()).toBe(2);
  const rounds = async () => {
    catchUp.bytesCame(time.now());
    await time.pass(0);
    return state.rounds.length;
  };
  await time.pass(1);
  catchUp.unanswered(time.now());
  expect([await rounds(), since()]).toEqual([0, 2]);
  await time.pass(1);
  expect(await rounds()).toBe(1);
  catchUp.unanswered(time.now());
  await answer(false);
  await time.pass(2);
  expect(await rounds()).toBe(1);
  await time.pass(2);
  expect(await rounds()).toBe(2);
  await answer(true);
  expect(since()).toBe(null);
});

it('a read that is not answered says nothing where no session shows anything', async () => {
  const { catchUp, state, since } = setUp();
  state.session = null;
  catchUp.unanswered(0);
  expect(since()).toBe(null);
});

it('a read that fails within a round does not lengthen the wait after it', async () => {
  const { time, catchUp, stream, state, answer } = setUp();
  stream('second');
  await time.pass(2);
  catchUp.unanswered(time.now());
  await answer(false);
  await time.pass(2);
  catchUp.bytesCame(time.now());
  await time.pass(0);
  expect(state.rounds).toHaveLength(2);
});
