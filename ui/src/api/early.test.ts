import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { listQuery, NO_FILTERS } from '../pages/alert-group-list/filters.ts';
import { queryString } from './client.ts';
import { fetchOnceEarly } from './early.ts';

const START = readFileSync(new URL('../../public/start.js', import.meta.url), 'utf8');
const SESSION = '/api/v1/sessions/current';
const ROUTES = '/api/v1/routes';
const LIST = `/api/v1/alert-groups${queryString({ ...listQuery(NO_FILTERS, 0), cursor: null, limit: 50 })}`;

interface Asked {
  readonly path: string;
  readonly signal: AbortSignal | undefined;
}

/** What the script of the page does at an address. */
function started(address: string, stored: string | null = null, languages = ['de-DE', 'ru-RU']) {
  const asked: Asked[] = [];
  const links: { href?: string }[] = [];
  const url = new URL(address, 'https://tocsin.example');
  const document = {
    documentElement: { dataset: {} as Record<string, string>, toggleAttribute: () => true },
    currentScript: {
      dataset: {
        en: '/assets/en.js /assets/en-rest.js',
        ru: '/assets/ru.js /assets/ru-rest.js',
        groupPage: '/assets/group.js /assets/group.css',
      },
    },
    createElement: () => ({}),
    head: { append: (link: object) => links.push(link) },
  };
  const view: Parameters<typeof fetchOnceEarly>[0] = {
    fetch: (input, init) => {
      asked.push({ path: String(input), signal: init?.signal ?? undefined });
      return Promise.resolve(new Response(String(asked.length)));
    },
  };
  new Function('window', 'document', 'localStorage', 'navigator', 'location', 'fetch', START)(
    view,
    document,
    { getItem: () => stored },
    { languages },
    url,
    view.fetch,
  );
  return { view, asked, links, root: document.documentElement };
}

it.each([
  ['/alert-groups', [SESSION, LIST, ROUTES]],
  ['/', [SESSION, LIST, ROUTES]],
  ['/alert-groups?q=disk', [SESSION]],
  ['/alert-groups/AG0123456789AB', [SESSION, '/api/v1/alert-groups/AG0123456789AB']],
  ['/alert-groups/AG0123456789AB/x', [SESSION]],
  ['/routes', [SESSION]],
])('%s asks early for what its page reads first', (address, paths) => {
  expect(started(address).asked.map(({ path }) => path)).toEqual(paths);
});

it.each([
  [null, ['ru-RU', 'en'], '/assets/ru.js'],
  [null, ['de'], '/assets/en.js'],
  ['{"language":"en","theme":"dark"}', ['ru'], '/assets/en.js'],
  ['null', ['ru'], '/assets/ru.js'],
  ['no JSON', ['ru'], '/assets/ru.js'],
])('with %s stored and a browser in %j, the texts are %s', (stored, languages, file) => {
  const { links, root } = started('/', stored, languages);
  expect(links).toMatchObject([{ href: file }]);
  expect(root.dataset.theme).toBe(stored?.includes('dark') ? 'dark' : undefined);
});

it('the page of a group asks early for its code, its styles and all texts', () => {
  expect(started('/alert-groups/AG0123456789AB').links).toEqual([
    { rel: 'modulepreload', fetchPriority: 'auto', href: '/assets/ru.js' },
    { rel: 'modulepreload', fetchPriority: 'low', href: '/assets/group.js' },
    { rel: 'preload', fetchPriority: 'low', href: '/assets/group.css', as: 'style', crossOrigin: '' },
    { rel: 'modulepreload', fetchPriority: 'low', href: '/assets/ru-rest.js' },
  ]);
});

it('each early answer is taken once, and is given up when its reader gives up', async () => {
  const { view, asked } = started('/alert-groups');
  const early = fetchOnceEarly(view);
  const reader = new AbortController();
  expect(await (await early(LIST, { signal: reader.signal })).text()).toBe('2');
  reader.abort();
  expect(asked[1]?.signal?.aborted).toBe(true);
  expect(await (await early(LIST)).text()).toBe('4');
});

it('a change ends what was asked before it: it may be of another session', async () => {
  const { view } = started('/alert-groups');
  const early = fetchOnceEarly(view);
  await early('/api/v1/sessions', { method: 'POST' });
  expect(await (await early(SESSION)).text()).toBe('5');
});
