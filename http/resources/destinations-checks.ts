/** Checks of Destinations that are saved (delivery §13). */
import * as v from 'valibot';
import { newPublicId } from '../../runtime/public-id.ts';
import { messengerBusy } from '../errors.ts';
import { type Operation, operation } from '../operation.ts';
import { invalid, notFound, refuse } from '../problem.ts';
import {
  DESTINATION_ID,
  type DestinationOperationsDeps,
  destinationId,
  provedToWork,
} from './destinations.ts';
import { HealthShape, healthBody } from './destinations-common.ts';

const CheckShape = v.object({
  ok: v.boolean(),
  checks: v.array(
    v.object({
      name: v.picklist(['token', 'channel_exists']),
      ok: v.boolean(),
      message: v.nullable(v.string()),
    }),
  ),
  health: HealthShape,
  request_log_run: v.nullable(v.string()),
});

export function destinationCheckOperations(deps: DestinationOperationsDeps): readonly Operation[] {
  const { store, connections, checkBridge, hints } = deps;
  return [
    operation({
      id: 'checkDestination',
      method: 'POST',
      path: '/destinations/{destination_id}/checks',
      tag: 'Destinations',
      summary: 'Check a messenger Destination without posting anything; one that passes is healthy again',
      needs: 'destinations:test',
      ids: DESTINATION_ID,
      answers: { 200: { description: 'How it went, up to the first check that failed', schema: CheckShape } },
      refusals: [[503, 'interactive-budget-exhausted', '']],
      async handle(call) {
        const destination = await store.read(destinationId(call));
        if (!destination) return notFound();
        const { id, fields } = destination;
        if (fields.type === 'webhook') return CHECK_NOT_SUPPORTED;
        const settings = await connections.settings(fields.connection_id);
        if (!settings) throw new Error(`Destination ${id} has no live Connection`);
        const run = newPublicId('RN');
        const checked = await checkBridge({ destinationId: id, settings, channelId: fields.channel_id }, run);
        if ('retryAfterSeconds' in checked) return refuse(messengerBusy(checked.retryAfterSeconds));
        if (checked.channelName !== null && (await store.channelFound(destination, checked.channelName))) {
          hints.send({ type: 'destination', id });
        }
        const { health } = checked.ok ? await provedToWork(deps, destination, call.now) : destination;
        const { ok, checks } = checked;
        return {
          status: 200,
          body: { ok, checks: [...checks], health: healthBody(health), request_log_run: run },
        };
      },
    }),
  ];
}

const CHECK_NOT_SUPPORTED = invalid([
  {
    pointer: '/path/destination_id',
    code: 'check_not_supported',
    detail: 'An outgoing webhook has no check. Send a test message instead.',
  },
]);
