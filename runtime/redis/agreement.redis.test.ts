import fc from 'fast-check';
import { test } from 'vitest';
import { MeetingPlace } from '../../test/fakes/coordination.ts';
import { SHARDS } from '../actor/index.ts';
import { type Micros, SECOND } from '../clock.ts';
import { type Coordination, DuplicateReplicaError, type Picture } from '../placement/coordination.ts';
import { PREFIX, useRedis } from './redis.fixture.ts';

const redis = useRedis();

const member = fc.record({ id: fc.constantFrom('ann', 'bob', 'cyd'), boot: fc.constantFrom('1', '2') });
const shards = fc.uniqueArray(fc.constantFrom<number>(0, 1, 2, 100, 255), { maxLength: 5 });
const targets = fc
  .tuple(shards, shards)
  .map(([ann, bob]) =>
    Array.from({ length: SHARDS }, (_, shard) =>
      ann.includes(shard) ? 'ann' : bob.includes(shard) ? 'bob' : null,
    ),
  );

/** One thing that happens, to the real place or to its model. */
const happening = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('beat' as const),
      member,
      isDraining: fc.boolean(),
      holds: shards,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('assign' as const),
      member,
      seen: fc.constantFrom(0, 1, 2),
      targets,
    }),
  },
  fc.record({ kind: fc.constant('release' as const), member, shards }),
  fc.record({ kind: fc.constant('leave' as const), member }),
  fc.record({ kind: fc.constant('second' as const) }),
  fc.record({ kind: fc.constant('three seconds' as const) }),
  fc.record({ kind: fc.constant('flush' as const) }),
);
type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never;

interface Place {
  readonly coordination: Coordination;
  pass(time: Micros): Promise<void> | void;
  flush(): Promise<void> | void;
}

/** The rules of the beat exist twice: as scripts for Redis, and in memory for the simulations. */
test('Redis and the model that simulations use answer alike, whatever happens in which order', async () => {
  const { coordination } = await redis.open();
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { maxLength: 30 }), async (happenings) => {
      await redis.server.flush();
      const real: Place = { coordination, pass: shiftLeases, flush: () => redis.server.flush() };
      const model = createModel();
      for (const each of happenings) {
        const [found, expected] = [await apply(real, each), await apply(model, each)];
        if (JSON.stringify(found) !== JSON.stringify(expected))
          throw new Error(
            `${JSON.stringify(each)} in Redis: ${JSON.stringify(found)}, in the model: ${JSON.stringify(expected)}`,
          );
      }
    }),
    { numRuns: 100 },
  );
});

function createModel(): Place {
  let now = 0;
  const place = new MeetingPlace({ now: () => now, travel: () => Promise.resolve() });
  return {
    coordination: place.coordination('model'),
    pass: (time) => {
      now += time;
    },
    flush: () => place.flush(),
  };
}

/** What somebody who did this sees of it. */
async function apply({ coordination, pass, flush }: Place, it: Happening): Promise<unknown> {
  switch (it.kind) {
    case 'beat':
      return pictureOf(
        coordination.beat({ ...it.member, version: '1', isDraining: it.isDraining, holds: it.holds }),
      );
    case 'assign':
      return coordination.assign(it.member, it.seen, it.targets);
    case 'release':
      return coordination.release(it.member, it.shards);
    case 'leave':
      return coordination.leave(it.member);
    case 'second':
      return pass(SECOND);
    case 'three seconds':
      return pass(3 * SECOND);
    case 'flush':
      return flush();
  }
}

/** With everything in an order. */
async function pictureOf(answer: Promise<Picture>): Promise<unknown> {
  try {
    const { replicas, leader, generation, targets: all, granted } = await answer;
    return {
      replicas: replicas.map(({ id, boot, isDraining }) => [id, boot, isDraining]),
      leader: leader && [leader.id, leader.boot],
      generation,
      targets: all,
      granted: [...granted].sort((one, other) => one - other),
    };
  } catch (error) {
    if (error instanceof DuplicateReplicaError) return 'duplicate';
    throw error;
  }
}

/** Time passes for the leases in Redis: they end sooner. */
async function shiftLeases(time: Micros): Promise<void> {
  const script = `
    local entries = redis.call('HGETALL', KEYS[1])
    for i = 1, #entries, 2 do
      local said = cjson.decode(entries[i + 1])
      said.expiry = said.expiry - ARGV[1]
      redis.call('HSET', KEYS[1], entries[i], cjson.encode(said))
    end
    local left = redis.call('PTTL', KEYS[2])
    if left > 0 then redis.call('PEXPIRE', KEYS[2], left - ARGV[1]) end`;
  await redis.server.command('eval', script, 2, `${PREFIX}v1.replicas`, `${PREFIX}v1.leader`, time / 1000);
}
