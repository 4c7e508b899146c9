/** Messages in a chat server: a Root message is a post with one attachment, its Thread the replies (chat-server §4, §5). */
import { type Clock, HOUR, MINUTE, type Micros } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { Keyring, Opener } from '../../../runtime/secrets/keyring.ts';
import type { ChatServerInfo } from '../../connection/ports.ts';
import type { People, Target } from '../../destination/sending/people.ts';
import type { ChatServerTarget } from '../../destination/sending/scene.ts';
import {
  type ChatServerMessage,
  chatServerReply,
  chatServerRoot,
  chatServerStorm,
  type DeliveryNotes,
  type MessageMention,
  type TemplateFailure,
} from '../../messages/index.ts';
import { GONE_CONNECTION } from '../access.ts';
import { ACCEPTED, type MessageContent, type MessageSend, type SendOutcome, type Shown } from '../calls.ts';
import type { Channel, ChannelCall, SendResult } from '../channel.ts';
import {
  deliveryCall,
  type Failed,
  mayBeDone,
  probeCall,
  probed,
  rootSigner,
  signedWith,
  signer,
} from '../delivering.ts';
import { type ChatOutcome, SILENCE_REFUSED } from './answer.ts';
import { type ChatAccess, type ChatClient, openChatServer } from './client.ts';
import {
  type ChatRequest,
  chatCalls,
  type FoundPosts,
  MARK,
  type NewPost,
  POSTS_OF_A_PAGE,
  type ServerPost,
} from './operations.ts';
import { checkPlace } from './place.ts';
import {
  type ButtonsBack,
  buttonsBack,
  messageUrl,
  type PostOrigin,
  replyPost,
  rootPatch,
  rootPost,
} from './posts.ts';
import type { ServerInfoReader } from './server-info.ts';
import { createUsernames, type Usernames } from './usernames.ts';

export interface ChatServerChannelDeps {
  readonly chat: ChatClient;
  readonly infos: ServerInfoReader;
  readonly opener: Opener;
  readonly keyring: Keyring;
  readonly clock: Pick<Clock, 'now'>;
  /** Where the server reaches this installation, without a trailing slash. */
  readonly ingestUrl: string;
  /** Of the Destination, `null` meaning its present one; null when its Connection is deleted. */
  target(destinationId: PublicId, target: number | null): Promise<ChatServerTarget | null>;
}

/** The way to a channel, opened for one call. */
interface OpenChannel {
  readonly access: ChatAccess;
  readonly target: ChatServerTarget;
  readonly info: ChatServerInfo;
  readonly back: ButtonsBack;
}

/** Of a message and of a label (messages §3). */
const MOST_BUTTONS = 25;
const LONGEST_BUTTON = 64;
/** A bot that may not post silently is not tried again before. */
const SILENCE_REFUSED_FOR: Micros = 24 * HOUR;
/** How far the server's clock may be behind, where a post is looked for that may exist. */
const CLOCKS_DIFFER: Micros = 10 * MINUTE;
/** Of a search: enough for two posts a second since then. */
const MOST_PAGES = 20;

