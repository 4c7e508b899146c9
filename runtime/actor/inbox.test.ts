import { expect, test } from 'vitest';
import { World } from '../../test/simulation/world.ts';
import { SECOND } from '../clock.ts';
import { InboxReader } from './inbox.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import type { Resident } from './resident.ts';
import type { ActorStore, InboxMessage } from './store.ts';

const row = (seq: number, to = 'b', from = 'a'): InboxMessage => ({
  ...{ seq, from: { kind: 'actor', key: from }, asker: null },
  to: { kind: 'actor', key: to },
  message: { type: 'note' },
});

/** A reader with pages of two rows, on rows that a test adds and removes. */
function stage(limits: { inboxHeld?: number; inboxReceivers?: number; inboxPage?: number } = {}) {
  const world = new World(1, false);
  const rows = new Map<number, InboxMessage>();
  const dispatched: number[] = [];
  const pages: number[][] = [];
  let onPage: () => void = () => undefined;
  const reader = new InboxReader({
    store: {
      async inbox(...[, known, limit, passedOver]: Parameters<ActorStore['inbox']>) {
        const page = [...rows.values()]
          .filter(({ seq, from }) => !known.includes(seq) && !passedOver.includes(`actor/${from?.key}`))
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
    /** The rows were used up by a commit. */
    useUp: (...seqs: number[]) => {
      for (const seq of seqs) {
        rows.delete(seq);
        reader.released(seq);
      }
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
  const { add, useUp, reader, dispatched, settle } = stage({ inboxHeld: 2 });
  add(row(1), row(2), row(3));
  reader.poke();
  await settle();
  expect(dispatched).toEqual([1, 2]);
  useUp(1, 2);
  await settle();
  expect(dispatched).toEqual([1, 2, 3]);
});

test('of a sender to many some rows are in memory, in its order, and those of others pass', async () => {
  const { add, useUp, reader, dispatched, settle } = stage({ inboxReceivers: 2 });
  add(row(1, 'b'), row(2, 'c'), row(3, 'd'), row(4, 'e'), row(5, 'f'), row(6, 'b', 'other'));
  reader.poke();
  await settle();
  expect(dispatched).toEqual([1, 2, 6]);
  add(row(7, 'b', 'other'));
  reader.poke();
  await settle();
  expect(dispatched).toEqual([1, 2, 6, 7]);
  useUp(1, 2);
  await settle();
  expect(dispatched).toEqual([1, 2, 6, 7, 3, 4]);
});

test('many rows to a receiver that takes none keep those of their sender to others waiting no more', async () => {
  const { add, reader, dispatched, settle } = stage({ inboxReceivers: 2 });
  add(row(1, 'stuck'), row(2, 'stuck'), row(3, 'stuck'), row(4, 'b'));
  reader.poke();
  await settle();
  expect(dispatched).toEqual([1, 2, 3, 4]);
});

test.each([2, 100])(
  'nothing skips the inbox while rows are passed over, with pages of %i',
  async (inboxPage) => {
    const { add, useUp, reader, settle } = stage({ inboxPage, inboxReceivers: 2 });
    const receiver = { text: 'actor/b' } as Resident;
    add(row(1, 'b'), row(2, 'c'), row(3, 'd'));
    reader.fence(receiver, 0);
    reader.poke();
    await settle();
    expect(reader.maySkip(receiver)).toBe(false);
    useUp(1, 2);
    await settle();
    expect(reader.maySkip(receiver)).toBe(true);
  },
);
