/** Whether a Destination may be saved: its fields, its name, and the check of a messenger (delivery §13). */
import type { CheckedChannel } from '../../actors/destination/bridge-check.ts';
import type { DestinationDecision, StoredDestination } from '../../actors/destination/ports.ts';
import { newPublicId } from '../../runtime/public-id.ts';
import { messengerBusy } from '../errors.ts';
import type { Answer, Call } from '../operation.ts';
import { conflict, invalid, refuse } from '../problem.ts';
import type { DestinationOperationsDeps } from './destinations.ts';
import { type BridgeInput, bridgeChange, bridgeErrors, UNKNOWN_CONNECTION } from './destinations-bridge.ts';
import { type DestinationInput, isLater, LATER_TYPE, TYPE_IS_FIXED } from './destinations-shapes.ts';
import { type WebhookInput, webhookChange, webhookErrors, webhookFields } from './destinations-webhook.ts';

/** Refused, or what is to become of the Destination once it is locked; null: of a new one. */
export type JudgedSave =
  | { readonly refuse: Answer }
  | { decide(current: StoredDestination | null): DestinationDecision<Answer> };

type SaveDeps = Pick<DestinationOperationsDeps, 'store' | 'connections' | 'checkBridge'>;
type SaveCall<Body> = Pick<Call<unknown, Body>, 'body' | 'directory'>;

/** @param current as it was read; null for a new one */
export async function judgedSave(
  deps: SaveDeps,
  { body, directory }: SaveCall<DestinationInput>,
  current: StoredDestination | null,
): Promise<JudgedSave> {
  if (current && body.type !== current.fields.type) return { refuse: invalid([TYPE_IS_FIXED]) };
  if (isLater(body)) return { refuse: invalid([LATER_TYPE]) };
  return body.type === 'webhook'
    ? judgedWebhook({ body, directory })
    : judgedBridge(deps, { body, directory }, current);
}

/** Nothing is sent; a field that is left out is judged as it is stored at that moment. */
function judgedWebhook({ body, directory }: SaveCall<WebhookInput>): JudgedSave {
  return {
    decide(current) {
      const errors = webhookErrors(body, webhookFields(current), directory);
      return errors.length > 0 ? { refuse: invalid(errors) } : { save: webhookChange(body, current) };
    },
  };
}

/** The check comes last: everything that needs no messenger is known before one is asked. */
async function judgedBridge(
  { store, connections, checkBridge }: SaveDeps,
  { body, directory }: SaveCall<BridgeInput>,
  current: StoredDestination | null,
): Promise<JudgedSave> {
  const settings = await connections.settings(body.connection_id);
  const errors = bridgeErrors(body, settings !== null, directory);
  if (errors.length > 0) return { refuse: invalid(errors) };
  if (settings === null) return { refuse: NO_CONNECTION };
  const destinationId = current?.id ?? null;
  if (await store.isTaken(body.name.trim(), destinationId)) return { refuse: NAME_TAKEN };
  const target = { destinationId, settings, channelId: body.channel_id };
  const checked = await checkBridge(target, newPublicId('RN'));
  if ('retryAfterSeconds' in checked) return { refuse: refuse(messengerBusy(checked.retryAfterSeconds)) };
  if (!checked.ok) return { refuse: checkFailed(checked) };
  return { decide: (locked) => ({ save: bridgeChange(body, locked, checked.channelName) }) };
}

function checkFailed({ checks }: CheckedChannel): Answer {
  const failed = checks.find(({ ok }) => !ok);
  const pointer = failed?.name === 'token' ? '/connection_id' : '/channel_id';
  const detail = failed?.message ?? 'The check failed.';
  return invalid([{ pointer, code: 'destination_check_failed', detail }]);
}

export const NAME_TAKEN = conflict(
  'name_taken',
  'Another Destination has this name. Choose a different one.',
);

export const NO_CONNECTION = invalid([UNKNOWN_CONNECTION]);
