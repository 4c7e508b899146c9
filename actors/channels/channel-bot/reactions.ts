/** What updates of a bot lead to, by their kind (channel-bot §4). */
import { MINUTE, type Micros, SECOND } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { readButtonData } from '../../../runtime/secrets/signed-tokens.ts';
import { type ReceivedTokenDeps, receiveToken, UNLINK } from '../../account-links/linking.ts';
import type { BotChats, LostPosts } from '../../connection/ports.ts';
import { privateAnswer } from '../../messages/index.ts';
import { type PressDeps, type Reaction, reactToPress, tellInvalid } from '../press.ts';
import type { BotAnswers } from './answers.ts';
import { type BotUse, openBot } from './client.ts';
import { botCalls, messageIdOf } from './operations.ts';
import { CHANGED, NO_ADMIN, NO_EDITS, NO_POSTS } from './place.ts';
import type { BotUpdate, LostRights } from './updates.ts';

/** A press waits so long for the record of its message; afterwards its update is handled again. */
const THROUGH = {
  transport: 'channel_bot',
  way: 'channel_bot_press',
  recordedWithin: SECOND,
} as const;
const DIRECT = 'channel_bot_direct';
/** The same help is not sent again to a chat within this time. */
const HELPED_FOR: Micros = MINUTE;
/** `/start <token>` and `/link <token>`, also with the name of the bot. */
const START = /^\/(?:start|link)(?:@[A-Za-z0-9_]{1,64})?(?:\s+(\S+))?$/;
const LEAVE = /^\/unlink(?:@[A-Za-z0-9_]{1,64})?$/;
const HELP = /^\/help(?:@[A-Za-z0-9_]{1,64})?$/;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** As the check of a Destination says it (channel-bot §3). */
const LOST = { no_admin: NO_ADMIN, no_posts: NO_POSTS, no_edits: NO_EDITS } as const;
const LOST_GROUP = 'The bot is not an admin of the discussion group, so it cannot see the copies of posts.';

export interface UpdateReactionDeps extends PressDeps, BotUse, Pick<ReceivedTokenDeps, 'links' | 'hints'> {
  readonly chats: BotChats;
  readonly lostPosts: Pick<LostPosts, 'learn'>;
  readonly answers: Pick<BotAnswers, 'answeredBefore'>;
}

/**
 * @returns null: nothing to us
 * @throws when something needed cannot be reached: the update has to come again
 */
export function createUpdateReactions(
  deps: UpdateReactionDeps,
): (connectionId: PublicId, update: BotUpdate) => Promise<Reaction | null> {
  const helped = new Map<string, Micros>();

  const help = (connectionId: PublicId, chatId: string): Reaction | null => {
    const key = `${connectionId} ${chatId}`;
    const now = deps.clock.now();
    if (now < (helped.get(key) ?? 0)) return null;
    for (const [each, until] of helped) if (until <= now) helped.delete(each);
    helped.set(key, now + HELPED_FOR);
    return { is: 'noted', say: privateAnswer({ say: 'link.help' }, DIRECT, 'en', deps.publicUrl) };
  };

  const reactToPrivate = async (
    connectionId: PublicId,
    update: Extract<BotUpdate, { type: 'private' }>,
  ): Promise<Reaction | null> => {
    const said = update.text.trim();
    if (update.from.isBot) return null;
    const start = START.exec(said);
    if (HELP.test(said) || (start && start[1] === undefined)) return help(connectionId, update.chatId);
    const token = LEAVE.test(said) ? UNLINK : start?.[1];
    if (token === undefined || (token !== UNLINK && !TOKEN.test(token))) return null;
    const { isBot, ...account } = update.from;
    const of = { messenger: 'channel_bot', connectionId, eventId: update.id } as const;
    return receiveToken(deps, { ...of, account, isBot, token }, DIRECT);
  };

  return async (connectionId, update) => {
    if (update.type === 'other') return null;
    const handled = await deps.facts.handled(connectionId, update.id);
    if (handled) {
      if (handled.say === null) deps.answers.answeredBefore(connectionId, update);
      return { is: 'stored', say: handled.say };
    }
    switch (update.type) {
      case 'press':
        return press(deps, connectionId, update);
      case 'copy':
        return { is: 'noted', say: null, copy: update.copy };
      case 'private':
        return reactToPrivate(connectionId, update);
      case 'rights':
        await deps.chats.rightsChanged(connectionId, update.chatId, update.lost && lostIn(update.lost));
        return { is: 'noted', say: null };
      case 'moved':
        await follow(deps, connectionId, update);
        return { is: 'noted', say: null };
    }
  };
}

/**
 * A group became a supergroup: its new id is stored where it is still the group of the channel (channel-bot §12).
 * @throws when the messenger does not answer: the update has to come again
 */
async function follow(
  { chats, bot, opener, settings: read }: UpdateReactionDeps,
  connectionId: PublicId,
  { chatId: from, to }: Extract<BotUpdate, { type: 'moved' }>,
): Promise<void> {
  const channels = await chats.channelsOf(connectionId, from);
  const settings = channels.length > 0 && (await read(connectionId));
  const access = settings && openBot(opener, settings);
  if (!access) return;
  for (const channelId of channels) {
    const chat = await bot.call(access, botCalls.getChat(channelId), { class: 'background' });
    if (chat.class !== 'ok') throw new Error(`the group of ${channelId} is not known: ${chat.class}`);
    if (String(chat.value.linked_chat_id) === to)
      await chats.groupMoved({ connectionId, channelId, from, to });
    else await chats.rightsChanged(connectionId, from, { channel: CHANGED, group: CHANGED });
  }
}

/** In a group only administrators count. */
function lostIn(lost: LostRights): { readonly channel: string; readonly group: string | null } {
  return { channel: LOST[lost], group: lost === 'no_admin' ? LOST_GROUP : null };
}

async function press(
  deps: UpdateReactionDeps,
  connectionId: PublicId,
  update: Extract<BotUpdate, { type: 'press' }>,
): Promise<Reaction | null> {
  const { id, occurredAt, from, message, data } = update;
  if (from.isBot) return null;
  if (!message || data === null) return invalid(deps, connectionId);
  const original = message.isChannel
    ? null
    : await deps.chats.originalOf(connectionId, message.chatId, message.messageId);
  const { chatId, messageId } = original ?? message;
  const { isBot: _, ...account } = from;
  const event = { id, occurredAt, messageId: messageIdOf(chatId, messageId), account, data };
  const react = () => reactToPress(deps, connectionId, event, THROUGH);
  const reaction = await react();
  if (reaction) return reaction;
  // It may be a post that was made again: nobody else signs its buttons.
  const read = readButtonData(deps.keyring, data);
  if (!read.ok || read.button.subject !== 'root_message') return invalid(deps, connectionId);
  const pressed = { connectionId, channelId: chatId, postId: messageId, about: read.button.id };
  const isLost = (await deps.lostPosts.learn(pressed)) > 0;
  return (isLost ? await react() : null) ?? invalid(deps, connectionId);
}

function invalid(deps: PressDeps, connectionId: PublicId): Reaction {
  tellInvalid(deps, connectionId);
  return { is: 'noted', say: privateAnswer({ say: 'invalid' }, THROUGH.way, 'en', deps.publicUrl) };
}
