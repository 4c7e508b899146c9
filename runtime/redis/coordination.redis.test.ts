import { describe, expect, test } from 'vitest';
import { until } from '../../test/harness/until.ts';
import { SHARDS } from '../actor/index.ts';
import { SECOND, systemClock } from '../clock.ts';
import {
  type Coordination,
  CoordinationUnavailableError,
  DuplicateReplicaError,
  type Member,
} from '../placement/coordination.ts';
import { LEASE_TTL } from '../placement/lease-times.ts';
import { ann, beatOf, bob, lapse, PREFIX, targets, useRedis } from './redis.fixture.ts';

const redis = useRedis();

async function coordination(): Promise<Coordination> {
  return (await redis.open()).coordination;
}

function live(member: Member, isDraining = false) {
  return { ...member, version: '0.1.0', isDraining };
}

describe('a beat', () => {
  test('of the first member finds nothing, and makes it the Leader', async () => {
    const place = await coordination();
    expect(await place.beat(beatOf(ann))).toEqual({
      replicas: [live(ann)],
      leader: ann,
      generation: 0,
      targets: null,
      granted: [],
    });
  });

  test('sees every member by id, and one Leader', async () => {
    const place = await coordination();
    await place.beat(beatOf(bob));
    expect(await place.beat(beatOf(ann, { version: '0.2.0+x/y' }))).toMatchObject({
      replicas: [{ ...live(ann), version: '0.2.0+x/y' }, live(bob)],
      leader: bob,
    });
  });

  test('of many at once makes one of them the Leader', async () => {
    const places = await Promise.all(Array.from({ length: 6 }, coordination));
    const pictures = await Promise.all(
      places.map((place, at) => place.beat(beatOf({ id: `r${at}`, boot: 'x' }))),
    );
    expect(new Set(pictures.map(({ leader }) => leader?.id)).size).toBe(1);
  });

  test('keeps lease and lead; three seconds of silence end both', async () => {
    const place = await coordination();
    const from = systemClock.now();
    await place.beat(beatOf(ann));
    expect((await place.beat(beatOf(bob))).leader).toEqual(ann);
    const { leader } = await until('the lapse', async () => {
      const picture = await place.beat(beatOf(bob));
      return picture.replicas.length === 1 ? picture : null;
    });
    const silence = systemClock.now() - from;
    expect(leader).toEqual(bob);
    expect(silence).toBeGreaterThanOrEqual(LEASE_TTL);
    expect(silence).toBeLessThan(LEASE_TTL + SECOND);
  });

  test('renews the Leader lease for as long as its own', async () => {
    const place = await coordination();
    for (let count = 0; count < 2; count++) {
      await place.beat(beatOf(ann));
      const left = Number(await redis.server.command('pttl', `${PREFIX}v1.leader`));
      expect(left).toBeGreaterThan(LEASE_TTL / 2000);
      expect(left).toBeLessThanOrEqual(LEASE_TTL / 1000);
      await redis.server.command('pexpire', `${PREFIX}v1.leader`, 1_000);
    }
  });

  test('of another boot is refused while the first one has its lease, and changes nothing', async () => {
    const place = await coordination();
    await place.beat(beatOf(ann));
    const again = { ...ann, boot: 'a2' };
    await expect(place.beat(beatOf(again, { holds: [1] }))).rejects.toThrow(DuplicateReplicaError);
    expect(await place.beat(beatOf(ann))).toMatchObject({ replicas: [live(ann)], leader: ann, granted: [] });
    await lapse(redis.server, ann);
    expect(await place.beat(beatOf(again))).toMatchObject({ replicas: [live(again)], leader: again });
  });

  test('removes members that lapsed, whoever they were', async () => {
    const place = await coordination();
    await place.beat(beatOf(ann));
    await place.beat(beatOf(bob));
    await lapse(redis.server, ann);
    await place.beat(beatOf(bob));
    expect(await redis.server.command('hkeys', `${PREFIX}v1.replicas`)).toEqual(['bob']);
  });
});