export function createChatServerChannel(deps: ChatServerChannelDeps): Channel {
  const kept: Kept = { loud: new Map(), usernames: createUsernames(deps.clock) };
  const open = async (asked: {
    readonly destinationId: PublicId;
    readonly target: number | null;
  }): Promise<OpenChannel | SendOutcome> => {
    const target = await deps.target(asked.destinationId, asked.target);
    if (!target) return { class: 'unknown', error: GONE_CONNECTION };
    const { connection } = target;
    const access = openChatServer(deps.opener, connection);
    if (!access) return { class: 'fatal', error: 'secret_unreadable' };
    const known = await deps.infos.upToDate(connection, access);
    if (known.class !== 'ok') return failedOutcome(known, false);
    const back = buttonsBack(deps.keyring, deps.ingestUrl, connection.id);
    return { access, target, info: known.info, back };
  };

  return {
    async capabilities(destinationId) {
      const target = await deps.target(destinationId, null);
      const most = target?.connection.info?.max_post_size;
      return most === undefined
        ? null
        : {
            text: { unit: 'code_points', most },
            ...{ edits: 'always', replies: true, mentions: true },
            buttons: { most: MOST_BUTTONS, text: LONGEST_BUTTON },
          };
    },

    async send(call, content) {
      if (content.kind === 'event') throw new Error('a chat server gets messages, not events');
      const opened = await open(call.asked);
      if ('class' in opened) return { outcome: opened, failure: null };
      const calls = new Calls(deps, opened, call, kept);
      switch (content.kind) {
        case 'publish':
          return publish(deps, opened, calls, call, content);
        case 'edit':
          return edit(deps, opened, calls, call, content);
        case 'reply':
          return reply(deps, opened, calls, call, content);
      }
    },

    async probe(call) {
      const opened = await open({ destinationId: call.asked.destinationId, target: null });
      if ('class' in opened) return opened;
      const { access, target } = opened;
      const { options, hasBegun } = probeCall(call);
      const checked = await checkPlace(target, async (request) => ({
        is: 'answered',
        outcome: await deps.chat.call(access, request, options),
      }));
      return probed(checked, (outcome) => failedOutcome(outcome, hasBegun()));
    },
  };
}

/** What is learned of servers and kept between deliveries. */
interface Kept {
  /** Connections whose bot may not post silently, with the time until which that is known. */
  readonly loud: Map<PublicId, Micros>;
  readonly usernames: Usernames;
}

/** The calls of one delivery. */
class Calls {
  readonly #deps: ChatServerChannelDeps;
  readonly #opened: OpenChannel;
  readonly #call: ChannelCall<MessageSend>;
  readonly #kept: Kept;

  constructor(deps: ChatServerChannelDeps, opened: OpenChannel, call: ChannelCall<MessageSend>, kept: Kept) {
    this.#deps = deps;
    this.#opened = opened;
    this.#call = call;
    this.#kept = kept;
  }

