/** The web page of the messenger: everything on it works without a script, which only keeps it fresh. */
import { readdirSync, readFileSync } from 'node:fs';
import { Eta } from 'eta/core';
import type { Acts } from './acts.ts';
import { CHANNELS, type Inhabitant, type Messenger, PEOPLE, type Post } from './messenger.ts';
import { type BridgeAnswer, type BridgeRequest, Refusal } from './wire.ts';

export interface PageParts {
  readonly messenger: Messenger;
  readonly acts: Acts;
}

const SECURITY = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

/** Fetches the page every second and puts its messages in place of the old ones, unless somebody is at work among them. */
const SCRIPT = `const isBusy = () => document.querySelector('main').contains(document.activeElement);
setInterval(async () => {
  const answer = await fetch(location.href).catch(() => null);
  if (!answer?.ok || isBusy()) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('main');
  const shown = document.querySelector('main');
  if (!isBusy() && fresh.innerHTML !== shown.innerHTML) shown.innerHTML = fresh.innerHTML;
}, 1000);
`;

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 4"><circle cx="2" cy="2" r="2" fill="#1a5fb4"/></svg>';

/** Every value is escaped, except the messages, which are HTML. */
const eta = new Eta({ autoTrim: false });
const DOCUMENTS = `${import.meta.dirname}/documents`;
for (const file of readdirSync(DOCUMENTS))
  eta.loadTemplate(`@${file.replace('.eta', '')}`, readFileSync(`${DOCUMENTS}/${file}`, 'utf8'));

export function answerPage(request: BridgeRequest, parts: PageParts): BridgeAnswer {
  const { pathname, searchParams } = new URL(request.target, 'http://messenger.invalid');
  if (request.method === 'POST') return act(request, pathname, parts);
  if (pathname === '/page.css') return answer(200, 'text/css', STYLE);
  if (pathname === '/page.js') return answer(200, 'text/javascript', SCRIPT);
  if (pathname === '/icon.svg') return answer(200, 'image/svg+xml', ICON);
  const viewer = viewerOf(searchParams.get('as'));
  if (pathname === '/') return html(200, 'messages', messagesOf(viewer, parts.messenger));
  if (/^\/link\/[A-Za-z0-9_-]{43}$/.test(pathname))
    return html(200, 'link', { token: pathname.slice('/link/'.length), people: PEOPLE });
  return notice(404, 'There is nothing here.');
}

/** A form of the page was sent. */
function act({ headers, body }: BridgeRequest, path: string, { acts }: PageParts): BridgeAnswer {
  // Browsers say where a form comes from; one from another site is not of this page.
  if (!['same-origin', 'none', undefined].includes(headers['sec-fetch-site']))
    return notice(403, 'This form came from another site.');
  const form = new URLSearchParams(body);
  const value = (name: string): string => form.get(name) ?? '';
  const { person } = viewerOf(value('as'));
  try {
    if (path === '/press') acts.press(value('message_id'), value('data'), person);
    if (path === '/thread-message') acts.writeInThread(value('message_id'), value('text'), person);
    if (path === '/direct') acts.writeDirectly(0, value('text'), person);
    if (path === '/delete') acts.delete(value('message_id'), person);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return notice(error.status, error.message);
  }
  return { status: 303, headers: { ...SECURITY, location: `/?as=${person.external_id}` }, body: '' };
}

/** Of each channel, the newest ones. */
const MOST_SHOWN = 50;

function viewerOf(id: string | null): Inhabitant {
  const [first] = PEOPLE;
  const found = PEOPLE.find(({ person }) => person.external_id === id) ?? first;
  if (!found) throw new Error('The messenger has no people.');
  return found;
}

function messagesOf({ person, email }: Inhabitant, { posts }: Messenger): object {
  const me = person.external_id;
  const visible = posts.filter(({ deleted, only_for }) => !deleted && (only_for === null || only_for === me));
  const threads = threadsOf(visible);
  const channels = CHANNELS.map(({ channel_id, name }) => {
    const roots = visible.filter((post) => post.channel_id === channel_id);
    const shown = roots.slice(-MOST_SHOWN);
    return {
      name,
      older: roots.length - shown.length,
      roots: shown.map((root) => ({ root, replies: threads.get(root.message_id) ?? [] })),
    };
  });
  const chat = visible.filter((post) => post.direct_with === me);
  return { me, email, people: PEOPLE, channels, chat };
}

/** What stands under each message, by its id. */
function threadsOf(posts: readonly Post[]): ReadonlyMap<string, readonly Post[]> {
  const threads = new Map<string, Post[]>();
  for (const post of posts) {
    if (post.root_id === null) continue;
    const thread = threads.get(post.root_id);
    if (thread) thread.push(post);
    else threads.set(post.root_id, [post]);
  }
  return threads;
}

function notice(status: number, text: string): BridgeAnswer {
  return html(status, 'notice', { text });
}

function html(status: number, document: string, data: object): BridgeAnswer {
  return answer(status, 'text/html', eta.render(`@${document}`, data));
}

function answer(status: number, type: string, body: string): BridgeAnswer {
  return { status, headers: { ...SECURITY, 'content-type': `${type}; charset=utf-8` }, body };
}

/** The style sheet of the web page: light and dark, desk and phone. */
const STYLE = `:root { color-scheme: light dark; --line: light-dark(#d0d4da, #3a3f47); --back: light-dark(#f6f7f9, #16181c);
  --card: light-dark(#fff, #1f2227); --text: light-dark(#1c1f24, #e6e8eb); --soft: light-dark(#5a6270, #a3abb8);
  --link: light-dark(#0b57b0, #8ab8f5); --blue: #1a5fb4; --red: #b3261e; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 0 1rem 3rem; background: var(--back); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
header { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: center; justify-content: space-between; }
h1 { font-size: 1.25rem; } h2 { font-size: 1.05rem; margin: 1.5rem 0 .5rem; } h3 { font-size: 1rem; margin: 0 0 .25rem; }
a { color: var(--link); } small, .empty { color: var(--soft); }
article, section > .bubble, section > form.write { background: var(--card); border: 1px solid var(--line); border-radius: .5rem;
  padding: .75rem; margin-bottom: .75rem; }
h3 svg { width: .9rem; height: .9rem; vertical-align: -.1rem; border-radius: .2rem; }
.body p { margin: .25rem 0; } .body ul { margin: .25rem 0; padding-left: 1.25rem; } .plain { white-space: pre-wrap; }
.body blockquote { margin: .25rem 0; padding-left: .75rem; border-left: 3px solid var(--line); }
.mention { background: light-dark(#dbe8fa, #1c3a5e); border-radius: .25rem; padding: 0 .2rem; }
.thread .bubble { margin-bottom: .5rem; }
.thread { margin-top: .5rem; padding-left: .75rem; border-left: 3px solid var(--line); }
.buttons { display: flex; flex-wrap: wrap; gap: .5rem; } .buttons:not(:empty) { margin: .5rem 0; }
.write { display: flex; gap: .5rem; margin: .5rem 0; } .write input { flex: 1; min-width: 0; }
button, input, select { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--soft);
  border-radius: .4rem; padding: .4rem .75rem; min-height: 2.5rem; }
button { cursor: pointer; } button.primary { background: var(--blue); border-color: var(--blue); color: #fff; }
button.danger { background: var(--red); border-color: var(--red); color: #fff; }
button.quiet { border-color: transparent; color: var(--soft); padding: .2rem 0; background: none; }
`;
