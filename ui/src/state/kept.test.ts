import { expect, test } from 'vitest';
import { createKept, type KeptList } from './kept.ts';

const HOUR = 3_600_000;

/** A browser, in which pages begin at the hour that a test says. */
function setUp() {
  const stored = new Map<string, Map<string, Response>>();
  const open = (name: string) => stored.get(name) ?? stored.set(name, new Map()).get(name)!;
  const caches = {
    delete: async (name: string) => stored.delete(name),
    open: async (name: string) => ({
      match: async ({ url }: Request) => open(name).get(url)?.clone(),
      put: async (url: string, answer: Response) => open(name).set(url, answer),
      keys: async () => [...open(name).keys()].map((url) => ({ url })),
      delete: async ({ url }: Request) => open(name).delete(url),
    }),
  };
  const settle = () => new Promise((resolve) => setTimeout(resolve));
  let hour = 0;
  const begin = async (at: number) => {
    hour = at;
    const kept = createKept(caches as unknown as CacheStorage, () => hour * HOUR);
    await settle();
    return kept;
  };
  const count = () => stored.get('tocsin.lists')?.size ?? 0;
  return { begin, settle, count };
}

const list = (at: number, rows: string, userId = 'US1'): KeptList => ({
  ...{ userId, at: at * HOUR, until: (at + 12) * HOUR },
  answers: { '/sessions/current': `session of ${at}`, [rows]: `${rows} of ${at}` },
});

test('a page gets each list as it was shown last, and the newest of everything else', async () => {
  const { begin, settle } = setUp();
  const page = await begin(3);
  page.keep('open', list(1, 'open'));
  page.keep('all', list(2, 'all'));
  page.keep('open', list(3, 'open'));
  await settle();
  const next = await begin(4);
  expect(await next.answer('open')).toEqual({ at: 3 * HOUR, body: 'open of 3' });
  expect(await next.answer('all')).toEqual({ at: 2 * HOUR, body: 'all of 2' });
  expect(await next.answer('/sessions/current')).toEqual({ at: 3 * HOUR, body: 'session of 3' });
  expect(await next.answer('/users')).toBe(null);
});

test('a page gets what was there when it began', async () => {
  const { begin, settle } = setUp();
  const page = await begin(1);
  page.keep('open', list(1, 'open'));
  await settle();
  expect(await page.answer('open')).toBe(null);
});

test('a list is not shown after its end, nor when the clock was set back, and is deleted then', async () => {
  const { begin, settle, count } = setUp();
  const page = await begin(2);
  page.keep('old', list(1, 'old'));
  page.keep('open', list(2, 'open'));
  await settle();
  const later = await begin(13);
  expect(await later.answer('old')).toBe(null);
  expect(await later.answer('open')).toEqual({ at: 2 * HOUR, body: 'open of 2' });
  expect(count()).toBe(1);
  expect(await (await begin(1)).answer('open')).toBe(null);
  expect(count()).toBe(0);
});

test('the five newest lists are kept', async () => {
  const { begin, settle, count } = setUp();
  const page = await begin(9);
  for (const at of [1, 2, 3, 4, 5, 6, 7]) page.keep(`list ${at}`, list(at, `list ${at}`));
  await settle();
  expect(count()).toBe(5);
  const next = await begin(9);
  expect([await next.answer('list 2'), await next.answer('list 3')]).toEqual([null, expect.anything()]);
});

test('those of somebody else are deleted, and all of them with the end of the session', async () => {
  const { begin, settle, count } = setUp();
  const page = await begin(1);
  page.keep('open', list(1, 'open'));
  page.keep('all', list(1, 'all', 'US2'));
  page.ownedBy('US2');
  await settle();
  const next = await begin(1);
  expect([await next.answer('open'), count()]).toEqual([null, 1]);
  next.keep('mine', list(0, 'mine'));
  await settle();
  expect(await (await begin(1)).answer('mine')).toBe(null);
  next.keep('open', list(1, 'open', 'US2'));
  next.forget();
  await settle();
  expect(count()).toBe(0);
});

test('nothing is kept where a page is not secure', async () => {
  const kept = createKept(undefined, () => 0);
  kept.keep('open', list(0, 'open'));
  expect(await kept.answer('open')).toBe(null);
});
