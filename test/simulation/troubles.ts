/** What can go wrong among replicas, and how each is put right. */
import { type Micros, SECOND } from '../../runtime/clock.ts';
import type { MeetingPlace } from '../fakes/coordination.ts';
import type { SimReplica } from './replica.ts';
import type { World } from './world.ts';

export interface Scene {
  readonly world: World;
  readonly places: readonly [MeetingPlace, MeetingPlace];
  alive(): readonly SimReplica[];
  launch(id: string): void;
  /** Whether every shard is with the one owner that is meant for it. */
  isPlaced(): boolean;
  /** By shard. */
  epochs(): readonly number[];
  /** How often a commit was refused because its shard had a newer owner. */
  fencings(): number;
}

type Trouble = (scene: Scene, victim: SimReplica) => void;

const TROUBLES = {
  die({ world, launch }, victim) {
    victim.crash();
    later(world, 0, 8 * SECOND, () => launch(victim.me.id));
  },
  pause({ world }, victim) {
    victim.pause();
    later(world, SECOND / 10, 20 * SECOND, () => victim.resume());
  },
  cut({ world }, victim) {
    victim.isCut = true;
    later(world, SECOND / 2, 15 * SECOND, () => {
      victim.isCut = false;
    });
  },
  stop: (scene, victim) => restart(scene, [victim]),
  flush: (scene) => flush(scene),
  away: (scene) => away(scene, 15 * SECOND),
  freeze: (scene) => freeze(scene, 15 * SECOND),
  join: ({ launch }, { me }) => launch(`${me.id}+`),
  'two masters': twoMasters,
  'rolling restart': (scene) => void restartAll(scene),
  'all die'({ world, alive, launch }) {
    for (const victim of alive()) {
      victim.crash();
      later(world, 0, 4 * SECOND, () => launch(victim.me.id));
    }
  },
} satisfies Record<string, Trouble>;

/** Every kind of trouble there is. */
export const ANY = Object.keys(TROUBLES) as (keyof typeof TROUBLES)[];

/** Hits one of the living. */
export function strike(scene: Scene, name: keyof typeof TROUBLES): void {
  const { world, alive } = scene;
  const victim = world.random.pick(alive());
  if (victim === undefined) return;
  world.note(() => `trouble: ${name} (${victim.name})`);
  const trouble: Trouble = TROUBLES[name];
  trouble(scene, victim);
}

export function flush({ places, world }: Scene): void {
  world.note(() => 'Redis is emptied');
  for (const place of places) place.flush();
}

export function away({ world, places }: Scene, longest: Micros): void {
  world.note(() => 'Redis is away');
  for (const place of places) place.isAway = true;
  const isFlushed = world.random.chance(0.5);
  later(world, SECOND / 2, longest, () => {
    world.note(() => `Redis is back${isFlushed ? ', empty' : ''}`);
    for (const place of places) {
      if (isFlushed) place.flush();
      place.isAway = false;
    }
  });
}

export function freeze({ world, places }: Scene, longest: Micros): void {
  world.note(() => 'Redis is frozen');
  for (const place of places) place.freeze();
  later(world, SECOND / 2, longest, () => {
    world.note(() => 'Redis goes on');
    for (const place of places) place.thaw();
  });
}

/** A second Redis master serves some of the members for a while; then all use the first one again. */
function twoMasters({ world, places, alive }: Scene): void {
  const [here, there] = places;
  there.copy(here);
  const moved = alive().filter(() => world.random.chance(0.5));
  for (const replica of moved) replica.isThere = true;
  later(world, SECOND, 15 * SECOND, () => {
    for (const replica of moved) replica.isThere = false;
  });
}

/** Stops one of them as it should be and starts it again. */
export function restart({ world, launch }: Scene, replicas: readonly SimReplica[]): void {
  const victim = world.random.pick(replicas.filter((it) => it.isServing));
  if (victim === undefined) return;
  void victim.stop().then(() => later(world, 0, SECOND, () => launch(victim.me.id)));
}

async function restartAll({ world, alive, launch }: Scene): Promise<void> {
  for (const { me } of [...alive()]) {
    const victim = alive().find((it) => it.me.id === me.id);
    if (!victim?.isServing) continue;
    await victim.stop();
    launch(me.id);
    await world.pause(SECOND / 2, 3 * SECOND);
  }
}

export function later(world: World, low: Micros, high: Micros, run: () => void): void {
  world.after(world.random.between(low, high), run);
}
