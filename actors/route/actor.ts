/**
 * The actor of a Route: decides for each new Alert Group, in order, whether a Storm holds it (alert-groups §9). It
 * notifies the message Destinations of a new group, with that decision, and of the Storm itself.
 */
import {
  type Actor,
  type ActorDefinition,
  begin,
  persistSnapshot,
  restoreSnapshot,
  type Turn,
  type TurnEnv,
} from '../../runtime/actor/index.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { DirectorySource, RouteConfig } from '../directory.ts';
import { templateDigest } from './evaluate.ts';
import { routeMachine, stormEndsAt } from './machine.ts';
import {
  type GroupCreated,
  type GroupUnheld,
  ROUTE,
  type RouteMessage,
  type TemplateRendered,
} from './messages.ts';
import type { HeldGroup, HeldGroups } from './ports.ts';
import { counted, packStarts, unpackStarts } from './storm-window.ts';
import {
  beginSweep,
  continueSweep,
  type RouteState,
  RouteTurn,
  SWEEP_PAGE,
  templateRendered,
  templatesSaved,
} from './turn.ts';

export interface RouteActorDependencies {
  readonly directory: DirectorySource;
  readonly held: HeldGroups;
}

export type RouteDefinition = ActorDefinition<RouteState, null, RouteMessage>;

export function createRouteActor({ directory, held }: RouteActorDependencies): RouteDefinition {
  return {
    kind: ROUTE,
    schema: 2,
    migrate(persisted, from) {
      if (from !== 1) throw new Error(`a Route of schema ${from} is unknown`);
      // Before this schema, Routes had no templates.
      return { ...(persisted as object), templateErrors: {} };
    },
    start: () => ({ snapshot: begin(routeMachine), starts: [], sweeps: [], templateErrors: {}, past: [] }),
    restore: restoreRoute,
    persist: ({ snapshot, starts, sweeps, templateErrors, past }) => ({
      snapshot: persistSnapshot(routeMachine, snapshot),
      starts: packStarts(starts),
      ...{ sweeps, templateErrors, past },
    }),
    emptyRows: () => null,
    weight: ({ starts }) => 1 + Math.floor(starts.length / 100),
    prepare({ self, state }, message) {
      // Another replica may have known the Route earlier than this one.
      if (message.type === 'group_created' && !directory.current().routesById.has(self.key)) {
        return directory.reload();
      }
      const [sweep] = state.sweeps;
      if (message.type !== 'wake' || !sweep) return null;
      const { since, through } = sweep;
      return held.page({ routeId: self.key as PublicId, since, after: through, limit: SWEEP_PAGE });
    },
    receive: (actor, message, env) => receive(actor, message, env, directory),
  };
}

/** What is read was written by {@link RouteDefinition.persist}, so its shape is trusted. */
function restoreRoute(persisted: unknown): RouteState {
  const kept = persisted as Omit<RouteState, 'starts'> & { readonly starts: string };
  const { snapshot, starts, past } = kept;
  // Earlier releases kept none.
  return {
    ...kept,
    past: past ?? [],
    snapshot: restoreSnapshot(routeMachine, snapshot),
    starts: unpackStarts(starts),
  };
}

function receive(
  { self, state }: Actor<RouteState, null>,
  message: RouteMessage,
  env: TurnEnv,
  directory: DirectorySource,
): Turn<RouteState> {
  const turn = new RouteTurn(self.key as PublicId, state, env, directory.current());
  switch (message.type) {
    case 'group_created':
      groupCreated(turn, message, directory);
      break;
    case 'group_unheld':
      groupUnheld(turn, message);
      break;
    case 'urgency_edited':
      beginSweep(turn, 'urgency');
      break;
    case 'template_rendered':
      if (isOfPresentTemplate(directory.current().routesById.get(turn.routeId), message))
        templateRendered(turn, message);
      break;
    case 'templates_saved':
      templatesSaved(turn);
      break;
    case 'deleted':
      turn.apply({ type: 'deleted', at: message.at });
      break;
    case 'wake':
      endCalmStorm(turn, env.now);
      if (env.prepared !== undefined) continueSweep(turn, env.prepared as readonly HeldGroup[]);
      break;
    default:
      message satisfies never;
  }
  return turn.finish();
}

function groupCreated(
  turn: RouteTurn,
  { groupId, urgent, at }: GroupCreated,
  directory: DirectorySource,
): void {
  const threshold = directory.current().routesById.get(turn.routeId)?.policy.storm_threshold;
  if (threshold === undefined) throw new Error(`Route ${turn.routeId} is not in the directory`);
  // A group counted after the end belongs to the next Storm, even when the wake-up for the end is late.
  endCalmStorm(turn, at - 1);
  const { starts, exceedsUntil } = counted(turn.state.starts, at, threshold);
  turn.remember(starts);
  turn.apply({ type: 'group_created', at, urgent, exceedsUntil }, groupId);
  turn.passOn({ groupId, urgent, at });
}

/**
 * Told once the call that it was made for is over: the Route may be deleted, or have another template or none, by then.
 */
function isOfPresentTemplate(
  route: RouteConfig | undefined,
  { template, digest }: TemplateRendered,
): boolean {
  if (route?.deleted !== false) return false;
  const source = route.policy.templates[template];
  return source !== null && (digest === undefined || digest === templateDigest(source));
}

function groupUnheld(turn: RouteTurn, { groupId, becameUrgent }: GroupUnheld): void {
  turn.letGo(groupId);
  turn.apply({ type: 'group_unheld', becameUrgent });
}

/** The end is at the instant at which it was due, however late it is noticed. */
function endCalmStorm(turn: RouteTurn, now: number): void {
  const endsAt = stormEndsAt(turn.state.snapshot.context);
  if (endsAt !== null && endsAt <= now) turn.apply({ type: 'calm_reached', at: endsAt });
}
