/** The end of a deleted Integration: what was accepted before is processed, then what fires resolves (ingestion §8). */
import { MINUTE, type Micros, SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { alertGroupAddress, type IntegrationDeleted } from '../alert-group/messages.ts';
import type { IntegrationTurn } from './turn.ts';

export interface Leftovers {
  /** Snapshots of it wait to be processed. */
  readonly isPending: boolean;
  /** Some of the Alert Groups with a firing Alert of it, those that a person resolved included. */
  readonly groups: readonly PublicId[];
}

/** Alert Groups told in one turn. */
export const GROUPS_AT_ONCE = 500;

const NEXT_LOOK: Micros = SECOND;
/** An Alert on its way from one Alert Group to another has arrived by then, also when a replica died meanwhile. */
const LAST_LOOK: Micros = 5 * MINUTE;

export function endWhatFires(turn: IntegrationTurn, { isPending, groups }: Leftovers): void {
  if (isPending || groups.length > 0) turn.step({ type: 'leftovers_found' });
  if (isPending) {
    turn.step({ type: 'check_planned', at: turn.now + NEXT_LOOK });
    return;
  }
  const message: IntegrationDeleted = {
    type: 'integration_deleted',
    integrationId: turn.id,
    name: turn.state.name,
    at: turn.now,
  };
  for (const group of groups) turn.send({ to: alertGroupAddress(group), message });
  if (groups.length > 0) {
    turn.step({ type: 'check_planned', at: turn.now + NEXT_LOOK });
    return;
  }
  if (turn.state.snapshot.value === 'settling') {
    turn.step({ type: 'ended' });
    return;
  }
  turn.step({ type: 'emptied' });
  turn.step({ type: 'check_planned', at: turn.now + LAST_LOOK });
  turn.record({ type: 'integration.ended', integrationId: turn.id, at: turn.now });
}
