/** Messages of a channel bot: a Root message is a post, its Thread the comments below it (channel-bot §6, §8). */
import { type Clock, formatInstant, HOUR, MINUTE, type Micros } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { Keyring, Opener } from '../../../runtime/secrets/keyring.ts';
import type { ChannelPlace, Copies, GroupMoved, LostPost, LostPosts } from '../../connection/ports.ts';
import type { ContentReader } from '../../destination/sending/content.ts';
import type { People, Target } from '../../destination/sending/people.ts';
import type { ChannelBotTarget } from '../../destination/sending/scene.ts';
import {
  CHANNEL_BOT_LIMIT,
  type ChannelBotText,
  channelBotReply,
  channelBotRoot,
  channelBotStorm,
  type DeliveryNotes,
  type MessageMention,
  type TemplateFailure,
} from '../../messages/index.ts';
import { GONE_CONNECTION } from '../access.ts';
import {
  ACCEPTED,
  groupOf,
  type MessageContent,
  type MessageSend,
  type SendOutcome,
  type Shown,
} from '../calls.ts';
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
import type { About, BotOutcome } from './answer.ts';
import { type BotAccess, type BotClient, openBot } from './client.ts';
import {
  type BotRequest,
  botCalls,
  type InlineKeyboard,
  messageIdOf,
  messageRefOf,
  type NewMessage,
} from './operations.ts';
import { CHANGED, checkPlace } from './place.ts';
import { attachedTo, beginThread, nextWay, readThread, threadAfter, type Way, wayWithout } from './thread.ts';

export interface ChannelBotDeps {
  readonly bot: BotClient;
  readonly copies: Copies;
  readonly opener: Opener;
  readonly keyring: Keyring;
  readonly clock: Pick<Clock, 'now'>;
  /** Of the Destination, `null` meaning its present one; null when its Connection is deleted. */
  target(destinationId: PublicId, target: number | null): Promise<ChannelBotTarget | null>;
  /** The discussion group of a Destination has another id since it became a supergroup (channel-bot §12). */
  groupMoved(destinationId: PublicId, moved: GroupMoved): Promise<void>;
}

/** Of a message and of a label (messages §3). */
const BUTTONS = { most: 25, text: 64 } as const;
/** When two Destinations of a bot are asked to wait within this time, the bot is limited (channel-bot §11). */
const LIMITED_TOGETHER: Micros = MINUTE;
/** Whoever waits longer is told to people (channel-bot §11). */
const LONGEST_WAIT: Micros = 15 * MINUTE;
/** After a last edit that failed for now: as long again as the post is old, between these (channel-bot §11). */
const NEXT_TRY = { least: MINUTE, most: HOUR } as const;
export const NOT_CHECKED = 'The channel is not known yet. Check the Destination.';

/** The way to a channel, opened for one call. */
interface OpenChannel {
  readonly connectionId: PublicId;
  readonly access: BotAccess;
  readonly place: ChannelPlace | null;
}

export function createChannelBotChannel(deps: ChannelBotDeps): Channel {
  const limits: Limits = new Map();
  const open = async (destinationId: PublicId, target: number | null): Promise<OpenChannel | Failed> => {
    const found = await deps.target(destinationId, target);
    if (!found) return { class: 'unknown', error: GONE_CONNECTION };
    const { connection, place } = found;
    const access = openBot(deps.opener, connection);
    return access
      ? { connectionId: connection.id, access, place }
      : { class: 'fatal', error: 'secret_unreadable' };
  };

  return {
    async capabilities(destinationId) {
      const found = await deps.target(destinationId, null);
      return (
        found && {
          text: { unit: 'utf16', most: CHANNEL_BOT_LIMIT },
          ...{ edits: 'always', replies: true, mentions: true, buttons: BUTTONS },
        }
      );
    },

    async send(call, content) {
      if (content.kind === 'event') throw new Error('a channel bot gets messages, not events');
      const opened = await open(call.asked.destinationId, call.asked.target);
      if ('class' in opened) return { outcome: opened, failure: null };
      const calls = new Calls(deps, opened, call, limits);
      switch (content.kind) {
        case 'publish':
          return publish(deps, calls, opened, call, content);
        case 'edit':
          return edit(deps, calls, call, content);
        case 'reply':
          return reply(deps, calls, opened, call, content);
      }
    },

    async probe(call) {
      const { destinationId } = call.asked;
      const opened = await open(destinationId, null);
      if ('class' in opened) return opened;
      const { access, place } = opened;
      if (!place) return { class: 'fatal', error: NOT_CHECKED };
      const { options, hasBegun } = probeCall(call);
      const checked = await checkPlace(place.channelId, place, async (request) => ({
        is: 'answered',
        outcome: await deps.bot.call(access, request, options),
      }));
      return probed(checked, (outcome) => failedOutcome(outcome, hasBegun()));
    },
  };
}

