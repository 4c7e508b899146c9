/** Connections to bridges, as the API describes them (api §14, bridge §2). */
import * as v from 'valibot';
import { type BridgeInfo, botName } from '../../../../actors/channels/bridge/info.ts';
import { CHANNELS } from '../../../../actors/channels/index.ts';
import { isSigningSecret } from '../../../../actors/channels/signature.ts';
import type { StoredBridge } from '../../../../actors/connection/ports.ts';
import { formatInstantOrNull } from '../../../../runtime/clock.ts';
import type { FieldError } from '../../../problem.ts';
import * as d from '../../../schema/described.ts';
import { SecretStatus } from '../../../schema/shapes.ts';
import {
  CommonCheckInput,
  CommonShape,
  type ConnectionType,
  commonInput,
  type Known,
  secretStatus,
  type Warning,
} from '../type.ts';

const { connection: Access } = CHANNELS.bridge.settings;
const type = d.described(v.literal('bridge'), 'A bridge.');

const EventMode = d.words(
  'EventMode',
  { poll: 'Tocsin asks for events.', push: 'The bridge sends them to `callback_url`.' },
  'How events of a bridge arrive.',
);

const Input = d.named(
  'BridgeConnectionInput',
  v.object({
    ...{ type, ...commonInput, ...Access.entries },
    event_mode: d.described(v.optional(EventMode), 'At first `poll`. Left out it stays.'),
  }),
  'A Connection to a bridge, as it is saved.',
);
type Input = v.InferOutput<typeof Input>;

const CheckInput = d.extending(
  CommonCheckInput,
  'BridgeConnectionCheckInput',
  v.object({ type, base_url: Access.entries.base_url, ...CommonCheckInput.entries }),
  'A bridge to check, saved or not.',
);

const PersonShape = d.named(
  'MessengerAccount',
  v.object({
    external_id: d.text('Its id in the messenger.'),
    username: d.textOrNull('Name by which it is mentioned; null without one.'),
    display_name: d.textOrNull('Name that the messenger shows; null without one.'),
    bot: d.flag('Whether it is a program.'),
  }),
  'An account of a messenger.',
);

export const InfoShape = d.named(
  'BridgeInfo',
  v.object({
    protocol_version: d.text('Version of the bridge protocol.'),
    bridge: d.described(
      v.object({
        name: d.text('Its name.'),
        version: d.text('Its version.'),
        homepage: d.textOrNull('A page about it; null without one.'),
      }),
      'The bridge.',
    ),
    messenger: d.described(
      v.object({
        name: d.text('Its name.'),
        version: d.textOrNull('Its version; null when unknown.'),
        url: d.textOrNull('Its address for people; null without one.'),
        bot: d.described(v.nullable(PersonShape), 'The account that writes; null when unknown.'),
      }),
      'The messenger behind it.',
    ),
    capabilities: d.described(
      v.object({
        buttons: d.flag('Messages can have buttons.'),
        quiet_messages: d.flag('Messages can arrive without a sound.'),
        native_mentions: d.flag('Accounts can be mentioned so that it rings.'),
        delete: d.flag('Messages can be deleted.'),
        direct_messages: d.described(
          v.union([
            v.literal(false),
            v.object({
              bot_can_start: d.flag('Whether it may write to somebody who never wrote to it.'),
            }),
          ]),
          '`false` without direct messages.',
        ),
        private_answers: d.flag('A press can be answered to one person alone.'),
        thread_messages: d.flag('What people write in a Thread arrives.'),
        deletion_events: d.flag('The bridge reports that a message was deleted.'),
      }),
      'What the messenger can do.',
    ),
    limits: d.described(
      v.object({
        max_body_length: d.count('Characters of a message.'),
        edit_max_age_seconds: v.nullable(
          d.count('Seconds for which a message can be edited; null for ever.'),
        ),
        max_buttons: v.nullable(d.count('Buttons of a message; null for any number.')),
        max_button_text: v.nullable(d.count('Characters of a button; null for any number.')),
      }),
      'What the messenger takes at most.',
    ),
    user_lookup: d.described(
      v.picklist(['none', 'email', 'login', 'username', 'user_id']),
      'By what an account can be found: its `email`, `login`, `username` or `user_id`; `none`: by nothing.',
    ),
    event_delivery: d.described(v.array(EventMode), 'How events can be delivered.'),
    link_url_template: d.textOrNull('Opens a chat with the bot; `{token}` is replaced. Null without one.'),
  }),
  'What a bridge says about itself and its messenger.',
);

