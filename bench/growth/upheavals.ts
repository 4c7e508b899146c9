/** What a change of the members costs a town: how long shards rest, and what is said meanwhile. */
import { type Micros, SECOND } from '../../runtime/clock.ts';
import { LOOK_EVERY } from '../../runtime/placement/lease-times.ts';
import { type Passed, type Resident, Town } from './town.ts';

/** Looks, one a millisecond. */
const BURST_LOOKS = 11;

export interface Upheaval {
  readonly what: 'at rest' | 'death' | 'death of the Leader' | 'join' | 'restart';
  readonly replicas: number;
  readonly shards: number;
  /** For how long a beat occupied Redis, µs. */
  readonly beatCost: Micros;
  /** Virtual seconds until every shard is acted for as it should be; of the measurement when nothing happens. */
  readonly seconds: number;
  readonly passed: Passed;
  /** Beats beyond those that everybody makes anyway. */
  readonly extraBeats: number;
  /** The most beats that began within 10 ms. */
  readonly burst: number;
}

export interface UpheavalPlan {
  readonly replicas: number;
  readonly shards: number;
  /** For how long a beat occupies Redis, µs. */
  readonly beatCost: Micros;
  /** Only rest and a death. */
  readonly isBrief: boolean;
}

/** All of them, one after the other in one town. */
export async function upheavals({ replicas, shards, beatCost, isBrief }: UpheavalPlan): Promise<Upheaval[]> {
  const town = await Town.settled(replicas, shards, beatCost);
  const seen: Upheaval[] = [];
  const measure = async (what: Upheaval['what'], act: () => Promise<() => boolean>): Promise<void> => {
    const before = { ...town.passed };
    const begun = town.world.now;
    const counts = [town.passed.beats];
    let burst = 0;
    const holds = await act();
    await town.until(() => {
      counts.push(town.passed.beats);
      burst = Math.max(burst, town.passed.beats - (counts.at(-BURST_LOOKS) ?? counts[0]!));
      return holds();
    });
    const seconds = (town.world.now - begun) / SECOND;
    const passed = difference(town.passed, before);
    const due = (replicas * (town.world.now - begun)) / LOOK_EVERY;
    const extraBeats = Math.max(0, Math.round(passed.beats - due));
    seen.push({ what, replicas, shards, beatCost, seconds, passed, extraBeats, burst });
  };

  await measure('at rest', async () => {
    const end = town.world.now + SECOND;
    return () => town.world.now >= end;
  });
  const victim = [...town.residents.values()].find(
    (it) => it !== town.leader && it.placement.owned().length > 0,
  );
  await measure('death', async () => {
    const shardsOfVictim = town.kill(victim!.me.id);
    return () => shardsOfVictim.every((shard) => town.isOwned(shard));
  });
  if (isBrief) return seen;

  await measure('join', async () => {
    const joined = town.join('newcomer');
    return () => isFollowed(town, joined);
  });
  await town.pass(1);
  await measure('restart', async () => {
    const { me, placement } = town.resident('newcomer');
    await follow(town, placement.drain());
    await follow(town, placement.stop());
    const again = town.join(me.id);
    return () => isFollowed(town, again);
  });
  await town.pass(1);
  await measure('death of the Leader', async () => {
    const shardsOfLeader = town.kill(town.leader!.me.id);
    return () => town.leader !== null && shardsOfLeader.every((shard) => town.isOwned(shard));
  });
  return seen;
}

/** Lets time pass until something has come about. */
async function follow(town: Town, coming: Promise<void>): Promise<void> {
  let isThere = false;
  void coming.then(() => {
    isThere = true;
  });
  await town.until(() => isThere);
}

/** Whether a newcomer sees itself among the targets, and every shard is acted for by the member it is meant for. */
function isFollowed(town: Town, { me, placement }: Resident): boolean {
  const targets = placement.picture()?.targets ?? [];
  return (
    targets.includes(me.id) &&
    targets.every((id, shard) => town.table.owners[shard]?.split('/')[0] === id && town.isOwned(shard))
  );
}

function difference(after: Passed, before: Passed): Passed {
  return {
    beats: after.beats - before.beats,
    notices: after.notices - before.notices,
    releases: after.releases - before.releases,
    assignments: after.assignments - before.assignments,
    taken: after.taken - before.taken,
    takeovers: after.takeovers - before.takeovers,
  };
}
