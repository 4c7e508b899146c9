/** The channel of bridges (bridge §6): messages with buttons and Threads through a small HTTP protocol. */
import * as v from 'valibot';
import { described } from '../../schemas.ts';
import { codePoints } from '../../text.ts';
import type { ChannelType } from '../channel.ts';

const CHANNEL_CHARACTERS = 512;

const Place = v.object({
  channel_id: described(
    v.pipe(
      v.string(),
      v.nonEmpty('too_short'),
      v.check((id) => codePoints(id) <= CHANNEL_CHARACTERS, 'too_long'),
    ),
    'Id of the channel at the bridge, 1 to 512 characters.',
  ),
});

const Access = v.object({
  base_url: described(
    v.optional(v.string()),
    'Address of the bridge: http or https, without query, fragment and user name, up to 2,000 characters. Needed for a bridge.',
  ),
  event_mode: described(
    v.optional(v.picklist(['poll', 'push'])),
    '`poll` (default): Tocsin asks for events; `push`: the bridge sends them to `callback_url`.',
  ),
  bot_token: described(
    v.optional(v.nullable(v.string())),
    'Token that Tocsin proves itself with. Needed on creation and with another address; left out it stays.',
  ),
  push_secret: described(
    v.optional(v.nullable(v.string())),
    'Secret that signs pushed events: `whsec_` and base64 of at least 24 bytes. Needed for `push`; left out it stays, null clears it.',
  ),
});

export const BRIDGE = {
  destination: { type: 'bridge', mode: null },
  settings: { destination: Place, connection: Access, secrets: ['bot_token', 'push_secret'] },
  unknownOutcome: 'repeats_safely',
  mentions: { everyone: false, groups: false },
  renderEvent: null,
} as const satisfies ChannelType;
