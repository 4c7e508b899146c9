/**
 * The address bar as state: the path and query that pages read, links that stay in the app, Back and Forward with the
 * scroll position, and a question before a changed form is left (ui §1.3, §1.5).
 */
import { createStore } from '@xstate/store';
import { mirror } from '../state/resource.svelte.ts';

/** Asked before a page is left; false keeps it. */
export type LeaveGuard = () => Promise<boolean>;

interface Entry {
  /** Position in this tab's history; tells Back from Forward. */
  readonly index: number;
}

const RESTORE_MS = 1_000;
/** A page that is still shorter than it was is left where it is after this long. */
const FILLED_WITHIN_MS = 10_000;

export type Router = ReturnType<typeof createRouter>;

export function createRouter(view: Window) {
  const store = createStore({
    context: address(view),
    on: { moved: (_, event: { path: string; search: string; hash: string }) => event },
  });
  const state = mirror(store);
  const scrolls = new Map<number, number>();
  let restoring = new AbortController();
  let guard: LeaveGuard | null = null;
  let index = entryOf(view).index;
  let undoing = false;

  view.history.scrollRestoration = 'manual';
  if (!isEntry(view.history.state)) view.history.replaceState({ index }, '');
  view.addEventListener('popstate', () => void popped());
  view.document.addEventListener('click', followLink);

  function moved(): void {
    store.trigger.moved(address(view));
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
      index += 1;
      view.history.replaceState({ index }, '');
      moved();
      return;
    }
    const target = entryOf(view).index;
    if (guard !== null) {
      const there = view.location.href;
      undoing = true;
      view.history.go(index - target);
      if (!(await mayLeave())) return;
      guard = null;
      navigateNow(there, false);
      return;
    }
    scrolls.set(index, view.scrollY);
    index = target;
    moved();
    restoreScroll(scrolls.get(target) ?? 0);
  }

  /**
   * Brings the page to its old place as soon as it is long enough, which takes a slow network, and keeps it there for a
   * second: it is replaced and filled meanwhile, and each step can move it. Whoever scrolls, presses or types takes
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
      if (!isThere && Math.abs(view.scrollY - top) <= 1) {
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
    const before = view.location.pathname;
    if (replace) {
      view.history.replaceState({ index }, '', href);
    } else {
      scrolls.set(index, view.scrollY);
      index += 1;
      view.history.pushState({ index }, '', href);
    }
    moved();
    if (view.location.pathname !== before) view.scrollTo(0, 0);
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
    void navigate(link.pathname + link.search + link.hash);
  }

  return {
    get path() {
      return state.current.path;
    },
    get search() {
      return state.current.search;
    },
    get hash() {
      return state.current.hash;
    },
    navigate,
    /** Changes the query of the present page without leaving it. */
    setQuery(query: URLSearchParams, replace: boolean) {
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

function address(view: Window): { path: string; search: string; hash: string } {
  const { pathname, search, hash } = view.location;
  return { path: pathname, search, hash };
}

function entryOf(view: Window): Entry {
  return isEntry(view.history.state) ? view.history.state : { index: 0 };
}

function isEntry(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && 'index' in value && typeof value.index === 'number';
}
