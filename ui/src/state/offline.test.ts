import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { expect, test } from 'vitest';

const WORKER = readFileSync(path.join(import.meta.dirname, '../../public/offline.js'), 'utf8');
const ORIGIN = 'https://tocsin.example';

type Listener = (event: object) => void;

/** The worker of a browser, and a service that answers by path, or with nothing. */
function setUp() {
  const shell = new Map<string, Response>();
  const listeners = new Map<string, Listener>();
  const service = new Map<string, (() => Response) | null>();
  const cache = {
    match: async (file: string) => shell.get(file)?.clone(),
    put: async (file: string, answer: Response) => shell.set(file, answer),
    delete: async (file: string) => shell.delete(file),
    keys: async () => [...shell.keys()].map((file) => ({ url: ORIGIN + file })),
  };
  const context = createContext({
    ...{ URL, Response, TextDecoder, location: { origin: ORIGIN }, caches: { open: async () => cache } },
    self: { addEventListener: (name: string, listener: Listener) => listeners.set(name, listener) },
    fetch: async (request: string | { url: string }) => {
      const { pathname } = new URL(typeof request === 'string' ? request : request.url, ORIGIN);
      const answer = service.get(pathname);
      if (answer === null) throw new TypeError('no line');
      return answer?.() ?? new Response('', { status: 404 });
    },
  });
  runInContext(WORKER, context);
  /** @returns what the page is answered; undefined where the browser asks itself */
  const ask = async (file: string, mode = 'no-cors') => {
    let answer: Promise<Response> | undefined;
    listeners.get('fetch')!({
      request: { url: ORIGIN + file, method: 'GET', mode },
      respondWith: (given: Promise<Response>) => {
        answer = given;
      },
    });
    return answer && (await answer).text();
  };
  /** A page of this build has loaded these files. */
  const loaded = async (...files: readonly string[]) => {
    let kept: Promise<unknown> = Promise.resolve();
    listeners.get('message')!({
      data: files.map((file) => ORIGIN + file),
      waitUntil: (run: Promise<unknown>) => {
        kept = run;
      },
    });
    await kept;
  };
  const serve = (build: string, ...files: readonly string[]) => {
    service.clear();
    service.set('/', () => new Response(`<script src="/assets/${build}.js">`));
    for (const file of [`/assets/${build}.js`, ...files])
      service.set(file, () => new Response(`${build} ${file}`));
  };
  return { shell, service, ask, loaded, serve };
}

const files = (shell: ReadonlyMap<string, unknown>) => [...shell.keys()].sort();

test('with a line pages and files come from the service, without one from what was kept', async () => {
  const { service, ask, loaded, serve } = setUp();
  serve('one', '/assets/list.js');
  await loaded('/assets/one.js', '/assets/list.js', '/api/v1/routes');
  serve('two', '/alert-groups');
  expect(await ask('/alert-groups', 'navigate')).toBe('two /alert-groups');
  for (const lost of [null, () => new Response('', { status: 502 })]) {
    for (const file of ['/alert-groups', '/assets/one.js', '/assets/list.js']) service.set(file, lost);
    expect(await ask('/alert-groups', 'navigate')).toContain('/assets/one.js');
    expect(await ask('/assets/list.js')).toBe('one /assets/list.js');
  }
  service.set('/assets/other.js', null);
  await expect(ask('/assets/other.js')).rejects.toThrow('no line');
});

test('a file that the next build does not have is the one that was kept', async () => {
  const { ask, loaded, serve } = setUp();
  serve('one');
  await loaded('/assets/one.js');
  serve('two');
  expect(await ask('/assets/one.js')).toBe('one /assets/one.js');
});

test.each(['/api/v1/sessions/oidc/callback', '/docs', '/docs/ui', '/runbooks/SvcDown', '/wall', '/metrics'])(
  'the browser itself asks for %s',
  async (file) => {
    const { ask } = setUp();
    expect(await ask(file, 'navigate')).toBe(undefined);
  },
);

test('what is kept is of one build: another page adds to it, another build takes its place', async () => {
  const { shell, loaded, serve } = setUp();
  serve('one', '/assets/list.js', '/assets/group.js', '/start.js');
  await loaded('/assets/one.js', '/assets/list.js', '/start.js');
  await loaded('/assets/one.js', '/assets/group.js');
  expect(files(shell)).toEqual([
    ...['/', '/assets/group.js', '/assets/list.js', '/assets/one.js', '/start.js'],
  ]);
  serve('two', '/assets/list.js');
  await loaded('/assets/one.js', '/assets/list.js');
  expect(files(shell)).toContain('/assets/one.js');
  await loaded('/assets/two.js', '/assets/list.js');
  expect(files(shell)).toEqual(['/', '/assets/list.js', '/assets/two.js']);
  expect(await shell.get('/assets/list.js')?.text()).toBe('two /assets/list.js');
});

test('a build that does not come whole leaves the one before', async () => {
  const { shell, service, loaded, serve } = setUp();
  serve('one');
  await loaded('/assets/one.js');
  serve('two');
  service.set('/assets/list.js', null);
  await loaded('/assets/two.js', '/assets/list.js');
  expect(files(shell)).toEqual(['/', '/assets/one.js']);
});
