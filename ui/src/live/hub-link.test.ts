import { afterEach, expect, it, vi } from 'vitest';
import type { HubMessage } from './hub.ts';
import { createHubLink } from './hub-link.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A browser whose shared workers start and whose locks are held by others. */
function setUp(request: LockManager['request'] = () => new Promise(() => undefined)) {
  const channels: { name: string; isOpen: boolean; onmessage: (event: { data: unknown }) => void }[] = [];
  const state = { workers: 0, moves: 0, heard: [] as HubMessage[] };
  const view = {
    URL,
    location: { href: 'https://tocsin.example/alert-groups' },
    BroadcastChannel: class {
      isOpen = true;
      onmessage = () => undefined;
      readonly name: string;
      constructor(name: string) {
        this.name = name;
        channels.push(this);
      }
      close() {
        this.isOpen = false;
      }
    },
    SharedWorker: class {
      onerror: (() => void) | null = null;
      constructor() {
        state.workers += 1;
      }
    },
    navigator: { locks: { request } },
  };
  const link = createHubLink(
    view as unknown as Window & typeof globalThis,
    (message) => state.heard.push(message),
    () => {
      state.moves += 1;
    },
  );
  const say = (data: unknown) => channels.at(-1)!.onmessage({ data });
  const open = () => channels.filter(({ isOpen }) => isOpen).map(({ name }) => name.split(' ')[0]);
  return { link, state, say, open };
}

const status = { kind: 'status', session: 'S1', stream: null, lastByteAt: null };
const here = { kind: 'here', tab: 'another', session: 'S1' };

it('the hub moves to a tab after two new workers that did not answer either, once', () => {
  const { link, state, open } = setUp();
  link.revive();
  link.revive();
  expect([state.workers, state.moves, open()]).toEqual([3, 0, ['tocsin.live']]);
  link.revive();
  link.revive();
  expect([state.workers, state.moves, open()]).toEqual([3, 1, ['tocsin.live.tab']]);
});

it('the hub stays in the worker when one of them answers', () => {
  const { link, state, say } = setUp();
  for (let times = 0; times < 5; times += 1) {
    link.revive();
    link.revive();
    say(status);
  }
  expect([state.workers, state.moves]).toEqual([11, 0]);
});

it('what other tabs say is no answer of the hub', () => {
  const { link, state, say } = setUp();
  for (let times = 0; times < 3; times += 1) {
    link.revive();
    say(here);
  }
  say(status);
  expect([state.moves, state.heard]).toEqual([1, [status]]);
});

/** A tab that has to run the hub, and its requests for the lock: when each began, and which of them wait. */
function setUpLocks(isRefused: () => boolean) {
  vi.useFakeTimers({ now: 0 });
  const begun: number[] = [];
  const waiting = new Set<object>();
  const request = (_: string, options: LockOptions) => {
    begun.push(Date.now() / 1_000);
    // A loop without a pause would never end.
    const isRunaway = begun.length > 100;
    if (!isRunaway && (isRefused() || options.steal)) return Promise.reject(new Error('refused'));
    waiting.add(options);
    return new Promise((_resolve, reject) => {
      options.signal?.addEventListener('abort', () => {
        waiting.delete(options);
        reject(new Error('aborted'));
      });
    });
  };
  const { link } = setUp(request as LockManager['request']);
  for (let times = 0; times < 3; times += 1) link.revive();
  return { link, begun, waiting };
}

it('the lock is asked for again 1, 2, ... 60 s after it was refused, until the tab is left', async () => {
  const { link, begun } = setUpLocks(() => true);
  await vi.advanceTimersByTimeAsync(200_000);
  expect(begun).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183]);
  link.close();
  await vi.advanceTimersByTimeAsync(200_000);
  expect(begun).toHaveLength(9);
});

it('one request waits for the lock, however often it was taken away, and none once the tab is left', async () => {
  const { link, begun, waiting } = setUpLocks(() => false);
  for (let times = 0; times < 3; times += 1) {
    link.revive();
    expect(waiting.size).toBe(0);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(waiting.size).toBe(1);
  }
  expect(begun).toHaveLength(7);
  link.close();
  await vi.advanceTimersByTimeAsync(60_000);
  expect([waiting.size, begun.length]).toEqual([0, 7]);
});

it('the hub runs while the tab has the lock, and asks for it again 1 s after it was taken away', async () => {
  vi.useFakeTimers();
  let hubs = 0;
  vi.stubGlobal(
    'BroadcastChannel',
    class {
      constructor() {
        hubs += 1;
      }
      postMessage() {}
      close() {
        hubs -= 1;
      }
    },
  );
  const requests: { grant: () => unknown; takeAway: (reason: Error) => void }[] = [];
  const request = (_: string, _options: LockOptions, grant: () => unknown) =>
    new Promise((_resolve, takeAway) => requests.push({ grant, takeAway }));
  const { link } = setUp(request as LockManager['request']);
  for (let times = 0; times < 5; times += 1) link.revive();
  expect(requests).toHaveLength(3);
  requests[1]!.grant();
  expect(hubs).toBe(0);
  requests[2]!.grant();
  requests[1]!.takeAway(new Error('taken away'));
  await vi.advanceTimersByTimeAsync(0);
  expect(hubs).toBe(1);
  for (const count of [3, 4]) {
    requests[count - 1]!.takeAway(new Error('taken away'));
    await vi.advanceTimersByTimeAsync(999);
    expect([hubs, requests.length]).toEqual([0, count]);
    await vi.advanceTimersByTimeAsync(1);
    requests[count]!.grant();
    expect(hubs).toBe(1);
  }
});
