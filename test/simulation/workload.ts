import type { Address } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { Random } from './random.ts';
import { TOY_KINDS, type Work } from './toy.ts';

/** What the outside does in a run. */
export interface Step {
  /** From the start of the run, µs. */
  readonly at: Micros;
  readonly by: 'deliver' | 'ask' | 'tell';
  readonly to: Address;
  readonly work: Work;
}

export interface Workload {
  readonly steps: readonly Step[];
  /** Every message that can come into being, by id. */
  readonly works: ReadonlyMap<string, Omit<Work, 'n'>>;
}

/** Messages from outside in bursts, each with a tree of messages that it leads to, circles included. */
export function drawWorkload(random: Random, length: Micros): Workload {
  const actors = Array.from(
    { length: 3 + random.int(10) },
    (_, index): Address => ({
      kind: TOY_KINDS[index % TOY_KINDS.length]!,
      key: String(index),
    }),
  );
  const works = new Map<string, Omit<Work, 'n'>>();
  const flawRate = random.pick([0, 0, 0.02, 0.05]);
  const silentRate = random.pick([0, 0.1, 0.5]);
  const outsideRate = random.pick([0, 0, 0.1]);
  const largeRate = random.pick([0, 0.05, 0.3]);

  function draw(id: string, depth: number, canRead: boolean): Omit<Work, 'n'> {
    const reads = canRead && random.chance(0.2);
    const isSilent = !reads && random.chance(silentRate);
    const width = depth === 0 || reads || isSilent ? 0 : random.int(4);
    const work: Omit<Work, 'n'> = {
      type: 'work',
      id,
      arm: random.chance(0.15) ? { delay: random.between(1000, 3e6) | 0, times: 1 + random.int(3) } : null,
      claims: random.chance(0.15),
      performs: random.chance(0.2),
      flaw:
        random.chance(flawRate) && !isSilent && !reads ? random.pick(['throws', 'refused'] as const) : null,
      asksOutside: random.chance(outsideRate),
      reads,
      isSilent,
      isLarge: random.chance(largeRate),
      sends: Array.from({ length: width }, (_, index) => ({
        to: random.pick(actors),
        work: draw(`${id}.${index}`, depth - 1, false),
      })),
    };
    works.set(id, work);
    return work;
  }

  const steps: Step[] = [];
  const bursts = 1 + random.int(12);
  for (let burst = 0; burst < bursts; burst++) {
    const at = random.between(0, length);
    const size = 1 + random.int(10);
    for (let index = 0; index < size; index++) {
      const by = random.pick(['deliver', 'deliver', 'ask', 'tell'] as const);
      const work = draw(`${by[0]}${steps.length}`, random.int(4), by === 'ask');
      steps.push({
        at: at + random.between(0, 2000),
        by,
        to: random.pick(actors),
        work: { ...work, n: 0 } as Work,
      });
    }
  }
  return { steps: steps.sort((a, b) => a.at - b.at), works };
}
