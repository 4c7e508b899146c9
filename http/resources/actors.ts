/** One actor, whatever its kind, as people who look into the service see it (api §18, ui §12.1). */
import * as v from 'valibot';
import type { ActorStateReader } from '../../actors/system/actor-state.ts';
import type { ActorSystem } from '../../runtime/actor/index.ts';
import { formatInstant, formatInstantOrNull } from '../../runtime/clock.ts';
import { type Operation, operation } from '../operation.ts';
import { notFound } from '../problem.ts';

export interface ActorOperationsDeps {
  readonly states: ActorStateReader;
  readonly system: Pick<ActorSystem, 'recent'>;
}

const ActorShape = v.object({
  kind: v.string(),
  key: v.string(),
  replica: v.nullable(v.string()),
  state: v.nullable(v.union([v.string(), v.record(v.string(), v.unknown())])),
  schema: v.number(),
  version: v.number(),
  wake_at: v.nullable(v.string()),
  messages: v.array(v.object({ at: v.string(), type: v.string(), from: v.nullable(v.string()) })),
});

export function actorOperations({ states, system }: ActorOperationsDeps): readonly Operation[] {
  return [
    operation({
      id: 'getActor',
      method: 'GET',
      path: '/actors/{kind}/{key}',
      tag: 'System',
      summary: 'Read the state of one actor, and which messages it was given lately',
      needs: 'system-status:read',
      answers: { 200: { description: 'The actor', schema: ActorShape } },
      /**
       * The state is the committed one, whoever answers; the messages come from the replica that keeps the actor.
       * @throws {UnavailableError} 503: that replica does not answer
       */
      async handle({ params }) {
        const address = { kind: params.kind as string, key: params.key as string };
        const actor = await states.read(address);
        if (actor === null) return notFound();
        const { replica, state, schema, version, wakeAt } = actor;
        const messages = await system.recent(address);
        return {
          status: 200,
          body: {
            ...address,
            ...{ replica, state, schema, version },
            wake_at: formatInstantOrNull(wakeAt),
            messages: messages.map(({ at, type, from }) => ({ at: formatInstant(at), type, from })),
          },
        };
      },
    }),
  ];
}
