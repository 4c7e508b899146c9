/** The web page of the messenger: everything on it works without a script, which only keeps it fresh. */
import type { Acts } from './acts.ts';
import { escapeHtml } from './html.ts';
import { CHANNELS, type Inhabitant, type Messenger, PEOPLE, type Post } from './messenger.ts';
import { STYLE } from './page-style.ts';
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

export function answerPage(request: BridgeRequest, parts: PageParts): BridgeAnswer {
  const { pathname, searchParams } = new URL(request.target, 'http://messenger.invalid');
  if (request.method === 'POST') return act(request, pathname, parts);
  if (pathname === '/page.css') return answer(200, 'text/css', STYLE);
  if (pathname === '/page.js') return answer(200, 'text/javascript', SCRIPT);
  if (pathname === '/icon.svg') return answer(200, 'image/svg+xml', ICON);
  const viewer = viewerOf(searchParams.get('as'));
  if (pathname === '/') return html(200, messagesPage(viewer, parts.messenger));
  if (/^\/link\/[A-Za-z0-9_-]{43}$/.test(pathname))
    return html(200, linkPage(pathname.slice('/link/'.length)));
  return html(404, '<main><p>There is nothing here.</p></main>');
}

/** A form of the page was sent. */
function act({ headers, body }: BridgeRequest, path: string, { acts }: PageParts): BridgeAnswer {
  // Browsers say where a form comes from; one from another site is not of this page.
  if (!['same-origin', 'none', undefined].includes(headers['sec-fetch-site']))
    return html(403, '<main><p>This form came from another site.</p></main>');
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
    return html(error.status, `<main><p>${escapeHtml(error.message)}</p></main>`);
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

function messagesPage({ person, email }: Inhabitant, { posts }: Messenger): string {
  const me = person.external_id;
  const visible = posts.filter(({ deleted, only_for }) => !deleted && (only_for === null || only_for === me));
  const threads = threadsOf(visible);
  const channels = CHANNELS.map(({ channel_id, name }) => {
    const roots = visible.filter((post) => post.channel_id === channel_id);
    const shown = roots
      .slice(-MOST_SHOWN)
      .map((root) => message(root, threads.get(root.message_id) ?? [], me));
    const older = roots.length - shown.length;
    const note = older > 0 ? `Older messages, not shown: ${older}` : 'No messages yet.';
    const first = older > 0 || roots.length === 0 ? `<p class="empty">${note}</p>` : '';
    return `<section><h2># ${escapeHtml(name)}</h2>${first}${shown.join('')}</section>`;
  });
  const chat = visible.filter((post) => post.direct_with === me).map((post) => bubble(post, me));
  return `<header><h1>Reference messenger</h1><form>
<label>You are <select name="as">${options(me)}</select></label> <button>Change</button> <small>${escapeHtml(email)}</small></form></header>
<main>${channels.join('')}
<section><h2>Direct chat with the bot</h2>${chat.join('')}${writing('/direct', '', me, 'Write to the bot')}</section></main>`;
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

function message(root: Post, thread: readonly Post[], me: string): string {
  const { heading, message_id } = root;
  const replies = thread.map((post) => bubble(post, me));
  const named = hidden('message_id', message_id);
  const title = heading
    ? `<h3><svg viewBox="0 0 4 4" aria-hidden="true"><rect width="4" height="4" fill="${escapeHtml(heading.color)}"/></svg>
${escapeHtml(heading.emoji)} <a href="${escapeHtml(heading.link.url)}">${escapeHtml(heading.title)}</a></h3>`
    : '';
  return `<article>${title}${content(root, me)}
<div class="thread">${replies.join('')}${writing('/thread-message', named, me, 'Write in the Thread')}
<form method="post" action="/delete">${named}${hidden('as', me)}<button class="quiet">Delete message</button></form></div></article>`;
}

function bubble(post: Post, me: string): string {
  const author = post.by?.display_name ?? post.by?.username ?? (post.by ? 'Somebody' : 'On-call');
  const note = post.only_for === null ? '' : ' <small>only you see this</small>';
  return `<div class="bubble"><b>${escapeHtml(author)}</b>${note}${content(post, me)}</div>`;
}

function content({ html: body, buttons, message_id, notify, edits, by, kind }: Post, me: string): string {
  const pressable = buttons.map(
    ({ text, data, style }) =>
      `<form method="post" action="/press">${hidden('message_id', message_id)}${hidden('data', data)}${hidden('as', me)}
<button class="${['primary', 'danger'].includes(style) ? style : 'default'}">${escapeHtml(text)}</button></form>`,
  );
  const facts = [notify ? 'loud' : 'quiet', ...(edits > 0 ? [`edited ${edits}×`] : [])].join(', ');
  const note = by === null && kind !== 'answer' ? `<small>${facts}</small>` : '';
  return `<div class="body">${body}</div><div class="buttons">${pressable.join('')}</div>${note}`;
}

function writing(action: string, fields: string, me: string, label: string): string {
  return `<form method="post" action="${action}" class="write">${fields}${hidden('as', me)}
<input type="text" name="text" aria-label="${label}" placeholder="${label}" required maxlength="10000" autocomplete="off"> <button>Send</button></form>`;
}

/** Where the link of an Account link leads: it brings the token to the bot without anybody typing it. */
function linkPage(token: string): string {
  return `<main><section><h2>Link your account</h2><form method="post" action="/direct">${hidden('text', `/start ${token}`)}
<label>You are <select name="as">${options('')}</select></label> <button class="primary">Send to the bot</button></form></section></main>`;
}

function options(chosen: string): string {
  return PEOPLE.map(({ person: { external_id: id, display_name: name } }) => {
    return `<option value="${id}"${id === chosen ? ' selected' : ''}>${escapeHtml(name ?? id)}</option>`;
  }).join('');
}

const hidden = (name: string, value: string): string =>
  `<input type="hidden" name="${name}" value="${escapeHtml(value)}">`;

function html(status: number, body: string): BridgeAnswer {
  const head = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Reference messenger</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<link rel="icon" href="/icon.svg"><link rel="stylesheet" href="/page.css"><script src="/page.js" defer></script></head>`;
  return answer(status, 'text/html', `${head}<body>${body}</body></html>`);
}

function answer(status: number, type: string, body: string): BridgeAnswer {
  return { status, headers: { ...SECURITY, 'content-type': `${type}; charset=utf-8` }, body };
}
