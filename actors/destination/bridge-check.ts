/** Whether a channel behind a bridge can be used: the Destination check of the type (bridge §6). It posts nothing. */
import type { ActorSystem } from '../../runtime/actor/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { checkFailure } from '../connection/bridge/check.ts';
import type { BridgeClient, CallOptions } from '../connection/bridge/client.ts';
import { infoRead } from '../connection/bridge/info-reader.ts';
import { type Opener, openBridge } from '../connection/bridge/open.ts';
import { bridgeCalls } from '../connection/bridge/operations.ts';
import { connectionAddress } from '../connection/messages.ts';
import type { BridgeSettings } from '../connection/ports.ts';
import type { TokenGrant } from '../connection/waiting-token.ts';
import { cutPoints, oneLine } from '../messages/neutral.ts';
import type { InteractiveTokens } from './interactive-tokens.ts';

export interface CheckedStep {
  readonly name: 'token' | 'channel_exists';
  readonly ok: boolean;
  /** For people; masked. The words of a bridge are not to be trusted. */
  readonly message: string | null;
}

export interface CheckedChannel {
  readonly ok: boolean;
  /** In order; those after a failed one are left out. */
  readonly checks: readonly CheckedStep[];
  /** What the messenger calls it. */
  readonly channelName: string | null;
}

/** A channel to check; the Destination is null before it is created. */
export interface CheckTarget {
  readonly destinationId: PublicId | null;
  readonly settings: BridgeSettings;
  readonly channelId: string;
}

export interface BridgeCheckDeps {
  readonly bridge: BridgeClient;
  readonly opener: Opener;
  readonly tokens: InteractiveTokens;
  readonly system: Pick<ActorSystem, 'tell'>;
  readonly clock: Clock;
}

/** @param run shared by the records of its requests */
export type BridgeChannelCheck = (
  target: CheckTarget,
  run: PublicId,
) => Promise<CheckedChannel | Exclude<TokenGrant, 'granted'>>;

const LONGEST_NAME = 200;
const UNREADABLE = 'a secret of this Connection cannot be opened any more; enter it again';

export function createBridgeCheck(deps: BridgeCheckDeps): BridgeChannelCheck {
  const { bridge, system, clock } = deps;
  return async ({ destinationId, settings, channelId }, run) => {
    const access = openBridge(deps.opener, settings);
    if (!access) return failed('token', UNREADABLE);
    const owners = { destinationId, connectionId: settings.id };
    const check = { as: 'destination_check', run } as const;
    const options: CallOptions = { class: 'interactive', destinationId, check };

    const forInfo = await deps.tokens.take(owners);
    if (forInfo !== 'granted') return forInfo;
    const info = await bridge.call(access, bridgeCalls.getInfo(), options);
    deps.tokens.spent(settings.id, info);
    if (info.class !== 'not_sent') {
      system.tell(connectionAddress(settings.id), infoRead(settings.access, info, null, clock.now()));
    }
    if (info.class !== 'ok') return failed('token', checkFailure('get_info', info, access.baseUrl));

    const forChannel = await deps.tokens.take(owners);
    if (forChannel !== 'granted') return forChannel;
    const channel = await bridge.call(access, bridgeCalls.checkChannel(channelId), options);
    deps.tokens.spent(settings.id, channel);
    if (channel.class === 'not_sent') return failed('channel_exists', 'the service is stopping');
    if (channel.class !== 'ok') return failed('channel_exists', channel.detail ?? channel.error);
    const checks = [passed('token'), passed('channel_exists')];
    return { ok: true, checks, channelName: shownName(channel.value.name) };
  };
}

/** What the bridge says is not to be trusted: one line that can be stored and fits into a list. */
function shownName(name: string): string {
  return cutPoints(oneLine(name), LONGEST_NAME);
}

function failed(name: CheckedStep['name'], message: string): CheckedChannel {
  const before = name === 'token' ? [] : [passed('token')];
  return { ok: false, checks: [...before, { name, ok: false, message }], channelName: null };
}

function passed(name: CheckedStep['name']): CheckedStep {
  return { name, ok: true, message: null };
}
