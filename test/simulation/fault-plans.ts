/** What runs of several replicas are about, and what must hold in each beside everything else. */
import { type Micros, SECOND } from '../../runtime/clock.ts';
import type { Random } from './random.ts';
import { ANY, away, flush, freeze, later, restart, type Scene, strike } from './troubles.ts';

/** What a run is about. */
export interface FaultPlan {
  /** How long things go wrong. */
  readonly length: Micros;
  /** What may go wrong with calls of the database: they are slow, all but what moves shards, anything. */
  readonly faults: 'slow' | 'unmoving' | 'any';
  /** @returns what was wrong, asked once all is over */
  play(scene: Scene): () => readonly string[];
}

const USUAL: Micros = 40 * SECOND;

const mixed: FaultPlan = {
  length: USUAL,
  faults: 'any',
  play(scene) {
    const { random } = scene.world;
    for (let count = random.int(8); count > 0; count--) {
      later(scene.world, 2 * SECOND, USUAL, () => strike(scene, random.pick(ANY)));
    }
    return () => [];
  },
};

const everything: FaultPlan = {
  length: USUAL,
  faults: 'any',
  play(scene) {
    for (const name of ANY) later(scene.world, 8 * SECOND, 10 * SECOND, () => strike(scene, name));
    return () => [];
  },
};

const redisOnly: FaultPlan = {
  length: 100 * SECOND,
  faults: 'unmoving',
  play(scene) {
    const { world } = scene;
    let before: readonly number[] | null = null;
    world.after(5 * SECOND, () => {
      if (scene.isPlaced()) before = [...scene.epochs()];
    });
    // They beat one after the other from here on.
    world.after(5 * SECOND, () => {
      for (const replica of scene.alive()) {
        replica.pause();
        later(world, 0, SECOND / 2, () => replica.resume());
      }
    });
    for (let at = 6 * SECOND; at < 40 * SECOND; ) {
      const longest = world.random.pick([3.5, 15, 55]) * SECOND;
      const trouble = world.random.pick([flush, away, freeze]);
      world.after(at, () => trouble(scene, longest));
      at += world.random.pick([0.2, 3, 30]) * SECOND;
    }
    return () => {
      const moved = (before ?? []).flatMap((epoch, shard) =>
        scene.epochs()[shard] === epoch ? [] : [shard],
      );
      return moved.length === 0 ? [] : [`a Redis that fails moves nothing: ${moved.length} shards`];
    };
  },
};

const bereaved: FaultPlan = {
  length: 130 * SECOND,
  faults: 'unmoving',
  play(scene) {
    const { world, places, alive, launch } = scene;
    const wrong: string[] = [];
    world.after(5 * SECOND, () => {
      places[0].isAway = true;
    });
    world.after(world.random.between(6, 15) * SECOND, () => {
      const victim = world.random.pick(alive());
      victim?.crash();
      world.note(() => `${victim?.name} dies without Redis`);
      if (world.random.chance(0.5)) later(world, SECOND, 90 * SECOND, () => launch('late'));
      // Its record counts for 90 s, and is looked at every 10 s.
      world.after(102 * SECOND, () => wrong.push(...unowned(scene)));
    });
    world.after(world.random.between(120, 130) * SECOND, () => {
      if (world.random.chance(0.5)) places[0].flush();
      places[0].isAway = false;
    });
    return () => wrong;
  },
};

const movesOnPurpose: FaultPlan = {
  length: USUAL,
  faults: 'slow',
  play(scene) {
    const { world, alive, launch, fencings } = scene;
    for (let at = 4 * SECOND; at < USUAL; at += 3 * SECOND) {
      world.after(at, () => (world.random.chance(0.3) ? launch(`n${at}`) : restart(scene, alive())));
    }
    return () => (fencings() === 0 ? [] : [`a move on purpose fences nobody: ${fencings()} commits`]);
  },
};

const ghosts: FaultPlan = {
  length: USUAL,
  faults: 'any',
  play(scene) {
    const { world, alive } = scene;
    for (let at = 3 * SECOND; at < USUAL; at += 10 * SECOND) {
      world.after(at, () => {
        const ghost = world.random.pick(alive());
        const isPaused = world.random.chance(0.4);
        world.note(() => `${ghost?.name} is ${isPaused ? 'paused' : 'cut off'}`);
        if (isPaused) ghost?.pause();
        else if (ghost) ghost.isCut = true;
        later(world, 5 * SECOND, 9 * SECOND, () => {
          ghost?.resume();
          if (ghost) ghost.isCut = false;
        });
      });
    }
    return () => [];
  },
};

export const FAULT_PLANS = {
  mixed,
  'everything at once': everything,
  'Redis fails': redisOnly,
  'a death without Redis': bereaved,
  'moves on purpose': movesOnPurpose,
  'owners that do not know what they lost': ghosts,
} satisfies Record<string, FaultPlan>;

export type FaultPlanName = keyof typeof FAULT_PLANS;

/** The name of a plot: of mixed troubles mostly, the others take longer. */
export function drawFaultPlan(random: Random): FaultPlanName {
  return random.chance(0.5) ? 'mixed' : random.pick(Object.keys(FAULT_PLANS) as FaultPlanName[]);
}

function unowned({ alive, epochs }: Scene): string[] {
  const lonely = epochs().flatMap((epoch, shard) =>
    alive().some((it) => it.placement.epochOf(shard) === epoch) ? [] : [shard],
  );
  return lonely.length === 0 ? [] : [`the living adopt the shards of the dead: not ${lonely.length} shards`];
}
