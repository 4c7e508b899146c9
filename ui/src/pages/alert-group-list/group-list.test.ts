import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { AlertGroupsApi } from '../../api/alert-groups.ts';
import { NO_FILTERS } from './filters.ts';
import { createGroupList } from './group-list.svelte.ts';

beforeEach(() => {
  // Without the compiler of Svelte a state is a plain variable.
  vi.stubGlobal('$state', { raw: <T>(value: T) => value });
  vi.stubGlobal('window', { setTimeout: () => 0 });
});

afterEach(() => vi.unstubAllGlobals());

const OTHER = { ...NO_FILTERS, q: 'other' };
const answered = (value: unknown) => ({ ok: true, value, etag: null });
/** One Alert Group in this version, alone in a list. */
const group = (version: number) => ({ id: 'AG1', version });
const page = (version: number) => ({ items: [group(version)], next_cursor: null });
const turns = () => new Promise((resolve) => setImmediate(resolve));

/** A list that shows version 1, and requests that are answered when the test says so, in the order of their kind. */
async function setUp(before: (list: ReturnType<typeof createGroupList>) => void = () => undefined) {
  const asked: Record<'list' | 'read' | 'counts', ((value: unknown) => void)[]> = {
    list: [],
    read: [],
    counts: [],
  };
  const request = (kind: keyof typeof asked) => () =>
    new Promise((resolve) => asked[kind].push((value) => resolve(answered(value))));
  const api = { list: request('list'), read: request('read'), counts: request('counts') };
  const list = createGroupList(api as unknown as AlertGroupsApi);
  const answer = async (kind: keyof typeof asked, value: unknown) => {
    asked[kind].shift()!(value);
    await turns();
  };
  void list.show(NO_FILTERS);
  before(list);
  await answer('counts', {});
  await answer('list', page(1));
  expect(list.items).toEqual([group(1)]);
  return { list, answer };
}

it('a row that changes while other filters are read is read again for them', async () => {
  const { list, answer } = await setUp();
  void list.show(OTHER);
  list.hinted({ type: 'alert_group', id: 'AG1' } as never);
  await answer('list', page(1));
  await answer('counts', {});
  await answer('read', group(2));
  await answer('read', group(2));
  expect(list.items).toEqual([group(2)]);
});

it('a row that changes after other filters are read, but before they are shown, is the newest in both', async () => {
  const { list, answer } = await setUp();
  void list.show(OTHER);
  await answer('list', page(1));
  list.hinted({ type: 'alert_group', id: 'AG1' } as never);
  await answer('read', group(2));
  expect(list.items).toEqual([group(2)]);
  await answer('counts', {});
  expect(list.turning).toBe(false);
  expect(list.items).toEqual([group(2)]);
});

it('looking for new rows shows those that are there as they are now', async () => {
  const { list, answer } = await setUp();
  list.lookForNew();
  await answer('list', page(2));
  expect(list.items).toEqual([group(2)]);
});

it('a group that changes before there are rows is read once more when there are', async () => {
  const { list, answer } = await setUp((early) => early.hinted({ type: 'alert_group', id: 'AG1' } as never));
  await answer('list', page(2));
  expect(list.items).toEqual([group(2)]);
});

it('a group of the coming rows that changes before they are shown is read once more', async () => {
  const { list, answer } = await setUp();
  void list.show(OTHER);
  list.hinted({ type: 'alert_group', id: 'AG2' } as never);
  const of = (version: number) => ({ items: [{ id: 'AG2', version }], next_cursor: null });
  await answer('list', of(1));
  await answer('list', of(1));
  await answer('counts', {});
  await answer('list', of(2));
  expect(list.items).toEqual([{ id: 'AG2', version: 2 }]);
});

it('a page that ends early is read on: no row is taken for gone', async () => {
  const { list, answer } = await setUp();
  const rows = Array.from({ length: 100 }, (_, n) => ({ id: `AG${n + 1}`, version: 1 }));
  void list.read();
  await answer('counts', {});
  await answer('list', { items: rows.slice(0, 3), next_cursor: 'c' });
  await answer('list', { items: rows.slice(3, 50), next_cursor: 'd' });
  void list.more();
  await answer('list', { items: rows.slice(50), next_cursor: null });
  expect(list.items).toEqual(rows);
  list.hinted({ type: 'alert_group', id: null } as never);
  await answer('list', { items: rows.slice(0, 3), next_cursor: 'c' });
  await answer('list', { items: rows.slice(3), next_cursor: null });
  expect(list.items).toEqual(rows);
});
