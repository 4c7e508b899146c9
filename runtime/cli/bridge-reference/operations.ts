/** The operations of the protocol (bridge §2, §2.1), one function each. */
import { threadOf } from './acts.ts';
import type { Bot, BridgeEvent } from './events.ts';
import { checkBody, plain, render } from './markdown.ts';
import { CHANNELS, type Messenger, PEOPLE, type Post } from './messenger.ts';
import {
  ANSWER,
  type Button,
  type Content,
  DIRECT,
  EDIT,
  infoOf,
  LIMITS,
  lengthOf,
  type Mention,
  POST,
  REPLY,
  readBody,
  type Settings,
  type Switch,
} from './shapes.ts';
import { type BridgeAnswer, forbidden, gone, invalid, json } from './wire.ts';

/** How long after a press its answer can still be shown to one person alone. */
const PRIVATELY_MS = 15 * 60_000;

export interface Call {
  readonly bot: Bot;
  /** The path parameter, decoded. */
  readonly id: string;
  readonly query: URLSearchParams;
  readonly body: string;
  readonly gone: AbortSignal;
  readonly messenger: Messenger;
  readonly settings: Settings;
  now(): number;
}

export interface Operation {
  readonly method: string;
  /** `*` is the one path parameter. */
  readonly path: string;
  /** Takes an Idempotency-Key. */
  readonly isKeyed?: true;
  readonly offered?: Switch;
  run(call: Call): BridgeAnswer | Promise<BridgeAnswer>;
}

export const OPERATIONS = {
  getInfo: { method: 'GET', path: '/v1/info', run: ({ settings }) => json(200, infoOf(settings)) },
  postMessage: { method: 'POST', path: '/v1/messages', isKeyed: true, run: postMessage },
  editMessage: { method: 'PUT', path: '/v1/messages/*', run: editMessage },
  deleteMessage: { method: 'DELETE', path: '/v1/messages/*', offered: 'delete', run: deleteMessage },
  replyInThread: { method: 'POST', path: '/v1/messages/*/replies', isKeyed: true, run: replyInThread },
  checkChannel: { method: 'GET', path: '/v1/channels/*', run: ({ id }) => json(200, usableChannel(id)) },
  findPerson: { method: 'GET', path: '/v1/people', offered: 'user_lookup', run: findPerson },
  sendDirectMessage: {
    ...{ method: 'POST', path: '/v1/direct-messages', isKeyed: true, offered: 'direct_messages' },
    run: sendDirectMessage,
  },
  answerEvent: { method: 'POST', path: '/v1/event-answers', isKeyed: true, run: answerEvent },
  pollEvents: { method: 'GET', path: '/v1/events', offered: 'poll', run: pollEvents },
} as const satisfies Readonly<Record<string, Operation>>;

export type OperationName = keyof typeof OPERATIONS;

function postMessage({ body, bot, messenger, settings }: Call): BridgeAnswer {
  const { channel_id, kind, mentions, notify, ...content } = readBody(POST, body);
  checkParts(content, mentions, notify, settings);
  usableChannel(channel_id);
  const { message_id } = messenger.post({
    ...{ bot: bot.number, kind, channel_id, mentions, notify },
    ...shown(content, mentions, settings),
  });
  return json(201, { message_id, thread_ref: null, truncated: false, replayed: false });
}

function editMessage(call: Call): BridgeAnswer {
  const { body, messenger, settings, now, id, bot } = call;
  const { channel_id, kind, mentions, notify, ...content } = readBody(EDIT, body);
  checkParts(content, null, false, settings);
  const post = presentRoot(id, bot, messenger);
  const age = (now() - post.posted_at) / 1000;
  if (settings.editMaxAge !== null && age > settings.editMaxAge)
    throw gone('the message is too old to be edited', 'edit_window_closed');
  Object.assign(post, shown(content, [], settings));
  post.edits++;
  return json(200, { truncated: false });
}

function deleteMessage({ id, bot, messenger }: Call): BridgeAnswer {
  const post = messenger.find(id);
  if (post?.bot === bot.number && post.by === null) post.deleted = true;
  return { status: 204, headers: {}, body: '' };
}

function replyInThread({ body, bot, id, messenger, settings }: Call): BridgeAnswer {
  const { thread_ref: given, mentions, notify, ...content } = readBody(REPLY, body);
  checkParts(content, mentions, notify, settings);
  const root = presentRoot(id, bot, messenger);
  const threadRef = threadOf(root.message_id);
  if (given !== null && given !== threadRef) throw gone('the Thread no longer exists');
  root.thread_ref = threadRef;
  const { message_id } = messenger.post({
    ...{ bot: bot.number, kind: 'reply', root_id: root.message_id, thread_ref: threadRef, mentions, notify },
    ...{
      body: content.body,
      html: render(content.body, drawn(mentions, settings)),
      buttons: content.buttons,
    },
  });
  return json(201, { message_id, thread_ref: threadRef, truncated: false, replayed: false });
}

function usableChannel(id: string): { channel_id: string; name: string } {
  const channel = CHANNELS.find(({ channel_id }) => channel_id === id);
  if (!channel) throw forbidden(`There is no channel ${JSON.stringify(id.slice(0, 100))}.`);
  if (!channel.isOpen) throw forbidden(`The bot may not post in ${channel.name}. Invite it there.`);
  return { channel_id: channel.channel_id, name: channel.name };
}