const Shape = d.extending(
  CommonShape,
  'BridgeConnection',
  v.object({
    type,
    ...CommonShape.entries,
    base_url: d.url('Address of the bridge.'),
    event_mode: EventMode,
    push_secret_status: SecretStatus,
    info: d.described(v.nullable(InfoShape), 'What the bridge last said about itself; null before that.'),
    info_updated_at: v.nullable(d.time('When it said so; null before that.')),
  }),
  'The way to a bridge.',
);

function infoBody(info: BridgeInfo) {
  return { ...info, event_delivery: [...info.event_delivery] };
}

function warnings({ mode, info, wrong, tokenless }: Known<BridgeInfo>): readonly Warning[] {
  const isUnoffered = mode !== null && info !== null && !info.event_delivery.includes(mode);
  return [
    ...(isUnoffered ? [{ kind: 'event_mode_not_offered', field: '/event_mode' } as const] : []),
    ...(wrong === null ? [] : [{ kind: 'bridge_info_invalid', field: wrong } as const]),
    ...(tokenless ? [{ kind: 'bridge_without_token', field: null } as const] : []),
  ];
}

function pushSecretErrors(input: Input, current: StoredBridge | null): readonly FieldError[] {
  const { push_secret: secret } = input;
  const pointer = '/push_secret';
  if (secret === '') {
    return [{ pointer, code: 'too_short', detail: 'Leave it out to keep it, or send null to clear it.' }];
  }
  if (typeof secret === 'string') {
    if (isSigningSecret(secret)) return [];
    const detail = 'A push secret is whsec_ followed by the base64 of at least 24 bytes.';
    return [{ pointer, code: 'invalid_format', detail }];
  }
  const isKept = secret === undefined && current?.pushSecretAt != null;
  if (modeOf(input, current) === 'poll' || isKept) return [];
  return [{ pointer, code: 'required', detail: 'Pushed events are signed with a secret. Give one.' }];
}

function modeOf({ event_mode: mode }: Input, current: StoredBridge | null): 'poll' | 'push' {
  return mode ?? current?.fields.event_mode ?? 'poll';
}

export const BRIDGE = {
  type: 'bridge',
  noun: 'bridge',
  input: Input,
  shape: Shape,
  checkInput: CheckInput,
  checkSteps: {
    dry_probe: 'the address can be reached',
    get_info: 'the bridge takes the token and says what it is',
  },
  addressField: 'base_url',
  limiter: { limit: 5, per_seconds: 1 },
  addressIn: (body) => body.base_url,
  addressOf: (fields) => fields.base_url,
  errors: pushSecretErrors,
  fields: (body, { address, ...common }, current) => ({
    ...{ type: 'bridge', ...common, base_url: address, event_mode: modeOf(body, current) },
  }),
  pushSecret: ({ push_secret: secret }) => (secret === undefined ? null : (secret ?? 'clear')),
  body: ({ fields, pushSecretAt, info, infoAt }) => ({
    base_url: fields.base_url,
    event_mode: fields.event_mode,
    push_secret_status: secretStatus(pushSecretAt),
    info: info && infoBody(info),
    info_updated_at: formatInstantOrNull(infoAt),
  }),
  botName,
  infoBody: (info) => info && infoBody(info),
  warnings,
} as const satisfies ConnectionType<'bridge', Input, v.InferOutput<typeof CheckInput>>;
