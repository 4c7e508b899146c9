/** Tries a bridge, without the token and with it, and a channel behind it (outbound-http §5, bridge §6). */
import * as v from 'valibot';
import type { ActorSystem } from '../../../runtime/actor/index.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { Opener } from '../../../runtime/secrets/keyring.ts';
import { cutToBytes } from '../../../runtime/secrets/masking.ts';
import { connectionAddress } from '../../connection/messages.ts';
import type { BridgeSettings } from '../../connection/ports.ts';
import type { InteractiveTokens } from '../../connection/tokens.ts';
import { cutPoints, oneLine } from '../../messages/neutral.ts';
import { baseUrl, described } from '../../schemas.ts';
import { codePoints } from '../../text.ts';
import { GONE_CONNECTION, openProxyPassword, passedSteps, placeFailed, UNREADABLE } from '../access.ts';
import type { ChannelType } from '../channel.ts';
import { type ConnectionCheck, checkInSteps, NO_TOKEN, unreachable } from '../connection-check.ts';
import type { Interactive } from '../interactive.ts';
import type { BridgeOutcome } from './answer.ts';
import { type BridgeClient, type BridgeUse, type CallOptions, openBridge } from './client.ts';
import { infoRead } from './info-reader.ts';
import { bridgeCalls, type InfoAnswer } from './operations.ts';

export interface BridgeConnectionCheckDeps {
  readonly bridge: BridgeClient;
  readonly opener: Opener;
  readonly clock: Clock;
  settings(connectionId: PublicId): Promise<BridgeSettings | null>;
}

/** Tries a bridge without the token, then with it. */
export function createBridgeConnectionCheck(deps: BridgeConnectionCheckDeps): ConnectionCheck {
  const { bridge, opener, clock } = deps;
  return {
    async saved(id) {
      const settings = await deps.settings(id);
      if (!settings) return null;
      const { access, baseUrl: address, eventMode: mode, proxy } = settings;
      const proxyPassword = openProxyPassword(opener, settings);
      return { id, access, address, mode, proxy, proxyPassword, opened: openBridge(opener, settings) };
    },

    async run({ address: baseUrl, access, run, take }) {
      const check = { as: 'connection_check', run } as const;
      const ask = (isTokenless: boolean) =>
        bridge.call({ ...access, baseUrl }, bridgeCalls.getInfo(), {
          ...{ class: 'interactive', check, isTokenless },
        });
      const host = new URL(baseUrl).hostname;
      let tokenless = false;
      let outcome: BridgeOutcome<InfoAnswer> | null = null;
      const checked = await checkInSteps({ take, clock }, [
        {
          ...{ name: 'dry_probe', skip: null },
          async make() {
            const dry = await ask(true);
            tokenless = dry.class === 'ok';
            const isRefused = 'status' in dry && dry.status === 401;
            return tokenless || isRefused ? null : messageOf('dry_probe', dry, host);
          },
        },
        {
          ...{ name: 'get_info', skip: access.token === null ? NO_TOKEN : null },
          async make() {
            outcome = await ask(false);
            return outcome.class === 'ok' ? null : messageOf('get_info', outcome, host);
          },
        },
      ]);
      return 'steps' in checked ? { ...checked, tokenless, ...learnedFrom(outcome, tokenless) } : checked;
    },
  };
}

function learnedFrom(outcome: BridgeOutcome<InfoAnswer> | null, tokenless: boolean) {
  if (outcome?.class !== 'ok') return { info: null, wrong: null, learned: null };
  const { info, wrong } = outcome.value;
  return { info, wrong, learned: { ok: true, info, wrong, tokenless } as const };
}

/** What is wrong, for people who check a bridge; masked. */
function messageOf(name: 'dry_probe' | 'get_info', outcome: BridgeOutcome<InfoAnswer>, host: string): string {
  if (outcome.class === 'ok' || outcome.class === 'not_sent') return 'the service is stopping';
  const { code, error, status } = outcome;
  switch (code) {
    case 'response_invalid':
      return error.startsWith('invalid info') || error.startsWith('protocol version')
        ? error
        : 'not a bridge';
    case 'http_status':
      if (status === 404) return 'nothing here: check the path prefix (404)';
      if (status === 401 && name === 'get_info') return 'the token was refused';
      return `unexpected status ${status}`;
    default:
      return unreachable(outcome, host) ?? error;
  }
}

