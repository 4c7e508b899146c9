/** Connections to channel bots, as the API describes them (api §14, channel-bot §1). */
import * as v from 'valibot';
import { CHANNELS } from '../../../../actors/channels/index.ts';
import type { StoredChannelBot } from '../../../../actors/connection/ports.ts';
import { isLinkable } from '../../../../actors/messages/index.ts';
import type { FieldError } from '../../../problem.ts';
import * as d from '../../../schema/described.ts';
import {
  CommonCheckInput,
  CommonShape,
  type ConnectionType,
  commonInput,
  type OwnAddresses,
  type Warning,
} from '../type.ts';

const { connection: Access } = CHANNELS.channel_bot.settings;
const type = d.described(v.literal('channel_bot'), 'A channel bot.');
/** A token is a part of the path of every call, so nothing else may be in it. */
const TOKEN = /^[0-9]{1,20}:[A-Za-z0-9_-]{3,100}$/;
const NO_BOT_TOKEN: FieldError = {
  pointer: '/bot_token',
  code: 'invalid_format',
  detail: 'A token of a bot is its number, a colon and letters, digits, _ and -.',
};
export const PUBLIC_BOT_API = 'https://api.telegram.org';

const UpdateMode = d.words(
  'UpdateMode',
  { long_polling: 'Tocsin asks for updates.', webhook: 'The messenger posts them to `callback_url`.' },
  'How updates of a bot arrive.',
);

const update_mode = d.described(v.optional(UpdateMode), 'At first `long_polling`. Left out it stays.');

const Input = d.named(
  'ChannelBotConnectionInput',
  v.object({ type, ...commonInput, ...Access.entries, update_mode }),
  'A Connection to a channel bot, as it is saved.',
);
type Input = v.InferOutput<typeof Input>;

const CheckInput = d.extending(
  CommonCheckInput,
  'ChannelBotConnectionCheckInput',
  v.object({
    ...{ type, bot_api_base_url: Access.entries.bot_api_base_url, update_mode },
    ...CommonCheckInput.entries,
  }),
  'A channel bot to check, saved or not.',
);

const Shape = d.extending(
  CommonShape,
  'ChannelBotConnection',
  v.object({
    type,
    ...CommonShape.entries,
    bot_api_base_url: d.url('Address of the Bot API.'),
    update_mode: UpdateMode,
  }),
  'The way to a channel bot.',
);

function savedWarnings(
  connection: StoredChannelBot,
  { callbackUrl, publicUrl }: OwnAddresses,
): readonly Warning[] {
  const { fields, webhookUrl, webhookBlocks, isUsedTwice } = connection;
  const isNotSet = fields.update_mode === 'webhook' && webhookUrl !== callbackUrl;
  return [
    ...(webhookBlocks ? [{ kind: 'webhook_blocks_polling', field: '/update_mode' } as const] : []),
    ...(isUsedTwice ? [{ kind: 'bot_used_twice', field: null } as const] : []),
    ...(isLinkable(publicUrl) ? [] : [{ kind: 'public_url_not_linkable', field: null } as const]),
    ...(isNotSet ? [{ kind: 'webhook_not_set', field: '/update_mode' } as const] : []),
  ];
}

export const CHANNEL_BOT = {
  type: 'channel_bot',
  noun: 'channel bot',
  input: Input,
  shape: Shape,
  checkInput: CheckInput,
  checkSteps: {
    dry_probe: 'the address can be reached',
    get_me: 'the Bot API takes the token and says which bot it is',
    get_webhook_info: 'the bot says where its updates go',
  },
  addressField: 'bot_api_base_url',
  limiter: { limit: 30, per_seconds: 1 },
  addressIn: (body, stored) => body.bot_api_base_url ?? stored ?? PUBLIC_BOT_API,
  addressOf: (fields) => fields.bot_api_base_url,
  errors: ({ bot_token: token }) =>
    typeof token === 'string' && token !== '' && !TOKEN.test(token) ? [NO_BOT_TOKEN] : [],
  fields: ({ update_mode: mode }, { address, ...common }, current) => ({
    ...{ type: 'channel_bot', ...common, bot_api_base_url: address },
    update_mode: mode ?? current?.fields.update_mode ?? 'long_polling',
  }),
  body: ({ fields }) => ({
    bot_api_base_url: fields.bot_api_base_url,
    update_mode: fields.update_mode,
  }),
  botName: (info) => info?.bot_username ?? null,
  savedWarnings,
} as const satisfies ConnectionType<'channel_bot', Input, v.InferOutput<typeof CheckInput>>;
