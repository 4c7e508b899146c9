/**
 * The address bar as state: the path and query that pages read, links that stay in the app, Back and Forward with the
 * scroll position, and a question before a changed form is left (ui §1.3, §1.5).
 */
import { createStore } from '@xstate/store';
import { mirror } from '../state/resource.svelte.ts';

export interface Address {
  readonly path: string;
  readonly search: string;
  readonly hash: string;
}

/** Asked before a page is left; false keeps it. */
export type LeaveGuard = () => Promise<boolean>;

interface Entry {
  /** Position in this tab's history; tells Back from Forward. */
  readonly index: number;
  /** Path and query of the page that a link led from; kept when a link replaces the page. Null: from nowhere. */
  readonly from: string | null;
}

const RESTORE_MS = 1_000;
/** A page that is still shorter than it was is left where it is after this long. */
const FILLED_WITHIN_MS = 10_000;

export type Router = ReturnType<typeof createRouter>;

export function createRouter(view: Window) {
  const store = createStore({
    context: address(view),
    on: { moved: (_, event: Address) => event },
  });
  const state = mirror(store);
  /** The address of the page that stands there, which stays while the code of the next one is on its way. */
  let drawn = $state.raw<Address | null>(null);
  const scrolls = new Map<number, number>();
  let restoring = new AbortController();
  let guard: LeaveGuard | null = null;
  let entry = entryOf(view);
  let isReturn = false;
  let undoing = false;

  view.history.scrollRestoration = 'manual';
  if (!isEntry(view.history.state)) view.history.replaceState(entry, '');
  view.addEventListener('popstate', () => void popped());
  view.document.addEventListener('click', followLink);

  function moved(): void {
    const next = address(view);
    if (drawn?.path === next.path) drawn = next;
    store.trigger.moved(next);
  }

  async function mayLeave(): Promise<boolean> {
    return guard === null || (await guard());
  }

  async function popped(): Promise<void> {
    if (undoing) {
      undoing = false;
      return;
    }
    if (!isEntry(view.history.state)) {
      // A link into the page: the browser made an entry and goes to the place by itself.
      entry = { ...entry, index: entry.index + 1 };
      view.history.replaceState(entry, '');
      moved();
      return;
    }
    const target = entryOf(view);
    if (guard !== null) {
      const there = view.location.href;
      undoing = true;
      view.history.go(entry.index - target.index);
      if (!(await mayLeave())) return;
      guard = null;
      navigateNow(there, false);
      return;
    }
    scrolls.set(entry.index, view.scrollY);
    entry = target;
    isReturn = true;
    moved();
    restoreScroll(scrolls.get(target.index) ?? 0);
  }

  /**
   * Brings the page to its old place as soon as it is long enough, which takes a slow network, and keeps it there for a
   * second after it has its content: it is replaced and filled meanwhile, and each step can move it. Whoever scrolls, presses or types takes
   * over at once.
   */
  function restoreScroll(top: number): void {
    restoring.abort();
    const takeOver = new AbortController();
    restoring = takeOver;
    for (const name of ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const) {
      view.addEventListener(name, () => takeOver.abort(), { signal: takeOver.signal, passive: true });
    }
    let until = view.performance.now() + FILLED_WITHIN_MS;
    let isThere = false;
    let before = { top: view.scrollY, height: -1 };
    const keep = () => {
      const { scrollHeight: height } = view.document.documentElement;
      // A page that stays as long and is elsewhere was moved by its reader: no event tells of the scroll bar.
      if (height === before.height && Math.abs(view.scrollY - before.top) > 1) takeOver.abort();
      if (takeOver.signal.aborted) return;
      if (Math.abs(view.scrollY - top) > 1) view.scrollTo(0, top);
      before = { top: view.scrollY, height };
      const isFilled = view.document.querySelector('main .skeleton') === null;
      if (!isThere && isFilled && Math.abs(view.scrollY - top) <= 1) {
        isThere = true;
        until = view.performance.now() + RESTORE_MS;
      }
      if (view.performance.now() < until) view.requestAnimationFrame(keep);
      else takeOver.abort();
    };
    keep();
  }

  function navigateNow(href: string, replace: boolean): void {
    restoring.abort();
    const { pathname: before, search } = view.location;
    const isElsewhere = new URL(href, view.location.href).pathname !== before;
    if (replace) {
      view.history.replaceState(entry, '', href);
    } else {
      scrolls.set(entry.index, view.scrollY);
      entry = { index: entry.index + 1, from: isElsewhere ? before + search : entry.from };
      view.history.pushState(entry, '', href);
    }
    isReturn = false;
    moved();
    if (isElsewhere) view.scrollTo(0, 0);
  }

  async function navigate(href: string, options: { readonly replace?: boolean } = {}): Promise<void> {
    if (!(await mayLeave())) return;
    guard = null;
    navigateNow(href, options.replace === true);
  }

  function followLink(event: MouseEvent): void {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link === null || link.target !== '' || link.hasAttribute('download')) return;
    if (link.origin !== view.location.origin || /^\/(api|runbooks|docs)(\/|$)/.test(link.pathname)) return;
    if (
      link.hash !== '' &&
      link.pathname === view.location.pathname &&
      link.search === view.location.search
    ) {
      return;
    }
    event.preventDefault();
    const replace = link.hasAttribute('data-replace');
    void navigate(link.pathname + link.search + link.hash, { replace });
  }

  return {
    get path() {
      return state.current.path;
    },
    /** The query of the page that stands there: the next one, which may still be loading, may mean something else. */
    get search() {
      return (drawn ?? state.current).search;
    },
    get hash() {
      return (drawn ?? state.current).hash;
    },
    /** The address bar, whatever page stands there. */
    get address() {
      return state.current;
    },
    /** The page of the present path stands there. */
    pageDrawn() {
      drawn = state.current;
    },
    /** Nothing stands there that the path leads to. */
    pageGone() {
      drawn = null;
    },
    /** Path and query of the page that a link led from, which Back leads to; null when none did. */
    get from() {
      return entry.from;
    },
    /** Whether Back or Forward led to the present page. */
    get isReturn() {
      return isReturn;
    },
    /** Ends the search for the old scroll position: the page has a better place to show. */
    settleScroll: () => restoring.abort(),
    /** With `replace`, as with `data-replace` at a link, the page takes the place of the present one in the history. */
    navigate,
    /** Changes the query of the present page without leaving it. A page that is being left changes nothing. */
    setQuery(query: URLSearchParams, replace: boolean) {
      if (drawn !== null && drawn.path !== view.location.pathname) return;
      const text = query.toString();
      navigateNow(text === '' ? view.location.pathname : `${view.location.pathname}?${text}`, replace);
    },
    /** Asks before the page is left. @returns a function that takes the question away */
    guardWith(ask: LeaveGuard) {
      guard = ask;
      return () => {
        if (guard === ask) guard = null;
      };
    },
    /** The next navigation asks nothing: what would be lost has been saved or given up. */
    release() {
      guard = null;
    },
  };
}

function address(view: Window): Address {
  const { pathname, search, hash } = view.location;
  return { path: pathname, search, hash };
}

function entryOf(view: Window): Entry {
  const { state } = view.history;
  if (!isEntry(state)) return { index: 0, from: null };
  return { index: state.index, from: typeof state.from === 'string' ? state.from : null };
}

function isEntry(value: unknown): value is { readonly index: number; readonly from?: unknown } {
  return typeof value === 'object' && value !== null && 'index' in value && typeof value.index === 'number';
}
