/** What `public/start.js` asked while the code of the page was on its way: the session, and the list or the group. */

interface EarlyAnswer {
  readonly answer: Promise<Response>;
  readonly giveUp: AbortController;
}

declare global {
  interface Window {
    /** By path and query. Only in a build. */
    tocsinEarly?: Readonly<Record<string, EarlyAnswer>>;
  }
}

/**
 * The fetch of a window whose first reads take the answers that were asked for early, each once. A request that changes
 * something ends that: what was asked before may be older, or of another session.
 */
export function fetchOnceEarly(
  view: Pick<Window & typeof globalThis, 'fetch' | 'tocsinEarly'>,
): typeof fetch {
  const early = new Map(Object.entries(view.tocsinEarly ?? {}));
  return (input, init) => {
    if ((init?.method ?? 'GET') !== 'GET') early.clear();
    const path = String(input);
    const known = early.get(path);
    if (known === undefined) return view.fetch(input, init);
    early.delete(path);
    init?.signal?.addEventListener('abort', () => known.giveUp.abort(), { once: true });
    return known.answer;
  };
}
