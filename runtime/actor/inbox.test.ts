import { expect, test } from 'vitest';
import { World } from '../../test/simulation/world.ts';
import { SECOND } from '../clock.ts';
import { InboxReader } from './inbox.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import type { InboxMessage } from './store.ts';

const row = (seq: number, to = 'b'): InboxMessage => ({
  ...{ seq, from: { kind: 'actor', key: 'a' }, asker: null },
  to: { kind: 'actor', key: to },
  message: { type: 'note' },
});

/** A reader with pages of two rows, on rows that a test adds and removes. */
function stage(limits: { inboxHeld?: number } = {}) {
  const world = new World(1, false);
  const rows = new Map<number, InboxMessage>();
  const dispatched: number[] = [];
  const pages: number[][] = [];
  let onPage: () => void = () => undefined;
  const reader = new InboxReader({
    store: {
      async inbox(_shards: readonly number[], known: readonly number[], limit: number) {
        const page = [...rows.values()]
          .filter(({ seq }) => !known.includes(seq))
          .sort((a, b) => a.seq - b.seq)
          .slice(0, limit);
        pages.push(page.map(({ seq }) => seq));
        onPage();
        return page;
      },
    } as never,
    clock: world.clock,
    log: () => undefined,
    limits: { ...DEFAULT_LIMITS, inboxPage: 2, ...limits },
    owned: () => [1],
    committed: () => 0,
    dispatch({ seq, to }) {
      if (to.key === 'elsewhere') return false;
      dispatched.push(seq);
      return true;
    },
  });
  return {
    ...{ rows, dispatched, pages, reader },
    add: (...added: InboxMessage[]) => added.forEach((it) => void rows.set(it.seq, it)),
    onNextPage(run: () => void) {
      onPage = () => {
        onPage = () => undefined;
        run();
      };
    },
    settle: () => world.runUntil(() => false, world.now + SECOND),
  };
}

test('a row that becomes visible between two pages is not overtaken by its sender’s next one', async () => {
  const { add, onNextPage, reader, dispatched, settle } = stage();
  add(row(1), row(5));
  onNextPage(() => add(row(3), row(7)));
  reader.poke();
  await settle();
  expect(dispatched).toEqual([1, 5, 3, 7]);
});

test('rows in memory are read no second time, and rows of others do not hold up a pass', async () => {
  const { add, reader, dispatched, pages, settle } = stage();
  add(row(1, 'elsewhere'), row(2, 'elsewhere'), row(3), row(4));
  reader.poke();
  await settle();
  expect(dispatched).toEqual([3, 4]);
  reader.poke();
  await settle();
  expect(dispatched).toEqual([3, 4]);
  expect(pages.at(-1)).toEqual([]);
});

test('a full memory waits for room before the next page', async () => {
  const { add, rows, reader, dispatched, settle } = stage({ inboxHeld: 2 });
  add(row(1), row(2), row(3));
  reader.poke();
  await settle();
  expect(dispatched).toEqual([1, 2]);
  for (const seq of [1, 2]) {
    rows.delete(seq);
    reader.consumed(seq);
  }
  await settle();
  expect(dispatched).toEqual([1, 2, 3]);
});
