import { expect, test } from 'vitest';
import { SECOND } from '../clock.ts';
import { Quarrels } from './quarrels.ts';

/** Seconds that a shard rests after it was fenced, held for so long each time. */
function rests(heldFor: readonly number[]): number[] {
  const quarrels = new Quarrels();
  let now = 1000 * SECOND;
  return heldFor.map((held) => {
    quarrels.taken([7], now);
    now += held * SECOND;
    quarrels.fenced([7], now);
    const fencedAt = now;
    while (!quarrels.mayTake(7, now)) now += SECOND / 10;
    return (now - fencedAt) / SECOND;
  });
}

test('a shard that is lost again and again as soon as it is taken rests twice as long each time, up to 8 s', () => {
  expect(rests([0, 0, 1, 2, 4, 0, 0])).toEqual([0.5, 1, 2, 4, 8, 8, 8]);
});

test('the quarrel lasts while the other side loses the shard, too, only because this one rests', () => {
  expect(rests([0, 0, 0, 0, 0, 8, 8])).toEqual([0.5, 1, 2, 4, 8, 8, 8]);
});

test('a shard that was held for longer is taken back at once, and an old quarrel is forgotten', () => {
  expect(rests([6])).toEqual([0]);
  expect(rests([0, 0, 6, 0])).toEqual([0.5, 1, 0, 0.5]);
});

test('a shard that meanwhile was granted to somebody else has simply moved', () => {
  const quarrels = new Quarrels();
  quarrels.taken([7, 8], 0);
  quarrels.fenced([7, 8], SECOND);
  quarrels.granted([8]);
  expect([7, 8].filter((shard) => quarrels.mayTake(shard, SECOND))).toEqual([7]);
});

test('a shard that nobody disputes may be taken', () => {
  const quarrels = new Quarrels();
  quarrels.fenced([7], 0);
  expect(quarrels.mayTake(7, 0)).toBe(true);
});
