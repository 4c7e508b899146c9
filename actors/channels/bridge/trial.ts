/** A test message through a bridge, and what a Root message there would look like (delivery §13, messages §7.3). */
import type { Keyring } from '../../../runtime/secrets/keyring.ts';
import type { InteractiveTokens } from '../../connection/tokens.ts';
import type { MessengerFields, StoredDestination } from '../../destination/ports.ts';
import { bridgeRoot, NO_NOTES, previewRoot } from '../../messages/index.ts';
import { beginStep, NO_LIMITER_TOKEN, type TrialStepDeps, UNREADABLE } from '../access.ts';
import { type AskedTrial, type DestinationTrial, trialResult } from '../interactive.ts';
import { bridgeLimits, bridgeSigner } from './channel.ts';
import { type BridgeUse, openBridge } from './client.ts';
import type { BridgeInfo } from './info.ts';
import type { InfoReader } from './info-reader.ts';
import { bridgeCalls } from './operations.ts';

export interface BridgeTrialDeps extends TrialStepDeps, BridgeUse {
  readonly tokens: InteractiveTokens;
  readonly infos: InfoReader;
  readonly keyring: Keyring;
}

export function createBridgeTrial(deps: BridgeTrialDeps): DestinationTrial {
  return {
    /** Quiet, outside every Thread. */
    async test(asked) {
      const step = beginStep(deps, asked);
      const fields = bridgeFields(asked.destination);
      const settings = await deps.settings(fields.connection_id);
      const access = settings && openBridge(deps.opener, settings);
      if (!access) return step.failed('fatal', UNREADABLE);
      const known = await deps.infos.upToDate(settings, access, 'interactive');
      if (known.class === 'no_token') return step.failed('limited', NO_LIMITER_TOKEN);
      if (known.class !== 'ok') return { steps: [step.ended(trialResult(known))], message: null };
      const { info } = known;
      if (!info) return step.failed('transient', NO_INFO);
      const outcome = await step.call(settings.id, async (options, timeout) => {
        const request = bridgeCalls.postMessage(testMessage(deps, asked, fields, info), `test-${asked.run}`);
        const sent = await deps.bridge.call(access, { ...request, timeout }, options);
        deps.tokens.spent(settings.id, sent);
        return sent;
      });
      const steps = [step.ended(trialResult(outcome))];
      if (outcome.class !== 'ok') return { steps, message: null };
      return { steps, message: { connectionId: settings.id, messageId: outcome.value.message_id } };
    },

    async preview({ destination, scene }) {
      const settings = await deps.settings(bridgeFields(destination).connection_id);
      const limit = settings?.info ? bridgeLimits(settings.info).maxBodyLength : null;
      const { text } = previewRoot('commonmark', scene.group, scene.settings, limit);
      return [{ name: 'message', format: 'commonmark', text, request: null }];
    },
  };
}

const NO_INFO = 'the bridge has not said what it can';

/** Its buttons belong to the Destination, so that a press says it was a test. */
function testMessage(
  { keyring }: BridgeTrialDeps,
  { destination, scene }: AskedTrial,
  { channel_id }: MessengerFields,
  info: BridgeInfo,
) {
  const sign = bridgeSigner(keyring, info, 'test_message', destination.id);
  const call = { kind: 'test', notes: NO_NOTES, mentions: null, sign } as const;
  const { envelope, mentions } = bridgeRoot(scene.group, scene.settings, call, bridgeLimits(info));
  return { ...envelope, channel_id, kind: 'test', mentions, notify: false } as const;
}

function bridgeFields({ fields, id }: StoredDestination): MessengerFields {
  if (fields.type !== 'bridge') throw new Error(`Destination ${id} is no channel of a bridge`);
  return fields;
}