export interface BridgeCheckDeps extends BridgeUse {
  readonly tokens: InteractiveTokens;
  readonly system: Pick<ActorSystem, 'tell'>;
  readonly clock: Clock;
}

const LONGEST_NAME = 200;
/** Bytes. */
const LONGEST_MESSAGE = 500;

/** Whether a channel behind a bridge can be used: the Destination check of the type (bridge §6). It posts nothing. */
export function createBridgeCheck(deps: BridgeCheckDeps): NonNullable<Interactive['check']> {
  const { bridge, system, clock } = deps;
  return async ({ destinationId, fields }, run) => {
    if (fields.type !== 'bridge')
      throw new Error(`a Destination of type ${fields.type} is no channel of a bridge`);
    const settings = await deps.settings(fields.connection_id);
    if (!settings) return placeFailed(STEPS, 'token', GONE_CONNECTION);
    const access = openBridge(deps.opener, settings);
    if (!access) return placeFailed(STEPS, 'token', UNREADABLE);
    const owners = { destinationId, connectionId: settings.id };
    const check = { as: 'destination_check', run } as const;
    const options: CallOptions = { class: 'interactive', destinationId, check };

    const forInfo = await deps.tokens.take(owners);
    if (forInfo !== 'granted') return forInfo;
    const askedAt = clock.now();
    const info = await bridge.call(access, bridgeCalls.getInfo(), options);
    deps.tokens.spent(settings.id, info);
    if (info.class !== 'not_sent') {
      system.tell(connectionAddress(settings.id), infoRead(settings.access, info, null, askedAt));
    }
    if (info.class !== 'ok') {
      const message = messageOf('get_info', info, new URL(access.baseUrl).hostname);
      return placeFailed(STEPS, 'token', cutToBytes(message, LONGEST_MESSAGE));
    }

    const forChannel = await deps.tokens.take(owners);
    if (forChannel !== 'granted') return forChannel;
    const channel = await bridge.call(access, bridgeCalls.checkChannel(fields.channel_id), options);
    deps.tokens.spent(settings.id, channel);
    if (channel.class === 'not_sent') return placeFailed(STEPS, 'channel_exists', 'the service is stopping');
    if (channel.class !== 'ok') return placeFailed(STEPS, 'channel_exists', channel.detail ?? channel.error);
    const checks = passedSteps(STEPS);
    const found = { channelName: shownName(channel.value.name), teamName: null, teamPath: null };
    return { ok: true, checks, found };
  };
}

/** What the bridge says is not to be trusted: one line that can be stored and fits into a list. */
function shownName(name: string): string {
  return cutPoints(oneLine(name), LONGEST_NAME);
}

const STEPS = ['token', 'channel_exists'] as const;

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
  base_url: baseUrl,
  event_mode: described(
    v.optional(v.picklist(['poll', 'push'])),
    '`poll` (default): Tocsin asks for events; `push`: the bridge sends them to `callback_url`.',
  ),
  bot_token: described(
    v.optional(v.nullable(v.string())),
    'Token for the bridge. Needed on creation and with another address; left out it stays.',
  ),
  push_secret: described(
    v.optional(v.nullable(v.string())),
    'Signs pushed events: `whsec_` and base64 of at least 24 bytes. Needed for `push`; left out it stays, null clears it.',
  ),
});

const MESSENGER = { schema: 'Bridge', noun: 'bridge', hasTeams: false };

export const BRIDGE = {
  destination: { type: 'bridge', mode: null },
  settings: { destination: Place, connection: Access, messenger: MESSENGER },
  unknownOutcome: 'repeats_safely',
  mentions: { everyone: false, groups: false },
  renderEvent: null,
  callback: {
    path: 'bridge',
    headers: ['webhook-id', 'webhook-timestamp', 'webhook-signature'],
    tooLarge: 400,
  },
} as const satisfies ChannelType;
