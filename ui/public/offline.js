// Service worker: the page and its code without a line (ui §1.4). With a line everything comes from the service, but for
// files that it does not have any more. No answer of the API is here: the page keeps its lists (src/state/kept.ts).
const SHELL = 'tocsin.shell';
/** The wall is a screen that nobody watches: the browser's own page loads it again when the line is back. */
const NO_PAGES = /^\/(api|docs|health|metrics|runbooks|wall)(\/|$)/;
const isFile = ({ origin, pathname }) =>
  origin === location.origin && (pathname.startsWith('/assets/') || pathname === '/start.js');
/** What proxies answer when they lost the service behind them. */
const LOST = new Set([502, 504]);

self.addEventListener('install', (event) => {
  self.skipWaiting();
  // Where browsers can, calls of the API do not wait until this has started.
  event.addRoutes?.({ condition: { urlPattern: '/api/*' }, source: 'network' });
});
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (url.origin !== location.origin || request.method !== 'GET') return;
  if (request.mode === 'navigate' && !NO_PAGES.test(url.pathname)) {
    event.respondWith(orKept(request, '/', ({ status }) => LOST.has(status)));
  } else if (isFile(url)) {
    // A page of the build before asks for its files, which the next one does not have.
    event.respondWith(orKept(request, url.pathname, ({ ok }) => !ok));
  }
});

async function orKept(request, path, isNone) {
  // A closed storage has nothing.
  const kept = () =>
    caches
      .open(SHELL)
      .then((shell) => shell.match(path))
      .catch(() => undefined);
  try {
    const answer = await fetch(request);
    return (isNone(answer) && (await kept())) || answer;
  } catch (error) {
    const page = await kept();
    if (page === undefined) throw error;
    return page;
  }
}

/** A page says what it loaded. */
self.addEventListener('message', (event) => {
  const files = event.data.map((file) => new URL(file, location.origin)).filter(isFile);
  keeping = keeping.then(() => keep(files.map(({ pathname }) => pathname))).catch(() => undefined);
  event.waitUntil(keeping);
});

let keeping = Promise.resolve();

/** Keeps the page last: without all of its code it is not shown. Files of the build before go when it is another one. */
async function keep(files) {
  const shell = await caches.open(SHELL);
  const known = new Set((await shell.keys()).map(({ url }) => new URL(url).pathname));
  const page = await read('/');
  const text = new TextDecoder().decode(page.body);
  const needed = [...text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, file]) => file);
  // A page of another build than the one that says this.
  if (!needed.every((file) => files.includes(file))) return;
  const before = await shell.match('/');
  const isSame = before !== undefined && (await before.text()) === text;
  const added = await Promise.all(files.filter((file) => !isSame || !known.has(file)).map(read));
  if (!isSame) await shell.delete('/');
  for (const { path, body, headers } of added) await shell.put(path, new Response(body, { headers }));
  if (isSame) return;
  await shell.put('/', new Response(page.body, { headers: page.headers }));
  for (const file of known) if (file !== '/' && !files.includes(file)) await shell.delete(file);
}

async function read(path) {
  const answer = await fetch(path);
  if (!answer.ok || answer.redirected) throw new Error(`${path} did not come`);
  return { path, body: await answer.arrayBuffer(), headers: answer.headers };
}
