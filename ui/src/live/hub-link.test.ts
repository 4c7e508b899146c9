import { expect, it } from 'vitest';
import type { HubMessage } from './hub.ts';
import { createHubLink } from './hub-link.ts';

/** A browser whose shared workers start and whose locks are held by others. */
function setUp() {
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
    navigator: { locks: { request: () => new Promise(() => undefined) } },
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