/** By Connection: which Destination was asked to wait last, and when. */
type Limits = Map<PublicId, { readonly destinationId: PublicId; readonly at: Micros }>;

type Made<Value> =
  | { readonly class: 'ok'; readonly value: Value }
  | { readonly class: 'failed'; readonly is: Failed; readonly about: About | null };

/** The calls of one delivery. */
class Calls {
  readonly #deps: ChannelBotDeps;
  readonly #access: BotAccess;
  readonly #call: ChannelCall<MessageSend>;
  readonly #limits: Limits;

  constructor(deps: ChannelBotDeps, { access }: OpenChannel, call: ChannelCall<MessageSend>, limits: Limits) {
    this.#deps = deps;
    this.#access = access;
    this.#call = call;
    this.#limits = limits;
  }

  async make<Value>(request: BotRequest<Value>): Promise<Made<Value>> {
    const { options, hasBegun } = deliveryCall(this.#call);
    const outcome = await this.#deps.bot.call(this.#access, request, options);
    if (outcome.class === 'ok') return outcome;
    const failed = failedOutcome(outcome, hasBegun());
    const about = outcome.class === 'not_sent' ? null : outcome.about;
    if (about?.is === 'moved') return { class: 'failed', is: { class: 'fatal', error: CHANGED }, about };
    const is = failed.class === 'retry_after' ? this.#waiting(failed) : failed;
    return { class: 'failed', is, about };
  }

  /** A text that the messenger cannot read is sent once more without its markup. */
  async makeText<Value>(
    { text, plainText }: ChannelBotText,
    request: (text: string, isHtml: boolean) => BotRequest<Value>,
  ): Promise<Made<Value> & { readonly markupRejected: boolean }> {
    const made = await this.make(request(text, true));
    if (made.class === 'ok' || made.about?.is !== 'markup') return { ...made, markupRejected: false };
    return { ...(await this.make(request(plainText, false))), markupRejected: true };
  }

  #waiting(failed: Extract<Failed, { class: 'retry_after' }>): Failed {
    const { until } = failed;
    const scope = this.#limited();
    if (until - this.#deps.clock.now() <= LONGEST_WAIT) return { ...failed, scope };
    const time = formatInstant(until).slice(11, 16);
    return { ...failed, scope, breaks: true, error: `asked to wait until ${time} UTC` };
  }

  #limited(): 'connection' | 'destination' {
    const { connectionId } = this.#access;
    const { destinationId } = this.#call.asked;
    if (connectionId === null) return 'destination';
    const last = this.#limits.get(connectionId);
    const at = this.#deps.clock.now();
    this.#limits.set(connectionId, { destinationId, at });
    const isSecond = last && last.destinationId !== destinationId && at - last.at < LIMITED_TOGETHER;
    return isSecond ? 'connection' : 'destination';
  }
}

async function publish(
  deps: ChannelBotDeps,
  calls: Calls,
  { connectionId, place }: OpenChannel,
  { asked }: ChannelCall<MessageSend>,
  { shown, notes, isLoud, targets }: Extract<MessageContent, { kind: 'publish' }>,
): Promise<SendResult> {
  if (!place) return { outcome: { class: 'fatal', error: NOT_CHECKED }, failure: null };
  const people = shown.kind === 'group' ? shown.scene.people : shown.people;
  const message = laidOut(deps, shown, notes, mentionsOf(targets, people));
  const { failure, hash } = message;
  const { channelId } = place;
  const signed = signedWith(deps.keyring, message.keyboard);
  const { unsureSince: since } = asked;
  const about = groupOf(asked);
  const isLost = about !== null && since !== null;
  const [found, other] = isLost ? await deps.copies.lost({ connectionId, channelId, about, since }) : [];
  if (found) {
    const { postId } = found;
    const posted = { messageId: messageIdOf(channelId, postId), messageUrl: messageUrl(place, postId) };
    const known = { replayed: true, threadRef: attachedTo(found), isDuplicate: other !== undefined };
    return { outcome: { ...ACCEPTED, ...posted, ...known, signedWith: signed }, failure };
  }
  const made = await calls.makeText(message, (text, isHtml) =>
    botCalls.sendMessage({
      ...{ chatId: channelId, text, isHtml, isQuiet: !isLoud, replyTo: null },
      keyboard: sentKeyboard(message),
    }),
  );
  if (made.class === 'failed') return { outcome: made.is, failure };
  const { message_id: id } = made.value;
  return {
    outcome: {
      ...{ ...ACCEPTED, messageId: messageIdOf(channelId, id), hash, markupRejected: made.markupRejected },
      messageUrl: messageUrl(place, String(id)),
      signedWith: signed,
      threadRef: beginThread(deps.clock.now()),
    },
    failure,
  };
}