function findPerson({ query }: Call): BridgeAnswer {
  const handle = query.get('handle') ?? '';
  const length = lengthOf(handle);
  if (length < 1 || length > 320) throw invalid('handle', 'must have 1 to 320 characters');
  if (!/^[^@\s]+@[^@\s]+$/.test(handle)) throw invalid('handle', 'must be an e-mail address');
  const found = PEOPLE.filter(({ email }) => email === handle.toLowerCase());
  return json(200, { items: found.map(({ person }) => person) });
}

function sendDirectMessage({ body, bot, messenger }: Call): BridgeAnswer {
  const asked = readBody(DIRECT, body);
  checkBody(asked.body, { mayMention: false });
  const known = PEOPLE.find(({ person }) => person.external_id === asked.user_external_id);
  if (!known?.isReachable) throw forbidden('The bot cannot write to this person.');
  const { message_id } = messenger.post({
    ...{ bot: bot.number, kind: 'direct', direct_with: asked.user_external_id, notify: true },
    ...{ body: asked.body, html: render(asked.body, []) },
  });
  return json(201, { message_id, replayed: false });
}

function answerEvent(call: Call): BridgeAnswer {
  const { event_id, text } = readBody(ANSWER, call.body);
  const event = call.bot.events.find(event_id);
  if (!event) throw gone('the event is not known');
  const said = { bot: call.bot.number, kind: 'answer', body: text, html: plain(text) } as const;
  const { shown_as, ...place } = placeOfAnswer(event, call);
  call.messenger.post({ ...said, ...place });
  return json(201, { shown_as, replayed: false });
}

function placeOfAnswer(event: BridgeEvent, call: Call): { shown_as: string } & Partial<Post> {
  const author = event.user?.external_id ?? null;
  if (event.type === 'account_link') return { shown_as: 'direct', direct_with: author };
  const named = call.messenger.find(event.message_id ?? '');
  const root = named?.root_id == null ? named : call.messenger.find(named.root_id);
  if (event.type === 'message_deleted' || !root || root.deleted)
    throw gone('there is no place left for an answer');
  const isRecent = call.now() - Date.parse(event.occurred_at) < PRIVATELY_MS;
  const { without } = call.settings;
  if (event.type === 'press' && isRecent && !without.has('private_answers') && !without.has('buttons'))
    return { shown_as: 'ephemeral', only_for: author, root_id: root.message_id };
  root.thread_ref ??= threadOf(root.message_id);
  return { shown_as: 'thread', root_id: root.message_id, thread_ref: root.thread_ref };
}

async function pollEvents({ query, bot, gone: callerGone }: Call): Promise<BridgeAnswer> {
  const wait = query.get('wait') ?? '25';
  if (!/^\d{1,2}$/.test(wait) || Number(wait) > 60)
    throw invalid('wait', 'must be a whole number from 0 to 60');
  return json(200, await bot.events.poll(query.get('cursor'), Number(wait), callerGone));
}

/** The bot's own message that an edit or a reply is about. */
function presentRoot(id: string, bot: Bot, messenger: Messenger): Post {
  if (!messenger.isId(id)) throw invalid('message_id', 'names no message of this messenger');
  const post = messenger.find(id);
  if (!post || post.deleted || post.bot !== bot.number || post.by !== null)
    throw gone('the message no longer exists');
  if (post.heading === null) throw invalid('message_id', 'names a reply or a direct message');
  return post;
}

/** @param mentions null: an edit, whose markers are plain text */
function checkParts(
  { body, buttons }: { readonly body: string; readonly buttons: readonly Button[] },
  mentions: readonly Mention[] | null,
  notify: boolean,
  { without }: Settings,
): void {
  const most = LIMITS.max_body_length;
  if (lengthOf(body) > most) throw invalid('body', `has more than ${most} code points`);
  checkBody(body, { mayMention: notify || mentions === null });
  if (!notify && mentions !== null && mentions.length > 0)
    throw invalid('mentions', 'must be empty with notify false');
  if (without.has('buttons') && buttons.length > 0) throw invalid('buttons', 'are not declared');
  if (buttons.length > LIMITS.max_buttons) throw invalid('buttons', `are more than ${LIMITS.max_buttons}`);
  const long = buttons.findIndex(({ text }) => lengthOf(text) > LIMITS.max_button_text);
  if (long >= 0) throw invalid(`buttons.${long}.text`, `has more than ${LIMITS.max_button_text} characters`);
}

function shown({ body, buttons, ...heading }: Content, mentions: readonly Mention[], settings: Settings) {
  return { heading, body, html: render(body, drawn(mentions, settings)), buttons };
}

function drawn(mentions: readonly Mention[], { without }: Settings): readonly Mention[] {
  return without.has('native_mentions') ? [] : mentions;
}

/** Which operation a request asks for. */
export const OPERATION_NAMES = Object.keys(OPERATIONS) as OperationName[];

export function split(target: string): { path: string; query: URLSearchParams } {
  const [path = '', ...rest] = target.split('?');
  return { path, query: new URLSearchParams(rest.join('?')) };
}

/**
 * Looks at the raw path, so that an encoded slash stays inside its segment.
 * @returns the path parameter still encoded, empty where there is none; null: no such operation
 */
export function findOperation(method: string, path: string): { name: OperationName; segment: string } | null {
  const segments = path.split('/');
  for (const name of OPERATION_NAMES) {
    const pattern = OPERATIONS[name].path.split('/');
    const fits = pattern.length === segments.length && OPERATIONS[name].method === method;
    if (!fits || !pattern.every((part, index) => part === '*' || part === segments[index])) continue;
    return { name, segment: segments[pattern.indexOf('*')] ?? '' };
  }
  return null;
}

/** @throws Refusal */
export function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw invalid('path', 'is not percent-encoded UTF-8');
  }
}
