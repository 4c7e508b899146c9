/** The form of a channel of a messenger, by its type, and what is sent. */
import type { ConnectionType } from '../../api/connections.ts';
import type { ChannelInput, Destination } from '../../api/shapes.ts';
import { fromMentionsDraft, type MentionsDraft, NOBODY_EVER, toMentionsDraft } from './mentions-draft.ts';

interface TypeFields {
  /** A channel as people would write it. */
  readonly example: string;
  /** Names of groups, and everyone in a channel, can be mentioned. */
  readonly mentions: 'people' | 'everyone';
  /** Most calls in a time, by default. */
  readonly limiter: ChannelInput['limiter'];
  /** The steps of its check, in order. */
  readonly checks: readonly string[];
}

/** What differs between the channels of messengers (api §15). */
export const CHANNEL_TYPES = {
  chat_server: {
    example: '',
    mentions: 'everyone',
    limiter: { limit: 5, per_seconds: 1 },
    checks: ['token', 'bot_in_channel'],
  },
  channel_bot: {
    example: '@alerts',
    mentions: 'people',
    limiter: { limit: 10, per_seconds: 60 },
    checks: ['token', 'channel_exists', 'discussion_group', 'bot_rights_channel', 'bot_rights_group'],
  },
  bridge: {
    example: 'alerts/prod',
    mentions: 'people',
    limiter: { limit: 5, per_seconds: 1 },
    checks: ['token', 'channel_exists'],
  },
} as const satisfies Record<ConnectionType, TypeFields>;

export interface ChannelDraft {
  readonly type: ConnectionType;
  name: string;
  connectionId: string;
  /** Of a chat server. */
  teamId: string;
  channelId: string;
  mentions: MentionsDraft;
  limit: number;
  perSeconds: number;
}

/** @param connectionId the one that is chosen already; empty where somebody has to choose */
export function newChannel(type: ConnectionType, connectionId: string): ChannelInput {
  const { limiter } = CHANNEL_TYPES[type];
  return {
    ...{ type, name: '', connection_id: connectionId, channel_id: '', mentions: NOBODY_EVER, limiter },
    ...(type === 'chat_server' && { team_id: '' }),
  };
}

/** Null for a webhook. */
export function toChannelInput(destination: Destination): ChannelInput | null {
  const { type, name, mentions, limiter, connection_id, channel_id, team_id } = destination;
  if (type === 'webhook' || connection_id === undefined || channel_id === undefined) return null;
  const common = { type, name, connection_id, channel_id, mentions, limiter };
  return team_id === undefined ? common : { ...common, team_id };
}

export function toChannelDraft(input: ChannelInput): ChannelDraft {
  return {
    type: input.type,
    name: input.name,
    connectionId: input.connection_id,
    teamId: input.team_id ?? '',
    channelId: input.channel_id,
    mentions: toMentionsDraft(input.mentions),
    limit: input.limiter.limit,
    perSeconds: input.limiter.per_seconds,
  };
}

/** Links that Telegram copies, to a channel or a message of it: of a public one with its name, else with its number. */
const PUBLIC_LINK = /^https:\/\/t\.me\/(\w{4,})(\/\d+)?$/;
const PRIVATE_LINK = /^https:\/\/t\.me\/c\/(\d+)\/\d+$/;

const idOfLink = (typed: string): string =>
  typed.trim().replace(PRIVATE_LINK, '-100$1').replace(PUBLIC_LINK, '@$1');

export function fromChannelDraft(draft: ChannelDraft): ChannelInput {
  const { type, name, connectionId, teamId, channelId, mentions, limit, perSeconds } = draft;
  return {
    ...{ type, name, connection_id: connectionId },
    channel_id: type === 'channel_bot' ? idOfLink(channelId) : channelId,
    ...(type === 'chat_server' && { team_id: teamId }),
    ...{ mentions: fromMentionsDraft(mentions), limiter: { limit, per_seconds: perSeconds } },
  };
}
