// Runs before the first paint: the chosen theme and the height of rows are there from the start. In the built UI it also
// asks for what the code of the page will need first, while that code is on its way (src/api/early.ts).
(() => {
  const root = document.documentElement;
  let chosen = {};
  try {
    chosen = JSON.parse(localStorage.getItem('tocsin.preferences') ?? '{}') ?? {};
  } catch {
    // Storage is closed or holds something else: the system's theme applies.
  }
  const { theme, dense, language } = chosen;
  if (theme === 'light' || theme === 'dark') root.dataset.theme = theme;
  root.toggleAttribute('data-dense', dense === true);

  // The files of the texts by language, and of the page of a group; only the build of the UI names them.
  const texts = document.currentScript.dataset;
  if (texts.en === undefined) return;
  const wished = [language, ...navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase())];
  const preload = (file, fetchPriority = 'auto') => {
    const link = document.createElement('link');
    const isStyle = file.endsWith('.css');
    Object.assign(link, { rel: isStyle ? 'preload' : 'modulepreload', fetchPriority, href: file });
    if (isStyle) Object.assign(link, { as: 'style', crossOrigin: '' });
    document.head.append(link);
  };
  const [first, ofGroup] = texts[wished.find((tag) => tag === 'en' || tag === 'ru') ?? 'en'].split(' ');
  preload(first);

  const ask = (path) => {
    const giveUp = new AbortController();
    const headers = { Accept: 'application/json' };
    const answer = fetch(path, { headers, cache: 'no-store', signal: giveUp.signal });
    // Whoever takes it sees that it failed.
    answer.catch(() => undefined);
    return [path, { answer, giveUp }];
  };
  const { pathname, search } = location;
  const asked = ['/api/v1/sessions/current'];
  if (search === '' && (pathname === '/' || pathname === '/alert-groups')) {
    asked.push(
      '/api/v1/alert-groups?status=firing&status=acknowledged&status=snoozed&sort=-started_at&limit=50',
      '/api/v1/routes',
    );
  } else if (/^\/alert-groups\/\w+$/.test(pathname)) {
    asked.push(`/api/v1${pathname}`);
    // Behind the code that the page begins with.
    for (const file of [...texts.groupPage.split(' '), ofGroup]) preload(file, 'low');
  }
  window.tocsinEarly = Object.fromEntries(asked.map(ask));
})();
