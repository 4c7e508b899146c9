// Service worker: the page and its code without a line (ui §1.4). With a line everything comes from the service. It has
// no answer of the API; what was shown last is kept by the page (src/api/kept.ts).
const SHELL = 'tocsin.shell';
const NO_PAGES = /^\/(api|docs|health|metrics|runbooks)(\/|$)/;
const isFile = ({ pathname }) => pathname.startsWith('/assets/') || pathname === '/start.js';
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
  if (request.mode === 'navigate' && !NO_PAGES.test(url.pathname)) event.respondWith(orKept(request, '/'));
  else if (isFile(url)) event.respondWith(orKept(request, url.pathname));
});

async function orKept(request, path) {
  const kept = () => caches.open(SHELL).then((shell) => shell.match(path));
  try {
    const answer = await fetch(request);
    return (LOST.has(answer.status) && (await kept())) || answer;
  } catch (error) {
    const page = await kept();
    if (page === undefined) throw error;
    return page;
  }
}

/** A page says what it loaded. It is kept together, so that the page and its code are always of one build. */
self.addEventListener('message', ({ data }) => {
  const files = data.map((file) => new URL(file, location.origin)).filter(isFile);
  keeping = keeping.then(() => keep(files.map(({ pathname }) => pathname))).catch(() => undefined);
});

let keeping = Promise.resolve();

async function keep(files) {
  const shell = await caches.open(SHELL);
  const known = new Set((await shell.keys()).map(({ url }) => new URL(url).pathname));
  if (files.every((file) => known.has(file))) return;
  const paths = ['/', ...files];
  const answers = await Promise.all(paths.map((path) => fetch(path)));
  if (!answers.every(({ ok }) => ok)) return;
  await Promise.all([...known].filter((path) => !paths.includes(path)).map((path) => shell.delete(path)));
  await Promise.all(paths.map((path, index) => shell.put(path, answers[index])));
}
