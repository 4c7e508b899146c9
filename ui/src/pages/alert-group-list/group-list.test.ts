import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { AlertGroupsApi } from '../../api/alert-groups.ts';
import { NO_FILTERS } from './filters.ts';
import { createGroupList } from './group-list.svelte.ts';

beforeEach(() => {
  // Without the compiler of Svelte a state is a plain variable.
  vi.stubGlobal('$state', { raw: <T>(value: T) => value });
  vi.stubGlobal('window', { setTimeout: () => 0, clearTimeout: () => undefined });
});

afterEach(() => {
  vi.useRealTimers();
  vi.resetModules();
  vi.unstubAllGlobals();
});

const OTHER = { ...NO_FILTERS, q: 'other' };
const answered = (value: unknown) => ({ ok: true, value, etag: null });
const FAILED = { ok: false, problem: { status: 0, code: null, errors: [] } };
const isProblem = (value: unknown) => typeof value === 'object' && value !== null && 'problem' in value;
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
    new Promise((resolve) =>
      asked[kind].push((value) => resolve(isProblem(value) ? value : answered(value))),
    );
  const api = { list: request('list'), read: request('read'), counts: request('counts') };
  const lost: number[] = [];
  const list = createGroupList(api as unknown as AlertGroupsApi, (since) => lost.push(since));
  const answer = async (kind: keyof typeof asked, value: unknown) => {
    asked[kind].shift()!(value);
    await turns();
  };
  void list.show(NO_FILTERS);
  before(list);
  await answer('counts', {});
  await answer('list', page(1));
  expect(list.items).toEqual([group(1)]);
  return { list, answer, asked, lost };
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

it('a row that is read again and says the same is the same, and is not drawn anew', async () => {
  const { list, answer } = await setUp();
  const [row] = list.items!;
  const { items } = list;
  list.lookForNew();
  await answer('list', page(1));
  expect(list.items).toBe(items);
  void list.read();
  await answer('list', page(1));
  expect(list.items).toHaveLength(1);
  expect(list.items![0]).toBe(row);
});

