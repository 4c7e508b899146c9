/** The Destination becomes Broken and recovers: what is told, and what begins anew (delivery §7.4, webhooks §3.5). */

import type { DestinationEvent } from './machine.ts';
import { messagesRecovered, tellAllHealth, tellLoadedHealth } from './messages/recovery.ts';
import { announce, apply, type DestinationTurn, isBroken, note } from './turn.ts';

export function broke(turn: DestinationTurn, reason: string): void {
  if (isBroken(turn)) {
    apply(turn, { type: 'broke', reason, at: turn.now });
    return;
  }
  apply(turn, { type: 'broke', reason, at: turn.now });
  announce(turn, { change: 'destination_broken', reason });
  tellWaiting(turn, 'destination_broken');
  tellAllHealth(turn);
}

/** @param by the end of a probe, or what a person started */
export function recovered(
  turn: DestinationTurn,
  by: Extract<DestinationEvent['type'], 'probe_succeeded' | 'worked'> = 'probe_succeeded',
): void {
  const { reason } = turn.state.snapshot.context;
  apply(turn, { type: by, at: turn.now });
  announce(turn, { change: 'destination_recovered', reason });
  turn.rows.queue.renew();
  turn.records.push({ type: 'webhook.budgets_renewed', destinationId: turn.id, at: turn.now });
  tellWaiting(turn, 'destination_recovered');
  tellAllHealth(turn);
  messagesRecovered(turn);
}

/** A restart in the middle of telling groups begins it again: saying it twice is better than not at all. */
export function resumeTelling(turn: DestinationTurn): void {
  const { telling } = turn.state;
  if (!telling) return;
  tellWaiting(turn, telling);
  tellLoadedHealth(turn);
}

/** Tells every group whose events wait here, as far as they are in memory. */
function tellWaiting(turn: DestinationTurn, event: 'destination_broken' | 'destination_recovered'): void {
  const problem = event === 'destination_broken';
  const error = problem ? turn.state.snapshot.context.reason : null;
  for (const groupId of turn.rows.queue.groupIds()) note(turn, { groupId, event, error, problem });
  turn.state = { ...turn.state, telling: event };
}

export function unavailable(error: string): string {
  return `unavailable: ${error}`;
}
