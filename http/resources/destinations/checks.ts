/** Checks of Destinations that are saved (delivery §13). */
import * as v from 'valibot';
import { PLACE_CHECKS } from '../../../actors/channels/interactive.ts';
import { newPublicId } from '../../../runtime/public-id.ts';
import { messengerBusy } from '../../errors.ts';
import { type Operation, operation } from '../../operation.ts';
import { invalid, notFound, refuse } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { HealthShape, request_log_run } from '../../schema/shapes.ts';
import { healthBody } from './common.ts';
import {
  checkOf,
  DESTINATION_ID,
  type DestinationOperationsDeps,
  destinationId,
  provedToWork,
} from './saving.ts';

const CheckShape = d.named(
  'DestinationCheck',
  v.object({
    ok: d.flag('Whether every check passed.'),
    checks: d.described(
      v.array(
        v.object({
          name: d.described(
            v.picklist(PLACE_CHECKS),
            '`token`: the messenger takes the token; `channel_exists`, `bot_in_channel`: the bot can write to the channel; `discussion_group`: it has one; `bot_rights_channel`, `bot_rights_group`: the bot may do there what it has to.',
          ),
          ok: d.flag('Whether it passed.'),
          message: d.textOrNull('What went wrong, masked; null when it passed.'),
        }),
      ),
      'The checks in order, up to the first that failed.',
    ),
    health: d.described(
      HealthShape,
      'Health after the check. One that passes ends Broken, one that fails changes nothing.',
    ),
    request_log_run,
  }),
  'The outcome of a check.',
);

export function destinationCheckOperations(deps: DestinationOperationsDeps): readonly Operation[] {
  const { store, hints } = deps;
  return [
    operation({
      id: 'checkDestination',
      method: 'POST',
      path: '/destinations/{destination_id}/checks',
      tag: 'Destinations',
      summary: 'Check a messenger Destination without posting anything; one that passes is healthy again',
      description: '422 `check_not_supported` for a webhook: test it instead.',
      needs: 'destinations:test',
      ids: DESTINATION_ID,
      answers: { 200: { description: 'How it went, up to the first check that failed', schema: CheckShape } },
      refusals: [
        [422, 'validation-failed', ''],
        [503, 'interactive-budget-exhausted', ''],
      ],
      async handle(call) {
        const destination = await store.read(destinationId(call));
        if (!destination) return notFound();
        const { id, fields, found } = destination;
        if (fields.type === 'webhook') return CHECK_NOT_SUPPORTED;
        const run = newPublicId('RN');
        const checked = await checkOf(deps, fields.type)({ destinationId: id, fields, found }, run);
        if ('retryAfterSeconds' in checked) return refuse(messengerBusy(checked.retryAfterSeconds));
        const isNews = checked.found !== null && (await store.placeFound(destination, checked.found));
        if (isNews) hints.send({ type: 'destination', id });
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