it('two reads that overlapped and say the same are not followed by a third', async () => {
  const { list, answer, asked } = await setUp();
  list.lookForNew();
  void list.read();
  await answer('list', page(1));
  await answer('list', page(1));
  expect([list.items, asked.read.length]).toEqual([[group(1)], 0]);
  void list.read();
  list.hinted({ type: 'alert_group', id: null } as never);
  await answer('list', page(2));
  await answer('list', page(1));
  expect([list.items, asked.read.length]).toEqual([[group(2)], 1]);
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

it('a row that changes while the rest of its page is read is the newest', async () => {
  const { list, answer } = await setUp();
  const others = Array.from({ length: 49 }, (_, n) => ({ id: `AG${n + 2}`, version: 1 }));
  void list.read();
  await answer('counts', {});
  await answer('list', { items: [group(1)], next_cursor: 'c' });
  list.hinted({ type: 'alert_group', id: 'AG1' } as never);
  await answer('read', group(2));
  expect(list.items).toEqual([group(2)]);
  await answer('list', { items: others, next_cursor: null });
  expect(list.items).toEqual([group(2), ...others]);
});

it('the next page that is asked for during a read from the start, or before one, is read after it', async () => {
  const { list, answer } = await setUp();
  const rows = Array.from({ length: 150 }, (_, n) => ({ id: `AG${n + 1}`, version: 1 }));
  void list.read();
  void list.more();
  expect(list.reading).toBe('more');
  await answer('counts', {});
  await answer('list', { items: rows.slice(0, 50), next_cursor: 'c' });
  await answer('list', { items: rows.slice(50, 100), next_cursor: 'd' });
  expect(list.items).toEqual(rows.slice(0, 100));
  expect(list.reading).toBe('nothing');
  void list.more();
  void list.read();
  await answer('counts', {});
  await answer('list', { items: rows.slice(100), next_cursor: null });
  await answer('list', { items: rows.slice(0, 100), next_cursor: 'd' });
  await answer('list', { items: rows.slice(100), next_cursor: null });
  expect(list.items).toEqual(rows);
});

it('a next page that there is none of any more is not waited for', async () => {
  const { list, answer } = await setUp();
  void list.read();
  void list.more();
  await answer('counts', {});
  await answer('list', page(1));
  expect(list.reading).toBe('nothing');
});

it('a next page that waits for a read that fails is not read', async () => {
  const { list, answer, asked } = await setUp();
  void list.read();
  void list.more();
  await answer('counts', {});
  await answer('list', FAILED);
  expect([list.reading, list.problem, asked.list.length]).toEqual(['nothing', FAILED.problem, 0]);
});

it('a group that changed and moved behind the rows that are shown is one row, the newest, where it stood', async () => {
  const { list, answer } = await setUp();
  void list.read();
  await answer('counts', {});
  const rows = Array.from({ length: 50 }, (_, n) => ({ id: `AG${n + 1}`, version: 1 }));
  await answer('list', { items: rows, next_cursor: 'c' });
  void list.more();
  await answer('list', { items: [{ id: 'AG51', version: 1 }, group(2)], next_cursor: null });
  expect(list.items).toEqual([group(2), ...rows.slice(1), { id: 'AG51', version: 1 }]);
});

it('after a read that failed no row moves either: what is new waits, and the failure is over', async () => {
  const { list, answer } = await setUp();
  void list.read();
  await answer('counts', {});
  await answer('list', FAILED);
  expect(list.problem).toBe(FAILED.problem);
  list.hinted({ type: 'alert_group', id: null } as never);
  await answer('list', { items: [{ id: 'AG2', version: 1 }, group(2)], next_cursor: null });
  expect([list.items, list.waiting, list.problem]).toEqual([[group(2)], 1, null]);
});

it('no row moves under whoever came to one while a read that nobody asked for was on its way', async () => {
  let isQuiet = true;
  const { list, answer } = await setUp();
  list.enterWhen(() => isQuiet);
  list.hinted({ type: 'alert_group', id: null } as never);
  isQuiet = false;
  for (const _ of ['of the hint', 'of the read']) await answer('counts', {});
  const both = { items: [{ id: 'AG2', version: 1 }, group(2)], next_cursor: null };
  await answer('list', both);
  expect([list.items, list.reading]).toEqual([[group(1)], 'nothing']);
  await answer('list', both);
  expect([list.items, list.waiting]).toEqual([[group(2)], 1]);

  isQuiet = true;
  list.hinted({ type: 'alert_group', id: null } as never);
  await answer('counts', {});
  await answer('list', both);
  expect([list.items?.length, list.waiting]).toEqual([2, 0]);
});

/** A list whose service answers with one group a page: of three pages, or without end and without groups. */
function setUpPages(isEndless = false) {
  const asked: unknown[] = [];
  const api = {
    list: async (query: unknown, { cursor, limit }: { cursor: string | null; limit: number }) => {
      asked.push({ query, cursor, limit });
      const page = cursor === null ? 1 : Number(cursor) + 1;
      const items = isEndless ? [] : [{ id: `AG${page}`, version: 1 }];
      return answered({ items, next_cursor: isEndless || page < 3 ? `${page}` : null });
    },
    counts: async () => answered({}),
  };
  return { asked, list: createGroupList(api as unknown as AlertGroupsApi, () => undefined) };
}

it('a walk along the list reads the rows that are shown no second time', async () => {
  const { asked, list } = setUpPages();
  await list.keep(NO_FILTERS);
  const before = asked.length;
  expect(list.items).toHaveLength(3);
  await list.keep(NO_FILTERS);
  expect(asked).toHaveLength(before);
  await list.keep(OTHER);
  expect(asked.length).toBeGreaterThan(before);
});

it('finds all open groups that match, the newest first, up to a bound', async () => {
  const { asked, list } = setUpPages();
  await list.show({ ...NO_FILTERS, tab: 'all', sort: 'last_changed_at', columns: ['pod'] });
  asked.length = 0;
  const all = await list.findAll(1_000);
  expect(all).toMatchObject({
    value: { items: [{ id: 'AG1' }, { id: 'AG2' }, { id: 'AG3' }], isWhole: true },
  });
  expect(asked[0]).toMatchObject({
    query: { status: ['firing', 'acknowledged', 'snoozed'], sort: '-started_at', label_columns: [] },
    cursor: null,
    limit: 500,
  });
  expect(await list.findAll(2)).toMatchObject({
    value: { items: [{ id: 'AG1' }, { id: 'AG2' }], isWhole: false },
  });
});

it('gives up the search for all that match after a hundred requests', async () => {
  const { asked, list } = setUpPages(true);
  expect(await list.findAll(1_000)).toMatchObject({ value: { items: [], isWhole: false } });
  expect(asked).toHaveLength(100);
});

/** A page at its top that was just opened, with nothing focused, on a device that can hover or cannot. */
async function quietPage(canHover: boolean) {
  const view = Object.assign(new EventTarget(), { scrollY: 0, matchMedia: () => ({ matches: !canHover }) });
  vi.stubGlobal('window', view);
  vi.stubGlobal('$effect', (run: () => void) => run());
  let focused: string | null = null;
  /** Something that is focused, inside of what one of these selectors names. */
  const closest = (selectors: string) => (selectors.split(', ').includes(focused ?? '') ? {} : null);
  vi.stubGlobal('document', { activeElement: { closest } });
  const use = (name: string, fields: object = {}) =>
    view.dispatchEvent(Object.assign(new Event(name), fields));
  const { createGroupList, createQuiet } = await import('./group-list.svelte.ts');
  const mount = () => createQuiet(() => true);
  return {
    isQuiet: mount(),
    mount,
    createGroupList,
    view,
    use,
    focus: (where: string | null) => (focused = where),
  };
}

it.each([
  ['pointermove', { pointerType: 'mouse' }],
  ['pointerdown', { pointerType: 'mouse' }],
  ['pointerup', { pointerType: 'mouse' }],
  ['keydown', {}],
  ['input', {}],
  ['focus', {}],
  ['wheel', {}],
  ['touchmove', {}],
  ['scroll', {}],
])(
  'new rows enter by themselves once five seconds are over since the list was opened and since the last %s',
  async (name, fields) => {
    vi.useFakeTimers();
    const { isQuiet, use } = await quietPage(true);
    for (const act of [() => undefined, () => use(name, fields)]) {
      act();
      vi.advanceTimersByTime(4_999);
      expect(isQuiet()).toBe(false);
      vi.advanceTimersByTime(1);
      expect(isQuiet()).toBe(true);
    }
  },
);

it('new rows wait while the page is scrolled, or the focus is in a row or on the button of those that wait', async () => {
  vi.useFakeTimers();
  const { isQuiet, view, focus } = await quietPage(true);
  vi.advanceTimersByTime(60_000);
  focus('[data-search]');
  expect(isQuiet()).toBe(true);
  for (const where of ['[data-group]', '[data-arrived]']) {
    focus(where);
    expect(isQuiet()).toBe(false);
  }
  focus(null);
  view.scrollY = 1;
  expect(isQuiet()).toBe(false);
});

it('new rows always wait for whoever uses a finger, from the first look on', async () => {
  vi.useFakeTimers();
  const phone = await quietPage(false);
  vi.advanceTimersByTime(60_000);
  expect(phone.isQuiet()).toBe(false);
  vi.resetModules();
  const both = await quietPage(true);
  both.use('pointerdown', { pointerType: 'touch' });
  both.use('scroll');
  const again = both.mount();
  vi.advanceTimersByTime(60_000);
  expect([both.isQuiet(), again()]).toEqual([false, false]);
  both.use('pointermove', { pointerType: 'mouse' });
  vi.advanceTimersByTime(5_000);
  expect(both.isQuiet()).toBe(true);
});

/** How often the service is asked in a minute while a row waits, and after the page was left. */
async function waitingRows(canHover: boolean) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  const { isQuiet, createGroupList, view, use } = await quietPage(canHover);
  Object.assign(view, { setTimeout, clearTimeout, scrollY: 1 });
  let asked = 0;
  let items = [group(1)];
  const api = {
    list: async () => {
      asked += 1;
      return answered({ items, next_cursor: null });
    },
    counts: async () => answered({}),
  };
  const list = createGroupList(api as unknown as AlertGroupsApi, () => undefined);
  const leave = list.enterWhen(isQuiet);
  await list.show(NO_FILTERS);
  items = [{ id: 'AG2', version: 1 }, group(1)];
  const askedIn = async (ms: number) => {
    asked = 0;
    await vi.advanceTimersByTimeAsync(ms);
    return asked;
  };
  list.lookForNew();
  await askedIn(10_000);
  expect(list.waiting).toBe(1);
  return { list, leave, view, use, askedIn };
}

it('rows that wait are not asked for again until they may enter', async () => {
  const { list, view, askedIn } = await waitingRows(true);
  expect(await askedIn(60_000)).toBe(0);
  view.scrollY = 0;
  expect(await askedIn(60_000)).toBe(2);
  expect([list.items?.length, list.waiting]).toEqual([2, 0]);
});

it.each([true, false])('nothing is tried by finger, nor after the list was left', async (canHover) => {
  const { list, leave, view, askedIn } = await waitingRows(canHover);
  if (canHover) leave();
  expect(vi.getTimerCount()).toBe(0);
  view.scrollY = 0;
  expect([await askedIn(60_000), list.waiting]).toEqual([0, 1]);
  list.lookForNew();
  expect([await askedIn(60_000), vi.getTimerCount()]).toEqual([0, 0]);
});

it('rows are kept while they are all that the filters find, and something follows them', async () => {
  const { list, answer } = await setUp();
  expect(list.first).toBe(null);
  const leave = list.enterWhen(() => false);
  expect(list.first).toMatchObject({ page: page(1) });
  list.lookForNew();
  await answer('list', { items: [group(1), { id: 'AG2' }], next_cursor: null });
  expect([list.waiting, list.first]).toEqual([1, null]);
  void list.read();
  expect(list.first).toBe(null);
  const many = [group(1), ...Array.from({ length: 59 }, (_, index) => ({ id: `AX${index}` }))];
  await answer('list', { items: many, next_cursor: null });
  await answer('counts', {});
  expect(list.first?.page).toEqual({ items: many.slice(0, 50), next_cursor: null });
  list.hinted({ type: 'alert-group', id: 'AG1' });
  expect(list.first).toBe(null);
  await answer('read', FAILED);
  expect(list.first).toBe(null);
  void list.show(OTHER);
  expect(list.first).toBe(null);
  const refused = { status: 400, code: 'validation_failed', errors: [{ pointer: '/q', code: 'invalid' }] };
  await answer('list', FAILED);
  await answer('counts', refused);
  expect(list.first).toBe(null);
  leave();
  expect(list.first).toBe(null);
});

it('a row whose answer cannot be read is not kept as known, and is read again with the next hint', async () => {
  vi.stubGlobal('reportError', () => undefined);
  const { list, answer } = await setUp();
  list.enterWhen(() => false);
  list.hinted({ type: 'alert-group', id: 'AG1' });
  await answer('read', null);
  expect([list.items, list.first]).toEqual([[group(1)], null]);
  list.hinted({ type: 'alert-group', id: 'AG1' });
  await answer('read', group(2));
  expect(list.items).toEqual([group(2)]);
});

it('a row, new rows or counts that a hint tells of and that get no definite answer are told as lost', async () => {
  const { list, answer, asked, lost } = await setUp();
  const since = Date.now();
  for (const id of ['AG1', 'AG2']) list.hinted({ type: 'alert-group', id });
  await answer('read', FAILED);
  expect(lost).toHaveLength(1);
  await answer('list', FAILED);
  expect(lost).toHaveLength(2);
  expect(asked.counts).toHaveLength(1);
  await answer('counts', FAILED);
  expect(lost).toHaveLength(3);
  for (const at of lost) expect(at).toBeGreaterThanOrEqual(since);
  list.hinted({ type: 'alert-group', id: 'AG1' });
  await answer('read', { ...FAILED, problem: { ...FAILED.problem, status: 404 } });
  expect(lost).toHaveLength(3);
});
