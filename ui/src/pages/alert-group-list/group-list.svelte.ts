/**
 * The Alert Group list as it is shown: rows, counts, and what has arrived since. It outlives its page, so that coming
 * back shows the rows at once. Rows change in place; new ones wait until they are asked for (ui §1.6).
 */
import { createStore } from '@xstate/store';
import type { AlertGroupsApi } from '../../api/alert-groups.ts';
import { type Answer, followed, isSame, type Query } from '../../api/client.ts';
import { isQueryRefused, type Problem } from '../../api/problem.ts';
import type { AlertGroup, Page, PageRequest } from '../../api/shapes.ts';
import { type Hint, paced } from '../../live/hints.ts';
import { createPages, type Pages, readRows } from '../../state/pages.svelte.ts';
import { createResource, mirror } from '../../state/resource.svelte.ts';
import {
  countQuery,
  filtersToQuery,
  type GroupFilters,
  listQuery,
  NO_FILTERS,
  openStatuses,
} from './filters.ts';

const PAGE_SIZE = 50;
const LOOK_EVERY_MS = 2_000;
const COUNT_EVERY_MS = 1_000;
/** Groups that one request may ask for. */
const MOST_IN_PLACE = 500;
/** Requests in search of all that match: with a regular expression a page may hold few groups, or none. */
const MOST_FINDING = 100;
/** How often it is checked whether waiting groups may enter. */
const CHECK_EVERY_MS = 1_000;

/** An Alert Group whose page was opened. */
export interface Visit {
  readonly id: string;
  /** The link of its page that has the focus and leads on along the list: the next page gives it to the same one. */
  readonly focused: 'next' | 'previous' | null;
}

export type GroupList = ReturnType<typeof createGroupList>;

