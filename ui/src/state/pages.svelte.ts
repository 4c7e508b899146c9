/** A paged list: the first page, "Load more", and reading again as much as is shown. */
import { createStore } from '@xstate/store';
import { type Answer, answerOf } from '../api/client.ts';
import type { Problem } from '../api/problem.ts';
import type { Page, PageRequest } from '../api/shapes.ts';
import { mirror } from './resource.svelte.ts';

const MAX_LIMIT = 500;
/** Requests for the rows of one page: the service may end a page early, where its rows are large. */
const MOST_REQUESTS = 20;

interface Context<Item> {
  /** Null until the first answer. */
  readonly items: readonly Item[] | null;
  readonly nextCursor: string | null;
  readonly problem: Problem | null;
  readonly reading: 'nothing' | 'start' | 'more';
  /** The next page was asked for and is read once the read from the start is done. */
  readonly wantsMore: boolean;
}

export type Pages<Item> = ReturnType<typeof createPages<Item>>;

/**
 * @param keyOf what an item stays the same by: one that moved between two pages that were read is shown once
 * @param newestOf what is shown for an item that was read: a page may take several requests
 */
export function createPages<Item>(
  request: (page: PageRequest) => Promise<Answer<Page<Item>>>,
  pageSize = 50,
  keyOf: (item: Item) => unknown = (item) => item,
  newestOf: (item: Item) => Item = (item) => item,
) {
  const store = createStore({
    context: {
      items: null,
      nextCursor: null,
      problem: null,
      reading: 'nothing',
      wantsMore: false,
    } as Context<Item>,
    on: {
      started: (context, event: { reading: 'start' | 'more' }): Context<Item> => ({
        ...context,
        reading: event.reading,
        // A read from the start takes the place of a next page that is on its way.
        wantsMore: event.reading === 'start' && (context.wantsMore || context.reading === 'more'),
      }),
      moreWanted: (context): Context<Item> => ({ ...context, wantsMore: true }),
      arrived: (context, event: { page: Page<Item>; append: boolean }): Context<Item> => ({
        ...context,
        items: eachOnce([...((event.append && context.items) || []), ...event.page.items.map(newestOf)]),
        nextCursor: event.page.next_cursor,
        problem: null,
        reading: 'nothing',
        wantsMore: context.wantsMore && event.page.next_cursor !== null,
      }),
      failed: (context, event: { problem: Problem }): Context<Item> => ({
        ...context,
        problem: event.problem,
        reading: 'nothing',
        wantsMore: false,
      }),
      recovered: (context, event: { nextCursor: string | null }): Context<Item> => ({
        ...context,
        problem: null,
        nextCursor: context.nextCursor ?? event.nextCursor,
      }),
      kept: (context): Context<Item> => ({
        ...context,
        problem: null,
        reading: 'nothing',
        wantsMore: context.wantsMore && context.nextCursor !== null,
      }),
      edited: (context, event: { items: readonly Item[] }): Context<Item> => ({
        ...context,
        items: event.items,
      }),
    },
  });
  const view = mirror(store);
  /** As it was read last, in the place where it stood first. */
  const eachOnce = (items: readonly Item[]) => [
    ...new Map(items.map((item) => [keyOf(item), item])).values(),
  ];
  const now = () => store.getSnapshot().context;
  let latest = 0;

  /** @returns whether the answer may be shown, as far as `mayShow` decides; it is asked when the answer is there */
  async function run(page: PageRequest, append: boolean, mayShow = () => true): Promise<boolean> {
    latest += 1;
    const turn = latest;
    store.trigger.started({ reading: append ? 'more' : 'start' });
    const answer = await answerOf(() => readRows(request, page));
    if (turn !== latest) return true;
    const isShown = !answer.ok || mayShow();
    if (!answer.ok) store.trigger.failed({ problem: answer.problem });
    else if (isShown) store.trigger.arrived({ page: answer.value, append });
    else store.trigger.kept();
    if (now().wantsMore) void more();
    return isShown;
  }

  async function more(): Promise<void> {
    const { nextCursor, reading } = now();
    if (reading === 'start') store.trigger.moreWanted();
    else if (nextCursor !== null && reading === 'nothing')
      await run({ cursor: nextCursor, limit: pageSize }, true);
  }

  return {
    get items() {
      return view.current.items;
    },
    get problem() {
      return view.current.problem;
    },
    /** What somebody waits for: `more` also while the next page waits for a read from the start. */
    get reading() {
      return view.current.wantsMore ? 'more' : view.current.reading;
    },
    get hasMore() {
      return view.current.nextCursor !== null;
    },
    /**
     * Reads from the start, at least as many as are shown (up to 500).
     * @returns false when `mayShow` kept the answer from being shown
     */
    read: (mayShow?: () => boolean) => {
      const shown = now().items?.length ?? 0;
      const limit = Math.min(MAX_LIMIT, Math.max(pageSize, Math.ceil(shown / pageSize) * pageSize));
      return run({ cursor: null, limit }, false, mayShow);
    },
    /** Reads the next page behind what is shown: after the read from the start, when one is on its way. */
    more,
    /**
     * What is shown was read elsewhere and is up to date, whatever the last read here met.
     * @param nextCursor of what follows the rows that were read
     */
    recovered: (nextCursor: string | null) => store.trigger.recovered({ nextCursor }),
    /** Changes what is shown without reading. */
    edit: (change: (items: readonly Item[]) => readonly Item[]) => {
      const { items } = now();
      if (items === null) return;
      const edited = change(items);
      if (edited.some((item, index) => item !== items[index]) || edited.length !== items.length)
        store.trigger.edited({ items: edited });
    },
  };
}

/**
 * As many rows as are asked for, when there are so many, in as many requests as the service needs for them.
 * @param mostRequests after which a cursor may be left before there are enough rows
 */
export async function readRows<Item>(
  request: (page: PageRequest) => Promise<Answer<Page<Item>>>,
  { cursor, limit }: PageRequest,
  mostRequests = MOST_REQUESTS,
): Promise<Answer<Page<Item>>> {
  let answer = await request({ cursor, limit });
  for (let requests = 1; answer.ok && requests < mostRequests; requests++) {
    const { items, next_cursor } = answer.value;
    if (next_cursor === null || items.length >= limit) break;
    const more = await request({ cursor: next_cursor, limit: limit - items.length });
    answer = more.ok ? { ...more, value: { ...more.value, items: [...items, ...more.value.items] } } : more;
  }
  return answer;
}
