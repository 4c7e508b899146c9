import { expect, test } from 'vitest';
import { createKeptAnswers, KEPT_AT } from './kept.ts';

const LIST = '/api/v1/alert-groups?status=firing';
const SESSION = '/api/v1/sessions/current';
const MINUTE = 60_000;

/** The storage of a browser, as far as it is used. */
function storage() {
  const stored = new Map<string, Map<string, Response>>();
  const open = (name: string) => stored.get(name) ?? stored.set(name, new Map()).get(name)!;
  const caches = {
    delete: async (name: string) => stored.delete(name),
    open: async (name: string) => ({
      match: async (path: string) => open(name).get(path)?.clone(),
      put: async (path: string, answer: Response) => {
        open(name).delete(path);
        open(name).set(path, answer);
      },
      keys: async () => [...open(name).keys()].map((url) => ({ url })),
      delete: async ({ url }: Request) => open(name).delete(url),
    }),
  };
  return { caches: caches as unknown as CacheStorage, paths: () => [...open('tocsin.answers').keys()] };
}

const settle = () => new Promise((resolve) => setTimeout(resolve));

/** A browser whose service answers `state.answer`, or nothing. */
function setUp() {
  const { caches, paths } = storage();
  const state = { at: 1_000 * MINUTE, user: 'US1', answer: null as (() => Response) | null };
  const request: typeof fetch = async (input) => {
    if (state.answer === null) throw new TypeError('no line');
    return input === SESSION ? Response.json({ user: { id: state.user } }) : state.answer();
  };
  /** A page that is loaded and asks for the list. */
  const load = async (...asked: readonly string[]) => {
    const page = createKeptAnswers(request, caches, () => state.at);
    // In the order of a page: the list is asked for before it is known who asks.
    const answers = await Promise.all([...asked, SESSION].map((path) => page.fetch(path)));
    await settle();
    return { ...page, answers };
  };
  const answers = (body: unknown, status = 200) => {
    state.answer = () => Response.json(body, { status });
  };
  const offline = () => {
    state.answer = null;
  };
  return { state, load, answers, offline, paths };
}

test('a start without a line gets what came last, and when that was', async () => {
  const { state, load, answers, offline } = setUp();
  answers({ items: [1] });
  await load(LIST);
  state.at += 5 * MINUTE;
  offline();
  const [answer] = (await load(LIST)).answers;
  expect(await answer!.json()).toEqual({ items: [1] });
  expect(answer!.headers.get(KEPT_AT)).toBe(String(1_000 * MINUTE));
  await expect(load('/api/v1/alert-groups?status=resolved')).rejects.toThrow('no line');
});

test('so does one behind a proxy that lost the service', async () => {
  const { load, answers } = setUp();
  answers({ items: [1] });
  await load(LIST);
  answers('Bad gateway', 502);
  expect(await (await load(LIST)).answers[0]!.json()).toEqual({ items: [1] });
  answers({}, 503);
  expect((await load(LIST)).answers[0]!.status).toBe(503);
});

test('what a page was answered is never replaced by what was before', async () => {
  const { load, answers, offline } = setUp();
  answers({ items: [1] });
  const page = await load(LIST);
  offline();
  await expect(page.fetch(LIST)).rejects.toThrow('no line');
});

test('nothing else is kept: other paths, changes, refusals, and nothing for longer than 12 hours', async () => {
  const { state, load, answers, offline, paths } = setUp();
  answers({ items: [1] });
  const { fetch } = await load('/api/v1/users');
  await fetch('/api/v1/routes', { method: 'POST' });
  answers({}, 403);
  await fetch('/api/v1/organization');
  await settle();
  expect(paths()).toEqual([SESSION]);
  answers({ items: [1] });
  await load(LIST);
  offline();
  state.at += 12 * 60 * MINUTE;
  await expect(load(LIST)).rejects.toThrow('no line');
  expect(paths()).toEqual([]);
});

test('at most 10 lists are kept, each stored at most every 10 s', async () => {
  const { state, load, answers, offline, paths } = setUp();
  const list = (query: number) => `/api/v1/alert-groups?q=${query}`;
  answers({ items: [1] });
  const { fetch } = await load();
  for (let query = 0; query < 30; query += 1) await fetch(list(query));
  await settle();
  expect(paths()).toHaveLength(11);
  expect(paths().at(-1)).toBe(list(29));
  answers({ items: [2] });
  state.at += 9_000;
  await fetch(list(29));
  await settle();
  state.at += 1_000;
  await fetch(list(28));
  await fetch('/api/v1/sessions/current');
  await settle();
  offline();
  const [older, newer] = (await load(list(29), list(28))).answers;
  expect([await older!.json(), await newer!.json()]).toEqual([{ items: [1] }, { items: [2] }]);
});

test('the end of a session takes it away, and what comes later of that session', async () => {
  const { load, answers, paths } = setUp();
  answers({ items: [1] });
  const { fetch, forget } = await load(LIST);
  const late = fetch('/api/v1/routes');
  forget();
  await late;
  await settle();
  expect(paths()).toEqual([]);
});

test('so does the session of somebody else', async () => {
  const { state, load, answers, offline, paths } = setUp();
  answers({ items: [1] });
  await load(LIST);
  await load();
  expect(paths()).toEqual([LIST, SESSION]);
  state.user = 'US2';
  await load();
  expect(paths()).toEqual([SESSION]);
  offline();
  await expect(load(LIST)).rejects.toThrow('no line');
});

test('nothing is kept where a page is not secure', async () => {
  const request: typeof fetch = async () => Response.json({});
  expect(createKeptAnswers(request, undefined, () => 0).fetch).toBe(request);
});
