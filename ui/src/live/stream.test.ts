import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createHub, type HubMessage, type TabMessage } from './hub.ts';
import { createVirtualService, createVirtualTime } from './live.fixture.ts';
import { createLive } from './stream.svelte.ts';

beforeEach(() => {
  // Without the compiler of Svelte a state is a plain variable.
  vi.stubGlobal('$state', { raw: <T>(value: T) => value });
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** A tab that is live, with the hub of its browser, in which time passes when the test says so. */
async function setUp(before?: (live: ReturnType<typeof createLive>) => void, isShared = true) {
  const time = createVirtualTime();
  vi.spyOn(Date, 'now').mockImplementation(time.now);
  const state = {
    ...{ reads: 0, keptReads: 0, asked: 0, checks: 0 },
    ...{ isFrozen: false, isSilent: false, isRefused: false, isAnswered: true, isUnreadable: false },
  };
  const service = createVirtualService(() => {
    if (state.isRefused) return new Response('', { status: 401 });
    return state.isFrozen ? null : 'stream';
  });
  let channel: { onmessage(event: { data: HubMessage }): void } | null = null;
  const hub = createHub({
    ...{ fetch: service.fetch, timers: time.timers, now: time.now, random: () => 0.5 },
    post: (data) => channel?.onmessage({ data }),
  });
  const page = Object.assign(new EventTarget(), { hidden: false, visibilityState: 'visible' });
  const view = Object.assign(new EventTarget(), {
    ...{ URL, document: page, navigator: isShared ? { locks: {} } : {} },
    location: { href: 'https://tocsin.example/alert-groups' },
    fetch: async () => {
      state.asked += 1;
      return new Response('', { status: state.isSilent ? 503 : 200 });
    },
    ...(isShared && { SharedWorker: class {} }),
    BroadcastChannel: class {
      onmessage = () => undefined;
      constructor() {
        channel = this;
      }
      postMessage(message: TabMessage) {
        hub.received(message);
      }
      close() {}
    },
  });
  const live = createLive({
    view: view as unknown as Window & typeof globalThis,
    timers: time.timers,
    checkSession: async () => {
      state.checks += 1;
      if (state.isRefused || state.isUnreadable) throw new TypeError('an answer of something else');
      return true;
    },
    readKept: () => {
      state.keptReads += 1;
    },
    watchReads: () => async () => state.isAnswered,
  });
  live.on('alert-groups', null, () => {
    state.reads += 1;
  });
  const turn = async (visibilityState: 'hidden' | 'visible') => {
    Object.assign(page, { hidden: visibilityState === 'hidden', visibilityState });
    page.dispatchEvent(new Event('visibilitychange'));
    await time.settle();
  };
  before?.(live);
  live.start('S1');
  const begun = { staleSince: live.staleSince, away: live.away };
  await time.pass(1);
  return { begun, time, service, state, live, turn, hub };
}

it('a tab shown again after its timers slept says at once that it is old, and reads all of it again', async () => {
  const { time, service, state, live, turn } = await setUp();
  expect([live.staleSince, service.attempts(), state.reads]).toEqual([null, 1, 0]);
  const lastByteAt = time.now() - 1_000;
  await turn('hidden');
  time.sleep(60);
  expect([live.staleSince, service.attempts()]).toEqual([null, 1]);
  await turn('visible');
  expect([live.staleSince, service.attempts()]).toEqual([lastByteAt, 2]);
  await time.pass(3);
  expect([live.staleSince, state.reads]).toEqual([null, 1]);
});

it('a tab shown again soon keeps its stream and reads nothing', async () => {
  const { time, service, state, live, turn } = await setUp();
  await turn('hidden');
  await time.pass(5);
  await turn('visible');
  await time.pass(3);
  expect([live.staleSince, service.attempts(), state.reads]).toEqual([null, 1, 0]);
});

it('a hidden tab does not ask whether the service is back, one that is shown again does', async () => {
  const { time, state, live, turn } = await setUp();
  state.isFrozen = true;
  await turn('hidden');
  await time.pass(60);
  expect([live.staleSince === null, state.asked]).toEqual([false, 0]);
  await turn('visible');
  expect(state.asked).toBe(1);
  await turn('hidden');
  await time.pass(20);
  expect(state.asked).toBe(1);
});

it('is away once the service answers nothing that is asked, and no longer than that', async () => {
  const { time, state, live } = await setUp();
  Object.assign(state, { isFrozen: true, isSilent: true });
  await time.pass(40);
  expect([live.staleSince === null, live.away]).toEqual([false, true]);
  state.isSilent = false;
  await time.pass(5);
  expect([live.staleSince === null, live.away]).toEqual([false, false]);
});

it('what was shown before the tab began is old until all of it was read again', async () => {
  const at = -5 * 60_000;
  const { begun, state, live } = await setUp((tab) => tab.shows(at));
  expect(begun).toEqual({ staleSince: at, away: true });
  expect([live.staleSince, live.away, state.reads, state.keptReads]).toEqual([null, false, 1, 1]);
});

it('a tab shown again reads with the next byte what was not answered before', async () => {
  const { time, service, state, live, turn } = await setUp();
  state.isAnswered = false;
  service.streams[0]!.end();
  await time.pass(63);
  expect(live.staleSince).not.toBe(null);
  const { reads } = state;
  state.isAnswered = true;
  await turn('hidden');
  await turn('visible');
  await time.pass(1);
  expect([live.staleSince, state.reads]).toEqual([null, reads + 1]);
});

it('a read without an answer makes a live tab old until all is read again with a later byte', async () => {
  const { time, service, state, live } = await setUp();
  const since = time.now() - 1_000;
  live.unanswered(time.now());
  expect([live.staleSince, live.away]).toEqual([since, false]);
  service.streams[0]!.write(':\n');
  await time.pass(1);
  expect([live.staleSince, state.asked, state.reads]).toEqual([since, 1, 0]);
  await time.pass(1);
  service.streams[0]!.write(':\n');
  await time.pass(1);
  expect([live.staleSince, state.reads]).toEqual([null, 1]);
});

it('asks for its session again after an answer that it could not read', async () => {
  vi.stubGlobal('reportError', () => undefined);
  const { time, service, state } = await setUp();
  state.isRefused = true;
  service.streams[0]!.end();
  await time.pass(20);
  expect(state.checks).toBeGreaterThan(1);
  state.isRefused = false;
  await time.pass(18);
  expect(service.streams).toHaveLength(2);
});

it('asks for its session less and less often while no answer can be read, at once when it is shown or the session is another', async () => {
  vi.stubGlobal('reportError', () => undefined);
  const { time, state, live, turn, hub } = await setUp();
  state.isUnreadable = true;
  const another = () => hub.received({ kind: 'attach', tab: 'another', session: 'S2' });
  another();
  await time.pass(60);
  // Waits of 2, 4, 8, 16 and 18 s, and a second each until the hub says again whose stream it is.
  expect(state.checks).toBe(6);
  await turn('hidden');
  await turn('visible');
  await time.pass(1);
  expect(state.checks).toBe(7);
  hub.received({ kind: 'attach', tab: 'another', session: 'S4' });
  await time.pass(1);
  expect(state.checks).toBe(8);
  live.start('S3');
  another();
  await time.pass(1);
  expect(state.checks).toBe(9);
});

it('a hidden tab with a stream of its own does not ask for its session, one that is shown again does', async () => {
  vi.stubGlobal('reportError', () => undefined);
  // The hub of the test takes the place of the one that the tab runs, which hears nothing.
  vi.stubGlobal(
    'BroadcastChannel',
    class {
      postMessage() {}
    },
  );
  const { time, service, state, turn } = await setUp(undefined, false);
  state.isRefused = true;
  service.streams[0]!.end();
  await time.pass(10);
  const { checks } = state;
  expect(checks).toBeGreaterThan(0);
  await turn('hidden');
  await time.pass(60);
  expect(state.checks).toBe(checks);
  await turn('visible');
  await time.pass(1);
  expect(state.checks).toBe(checks + 1);
});
