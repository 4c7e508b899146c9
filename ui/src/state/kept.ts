/**
 * What the list was made of last, kept in the browser for a start without a line (ui §1.4). Whatever is shown of it
 * counts as old until it was read again.
 */

/** One list, with all that a page needs to show it. */
export interface KeptList {
  /** Of the session; other people's are deleted. */
  readonly userId: string;
  /** When it was shown, and from when on it is not any more: ms since the epoch. */
  readonly at: number;
  readonly until: number;
  /** Bodies of answers, by what their requests are called. */
  readonly answers: Readonly<Record<string, unknown>>;
}

export interface Kept {
  /** The newest answer to a request of this name, as it was when the page began. */
  answer(name: string): Promise<{ readonly at: number; readonly body: unknown } | null>;
  /** @param list name of the request for the rows */
  keep(list: string, kept: KeptList): void;
  /** Deletes what is not of this person. */
  ownedBy(userId: string): void;
  forget(): void;
}

type Head = Omit<KeptList, 'answers'>;

interface Stored {
  readonly key: Request;
  readonly head: Head;
  readonly answers: () => Promise<KeptList['answers']>;
}

const CACHE = 'tocsin.lists';
const HEAD = 'Tocsin-Kept';
const MOST_LISTS = 5;

/** @param caches undefined where the page is not secure: nothing is kept there */
export function createKept(caches: CacheStorage | undefined, now: () => number): Kept {
  let changes = Promise.resolve();
  const begun = stillShown().catch(() => []);

  /** Those that may still be shown, the newest first. The others are deleted. */
  async function stillShown(isOurs = (_: Head) => true): Promise<readonly Stored[]> {
    if (caches === undefined) return [];
    const cache = await caches.open(CACHE);
    const keys = await cache.keys();
    const lists = (await Promise.all(keys.map((key) => stored(cache, key)))).flat();
    lists.sort((one, other) => other.head.at - one.head.at);
    const isShown = ({ head }: Stored, place: number) =>
      place < MOST_LISTS && head.at <= now() && now() < head.until && isOurs(head);
    await Promise.all(lists.map((each, place) => isShown(each, place) || cache.delete(each.key)));
    return lists.filter(isShown);
  }

  /** One after the other. A full or a closed storage keeps nothing. */
  function change(run: (open: CacheStorage) => Promise<unknown>): void {
    if (caches === undefined) return;
    const done = () => undefined;
    changes = changes.then(() => run(caches)).then(done, done);
  }

  return {
    async answer(name) {
      const lists = await begun;
      for (const { head, answers } of lists) {
        if (head.userId !== lists[0]?.head.userId) continue;
        const body = (await answers())[name];
        if (body !== undefined) return { at: head.at, body };
      }
      return null;
    },
    keep(list, { answers, ...head }) {
      change(async (open) => {
        const cache = await open.open(CACHE);
        const headers = { [HEAD]: JSON.stringify(head) };
        await cache.put(`/${encodeURIComponent(list)}`, new Response(JSON.stringify(answers), { headers }));
        await stillShown();
      });
    },
    ownedBy: (userId) => change(() => stillShown((head) => head.userId === userId)),
    forget: () => change((open) => open.delete(CACHE)),
  };
}

/** Its body is read when it is asked for, once. */
async function stored(cache: Cache, key: Request): Promise<readonly Stored[]> {
  const response = await cache.match(key);
  const head = response?.headers.get(HEAD) ?? null;
  if (response === undefined || head === null) return [];
  let body: Promise<KeptList['answers']> | null = null;
  return [{ key, head: JSON.parse(head), answers: () => (body ??= response.json().catch(() => ({}))) }];
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
