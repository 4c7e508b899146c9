/** Speaks to the Alert Groups that a Storm holds, page by page in order of #N: there may be very many. */
import type { Micros } from '../../runtime/clock.ts';
import { alertGroupAddress, type HoldReleased, type UrgencyQuestion } from '../alert-group/messages.ts';
import type { HeldGroup } from './held-groups.ts';
import type { RouteTurn } from './turn.ts';

/** Alert Groups spoken to in one turn. */
export const SWEEP_PAGE = 200;

/** What the Alert Groups of one Storm are to be told, and how far that has come. */
export interface Sweep {
  /** `release`: the Storm ended. `urgency`: a setting that makes groups Urgent was edited. */
  readonly purpose: 'release' | 'urgency';
  /** Start of the Storm, µs. */
  readonly since: Micros;
  /** #N of the last one that was told; 0 at the beginning. */
  readonly through: number;
}

/** Speaks to all groups that the present Storm holds; does nothing while calm. */
export function beginSweep(turn: RouteTurn, purpose: Sweep['purpose'], since?: Micros): void {
  const storm = since ?? turn.state.snapshot.context.since;
  if (storm === null) return;
  const others = turn.state.sweeps.filter((sweep) => sweep.purpose !== purpose || sweep.since !== storm);
  turn.replaceSweeps([...others, { purpose, since: storm, through: 0 }]);
}

/** Takes the page that was read for the first sweep. */
export function continueSweep(turn: RouteTurn, page: readonly HeldGroup[]): void {
  const [sweep, ...others] = turn.state.sweeps;
  if (!sweep) return;
  for (const { id } of page) turn.send({ to: alertGroupAddress(id), message: wordOf(sweep, turn.now) });
  const last = page.at(-1);
  if (last && sweep.purpose === 'release') turn.endHolds(sweep.since, last.number);
  const isOver = page.length < SWEEP_PAGE;
  turn.replaceSweeps(isOver ? others : [{ ...sweep, through: last?.number ?? sweep.through }, ...others]);
}

function wordOf({ purpose }: Sweep, at: Micros): HoldReleased | UrgencyQuestion {
  return purpose === 'release' ? { type: 'released', at } : { type: 'urgency_edited' };
}
