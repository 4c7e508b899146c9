import { expect, test } from 'vitest';
import { SECOND } from '../clock.ts';
import { ContestedShards } from './contested-shards.ts';

/** Backoff of a shard after it was fenced, s, held for so long each time. */
function backoffs(heldFor: readonly number[]): number[] {
  const contested = new ContestedShards();
  let now = 1000 * SECOND;
  return heldFor.map((held) => {
    contested.taken([7], now);
    now += held * SECOND;
    contested.fenced([7], now);
    const fencedAt = now;
    while (!contested.mayTake(7, now)) now += SECOND / 10;
    return (now - fencedAt) / SECOND;
  });
}

test('a shard that is lost again and again as soon as it is taken is left alone twice as long each time, up to 8 s', () => {
  expect(backoffs([0, 0, 1, 2, 4, 0, 0])).toEqual([0.5, 1, 2, 4, 8, 8, 8]);
});

test('a shard stays contested while the other member loses it, too, only because this one backs off', () => {
  expect(backoffs([0, 0, 0, 0, 0, 8, 8])).toEqual([0.5, 1, 2, 4, 8, 8, 8]);
});

test('a shard that was held for longer is taken back at once, and its backoff begins anew', () => {
  expect(backoffs([6])).toEqual([0]);
  expect(backoffs([0, 0, 6, 0])).toEqual([0.5, 1, 0, 0.5]);
});

test('a shard that meanwhile was granted to somebody else has simply moved', () => {
  const contested = new ContestedShards();
  contested.taken([7, 8], 0);
  contested.fenced([7, 8], SECOND);
  contested.granted([8]);
  expect([7, 8].filter((shard) => contested.mayTake(shard, SECOND))).toEqual([7]);
});

test('a shard that nobody disputes may be taken', () => {
  const contested = new ContestedShards();
  contested.fenced([7], 0);
  expect(contested.mayTake(7, 0)).toBe(true);
});
