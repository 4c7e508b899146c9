import { expect, test } from 'vitest';
import { type PlacementMember, PlacementWorld } from '../../test/simulation/placement-world.ts';
import { World } from '../../test/simulation/world.ts';
import { SHARDS } from '../actor/index.ts';
import { SECOND } from '../clock.ts';
import { targetsOf } from './assigner.ts';

async function hallOf(...ids: string[]) {
  const hall = new PlacementWorld(new World(7, false, 1_000_000));
  const members = ids.map((id) => hall.launch(id));
  await hall.pass(4);
  return { hall, members };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Every member owns about what it should. */
function isShared(members: readonly PlacementMember[]): boolean {
  return members.every((it) => it.shards().length > SHARDS / (2 * members.length));
}

/** Seconds until the condition holds, looked at every 10 ms. */
async function secondsUntil(hall: PlacementWorld, holds: () => boolean, most = 200): Promise<number> {
  const start = hall.world.now;
  while (!holds()) {
    if (hall.world.now - start > most * SECOND) throw new Error(`not within ${most} s`);
    await hall.pass(0.01);
  }
  return (hall.world.now - start) / SECOND;
}

test('the first member owns every shard at once and leads', async () => {
  const hall = new PlacementWorld(new World(1, false));
  const first = hall.launch('a');
  expect(await secondsUntil(hall, () => hall.isWhole())).toBeLessThan(0.2);
  expect(first.placement.leadership.isLeader).toBe(true);
});

test('members share the shards as rendezvous hashing says, each with one owner, and one of them leads', async () => {
  const { hall, members } = await hallOf('a', 'b', 'c');
  expect(hall.isWhole()).toBe(true);
  const targets = targetsOf(['a', 'b', 'c']);
  for (const { me, shards } of members.map((it) => ({ me: it.me, shards: it.shards() }))) {
    expect(shards.every((shard) => targets[shard] === me.id)).toBe(true);
  }
  expect(members.filter((it) => it.placement.leadership.isLeader)).toHaveLength(1);
});

test('a member that joins takes only its own shards, each once its owner has let go', async () => {
  const { hall, members } = await hallOf('a', 'b');
  const before = members.map((it) => it.placement.owned());
  const joined = hall.launch('c');
  expect(await secondsUntil(hall, () => joined.shards().length > 60 && hall.isWhole())).toBeLessThan(1);
  members.forEach((member, index) => {
    const kept = member.placement.owned();
    for (const shard of kept) expect(before[index]).toContainEqual(shard);
  });
});

test('a shard is granted to its new owner only once the engine has let go of it', async () => {
  const { hall, members } = await hallOf('a');
  members[0]!.isSlow = true;
  const joined = hall.launch('b');
  await hall.pass(2);
  expect(joined.shards()).toEqual([]);
  members[0]!.placement.followed();
  expect(await secondsUntil(hall, () => hall.isWhole())).toBeLessThan(0.5);
});

test('a shard waits a moment for calls under way before it moves, and not for ever', async () => {
  const { hall, members } = await hallOf('a');
  const targets = targetsOf(['a', 'b']);
  const [quick, slow] = targets.flatMap((id, shard) => (id === 'b' ? [shard] : []));
  members[0]!.calling = new Set([quick!, slow!]);
  const joined = hall.launch('b');
  await secondsUntil(hall, () => joined.shards().length > 0);
  expect(joined.shards()).not.toContain(quick);
  members[0]!.calling.delete(quick!);
  expect(await secondsUntil(hall, () => joined.shards().includes(quick!))).toBeLessThan(0.2);
  expect(joined.shards()).not.toContain(slow);
  expect(await secondsUntil(hall, () => joined.shards().includes(slow!))).toBeLessThan(0.8);
});

test('a drained member gives everything away within a second; leading goes first', async () => {
  const { hall, members } = await hallOf('a', 'b', 'c');
  const leader = members.find((it) => it.placement.leadership.isLeader)!;
  let isDrained = false;
  void leader.placement.drain().then(() => {
    isDrained = true;
  });
  expect(await secondsUntil(hall, () => isDrained)).toBeLessThan(1);
  expect(leader.shards()).toEqual([]);
  expect(leader.placement.leadership.isLeader).toBe(false);
  void leader.placement.stop();
  expect(await secondsUntil(hall, () => hall.isWhole())).toBeLessThan(0.2);
  expect(members.filter((it) => it.placement.leadership.isLeader)).toHaveLength(1);
});

test('a Leader that drains right after its successors have started gives everything away as fast', async () => {
  const hall = new PlacementWorld(new World(7, false, 1_000_000));
  const leader = hall.launch('a');
  await hall.pass(4);
  hall.launch('b');
  hall.launch('c');
  await secondsUntil(hall, () => hall.isWhole() && leader.shards().length < 120);
  let isDrained = false;
  void leader.placement.drain().then(() => {
    isDrained = true;
  });
  expect(await secondsUntil(hall, () => isDrained)).toBeLessThan(1);
});

test('a member that drains alone does not wait for anybody', async () => {
  const { hall, members } = await hallOf('a');
  let isDrained = false;
  void members[0]!.placement.drain().then(() => {
    isDrained = true;
  });
  expect(await secondsUntil(hall, () => isDrained)).toBeLessThan(0.1);
});

test.each([false, true])('the shards of a killed member are owned within 4 s (Leader: %s)', async (leads) => {
  const { hall, members } = await hallOf('a', 'b', 'c');
  members.find((it) => it.placement.leadership.isLeader === leads)!.kill();
  expect(await secondsUntil(hall, () => hall.isWhole())).toBeLessThan(4);
});

test('a member that was paused for longer than its lease owns nothing that others took', async () => {
  const { hall, members } = await hallOf('a', 'b', 'c');
  members[0]!.pause();
  expect(await secondsUntil(hall, () => hall.isWhole())).toBeLessThan(4);
  await hall.pass(60);
  members[0]!.resume();
  await hall.pass(3);
  expect(hall.isWhole()).toBe(true);
  expect(members[0]!.shards().length).toBeGreaterThan(60);
});

test('one that is cut off loses its shards to the others and gets them back', async () => {
  const { hall, members } = await hallOf('a', 'b', 'c');
  members[1]!.isCut = true;
  expect(await secondsUntil(hall, () => hall.isWhole())).toBeLessThan(4);
  members[1]!.isCut = false;
  await hall.pass(3);
  expect(hall.isWhole()).toBe(true);
  expect(members[1]!.shards().length).toBeGreaterThan(60);
});

test('one that is cut off and commits nothing finds out from the database what it has lost', async () => {
  const { hall, members } = await hallOf('a', 'b', 'c');
  members[1]!.isCut = true;
  expect(await secondsUntil(hall, () => members[1]!.shards().length === 0)).toBeLessThan(9);
});

test('one that is cut off from the database gives its lead and its shards to the others, and gets shards back', async () => {
  const { hall, members } = await hallOf('a', 'b', 'c');
  const leader = members.find((it) => it.placement.leadership.isLeader)!;
  leader.isBlind = true;
  expect(await secondsUntil(hall, () => leader.shards().length === 0 && hall.isWhole())).toBeLessThan(7);
  expect(members.filter((it) => it.placement.leadership.isLeader)).toHaveLength(1);
  expect(leader.placement.leadership.isLeader).toBe(false);
  expect(leader.logged).toContain('replica_stepped_back');
  leader.isBlind = false;
  expect(await secondsUntil(hall, () => isShared(members) && hall.isWhole())).toBeLessThan(5);
});

test('what its engine cannot let go of without the database is taken by the others all the same', async () => {
  const { hall, members } = await hallOf('a', 'b', 'c');
  members[1]!.isSlow = true;
  members[1]!.isBlind = true;
  expect(await secondsUntil(hall, () => hall.isWhole() && members[1]!.shards().length === 0)).toBeLessThan(
    11,
  );
  members[1]!.isBlind = false;
  members[1]!.placement.followed();
  members[1]!.isSlow = false;
  expect(await secondsUntil(hall, () => isShared(members) && hall.isWhole())).toBeLessThan(5);
});

test('a database that answers nobody for a while moves nothing', async () => {
  const { hall, members } = await hallOf('a', 'b', 'c');
  const before = members.map((it) => it.placement.owned());
  for (const member of members) {
    member.isBlind = true;
    await hall.pass(0.4);
  }
  await hall.pass(20);
  expect(members.some((it) => it.placement.leadership.isLeader)).toBe(false);
  for (const member of members) {
    member.isBlind = false;
    await hall.pass(0.4);
  }
  await hall.pass(8);
  expect(members.map((it) => it.placement.owned())).toEqual(before);
  expect(members.filter((it) => it.placement.leadership.isLeader)).toHaveLength(1);
});

test('a Leader that is cut off gives way to the one that the others have, and does not take its place again', async () => {
  const { hall, members } = await hallOf('a', 'b', 'c');
  const leader = members.find((it) => it.isLeader)!;
  leader.isCut = true;
  const only = () => members.filter((it) => it.isLeader && it !== leader).length === 1 && !leader.isLeader;
  expect(await secondsUntil(hall, only)).toBeLessThan(10);
  for (let second = 0; second < 120; second++) {
    await hall.pass(1);
    expect(only()).toBe(true);
  }
});

test('a Leader leads on while replicas cannot meet', async () => {
  const { hall, members } = await hallOf('a', 'b', 'c');
  const before = members.map((it) => it.isLeader);
  hall.place.isAway = true;
  for (let second = 0; second < 120; second++) {
    await hall.pass(1);
    expect(members.map((it) => it.isLeader)).toEqual(before);
  }
});

test('when the Leader dies while replicas cannot meet, the first of the others leads until they can', async () => {
  const { hall, members } = await hallOf('a', 'b', 'c');
  const leader = members.find((it) => it.isLeader)!;
  const others = members.filter((it) => it !== leader);
  hall.place.isAway = true;
  leader.kill();
  expect(await secondsUntil(hall, () => others[0]!.isLeader)).toBeLessThan(97);
  await hall.pass(60);
  expect(others.map((it) => it.isLeader)).toEqual([true, false]);
  hall.place.isAway = false;
  await hall.pass(5);
  expect(others.filter((it) => it.isLeader)).toHaveLength(1);
});

test('a Redis that is emptied again and again moves nothing', async () => {
  const { hall, members } = await hallOf('a', 'b', 'c');
  const before = members.map((it) => it.placement.owned());
  for (let round = 0; round < 10; round++) {
    hall.place.flush();
    await hall.pass(0.37 * round);
  }
  await hall.pass(4);
  expect(members.map((it) => it.placement.owned())).toEqual(before);
});

test('a Redis that is away for a minute and comes back empty moves nothing', async () => {
  const { hall, members } = await hallOf('a', 'b', 'c');
  const before = members.map((it) => it.placement.owned());
  hall.place.isAway = true;
  await hall.pass(60);
  expect(members.map((it) => it.placement.owned())).toEqual(before);
  hall.place.flush();
  hall.place.isAway = false;
  await hall.pass(8);
  expect(members.map((it) => it.placement.owned())).toEqual(before);
});

test('a Redis that was frozen, so that every lease lapsed, moves nothing when it goes on', async () => {
  const { hall, members } = await hallOf('a', 'b', 'c');
  const before = members.map((it) => it.placement.owned());
  hall.place.isAway = true;
  await hall.pass(10);
  hall.place.isAway = false;
  await hall.pass(8);
  expect(members.map((it) => it.placement.owned())).toEqual(before);
});

test('a Redis that is away just long enough for some leases to lapse moves nothing', async () => {
  for (let tenths = 20; tenths < 40; tenths++) {
    const { hall, members } = await hallOf('a', 'b', 'c');
    const before = members.map((it) => it.placement.owned());
    // They beat one after the other from here on.
    for (const member of members) {
      member.pause();
      await hall.pass(0.15 + tenths * 0.01);
      member.resume();
    }
    await hall.pass(tenths * 0.037);
    hall.place.isAway = true;
    await hall.pass(tenths / 10);
    hall.place.isAway = false;
    await hall.pass(8);
    expect(
      members.map((it) => it.placement.owned()),
      `away for ${tenths / 10} s`,
    ).toEqual(before);
  }
});

test('without Redis the shards of a dead member wait until its record is old, then the others take them', async () => {
  const { hall, members } = await hallOf('a', 'b', 'c');
  hall.place.isAway = true;
  members[2]!.kill();
  await hall.pass(55);
  expect(hall.isWhole()).toBe(false);
  expect(await secondsUntil(hall, () => hall.isWhole())).toBeLessThan(60);
  hall.place.isAway = false;
  await hall.pass(8);
  expect(hall.isWhole()).toBe(true);
});

test('a member that starts without Redis takes its share of the shards of dead members', async () => {
  const { hall, members } = await hallOf('a', 'b');
  hall.place.isAway = true;
  const started = hall.launch('c');
  members[1]!.kill();
  expect(await secondsUntil(hall, () => hall.isWhole())).toBeLessThan(105);
  expect(started.shards().length).toBeGreaterThan(20);
  hall.place.isAway = false;
  await hall.pass(8);
  expect(hall.isWhole()).toBe(true);
});

test('members that all start without Redis share the shards, and keep them when Redis is back', async () => {
  const hall = new PlacementWorld(new World(3, false, 1_000_000));
  hall.place.isAway = true;
  const members = ['a', 'b', 'c'].map((id) => hall.launch(id));
  expect(await secondsUntil(hall, () => hall.isWhole())).toBeLessThan(15);
  hall.place.isAway = false;
  await hall.pass(8);
  expect(hall.isWhole()).toBe(true);
  expect(isShared(members)).toBe(true);
});

test('shards whose move was cut off half way are kept by who had them last', async () => {
  const { hall, members } = await hallOf('a');
  const joined = hall.launch('b');
  await secondsUntil(hall, () => members[0]!.shards().length < SHARDS);
  joined.kill();
  hall.place.isAway = true;
  expect(await secondsUntil(hall, () => hall.isWhole())).toBeLessThan(15);
});

test('a refused epoch is taken anew when the shard is still wanted here', async () => {
  const { hall, members } = await hallOf('a');
  await hall.pass(2);
  const [shard] = members[0]!.placement.owned();
  hall.table.raise([shard!.shard], 'somebody');
  members[0]!.placement.fenced([shard!]);
  expect(members[0]!.placement.epochOf(shard!.shard)).toBe(null);
  expect(await secondsUntil(hall, () => hall.isWhole())).toBeLessThan(0.2);
});

test('two Redis masters that grant shards to two members cause no tight loop, and one master ends the contest', async () => {
  const { hall, members } = await hallOf('a', 'b');
  hall.other.copy(hall.place);
  members[1]!.isThere = true;
  await hall.pass(10);
  const before = sum(hall.table.epochs);
  for (let tenth = 0; tenth < 1200; tenth++) {
    // As engines that commit for every shard find out.
    for (const { placement } of members) {
      placement.fenced(placement.owned().filter(({ shard, epoch }) => hall.table.epochs[shard] !== epoch));
    }
    await hall.pass(0.1);
  }
  const moves = (sum(hall.table.epochs) - before) / SHARDS;
  expect(moves).toBeGreaterThan(10);
  expect(moves).toBeLessThan(30);
  members[1]!.isThere = false;
  expect(await secondsUntil(hall, () => hall.isWhole() && isShared(members))).toBeLessThan(10);
});

test('a second process under an id that runs is refused, one under the id of a killed process starts', async () => {
  const { hall, members } = await hallOf('a', 'b');
  const second = hall.launch('b');
  await hall.pass(8);
  expect(second.refusal).toContain('SVC_REPLICA_ID');
  members[1]!.kill();
  const third = hall.launch('b');
  // Whatever happens meanwhile, waiting for an id is no reason to complain.
  hall.launch('c');
  await hall.pass(6);
  expect(hall.isWhole()).toBe(true);
  expect(third.logged).not.toContain('replica_id_taken');
});
