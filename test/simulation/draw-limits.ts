import type { EngineLimits } from '../../runtime/actor/index.ts';
import type { Random } from './random.ts';

/** Limits of the engine for one run: those of the product, or so tiny that every one of them is met. */
export function drawLimits(random: Random): Partial<EngineLimits> {
  return {
    turns: random.pick([1, 4, 512]),
    cascade: random.pick([5, 2048]),
    closeWait: random.pick([0, 1000, 50_000]),
    busyTurns: random.pick([1, 8]),
    commitDistance: random.pick([0, 4000]),
    asksPerActor: random.pick([2, 100]),
    memory: random.pick([
      { actors: 2, weight: 10 },
      { actors: 20_000, weight: 200_000 },
    ]),
    loadPage: random.pick([1, 500]),
    loads: random.pick([1, 4]),
    inboxPage: random.pick([1, 3, 500]),
    inboxHeld: random.pick([2, 2000]),
    inboxReceivers: random.pick([1, 2, 100]),
    wakePage: random.pick([1, 500]),
  };
}
