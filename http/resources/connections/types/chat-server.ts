/** Connections to chat servers, as the API describes them (api §14, chat-server §1). */
import * as v from 'valibot';
import { CHANNELS } from '../../../../actors/channels/index.ts';
import * as d from '../../../schema/described.ts';
import { CommonCheckInput, CommonShape, type ConnectionType, commonInput } from '../type.ts';

const { connection: Access } = CHANNELS.chat_server.settings;
const type = d.described(v.literal('chat_server'), 'A chat server.');

const Input = d.named(
  'ChatServerConnectionInput',
  v.object({ type, ...commonInput, ...Access.entries }),
  'A Connection to a chat server, as it is saved.',
);

const CheckInput = d.extending(
  CommonCheckInput,
  'ChatServerConnectionCheckInput',
  v.object({ type, server_url: Access.entries.server_url, ...CommonCheckInput.entries }),
  'A chat server to check, saved or not.',
);

const Shape = d.extending(
  CommonShape,
  'ChatServerConnection',
  v.object({ type, ...CommonShape.entries, server_url: d.url('Address of the chat server.') }),
  'The way to a chat server.',
);

export const CHAT_SERVER = {
  type: 'chat_server',
  noun: 'chat server',
  input: Input,
  shape: Shape,
  checkInput: CheckInput,
  checkSteps: {
    dry_probe: 'the address can be reached',
    token: 'the chat server takes the token',
  },
  addressField: 'server_url',
  limiter: { limit: 5, per_seconds: 1 },
  addressIn: (body) => body.server_url,
  addressOf: (fields) => fields.server_url,
  fields: (_body, { address, ...common }) => ({ type: 'chat_server', ...common, server_url: address }),
  body: ({ fields }) => ({ server_url: fields.server_url }),
  botName: (info) => info?.bot_username ?? null,
  warnings: ({ info }) =>
    info === null || info.answers_privately ? [] : [{ kind: 'press_answers_in_thread', field: null }],
} as const satisfies ConnectionType<
  'chat_server',
  v.InferOutput<typeof Input>,
  v.InferOutput<typeof CheckInput>
>;