async function edit(
  deps: ChannelBotDeps,
  calls: Calls,
  { asked: { operation } }: ChannelCall<MessageSend>,
  { shown, notes }: Extract<MessageContent, { kind: 'edit' }>,
): Promise<SendResult> {
  if (operation.kind !== 'edit') throw new Error(`a ${operation.kind} was laid out as an edit`);
  const message = laidOut(deps, shown, notes, null);
  const { hash, failure } = message;
  if (!operation.isFinal && hash === operation.hash) return { outcome: { class: 'unchanged' }, failure };
  const ref = messageRefOf(operation.messageId);
  const keyboard = keyboardOf(message);
  const made = await calls.makeText(message, (text, isHtml) =>
    botCalls.editMessageText(ref, { text, isHtml, keyboard }),
  );
  const isShown = made.class === 'ok' || made.about?.is === 'not_modified';
  if (!isShown) return { outcome: made.is, failure };
  const signed = signedWith(deps.keyring, message.keyboard);
  const { markupRejected } = made;
  return { outcome: { ...ACCEPTED, hash, signedWith: signed, markupRejected }, failure };
}

type ReplyContent = Extract<MessageContent, { kind: 'reply' }>;

async function reply(
  deps: ChannelBotDeps,
  calls: Calls,
  { connectionId, place }: OpenChannel,
  { asked }: ChannelCall<MessageSend>,
  content: ReplyContent,
): Promise<SendResult> {
  const { operation, destinationId } = asked;
  if (operation.kind !== 'reply') throw new Error(`a ${operation.kind} was laid out as a reply`);
  if (!place) return { outcome: { class: 'unknown', error: NOT_CHECKED }, failure: null };
  const { chatId: channelId, messageId: postId } = messageRefOf(operation.messageId);
  const copy = await deps.copies.find({ connectionId, channelId, postId });
  const way = nextWay(readThread(operation.threadRef), place.groupId, copy, deps.clock.now());
  if (way.is === 'later')
    return { outcome: { class: 'not_sent', because: 'not_yet', until: way.until }, failure: null };
  const url = messageUrl(place, postId);
  const first = await replied(deps, calls, way, url, content);
  if (first.about?.is === 'thread_gone') return replied(deps, calls, wayWithout(way), url, content);
  if (first.about?.is !== 'moved') return first;
  const to = { from: way.groupId, to: first.about.to };
  const moved = await followed(deps, calls, destinationId, { connectionId, channelId, ...to });
  if ('class' in moved) return { outcome: moved, failure: first.failure };
  return replied(deps, calls, moved, url, content);
}

/** Sends a reply one way. `about`: why that way is closed; null when it was sent, or failed as any call may. */
async function replied(
  { keyring }: ChannelBotDeps,
  calls: Calls,
  way: Way,
  url: string,
  { scene, event, isLoud, targets }: ReplyContent,
): Promise<SendResult & { readonly about: About | null }> {
  const { group, settings, people } = scene;
  const sign = signer(keyring, 'thread_reply', group.id);
  const said = { mentions: mentionsOf(targets, people), sign };
  const written = channelBotReply(event, group, settings, said, { under: way.to === null ? url : null });
  const { failure } = written;
  const made = await calls.makeText(written, (text, isHtml) =>
    botCalls.sendMessage({
      ...{ chatId: way.groupId, text, isHtml, isQuiet: !isLoud, replyTo: way.to },
      keyboard: sentKeyboard(written),
    }),
  );
  if (made.class === 'failed') return { outcome: made.is, failure, about: made.about };
  const id = String(made.value.message_id);
  const outcome = {
    ...{ ...ACCEPTED, messageId: messageIdOf(way.groupId, id), threadRef: threadAfter(way, id) },
    ...{ signedWith: signedWith(keyring, written.keyboard), markupRejected: made.markupRejected },
    thread: way.is === 'attached' ? way.is : 'unattached',
  } as const;
  return { outcome, failure, about: null };
}

/** The group became a supergroup: it is followed when it is still the group of the channel (channel-bot §12). */
async function followed(
  deps: ChannelBotDeps,
  calls: Calls,
  destinationId: PublicId,
  moved: GroupMoved,
): Promise<Way | Failed> {
  const chat = await calls.make(botCalls.getChat(moved.channelId));
  if (chat.class === 'failed') return chat.is;
  if (String(chat.value.linked_chat_id) !== moved.to) return { class: 'fatal', error: CHANGED };
  await deps.groupMoved(destinationId, moved);
  return { is: 'chained', groupId: moved.to, to: null, isLost: false };
}

