/**
 * The last answers that the list is made of, kept in the browser for a start without a line (ui §1.4). Only a document
 * that had no answer of the service for a path yet is given the kept one, and everything it shows counts as old then.
 */

const SESSION = '/api/v1/sessions/current';
const LISTS = '/api/v1/alert-groups?';
/** What the list needs: paths, and with `?` every query of a path. */
const KEPT = [SESSION, '/api/v1/organization', '/api/v1/routes', '/api/v1/saved-views', LISTS];
const CACHE = 'tocsin.answers';
/** A header of a kept answer: when it came, in milliseconds since the epoch. */
export const KEPT_AT = 'Tocsin-Kept-At';
/** An answer of a path is stored at most this often. */
const EVERY_MS = 10_000;
/** As long as a session that nobody uses. */
const KEPT_MS = 12 * 3_600_000;
const MOST_LISTS = 10;
/** What proxies answer when they lost the service behind them. */
const LOST: ReadonlySet<number> = new Set([502, 504]);

export interface KeptAnswers {
  /** Keeps what the service answers, and gives it when nothing is answered. */
  readonly fetch: typeof fetch;
  /** The session is over. */
  forget(): void;
}

/** @param caches undefined where a page is not secure: nothing is kept there */
export function createKeptAnswers(
  request: typeof fetch,
  caches: CacheStorage | undefined,
  now: () => number,
): KeptAnswers {
  if (caches === undefined) return { fetch: request, forget: () => undefined };
  /** When the last stored answer of a path came. */
  const answered = new Map<string, number>();
  let session = 0;
  let changes = Promise.resolve();
  /** Resolves when what is kept is known to be of the person who is signed in. */
  let isSure: () => void = () => undefined;
  const sure = new Promise<void>((resolve) => {
    isSure = resolve;
  });

  /** One after the other. A full or a closed storage keeps nothing. */
  function change(run: () => Promise<unknown>): Promise<void> {
    const done = () => undefined;
    changes = changes.then(run).then(done, done);
    return changes;
  }

  async function store(path: string, text: string, at: number): Promise<void> {
    if (path === SESSION && userOf(text) !== userOf(await read(path).then((answer) => answer?.text()))) {
      await caches!.delete(CACHE);
    }
    const cache = await caches!.open(CACHE);
    await cache.put(path, new Response(text, { headers: { [KEPT_AT]: String(at) } }));
    const lists = (await cache.keys()).filter(({ url }) => url.includes(LISTS));
    for (const old of lists.slice(0, Math.max(0, lists.length - MOST_LISTS))) await cache.delete(old);
  }

  async function read(path: string): Promise<Response | undefined> {
    const answer = await (await caches!.open(CACHE)).match(path);
    const age = now() - Number(answer?.headers.get(KEPT_AT));
    if (age >= 0 && age < KEPT_MS) return answer;
    if (answer !== undefined) await caches!.delete(CACHE);
    return undefined;
  }

  async function kept(path: string): Promise<Response | undefined> {
    if (answered.has(path)) return undefined;
    return read(path).catch(() => undefined);
  }

  async function fetched(path: string, init: RequestInit | undefined): Promise<Response> {
    const own = session;
    let answer: Response;
    try {
      answer = await request(path, init);
    } catch (error) {
      const before = await kept(path);
      if (before === undefined) throw error;
      return before;
    }
    if (LOST.has(answer.status)) return (await kept(path)) ?? answer;
    const at = now();
    const isDue = at - (answered.get(path) ?? 0) >= EVERY_MS;
    if (isDue) answered.set(path, at);
    if (isDue && answer.ok) {
      const copy = answer.clone();
      const keep = () => change(async () => own === session && store(path, await copy.text(), at));
      if (path === SESSION) void keep().then(isSure);
      else void sure.then(keep);
    }
    return answer;
  }

  return {
    fetch: (input, init) => {
      const path = String(input);
      const isKept = KEPT.some((known) => (known.endsWith('?') ? path.startsWith(known) : path === known));
      return isKept && (init?.method ?? 'GET') === 'GET' ? fetched(path, init) : request(input, init);
    },
    forget() {
      session += 1;
      answered.clear();
      void change(() => caches.delete(CACHE));
    },
  };
}

function userOf(session: string | undefined): unknown {
  return session === undefined ? undefined : JSON.parse(session).user?.id;
}

/** Hands what this page loaded to the service worker, which shows it without a line (`public/offline.js`). */
export async function keepShell({ navigator, performance }: Window): Promise<void> {
  // Not in development, where files are made on request, nor where the page is not secure.
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  try {
    await navigator.serviceWorker.register('/offline.js');
    const { active } = await navigator.serviceWorker.ready;
    active?.postMessage(performance.getEntriesByType('resource').map(({ name }) => name));
  } catch {
    // Storage is closed, or the file did not come: without a line a reload shows the page of the browser.
  }
}