describe('grants', () => {
  test('go to the target of a shard that nobody has', async () => {
    const place = await coordination();
    await place.beat(beatOf(ann));
    await place.assign(ann, 0, targets('ann', { 7: 'bob', 8: null }));
    expect((await place.beat(beatOf(bob))).granted).toEqual([7]);
    const { granted } = await place.beat(beatOf(ann));
    expect(granted).toHaveLength(SHARDS - 2);
    expect(granted).not.toContain(7);
    expect(granted).not.toContain(8);
  });

  test('stay with a living member until it gives them up, whatever the targets say', async () => {
    const place = await coordination();
    await place.beat(beatOf(ann, { holds: [7] }));
    await place.assign(ann, 0, targets(null, { 7: 'bob' }));
    expect((await place.beat(beatOf(bob))).granted).toEqual([]);
    expect((await place.beat(beatOf(ann, { holds: [7] }))).granted).toEqual([7]);
    await place.release(ann, [7]);
    expect((await place.beat(beatOf(bob))).granted).toEqual([7]);
    expect((await place.beat(beatOf(ann))).granted).toEqual([]);
  });

  test('of a member that lapsed go to the targets', async () => {
    const place = await coordination();
    await place.beat(beatOf(ann, { holds: [1, 2] }));
    await place.beat(beatOf(bob));
    await lapse(redis.server, ann);
    await place.beat(beatOf(bob));
    await place.assign(bob, 0, targets(null, { 1: 'bob' }));
    expect((await place.beat(beatOf(bob))).granted).toEqual([1]);
  });

  test('of a member that comes back before anybody wanted them are still its own', async () => {
    const place = await coordination();
    await place.beat(beatOf(ann, { holds: [1] }));
    await place.beat(beatOf(bob));
    await lapse(redis.server, ann);
    await place.beat(beatOf(bob));
    expect((await place.beat(beatOf(ann))).granted).toEqual([1]);
  });

  test('are not given back by release to anybody but their member', async () => {
    const place = await coordination();
    await place.beat(beatOf(ann, { holds: [1, 2] }));
    await place.release(bob, [1, 2]);
    await place.release({ ...ann, boot: 'a0' }, [1]);
    await place.release(ann, []);
    expect((await place.beat(beatOf(ann))).granted).toEqual([1, 2]);
  });

  test('are written again for who holds the shards after Redis was emptied, targets or not', async () => {
    const place = await coordination();
    await place.beat(beatOf(ann));
    await place.assign(ann, 0, targets('ann', { 5: 'bob' }));
    await place.beat(beatOf(ann));
    await place.beat(beatOf(bob));
    await redis.server.flush();
    expect(await place.beat(beatOf(bob, { holds: [5] }))).toEqual({
      replicas: [live(bob)],
      leader: bob,
      generation: 0,
      targets: null,
      granted: [5],
    });
    expect((await place.beat(beatOf(ann, { holds: [4, 5, 6] }))).granted).toEqual([4, 6]);
  });
});

describe('draining', () => {
  test('gets no shards any more, keeps what it has, and is seen by all', async () => {
    const place = await coordination();
    await place.beat(beatOf(bob));
    await place.beat(beatOf(ann, { holds: [1] }));
    await place.assign(bob, 0, targets('ann'));
    expect(await place.beat(beatOf(ann, { isDraining: true, holds: [1] }))).toMatchObject({
      replicas: [live(ann, true), live(bob)],
      granted: [1],
    });
  });

  test('writes its grants again after Redis was emptied', async () => {
    const place = await coordination();
    expect((await place.beat(beatOf(ann, { isDraining: true, holds: [1] }))).granted).toEqual([1]);
  });

  test('hands the lead over with the same beat', async () => {
    const place = await coordination();
    await place.beat(beatOf(ann));
    await place.beat(beatOf(bob));
    expect((await place.beat(beatOf(ann, { isDraining: true }))).leader).toBeNull();
    expect((await place.beat(beatOf(bob))).leader).toEqual(bob);
  });

  test('alone leads nothing', async () => {
    const place = await coordination();
    expect((await place.beat(beatOf(ann, { isDraining: true }))).leader).toBeNull();
  });
});

