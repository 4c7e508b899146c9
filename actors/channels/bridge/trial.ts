/** A test message through a bridge, and what a Root message there would look like (delivery §13, messages §7.3). */

import type { Clock, Micros } from '../../../runtime/clock.ts';
import type { RequestRecord } from '../../../runtime/outbound/request-log/record.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { Keyring, Opener } from '../../../runtime/secrets/keyring.ts';
import type { BridgeSettings } from '../../connection/ports.ts';
import { INTERACTIVE_BUDGET, type InteractiveTokens, type TokenGrant } from '../../connection/tokens.ts';
import type { MessengerFields, StoredDestination } from '../../destination/ports.ts';
import { bridgeRoot, NO_NOTES, previewRoot } from '../../messages/index.ts';
import {
  type AskedTrial,
  type DestinationTrial,
  shownExchange,
  type TrialClass,
  type TrialResult,
  type TrialStep,
  type Tried,
  trialResult,
} from '../interactive.ts';
import { bridgeLimits, bridgeSigner } from './channel.ts';
import { type BridgeAccess, type BridgeClient, openBridge } from './client.ts';
import type { BridgeInfo } from './info.ts';
import type { InfoReader } from './info-reader.ts';
import { bridgeCalls } from './operations.ts';

export interface BridgeTrialDeps {
  readonly bridge: BridgeClient;
  readonly infos: InfoReader;
  readonly opener: Opener;
  readonly keyring: Keyring;
  readonly tokens: InteractiveTokens;
  readonly clock: Pick<Clock, 'now'>;
  settings(connectionId: PublicId): Promise<BridgeSettings | null>;
}

export function createBridgeTrial(deps: BridgeTrialDeps): DestinationTrial {
  return {
    async test(asked) {
      const begun = deps.clock.now();
      const fields = bridgeFields(asked.destination);
      const settings = await deps.settings(fields.connection_id);
      const access = settings && openBridge(deps.opener, settings);
      if (!access) return ended(deps, begun, 'fatal', UNREADABLE);
      const known = await deps.infos.upToDate(settings, access, 'interactive');
      if (known.class === 'no_token') return ended(deps, begun, 'limited', NO_TOKEN);
      if (known.class !== 'ok') return endedBy(deps, begun, trialResult(known));
      if (!known.info) return ended(deps, begun, 'transient', NO_INFO);
      const grant = await deps.tokens.take({
        destinationId: asked.destination.id,
        connectionId: settings.id,
      });
      if (grant !== 'granted') return ended(deps, begun, 'limited', waiting(grant));
      return post(deps, asked, fields, { access, info: known.info, begun });
    },

    async preview({ destination, scene }) {
      const settings = await deps.settings(bridgeFields(destination).connection_id);
      const limit = settings?.info ? bridgeLimits(settings.info).maxBodyLength : null;
      const { text } = previewRoot('commonmark', scene.group, scene.settings, limit);
      return [{ name: 'message', format: 'commonmark', text, request: null }];
    },
  };
}

interface OpenTrial {
  readonly access: BridgeAccess;
  readonly info: BridgeInfo;
  readonly begun: Micros;
}

const UNREADABLE = 'a secret of the Connection cannot be opened any more; enter it again';
const NO_TOKEN = 'no token of the limiter within 5 s';
const NO_INFO = 'the bridge has not said what it can';
/** What is left of a step for its request when everything before took as long as it may. */
const LEAST_FOR_CALL: Micros = 100_000;

/** Quiet, outside every Thread; its buttons belong to the Destination, so that a press says it was a test. */
async function post(
  deps: BridgeTrialDeps,
  { destination, scene, run }: AskedTrial,
  { channel_id: channelId, connection_id: connectionId }: MessengerFields,
  { access, info, begun }: OpenTrial,
): Promise<Tried> {
  const sign = bridgeSigner(deps.keyring, info, 'test_message', destination.id);
  const { envelope, mentions } = bridgeRoot(
    scene.group,
    scene.settings,
    { kind: 'test', notes: NO_NOTES, mentions: null, sign },
    bridgeLimits(info),
  );
  const message = { ...envelope, channel_id: channelId, kind: 'test', mentions, notify: false } as const;
  const left = begun + INTERACTIVE_BUDGET - deps.clock.now();
  let record: RequestRecord | null = null;
  const outcome = await deps.bridge.call(
    access,
    { ...bridgeCalls.postMessage(message, `test-${run}`), timeout: Math.max(LEAST_FOR_CALL, left) },
    {
      class: 'interactive',
      destinationId: destination.id,
      check: { as: 'destination_test', run },
      observe: (made) => {
        record = made;
      },
    },
  );
  deps.tokens.spent(connectionId, outcome);
  const step = stepOf(deps, begun, trialResult(outcome), record);
  if (outcome.class !== 'ok') return { steps: [step], message: null };
  return { steps: [step], message: { connectionId, messageId: outcome.value.message_id } };
}

function ended(deps: BridgeTrialDeps, begun: Micros, errorClass: TrialClass, error: string): Tried {
  return endedBy(deps, begun, { errorClass, error });
}

function endedBy(deps: BridgeTrialDeps, begun: Micros, result: TrialResult): Tried {
  return { steps: [stepOf(deps, begun, result, null)], message: null };
}

function stepOf(
  { clock }: BridgeTrialDeps,
  begun: Micros,
  result: TrialResult,
  record: RequestRecord | null,
): TrialStep {
  const duration = clock.now() - begun;
  return { name: 'message', ...shownExchange(record), extracted: null, duration, ...result };
}

function waiting({ retryAfterSeconds }: Exclude<TokenGrant, 'granted'>): string {
  return `${NO_TOKEN}, the next is due in ${retryAfterSeconds} s`;
}

function bridgeFields({ fields, id }: StoredDestination): MessengerFields {
  if (fields.type !== 'bridge') throw new Error(`Destination ${id} is no channel of a bridge`);
  return fields;
}
