/** Whether the bot can post to a channel and its group: calls of the Destination check and the probe (channel-bot §3). */
import type { ChannelPlace } from '../../connection/ports.ts';
import type { FoundChannel } from '../../destination/ports.ts';
import { cutPoints, oneLine } from '../../messages/neutral.ts';
import { type Asked, type EndedStep, stepOf } from '../access.ts';
import { type BotFailed, type BotOutcome, TOKEN_REFUSED } from './answer.ts';
import { type BotChat, type BotMember, type BotRequest, botCalls } from './operations.ts';

export const PLACE_STEPS = [
  'token',
  'channel_exists',
  'discussion_group',
  'bot_rights_channel',
  'bot_rights_group',
] as const;
export type PlaceStep = (typeof PLACE_STEPS)[number];

export type CheckedChannel =
  | { readonly is: 'passed'; readonly found: FoundChannel & { readonly channelName: string } }
  | EndedStep<PlaceStep, BotFailed | { readonly class: 'not_sent' }>;

/** One call of the check. */
export type AskBot = <Value>(request: BotRequest<Value>) => Promise<Asked<BotOutcome<Value>>>;

export const CHANGED =
  'The channel or its discussion group changed since the Destination was saved. Save it again.';
const NO_CHANNEL = 'The channel does not exist or the bot cannot see it.';
const NO_CHANNEL_TYPE = 'This chat is not a channel.';
const NO_COMMENTS =
  'Comments are not enabled: this channel has no discussion group. Add one under Discussion in its settings.';
export const NO_ADMIN = 'The bot is not an admin of the channel.';
export const NO_POSTS = 'The bot may not post messages in the channel.';
export const NO_EDITS = 'The bot may not edit messages in the channel.';
const LONGEST_NAME = 200;

/**
 * Posts nothing.
 * @param channel as people wrote it: an id, or the name of a public channel
 * @param saved what the Destination was saved with; null while it is saved
 */
export async function checkPlace(
  channel: string,
  saved: ChannelPlace | null,
  ask: AskBot,
): Promise<CheckedChannel> {
  const me = stepOf('token', await ask(botCalls.getMe()));
  if (me.is !== 'ok') return me;
  const chat = stepOf('channel_exists', await ask(botCalls.getChat(channel)));
  if (chat.is !== 'ok')
    return chat.is === 'failed' && isAbsent(chat) ? { ...chat, message: NO_CHANNEL } : chat;
  const { id, type, linked_chat_id: linked } = chat.value;
  if (type !== 'channel') return useless('channel_exists', NO_CHANNEL_TYPE);
  if (saved && saved.channelId !== String(id)) return useless('channel_exists', CHANGED);
  if (linked === undefined) return useless('discussion_group', NO_COMMENTS);
  if (saved && saved.groupId !== String(linked)) return useless('discussion_group', CHANGED);
  const group = stepOf('discussion_group', await ask(botCalls.getChat(String(linked))));
  if (group.is === 'busy') return group;
  const groupName = group.is === 'ok' ? titleOf(group.value) : null;
  const botId = String(me.value.id);
  const inChannel = stepOf('bot_rights_channel', await ask(botCalls.getChatMember(String(id), botId)));
  if (inChannel.is !== 'ok')
    return inChannel.is === 'failed' && isAbsent(inChannel) ? { ...inChannel, message: NO_ADMIN } : inChannel;
  const lacking = lackingIn(inChannel.value);
  if (lacking !== null) return useless('bot_rights_channel', lacking);
  const inGroup = stepOf('bot_rights_group', await ask(botCalls.getChatMember(String(linked), botId)));
  const noAdmin = notInGroup(groupName ?? String(linked));
  if (inGroup.is !== 'ok')
    return inGroup.is === 'failed' && isAbsent(inGroup) ? { ...inGroup, message: noAdmin } : inGroup;
  if (!isAdmin(inGroup.value)) return useless('bot_rights_group', noAdmin);
  const found = { channelId: String(id), username: chat.value.username ?? null, groupId: String(linked) };
  return { is: 'passed', found: { ...found, channelName: titleOf(chat.value) ?? channel, groupName } };
}

/** The chat does not exist, or the bot is not in it: the messenger does not always tell these apart. */
function isAbsent({ outcome, message }: Extract<CheckedChannel, { is: 'failed' }>): boolean {
  return outcome?.class === 'fatal' && message !== TOKEN_REFUSED && [400, 403].includes(outcome.status ?? 0);
}

function isAdmin({ status }: BotMember): boolean {
  return status === 'creator' || status === 'administrator';
}

/** The creator has every right, and no field that says so. */
function lackingIn(member: BotMember): string | null {
  if (!isAdmin(member)) return NO_ADMIN;
  if (member.status === 'creator') return null;
  if (!member.can_post_messages) return NO_POSTS;
  return member.can_edit_messages ? null : NO_EDITS;
}

function notInGroup(group: string): string {
  return `The bot is not an admin of the discussion group (${group}), so it cannot see the copies of posts.`;
}

function useless(at: PlaceStep, message: string): CheckedChannel {
  return { is: 'failed', step: at, message, outcome: null };
}

/** What people called a chat is not to be trusted: one line that can be stored and fits into a list. */
function titleOf({ title }: BotChat): string | null {
  return title === undefined ? null : cutPoints(oneLine(title), LONGEST_NAME);
}
