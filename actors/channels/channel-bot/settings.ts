/** What is known of the channel before anything runs: its line of the registry, and the settings that it takes. */
import * as v from 'valibot';
import { baseUrl, described } from '../../schemas.ts';
import type { ChannelType } from '../channel.ts';

export const PUBLIC_BOT_API = 'https://api.telegram.org';

/** The id of a channel, or the name of a public one. */
const CHANNEL = /^(-100[0-9]{1,13}|@[A-Za-z][A-Za-z0-9_]{3,31})$/;

const Place = v.object({
  channel_id: described(
    v.pipe(v.string(), v.regex(CHANNEL, 'invalid_format')),
    'Id of the channel (`-100…`), or `@` and the name of a public one. Its discussion group is found by it.',
  ),
});

const Access = v.object({
  bot_api_base_url: described(v.optional(baseUrl), `That of the Bot API. At first ${PUBLIC_BOT_API}.`),
  update_mode: described(
    v.optional(v.picklist(['long_polling', 'webhook'])),
    'How presses arrive: the service asks for them (`long_polling`), or the messenger posts them (`webhook`).',
  ),
  bot_token: described(
    v.optional(v.string()),
    'Token of the bot. Needed on creation and with another address; left out it stays.',
  ),
});

export const CHANNEL_BOT = {
  destination: { type: 'channel_bot', mode: null },
  settings: {
    destination: Place,
    /** Documented for a group; a channel, its group and edits count together (channel-bot §5). */
    limiter: { limit: 20, per_seconds: 60 },
    isSliding: true,
    connection: Access,
    messenger: { schema: 'ChannelBot', noun: 'channel bot', hasTeams: false },
  },
  unknownOutcome: 'cannot_be_known',
  mentions: { everyone: false, groups: false },
  renderEvent: null,
  callback: { path: 'channel-bot', headers: ['x-telegram-bot-api-secret-token'], tooLarge: 'as_empty' },
} as const satisfies ChannelType;