describe('an assignment', () => {
  test('is seen by everyone, counted from 1', async () => {
    const place = await coordination();
    await place.beat(beatOf(ann));
    const first = targets('ann', { 0: null, 255: 'bob' });
    expect(await place.assign(ann, 0, first)).toBe(true);
    expect(await place.beat(beatOf(bob))).toMatchObject({ generation: 1, targets: first });
    expect(await place.assign(ann, 1, targets('bob'))).toBe(true);
    expect(await place.beat(beatOf(bob))).toMatchObject({ generation: 2, targets: targets('bob') });
  });

  test('is refused when somebody replaced the one it was made from', async () => {
    const place = await coordination();
    await place.beat(beatOf(ann));
    await place.assign(ann, 0, targets('ann'));
    expect(await place.assign(ann, 0, targets('bob'))).toBe(false);
    expect(await place.assign(ann, 2, targets('bob'))).toBe(false);
    expect(await place.beat(beatOf(ann))).toMatchObject({ generation: 1, targets: targets('ann') });
  });

  test('is refused from whoever does not lead', async () => {
    const place = await coordination();
    expect(await place.assign(ann, 0, targets('ann'))).toBe(false);
    await place.beat(beatOf(ann));
    expect(await place.assign(bob, 0, targets('bob'))).toBe(false);
    expect(await place.assign({ ...ann, boot: 'a0' }, 0, targets('bob'))).toBe(false);
  });
});

describe('leaving', () => {
  test('takes back lease, grants and lead, and nothing of others', async () => {
    const place = await coordination();
    await place.beat(beatOf(ann, { holds: [1, 2] }));
    await place.beat(beatOf(bob, { holds: [3] }));
    await place.leave(ann);
    expect(await place.beat(beatOf(bob, { holds: [1] }))).toMatchObject({
      replicas: [live(bob)],
      leader: bob,
      granted: [1, 3],
    });
  });

  test('of an earlier boot leaves the running one alone', async () => {
    const place = await coordination();
    await place.beat(beatOf(ann, { holds: [1] }));
    await place.leave({ ...ann, boot: 'a0' });
    expect(await redis.server.command('hgetall', `${PREFIX}v1.grants`)).toEqual({ '1': 'ann/a1' });
    expect(await redis.server.command('get', `${PREFIX}v1.leader`)).toBe('ann/a1');
    expect(await redis.server.command('hexists', `${PREFIX}v1.replicas`, 'ann')).toBe(1);
  });

  test('frees the id for the next boot at once', async () => {
    const place = await coordination();
    await place.beat(beatOf(ann));
    await place.leave(ann);
    const next = { ...ann, boot: 'a2' };
    expect((await place.beat(beatOf(next))).leader).toEqual(next);
  });
});

test('scripts that the server forgot are sent again', async () => {
  const place = await coordination();
  await place.beat(beatOf(ann));
  await redis.server.command('script', 'flush');
  expect((await place.beat(beatOf(ann))).leader).toEqual(ann);
});

test('installations with other prefixes, and databases, do not see each other', async () => {
  const [one, other, third] = await Promise.all([
    redis.open({ prefix: 'one:' }),
    redis.open({ prefix: 'other:' }),
    redis.open({ prefix: 'one:', url: `${redis.server.url}/3` }),
  ]);
  for (const { coordination: place } of [one, other, third])
    expect(await place.beat(beatOf({ id: 'same', boot: `${Math.random()}`.slice(2) }))).toMatchObject({
      replicas: [{ id: 'same' }],
    });
  expect(await redis.server.command('keys', 'one:*')).toHaveLength(2);
});

test('nothing can be asked for after the end', async () => {
  const { coordination: place, close } = await redis.open();
  await close();
  await expect(place.beat(beatOf(ann))).rejects.toThrow(CoordinationUnavailableError);
});
