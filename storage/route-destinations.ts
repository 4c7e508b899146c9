/** What the save of a Route means for messages: which Destinations joined or left, and what shows something else. */
import { destinationAddress, type Rerender, type RoutesChanged } from '../actors/destination/messages.ts';
import { routeAddress } from '../actors/route/messages.ts';
import type { RouteFields } from '../actors/route/ports.ts';
import type { Micros } from '../runtime/clock.ts';
import type { PublicId } from '../runtime/public-id.ts';
import { enqueueInbox } from './inbox.ts';
import type { Transaction } from './records.ts';

type Shown = Pick<RouteFields, 'destination_ids' | 'policy'>;

/** Tells them with the change itself (delivery §2, §10). */
export async function tellDestinations(
  tx: Transaction,
  routeId: PublicId,
  { before, after }: { readonly before: Shown; readonly after: Shown },
  at: Micros,
): Promise<void> {
  const joined = after.destination_ids.filter((id) => !before.destination_ids.includes(id));
  const left = before.destination_ids.filter((id) => !after.destination_ids.includes(id));
  const stayed = after.destination_ids.filter((id) => before.destination_ids.includes(id));
  const rerendered = looksOf(before) === looksOf(after) ? [] : stayed;
  const hasOtherTemplates = templatesOf(before) !== templatesOf(after);
  await enqueueInbox(
    tx,
    [
      ...(hasOtherTemplates ? [{ to: routeAddress(routeId), message: { type: 'templates_saved' } }] : []),
      ...joined.map((id) => ({ to: destinationAddress(id), message: joinedBy(routeId) })),
      ...left.map((id) => ({ to: destinationAddress(id), message: leftBy(routeId) })),
      ...rerendered.map((id) => ({ to: destinationAddress(id), message: renderedAnew(routeId) })),
    ],
    at,
  );
}

/** What of a Route a message is laid out with. */
function looksOf({ policy }: Shown): string {
  const { language, templates, snooze_durations_seconds } = policy;
  return JSON.stringify([language, templates, snooze_durations_seconds]);
}

function templatesOf({ policy }: Shown): string {
  return JSON.stringify(policy.templates);
}

function joinedBy(routeId: PublicId): RoutesChanged {
  return { type: 'routes_changed', joined: [routeId], left: [] };
}

function leftBy(routeId: PublicId): RoutesChanged {
  return { type: 'routes_changed', joined: [], left: [routeId] };
}

function renderedAnew(routeId: PublicId): Rerender {
  return { type: 'rerender', routeId };
}
