/** Whether the bot can post to a channel: the calls of the Destination check and of the probe (chat-server §3). */
import { type Asked, type EndedStep, stepOf } from '../access.ts';
import { type ChatFailed, type ChatOutcome, TOKEN_REFUSED } from './answer.ts';
import { type ChatRequest, chatCalls, type ServerChannel, type ServerTeam } from './operations.ts';

export interface ChatPlace {
  readonly teamId: string;
  readonly channelId: string;
}

export type CheckedChannel =
  | { readonly is: 'passed'; readonly channel: ServerChannel; readonly team: ServerTeam | null }
  | EndedStep<'token' | 'bot_in_channel', ChatFailed | { readonly class: 'not_sent' }>;

/** One call of the check. */
export type AskServer = <Value>(request: ChatRequest<Value>) => Promise<Asked<ChatOutcome<Value>>>;

const NOT_JOINED = 'The bot has not joined this channel.';
const NO_SUCH_ID = 'No channel has this id.';
const ARCHIVED = 'The channel is archived.';
const OTHER_TEAM = 'The channel belongs to another team.';

/** Posts nothing. */
export async function checkPlace(place: ChatPlace, ask: AskServer): Promise<CheckedChannel> {
  const me = stepOf('token', await ask(chatCalls.getMe()));
  if (me.is !== 'ok') return me;
  const inChannel = 'bot_in_channel';
  const member = stepOf(inChannel, await ask(chatCalls.getChannelMember(place.channelId)));
  if (member.is !== 'ok') return member.is === 'failed' ? { ...member, message: notJoined(member) } : member;
  const channel = stepOf(inChannel, await ask(chatCalls.getChannel(place.channelId)));
  if (channel.is !== 'ok') return channel;
  if (channel.value.delete_at !== 0) return useless(ARCHIVED);
  const { team_id: teamId } = channel.value;
  // Direct and group channels are of no team.
  if (teamId === '') return { is: 'passed', channel: channel.value, team: null };
  if (teamId !== place.teamId) return useless(OTHER_TEAM);
  const team = stepOf(inChannel, await ask(chatCalls.getTeam(teamId)));
  if (team.is !== 'ok') return team;
  return { is: 'passed', channel: channel.value, team: team.value };
}

/** 403, or 404 where the bot may read the channel anyway; a 401 is about the token. */
function notJoined({ outcome, message }: Extract<CheckedChannel, { is: 'failed' }>): string {
  const { status, id } = outcome && 'status' in outcome ? outcome : { status: null, id: null };
  if (status === 401) return TOKEN_REFUSED;
  if (id === 'api.context.invalid_url_param.app_error') return NO_SUCH_ID;
  const isAbsent = status === 403 || (status === 404 && id?.startsWith('app.channel.') === true);
  return isAbsent ? NOT_JOINED : message;
}

function useless(message: string): CheckedChannel {
  return { is: 'failed', step: 'bot_in_channel', message, outcome: null };
}
