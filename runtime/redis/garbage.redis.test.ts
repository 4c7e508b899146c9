import { describe, expect, test } from 'vitest';
import type { Beat } from '../placement/coordination.ts';
import { PREFIX, useRedis } from './redis.fixture.ts';

const redis = useRedis();

const beat: Beat = { id: 'ann', boot: 'a1', version: '0.1.0', isDraining: false, holds: [7] };

describe('what another program left under the keys counts as missing', () => {
  /** A replica that would count, but for what is wrong with it. */
  const replica = (wrong: Readonly<Record<string, unknown>> = {}) =>
    JSON.stringify({ boot: 'x', version: '1', draining: false, expiry: Date.now() + 5_000, ...wrong });
  const assignment = (generation: unknown, targets: unknown) => JSON.stringify({ generation, targets });
  const all = Array.from({ length: 256 }, () => 'ann');

  test.each<[string, readonly (readonly (string | number)[])[]]>([
    [
      'text where hashes are',
      [
        ['set', 'replicas', 'x'],
        ['set', 'grants', 'y'],
      ],
    ],
    [
      'hashes where text is',
      [
        ['hset', 'leader', 'a', 1],
        ['hset', 'assignment', 'b', 2],
      ],
    ],
    [
      'lists',
      [
        ['rpush', 'replicas', 1],
        ['rpush', 'grants', 1],
        ['rpush', 'leader', 1],
        ['rpush', 'assignment', 1],
      ],
    ],
    ['a replica that is no JSON', [['hset', 'replicas', 'bob', 'x{']]],
    ['a replica that is a number', [['hset', 'replicas', 'bob', '7']]],
    ['a replica without its fields', [['hset', 'replicas', 'bob', '{}']]],
    ['a replica with a strange name', [['hset', 'replicas', 'b/ob', replica()]]],
    ['a replica with a long name', [['hset', 'replicas', 'b'.repeat(65), replica()]]],
    ['a replica with a strange boot', [['hset', 'replicas', 'bob', replica({ boot: 'x y' })]]],
    ['a replica with a boot that is a number', [['hset', 'replicas', 'bob', replica({ boot: 7 })]]],
    ['a replica with a version that is a list', [['hset', 'replicas', 'bob', replica({ version: [] })]]],
    ['a replica that drains a little', [['hset', 'replicas', 'bob', replica({ draining: 'a little' })]]],
    ['a replica whose lease ends soon', [['hset', 'replicas', 'bob', replica({ expiry: 'soon' })]]],
    ['a replica whose lease ended', [['hset', 'replicas', 'bob', replica({ expiry: 1 })]]],
    [
      'a replica whose lease ends in the far future',
      [['hset', 'replicas', 'bob', replica({ expiry: 1e15 })]],
    ],
    ['an own entry that is no JSON', [['hset', 'replicas', 'ann', '[']]],
    ['a Leader that is no member', [['set', 'leader', 'nobody/here']]],
    ['a Leader that is nonsense', [['set', 'leader', 'x y z']]],
    ['an empty Leader', [['set', 'leader', '']]],
    ['an assignment that is no JSON', [['set', 'assignment', '{{']]],
    ['an assignment nested too deeply', [['set', 'assignment', '['.repeat(2000)]]],
    ['an assignment of too few', [['set', 'assignment', assignment(5, ['ann'])]]],
    ['an assignment of too many', [['set', 'assignment', assignment(5, [...all, 'ann'])]]],
    [
      'an assignment to numbers',
      [
        [
          'set',
          'assignment',
          assignment(
            5,
            all.map(() => 7),
          ),
        ],
      ],
    ],
    [
      'an assignment to strange names',
      [
        [
          'set',
          'assignment',
          assignment(
            5,
            all.map(() => 'a b'),
          ),
        ],
      ],
    ],
    ['an assignment without targets', [['set', 'assignment', assignment(5, null)]]],
    [
      'an assignment in the wrong order',
      [['set', 'assignment', assignment(5, Object.fromEntries(all.entries()))]],
    ],
    ['an assignment without a number', [['set', 'assignment', assignment('5', all)]]],
    ['an assignment with half a number', [['set', 'assignment', assignment(1.5, all)]]],
    ['an assignment with a negative number', [['set', 'assignment', assignment(-1, all)]]],
    ['an assignment with a huge number', [['set', 'assignment', assignment(1e300, all)]]],
    [
      'grants of nonsense',
      [['hset', 'grants', '7', 'nobody', 'x', 'ann/a1', '300', 'ann/a1', '-1', 'ann/a1', '8', '/']],
    ],
  ])('%s', async (_, commands) => {
    const { coordination, logged } = await redis.open();
    for (const [name = '', key = '', ...words] of commands)
      await redis.server.command(String(name), `${PREFIX}v1.${key}`, ...words);
    const me = { id: 'ann', boot: 'a1' };
    expect(await coordination.beat(beat)).toEqual({
      replicas: [{ ...me, version: '0.1.0', isDraining: false }],
      leader: me,
      generation: 0,
      targets: null,
      granted: [7],
    });
    expect(await coordination.assign(me, 0, all)).toBe(true);
    expect(await coordination.beat(beat)).toMatchObject({ generation: 1, targets: all });
    await coordination.release(me, [7]);
    await coordination.leave(me);
    expect(logged).toEqual([]);
  });
});

test('garbage of other types disturbs neither release nor leave', async () => {
  const { coordination, logged } = await redis.open();
  for (const key of ['replicas', 'grants', 'leader', 'assignment'])
    await redis.server.command('rpush', `${PREFIX}v1.${key}`, 'x');
  await coordination.release(beat, [1]);
  await coordination.leave(beat);
  expect(logged).toEqual([]);
});