export interface LostPostsDeps {
  readonly posts: LostPosts;
  readonly contents: ContentReader;
  readonly channel: Pick<Channel, 'send'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  /** Until when the messenger of a Connection asked to wait, kept between runs. */
  readonly held: Map<PublicId, Micros>;
}

/**
 * Gives posts that were made again their last edit, which leads to the present state (channel-bot §11). Each is tried
 * on its own; a bot that is asked to wait is called again when that is over.
 */
export async function endLostPosts(deps: LostPostsDeps, mayBegin: () => boolean): Promise<void> {
  const { posts, clock, log, held } = deps;
  await posts.learn();
  for (const [connectionId, until] of held) {
    if (until > clock.now()) await posts.later({ connectionId, messageId: null }, until);
    else held.delete(connectionId);
  }
  for (const post of await posts.read()) {
    const { connectionId: connection, destinationId: destination, groupId: group } = post;
    if (!mayBegin()) return;
    if ((held.get(connection) ?? 0) > clock.now()) continue;
    const outcome = await lastEdit(deps, post, mayBegin);
    const is = outcome?.class;
    if (outcome && 'error' in outcome && is !== 'gone')
      log('lost_post_not_edited', { connection, destination, group, error: outcome.error });
    if (outcome?.class === 'retry_after') {
      held.set(connection, outcome.until);
      await posts.later({ connectionId: connection, messageId: null }, outcome.until);
    } else if (is === 'transient' || is === 'fatal' || is === 'not_sent') {
      const age = clock.now() - post.postedAt;
      await posts.later(post, clock.now() + Math.min(NEXT_TRY.most, Math.max(NEXT_TRY.least, age)));
    } else await posts.ended(post);
  }
}

/** @returns null when there is nothing to show any more */
async function lastEdit(
  { contents, channel }: LostPostsDeps,
  { messageId, groupId, postedAt: _, ...to }: LostPost,
  mayBegin: () => boolean,
): Promise<SendOutcome | null> {
  const asked: MessageSend = {
    ...{ type: 'message.send', call: 0, subject: { kind: 'group', groupId }, ...to },
    operation: { kind: 'edit', messageId, threadRef: null, hash: null, isFinal: true },
    ...{ notes: { late: false, deletedAt: null, continued: false }, values: {}, key: null, dueAt: 0 },
    ...{ attempt: 1, unsureSince: null, urgent: false, isProbe: false },
  };
  try {
    const read = await contents.read(asked, null);
    if (read.is !== 'content') return null;
    return (await channel.send({ asked, destination: null, mayBegin }, read.content)).outcome;
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return { class: 'not_sent', because: 'defect', error: said };
  }
}

function mentionsOf(targets: readonly Target[], { mention }: People): readonly MessageMention[] {
  return targets.map(mention);
}

type LaidOut = ChannelBotText & { readonly hash: string; readonly failure: TemplateFailure | null };

/** @param mentions null for an edit, which names nobody */
function laidOut(
  { keyring }: ChannelBotDeps,
  shown: Shown,
  notes: DeliveryNotes,
  mentions: readonly MessageMention[] | null,
): LaidOut {
  if (shown.kind === 'storm') {
    return { ...channelBotStorm(shown.storm, shown.settings, mentions), failure: null };
  }
  const { group, settings } = shown.scene;
  const sign = rootSigner(keyring, shown, notes);
  return channelBotRoot(group, settings, { kind: 'root', notes, mentions, sign });
}

export function keyboardOf({ keyboard }: Pick<ChannelBotText, 'keyboard'>): InlineKeyboard {
  const rows = keyboard.map((row) => row.map(({ text, data }) => ({ text, callback_data: data })));
  return { inline_keyboard: rows };
}

/** Of a new message: one without buttons has none. */
export function sentKeyboard(text: Pick<ChannelBotText, 'keyboard'>): NewMessage['keyboard'] {
  return text.keyboard.length === 0 ? null : keyboardOf(text);
}

/** Where people open a post. */
export function messageUrl({ channelId, username }: ChannelPlace, postId: string): string {
  return `https://t.me/${username ?? `c/${channelId.replace(/^-100/, '')}`}/${postId}`;
}

/** @param hasBegun the first byte may have been sent, so that no answer says nothing about what the messenger did */
function failedOutcome(
  outcome: Exclude<BotOutcome<never>, { readonly class: 'ok' }>,
  hasBegun: boolean,
): Failed {
  switch (outcome.class) {
    case 'not_sent':
      return { class: 'not_sent', because: 'unreadable' };
    case 'retry_after':
      return { class: 'retry_after', until: outcome.until, scope: 'destination', error: outcome.error };
    case 'transient':
      return { class: 'transient', error: outcome.error, unsure: hasBegun && mayBeDone(outcome.status) };
    default:
      return { class: outcome.class, error: outcome.error };
  }
}