/** @param lost called when what is shown could not be read again, with when that read began, ms since the epoch */
export function createGroupList(api: AlertGroupsApi, lost: (since: number) => void) {
  const shownBy = {
    list: followed(api.list, lost),
    read: followed(api.read, lost),
    counts: followed(api.counts, lost),
  };
  const waiting = createStore({
    context: { ids: [] as readonly string[] },
    on: { found: (_, event: { ids: readonly string[] }) => ({ ids: event.ids }) },
  });
  const waitingView = mirror(waiting);

  let filters = NO_FILTERS;
  let shownAddress: string | null = null;
  /** Whether new rows may enter now without being asked for; null while no page shows the list. */
  let mayEnterNow: (() => boolean) | null = null;
  let again: number | undefined;
  let pages = $state.raw(newPages(NO_FILTERS));
  /** Rows of new filters, until their first answer; those of the old ones stay meanwhile. */
  let coming = $state.raw<Pages<AlertGroup> | null>(null);
  /** Why the service did not take the filters. What is shown then is older. */
  let refusal = $state.raw<Problem | null>(null);
  const counts = createResource(() => shownBy.counts(countQuery(filters, Date.now())));
  const lookForNew = paced(() => void look(), LOOK_EVERY_MS);
  const recount = paced(() => void counts.read(), COUNT_EVERY_MS);
  /** Counts the answers that were shown, and which of them each row has. */
  let answers = 0;
  const answerOf = new Map<string, number>();
  /** Which of them a group that was read came with. */
  const cameWith = new WeakMap<AlertGroup, number>();
  /** Rows that are being read, and whether to read them once more after that. */
  const refreshing = new Map<string, boolean>();
  let visited: Visit | null = null;
  /** Something changed before the rows that are being read were shown: they may be older. */
  let isMissed = false;
  /** A change of a row, or a new group, was told of and could not be read since all rows were. */
  let isUnsure = false;

  const enterByThemselves = () => mayEnterNow?.() ?? false;

  function newPages(own: GroupFilters) {
    /** The same for every further page, or its cursor would not fit. */
    let query: Query = {};
    const request = async (page: PageRequest) => {
      if (page.cursor === null) query = listQuery(own, Date.now());
      const begun = answers;
      const answer = await shownBy.list(
        query,
        page,
        page.cursor === null ? nameOf(filtersToQuery(own)) : undefined,
      );
      if (!answer.ok) return answer;
      if (page.cursor === null) isUnsure = false;
      return { ...answer, value: { ...answer.value, items: inOrder(answer.value.items, begun) } };
    };
    return createPages<AlertGroup>(request, PAGE_SIZE, ({ id }) => id, newestOf);
  }

  /**
   * Of two reads of one group that overlapped and differ, either may be the newer one: the row stays as it is and is
   * read again. A row that says the same stays the same object, so that it is not drawn anew.
   * @param begun value of `answers` when the read began
   */
  function inOrder(items: readonly AlertGroup[], begun: number): readonly AlertGroup[] {
    const shown = new Map(pages.items?.map((group) => [group.id, group]));
    return items.map((group) => {
      const row = shown.get(group.id);
      const next = row !== undefined && isSame(row, group) ? row : group;
      if (row !== undefined && next !== row && (answerOf.get(group.id) ?? 0) > begun) {
        void refreshRow(group.id);
        return row;
      }
      answers += 1;
      answerOf.set(group.id, answers);
      cameWith.set(next, answers);
      return next;
    });
  }

  /** The row of a group that was read again while further requests for the same page were on their way. */
  function newestOf(group: AlertGroup): AlertGroup {
    if ((answerOf.get(group.id) ?? 0) <= (cameWith.get(group) ?? 0)) return group;
    return pages.items?.find(({ id }) => id === group.id) ?? group;
  }

  /** Rows of other filters: those of the old ones stay until the answer, and for good when it is a refusal. */
  async function turnTo(address: string): Promise<void> {
    const before = shownAddress;
    const fresh = newPages(filters);
    answerOf.clear();
    shownAddress = address;
    refusal = null;
    waiting.trigger.found({ ids: [] });
    const hadRows = before !== null && pages.items !== null;
    if (hadRows) coming = fresh;
    else pages = fresh;
    await Promise.all([fresh.read(), counts.read()]);
    if (hadRows && coming === fresh) {
      coming = null;
      if (fresh.problem !== null && isQueryRefused(fresh.problem)) refusal = fresh.problem;
      else pages = fresh;
    }
    if (isMissed && coming === null && pages.items !== null) {
      isMissed = false;
      void readInPlace();
    }
  }

  async function read(): Promise<void> {
    waiting.trigger.found({ ids: [] });
    await Promise.all([pages.read(), counts.read()]);
    forgetAnswers();
  }

  /** A read that nobody asked for moves no row under somebody who came to one while it was on its way. */
  async function readByItself(): Promise<void> {
    const mayEnter = () => !pages.items?.length || enterByThemselves();
    const [isShown] = await Promise.all([pages.read(mayEnter), counts.read()]);
    if (!isShown) return readInPlace();
    waiting.trigger.found({ ids: [] });
    forgetAnswers();
  }

  /** Of rows that are not shown any more. */
  function forgetAnswers(): void {
    const shown = new Set(pages.items?.map((group) => group.id));
    for (const id of answerOf.keys()) if (!shown.has(id)) answerOf.delete(id);
  }

  /**
   * Are there groups that belong into the list and are not in it?
   * @param limit how many to ask for
   * @returns the first groups of the list as they are now, whether those are all that were asked for, and what follows
   * them; null when that is not known, or does not matter any more
   */
  async function look(
    limit = PAGE_SIZE,
  ): Promise<{ items: readonly AlertGroup[]; isWhole: boolean; nextCursor: string | null } | null> {
    if (pages.items === null) return null;
    const asked = pages;
    const begun = answers;
    const query = listQuery(filters, Date.now());
    const answer = await readRows((page) => shownBy.list(query, page), { cursor: null, limit });
    if (!answer.ok) isUnsure = true;
    if (!answer.ok || asked !== pages) return null;
    const shown = new Set(pages.items.map((group) => group.id));
    const items = inOrder(answer.value.items, begun);
    replaceRows(items);
    const ids = items.map((group) => group.id).filter((id) => !shown.has(id));
    const { next_cursor: nextCursor } = answer.value;
    const found = { items, isWhole: items.length >= limit || nextCursor === null, nextCursor };
    waiting.trigger.found({ ids });
    if (ids.length === 0) return found;
    // Above nothing there is nothing to move.
    if (pages.items.length === 0 || enterByThemselves()) await readByItself();
    else enterLater();
    return found;
  }

  /** Lets the rows in that wait as soon as they may enter. Nothing is asked for until then. */
  function enterLater(): void {
    window.clearTimeout(again);
    if (mayEnterNow === null || isByFinger || waiting.getSnapshot().context.ids.length === 0) return;
    again = window.setTimeout(() => (enterByThemselves() ? lookForNew() : enterLater()), CHECK_EVERY_MS);
  }

  /** Reads what is shown again without moving any row (ui §1.6 rule 6). */
  async function readInPlace(): Promise<void> {
    const rows = pages.items ?? [];
    const answer = await look(Math.min(MOST_IN_PLACE, Math.max(PAGE_SIZE, rows.length)));
    if (answer === null) return;
    pages.recovered(answer.nextCursor);
    isUnsure = false;
    const found = new Set(answer.items.map((group) => group.id));
    const gone = rows.filter((group) => !found.has(group.id));
    if (gone.length > PAGE_SIZE && answer.isWhole) await read();
    else await Promise.all(gone.map((group) => refreshRow(group.id)));
  }

  /**
   * All open groups that the filters find, the newest first, loaded or not: resolved ones take no Command of many.
   * Those that appear meanwhile come before the page that is read, and are left out.
   * @param most the most to find
   * @returns whether those are all
   */
  async function findAll(most: number): Promise<Answer<{ items: readonly AlertGroup[]; isWhole: boolean }>> {
    const asked = { ...listQuery(filters, Date.now()), status: openStatuses(filters), sort: '-started_at' };
    const found = new Map<string, AlertGroup>();
    let cursor: string | null = null;
    for (let requests = 0; requests < MOST_FINDING && found.size < most; requests++) {
      const limit = Math.min(MOST_IN_PLACE, most - found.size);
      const answer: Answer<Page<AlertGroup>> = await api.list(
        { ...asked, label_columns: [] },
        { cursor, limit },
      );
      if (!answer.ok) return answer;
      for (const group of answer.value.items) found.set(group.id, group);
      cursor = answer.value.next_cursor;
      if (cursor === null) break;
    }
    return { ok: true, value: { items: [...found.values()], isWhole: cursor === null }, etag: null };
  }

  async function refreshRow(id: string): Promise<void> {
    const isRead = refreshing.has(id);
    refreshing.set(id, isRead);
    if (isRead) return;
    do {
      refreshing.set(id, false);
      const asked = pages;
      const begun = answers;
      try {
        const answer = await shownBy.read(id);
        // Other rows are shown meanwhile, which may have been read before.
        if (asked !== pages) refreshing.set(id, pages.items?.some((group) => group.id === id) ?? false);
        else if (answer.ok) replaceRows(inOrder([answer.value], begun));
        else isUnsure = true;
      } catch (error) {
        isUnsure = true;
        reportError(error);
      }
    } while (refreshing.get(id) === true);
    refreshing.delete(id);
  }

  /** Shows the answer to a Command, which may be older than an answer to a read that came meanwhile. */
  function put(group: AlertGroup): void {
    replaceRows(inOrder([group], answers));
    void refreshRow(group.id);
  }

  function replaceRows(groups: readonly AlertGroup[]): void {
    const newer = new Map(groups.map((group) => [group.id, group]));
    for (const each of [pages, coming])
      each?.edit((items) => items.map((item) => newer.get(item.id) ?? item));
  }

  return {
    get items() {
      return pages.items;
    },
    /**
     * The first rows, and what the request for them is called where they are kept. Null while they are not all that the
     * filters find as it is: no page follows them, new groups wait, or an answer is missing.
     */
    get first(): { readonly name: string; readonly page: Page<AlertGroup> } | null {
      const { items, problem, reading } = pages;
      const isWhole = coming === null && refusal === null && problem === null && reading === 'nothing';
      const isFollowed = mayEnterNow !== null && !isUnsure && refreshing.size === 0;
      const isWaiting = waitingView.current.ids.length > 0;
      if (items === null || shownAddress === null || !isWhole || !isFollowed || isWaiting) return null;
      // Nothing follows them until the service is asked.
      return { name: nameOf(shownAddress), page: { items: items.slice(0, PAGE_SIZE), next_cursor: null } };
    },
    get problem() {
      return pages.problem;
    },
    get reading() {
      return pages.reading;
    },
    /** Rows of other filters are on their way; those shown are of the filters before. */
    get turning() {
      return coming !== null;
    },
    get refusal() {
      return refusal;
    },
    get hasMore() {
      return pages.hasMore;
    },
    get counts() {
      return counts.value;
    },
    /** How many groups wait behind the "N new" button. */
    get waiting() {
      return waitingView.current.ids.length;
    },
    /** Shows the rows of these filters: those of last time at once when the filters are the same. */
    show(next: GroupFilters) {
      const address = filtersToQuery(next).toString();
      filters = next;
      return address === shownAddress ? read() : turnTo(address);
    },
    /** Has rows of these filters, without reading again those that are shown: a walk keeps its rows and their order. */
    async keep(next: GroupFilters) {
      const address = filtersToQuery(next).toString();
      if (address === shownAddress && pages.items !== null) return;
      filters = next;
      await turnTo(address);
    },
    /** The Alert Group that was opened last. */
    get visited() {
      return visited;
    },
    visit(next: Visit) {
      visited = next;
    },
    findAll,
    read,
    more: () => pages.more(),
    put,
    /** A live hint about some Alert Group, or about all of them. */
    hinted(hint: Hint) {
      recount();
      if (hint.id === null) {
        void (pages.items !== null && !enterByThemselves() ? readInPlace() : readByItself());
        return;
      }
      isMissed ||= pages.items === null || coming !== null;
      if (pages.items?.some((group) => group.id === hint.id)) void refreshRow(hint.id);
      else lookForNew();
    },
    lookForNew,
    /**
     * A page shows the list.
     * @param quiet whether new rows may enter now without being asked for
     * @returns what to call when the page is left
     */
    enterWhen(quiet: () => boolean): () => void {
      mayEnterNow = quiet;
      return () => {
        if (mayEnterNow !== quiet) return;
        mayEnterNow = null;
        window.clearTimeout(again);
      };
    },
    /** Drops what is shown: the next person may see something else. */
    forget() {
      shownAddress = null;
      coming = null;
      refusal = null;
      visited = null;
      pages = newPages(NO_FILTERS);
    },
  };
}

