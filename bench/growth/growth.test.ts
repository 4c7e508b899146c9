import { expect, test } from 'vitest';
import { SHARDS, shardAmong, shardOf } from '../../runtime/actor/index.ts';
import { actorsByShard, spreadOf } from './spread.ts';
import { type Upheaval, upheavals } from './upheavals.ts';

async function changesAmong(replicas: number, shards: number): Promise<Map<string, Upheaval>> {
  const seen = await upheavals({ replicas, shards, beatCost: 250, isBrief: false });
  return new Map(seen.map((it) => [it.what, it]));
}

test('a join moves about one share, a leave the shards of one, a rolling restart each shard twice', () => {
  const actors = actorsByShard(20_000, SHARDS);
  const spread = spreadOf(10, actors, true);
  expect(spread.join.shards).toBeGreaterThan(0);
  expect(spread.join.shards).toBeLessThan((2 * SHARDS) / 11);
  expect(spread.leave.shards).toBe(spread.mostShards);
  expect(spread.leave.actors).toBe(spread.mostActors);
  expect(spread.restart).toEqual({ shards: 2 * SHARDS, actors: 40_000 });
});

test('with more shards every old one splits: no actor crosses from one to another', () => {
  for (let n = 0; n < 1_000; n++) {
    const actor = { kind: 'feed', key: `IN${n}/group ${n}` };
    expect(shardAmong(4_096, actor) % SHARDS).toBe(shardOf(actor));
  }
});

test('more shards spread the same actors more evenly, up to as many as there are replicas to use them', () => {
  const fullest = [256, 4_096, 16_384].map(
    (shards) => spreadOf(100, actorsByShard(200_000, shards), false).fullest,
  );
  expect(fullest).toEqual([...fullest].sort((a, b) => b - a));
  expect(fullest[2]).toBeLessThan(1.4);
});

test('with a cap nobody is given much more than the mean, and little else moves', () => {
  const { capped, join } = spreadOf(10, actorsByShard(200_000, SHARDS), false);
  expect(capped.fullest).toBeLessThan(1.2);
  expect(capped.join.shards).toBeLessThan(4 * join.shards);
});

test.each([SHARDS, 1_024])(
  'twenty members of %i shards: nobody speaks at rest but to beat',
  async (shards) => {
    const seen = await changesAmong(20, shards);
    const { passed, seconds } = seen.get('at rest')!;
    expect(passed).toEqual({ ...passed, notices: 0, releases: 0, assignments: 0, taken: 0, takeovers: 0 });
    expect(passed.beats / seconds).toBeCloseTo(40, -1);
    expect(seen.get('death')!.seconds).toBeLessThan(4);
    expect(seen.get('death of the Leader')!.seconds).toBeLessThan(4);
    expect(seen.get('join')!.seconds).toBeLessThan(1);
    expect(seen.get('restart')!.seconds).toBeLessThan(2);
  },
);

test('a change of the assignment costs every member one beat at once, told of it together', async () => {
  const seen = await changesAmong(20, SHARDS);
  const { passed, burst } = seen.get('death')!;
  expect(passed.assignments).toBe(1);
  expect(passed.notices).toBe(20);
  expect(burst).toBeGreaterThanOrEqual(19);
});
