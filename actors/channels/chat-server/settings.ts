/** What is known of the channel before anything runs: its line of the registry, and the settings that it takes. */
import * as v from 'valibot';
import { baseUrl, described } from '../../schemas.ts';
import type { ChannelType } from '../channel.ts';

/** Ids of the server are opaque. */
const LONGEST_ID = 64;
const serverId = v.pipe(v.string(), v.nonEmpty('too_short'), v.maxLength(LONGEST_ID, 'too_long'));

const Place = v.object({
  team_id: described(serverId, 'Id of the team at the chat server, 1 to 64 characters.'),
  channel_id: described(serverId, 'Id of the channel at the chat server, 1 to 64 characters.'),
});

const Access = v.object({
  server_url: described(baseUrl, 'The one that people use.'),
  bot_token: described(
    v.optional(v.nullable(v.string())),
    'Token of the bot account. Needed on creation and with another address; left out it stays.',
  ),
});

export const CHAT_SERVER = {
  destination: { type: 'chat_server', mode: null },
  settings: {
    destination: Place,
    connection: Access,
    messenger: { schema: 'ChatServer', noun: 'chat server', hasTeams: true },
  },
  unknownOutcome: 'finds_its_mark',
  mentions: { everyone: true, groups: true, groupName: /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/ },
  renderEvent: null,
  callback: { path: 'chat-server', headers: [], tooLarge: 413 },
} as const satisfies ChannelType;