const nameOf = (address: URLSearchParams | string) => `/alert-groups as ${address}`;

/** Nothing tells where a finger is about to press. Kept from page to page; null before the first. */
let isByFinger: boolean | null = null;

/**
 * Whether new rows may enter by themselves: the page stands at its top, neither a row nor the button of those that wait
 * has the focus, and for five seconds nobody opened the list or did anything in the document. Never under a finger
 * (ui §1.6 rule 6). Call during component initialisation.
 */
export function createQuiet(otherwise: () => boolean): () => boolean {
  const QUIET_MS = 5_000;
  /** The focus is also moved by screen readers, without a key. */
  const EVENTS = 'pointermove pointerdown pointerup keydown input focus wheel touchmove scroll'.split(' ');
  let touchedAt = Date.now();
  isByFinger ??= window.matchMedia('(hover: none)').matches;
  const touch = (event: Event) => {
    touchedAt = Date.now();
    if ('pointerType' in event) isByFinger = event.pointerType !== 'mouse';
  };
  $effect(() => {
    const stop = new AbortController();
    // On the way down: scrolling and the focus do not bubble, and what a dialog handles may end there.
    const anywhere = { signal: stop.signal, passive: true, capture: true };
    for (const name of EVENTS) window.addEventListener(name, touch, anywhere);
    return () => stop.abort();
  });
  return () => {
    if (isByFinger || !otherwise() || window.scrollY !== 0) return false;
    if (document.activeElement?.closest('[data-group], [data-arrived]')) return false;
    return Date.now() - touchedAt >= QUIET_MS;
  };
}