  async make<Value>(
    request: ChatRequest<Value>,
  ): Promise<{ class: 'ok'; value: Value } | { class: 'failed'; is: Failed; id: string | null }> {
    const { options, hasBegun } = deliveryCall(this.#call);
    const outcome = await this.#deps.chat.call(this.#opened.access, request, options);
    if (outcome.class === 'ok') return outcome;
    const id = outcome.class === 'not_sent' ? null : outcome.id;
    return { class: 'failed', is: failedOutcome(outcome, hasBegun()), id };
  }

  /**
   * Creates a post once: where an earlier attempt may have been stored it is looked for by its mark, and the server
   * answers a repeat that it remembers with the first post (chat-server §4).
   */
  async create(post: NewPost, isQuiet: boolean): Promise<Created | Failed> {
    const { unsureSince } = this.#call.asked;
    if (unsureSince !== null) {
      const found = await this.#find(post, unsureSince);
      if ('class' in found) return found;
      if (found.id !== null) return { id: found.id, isFirst: true };
    }
    const { connectionId } = this.#opened.access;
    const until = connectionId === null ? undefined : this.#kept.loud.get(connectionId);
    const isSilent = isQuiet && (until === undefined || this.#deps.clock.now() >= until);
    const posted = await this.make(chatCalls.createPost(post, isSilent));
    if (posted.class === 'ok') return created(posted.value, this.#call.asked);
    if (!isSilent || posted.id !== SILENCE_REFUSED || connectionId === null) return posted.is;
    this.#kept.loud.set(connectionId, this.#deps.clock.now() + SILENCE_REFUSED_FOR);
    const again = await this.make(chatCalls.createPost(post, false));
    return again.class === 'ok' ? created(again.value, this.#call.asked) : again.is;
  }

  /** Whom a Loud post names, by the names of this day. */
  mentions(targets: readonly Target[], { mention }: People): Promise<readonly MessageMention[]> {
    const { connection } = this.#opened.target;
    return this.#kept.usernames.fresh(connection.id, targets.map(mention), async (request) => {
      const users = await this.make(request);
      return users.class === 'ok' ? users.value : null;
    });
  }

  /** Page by page back to when the first attempt may have begun, by either clock. */
  async #find(post: NewPost, since: Micros): Promise<{ readonly id: string | null } | Failed> {
    const from = Math.floor((since - CLOCKS_DIFFER) / 1000);
    const { bot_id: botId } = this.#opened.info;
    let before: string | null = null;
    for (let page = 0; page < MOST_PAGES; page++) {
      const request: ChatRequest<FoundPosts> = chatCalls.findPosts(post.channel_id, before);
      const found = await this.make(request);
      if (found.class !== 'ok') return notPosted(found.is);
      const { order, posts } = found.value;
      const listed = order.flatMap((id) => posts[id] ?? []);
      const own = listed.find(
        ({ user_id: by, props, delete_at: deletedAt }) =>
          by === botId && deletedAt === 0 && props?.[MARK] === post.props[MARK],
      );
      const oldest = listed.at(-1);
      if (own) return { id: own.id };
      if (!oldest || order.length < POSTS_OF_A_PAGE || oldest.create_at < from) break;
      before = oldest.id;
    }
    return { id: null };
  }
}

interface Created {
  readonly id: string;
  /** The post of an earlier attempt, which may show an older state. */
  readonly isFirst: boolean;
}

/** A repeat comes back without its `pending_post_id` when the server answers with the first post. */
function created({ id, pending_post_id: pending }: ServerPost, { unsureSince }: MessageSend): Created {
  return { id, isFirst: unsureSince !== null && pending === '' };
}

/** Nothing is known of the first attempt, and nothing was posted: it is looked for again. */
function notPosted(failed: Failed): Failed {
  return failed.class === 'gone' || failed.class === 'unknown'
    ? { class: 'transient', error: failed.error, unsure: false }
    : failed;
}

async function publish(
  deps: ChatServerChannelDeps,
  { info, target, back, access }: OpenChannel,
  calls: Calls,
  { asked }: ChannelCall<MessageSend>,
  { shown, notes, isLoud, targets }: Extract<MessageContent, { kind: 'publish' }>,
): Promise<SendResult> {
  const people = shown.kind === 'group' ? shown.scene.people : shown.people;
  const message = laidOut(deps, info, shown, notes, await calls.mentions(targets, people));
  const { failure, hash, buttons } = message;
  const post = rootPost(message, originOf(target, info, asked), back);
  const made = await calls.create(post, !isLoud);
  if ('class' in made) return { outcome: made, failure };
  const url = messageUrl(access.serverUrl, target.teamPath, made.id);
  const posted = { messageId: made.id, messageUrl: url, replayed: made.isFirst };
  return {
    outcome: { ...ACCEPTED, ...posted, hash, signedWith: signedWith(deps.keyring, buttons) },
    failure,
  };
}

async function edit(
  deps: ChatServerChannelDeps,
  { info, back }: OpenChannel,
  calls: Calls,
  { asked }: ChannelCall<MessageSend>,
  { shown, notes }: Extract<MessageContent, { kind: 'edit' }>,
): Promise<SendResult> {
  const { operation } = asked;
  if (operation.kind !== 'edit') throw new Error(`a ${operation.kind} was laid out as an edit`);
  const message = laidOut(deps, info, shown, notes, null);
  const { hash, failure, buttons } = message;
  if (!operation.isFinal && hash === operation.hash) return { outcome: { class: 'unchanged' }, failure };
  const patched = await calls.make(chatCalls.patchPost(operation.messageId, rootPatch(message, back)));
  if (patched.class === 'ok') {
    return { outcome: { ...ACCEPTED, hash, signedWith: signedWith(deps.keyring, buttons) }, failure };
  }
  const isRefused = patched.is.class === 'fatal' && patched.id === FORBIDDEN;
  return { outcome: isRefused ? await asRead(calls, operation.messageId, patched.is) : patched.is, failure };
}

/** The server refuses edits of deleted posts as it refuses edits without the right to them. */
const FORBIDDEN = 'api.context.permissions.app_error';

/** Reads the post that may not be edited, once: one that is not there any more is gone (chat-server §9). */
async function asRead(calls: Calls, messageId: string, refused: Failed): Promise<Failed> {
  const read = await calls.make(chatCalls.getPost(messageId));
  if (read.class !== 'ok') return read.is;
  return read.value.delete_at === 0 ? refused : { class: 'gone', error: 'the post was deleted' };
}

async function reply(
  deps: ChatServerChannelDeps,
  { info, target, back }: OpenChannel,
  calls: Calls,
  { asked }: ChannelCall<MessageSend>,
  { scene, event, isLoud, targets }: Extract<MessageContent, { kind: 'reply' }>,
): Promise<SendResult> {
  const { operation } = asked;
  if (operation.kind !== 'reply') throw new Error(`a ${operation.kind} was laid out as a reply`);
  const { group, settings, people } = scene;
  const sign = signer(deps.keyring, 'thread_reply', group.id);
  const mentions = await calls.mentions(targets, people);
  const written = chatServerReply(event, group, settings, { mentions, sign }, info.max_post_size);
  const { failure, buttons } = written;
  const post = replyPost(written, operation.messageId, originOf(target, info, asked), back);
  const made = await calls.create(post, !isLoud);
  if ('class' in made) return { outcome: made, failure };
  const signed = signedWith(deps.keyring, buttons);
  const posted = { messageId: made.id, replayed: made.isFirst, signedWith: signed };
  return { outcome: { ...ACCEPTED, ...posted }, failure };
}

type LaidOut = Pick<ChatServerMessage, 'message' | 'attachment' | 'buttons' | 'hash'> & {
  readonly failure: TemplateFailure | null;
};

/** @param mentions null for an edit, which names nobody */
function laidOut(
  { keyring }: ChatServerChannelDeps,
  { max_post_size: limit }: ChatServerInfo,
  shown: Shown,
  notes: DeliveryNotes,
  mentions: readonly MessageMention[] | null,
): LaidOut {
  if (shown.kind === 'storm') {
    const { storm, settings } = shown;
    return { ...chatServerStorm(storm, settings, mentions, limit), failure: null };
  }
  const { group, settings } = shown.scene;
  const sign = rootSigner(keyring, shown, notes);
  return chatServerRoot(group, settings, { kind: 'root', notes, mentions, sign }, limit);
}

function originOf(
  { channelId }: ChatServerTarget,
  { bot_id: botId }: ChatServerInfo,
  { key }: MessageSend,
): PostOrigin {
  if (key === null) throw new Error('a post without a key');
  return { channelId, botId, key };
}

/** The first attempt is still being stored. */
const STILL_RUNNING = /^api\.post\.(deduplicate_create_post|error_get_post_id\.pending)/;

/** @param hasBegun the first byte may have been sent, so that no answer says nothing about what the server did */
function failedOutcome(
  outcome: Exclude<ChatOutcome<never>, { readonly class: 'ok' }>,
  hasBegun: boolean,
): Failed {
  switch (outcome.class) {
    case 'not_sent':
      return { class: 'not_sent', because: 'unreadable' };
    case 'retry_after':
      return { class: 'retry_after', until: outcome.until, scope: 'connection', error: outcome.error };
    case 'transient': {
      const { status, id, error } = outcome;
      const isDone = mayBeDone(status) || STILL_RUNNING.test(id ?? '');
      return { class: 'transient', error, unsure: hasBegun && isDone };
    }
    case 'unknown': {
      const { status, error } = outcome;
      return { class: 'unknown', error, unsure: status !== null && status < 300 };
    }
    default:
      return { class: outcome.class, error: outcome.error };
  }
}
