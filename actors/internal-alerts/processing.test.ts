import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MINUTE, SECOND } from '../../runtime/clock.ts';
import { createInternalWorld, DESTINATIONS, type InternalWorld } from './world.fixture.ts';

const [OPS, NET] = DESTINATIONS;

async function settled(...steps: ((world: InternalWorld) => unknown)[]): Promise<InternalWorld> {
  const world = createInternalWorld();
  for (const step of steps) {
    await step(world);
    await world.processAll();
  }
  return world;
}

const raise = (world: InternalWorld) => world.record('raise', OPS);
const resolve = (world: InternalWorld) => world.record('resolve', OPS);
const later = (world: InternalWorld) => world.pass(MINUTE);

describe('the table of internal-alerts §2.1 rule 6', () => {
  test('a raise of no Alert is a new firing, critical whatever the mapping says', async () => {
    const world = await settled(raise);
    expect(world.firing()).toEqual([{ name: 'ops', severityLevel: 'critical', severityRaw: null }]);
    expect(world.events()).toEqual(['created']);
    expect(world.logged()).toEqual(['raised SvcDestinationBroken']);
  });

  test('a raise with another name updates the firing in place, quietly', async () => {
    const world = await settled(raise, later, (it) => it.rename(OPS, 'ops-eu'));
    expect(world.firing()).toMatchObject([{ name: 'ops-eu' }]);
    expect(world.events()).toEqual(['created', 'annotations_changed']);
    expect(world.logged()).toHaveLength(1);
  });

  test('labels that differ alone count as other words, too', async () => {
    const world = await settled(raise, later, (it) => it.tellAgain(OPS, { env: 'prod' }));
    expect(world.events()).toEqual(['created', 'annotations_changed']);
  });

  test('an equal raise does nothing, whatever its start', async () => {
    const world = await settled(raise, later, (it) => it.tellAgain(OPS, {}));
    expect(world.events()).toEqual(['created']);
    expect(world.starts()).toEqual([world.startOf(OPS)]);
  });

  test('a resolve of a firing Alert resolves it', async () => {
    const world = await settled(raise, later, resolve);
    expect(world.firing()).toEqual([]);
    expect(world.events()).toEqual(['created', 'resolved']);
    expect(world.logged()).toEqual(['raised SvcDestinationBroken', 'resolved SvcDestinationBroken']);
  });

  test('a resolve of what does not fire is nothing, and not counted as dropped', async () => {
    const world = await settled(raise, later, resolve, (it) => it.tellEnd(OPS));
    expect(world.events()).toEqual(['created', 'resolved']);
    expect(world.dropped()).toBe(0);
    const fresh = await settled((it) => it.tellEnd(NET));
    expect(fresh.events()).toEqual([]);
    expect(fresh.dropped()).toBe(0);
  });

  test('a raise after the resolve is a new firing, also within seconds', async () => {
    const world = await settled(raise, resolve, raise, resolve, raise);
    expect(world.firing()).toHaveLength(1);
  });

  test('alerts of other entities stay: nothing is concluded from what a Snapshot leaves out', async () => {
    const world = await settled(raise, later, (it) => it.record('raise', NET));
    await world.pass(60 * MINUTE);
    await world.record('resolve', NET);
    await world.processAll();
    expect(world.firing()).toMatchObject([{ name: 'ops' }]);
  });

  test.each([
    ['while it fires', [raise, later, (it: InternalWorld) => it.rename(OPS, 'x')]],
    ['after it resolved', [raise, later, resolve]],
    ['while it fires again', [raise, later, resolve, later, raise]],
  ])('replaying everything twice changes nothing %s', async (_, steps) => {
    const world = await settled(...steps, later);
    const before = [world.events(), world.firing(), world.starts(), world.logged()];
    for (const marked of [true, false]) {
      await world.replayAll(marked);
      await world.replayAll(marked);
      await world.processAll();
      expect([world.events(), world.firing(), world.starts(), world.logged()]).toEqual(before);
    }
  });

  test('a raise is a new firing although its feed has not heard of the end', async () => {
    const world = createInternalWorld();
    for (const step of [raise, resolve, raise]) {
      await step(world);
      await world.processOne();
    }
    expect(world.firing()).toHaveLength(1);
    await world.hearEndings();
    await world.rename(OPS, 'ops-eu');
    await world.processAll();
    expect(world.firing()).toMatchObject([{ name: 'ops-eu' }]);
  });

  test('a raise that still waits when its entity is renamed ends up with the new name', async () => {
    const world = createInternalWorld();
    await world.record('raise', OPS);
    await world.rename(OPS, 'ops-eu');
    await world.processAll();
    expect(world.firing()).toMatchObject([{ name: 'ops-eu' }]);
  });

  test('a raise that still waits when its entity is deleted is resolved', async () => {
    const world = createInternalWorld();
    await world.record('raise', OPS);
    await world.remove(OPS);
    await world.record('raise', OPS);
    await world.processAll();
    expect(world.firing()).toEqual([]);
  });
});

test('however raises, resolves, names, crashes and replays interleave, what fires is what is raised', async () => {
  const which = fc.constantFrom(...DESTINATIONS);
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.tuple(fc.constantFrom('raise' as const, 'resolve' as const), which) },
    { weight: 2, arbitrary: fc.tuple(fc.constant('rename' as const), which, fc.constantFrom('a', 'b', 'c')) },
    { weight: 1, arbitrary: fc.tuple(fc.constant('remove' as const), which) },
    { weight: 6, arbitrary: fc.constant(['process'] as const) },
    { weight: 2, arbitrary: fc.constant(['crash'] as const) },
    { weight: 3, arbitrary: fc.constant(['endings'] as const) },
    { weight: 1, arbitrary: fc.tuple(fc.constant('replay' as const), fc.nat(), fc.boolean()) },
    {
      weight: 2,
      arbitrary: fc.tuple(fc.constant('pass' as const), fc.constantFrom(0, SECOND, MINUTE, 90 * MINUTE)),
    },
    { weight: 1, arbitrary: fc.constant(['person resolves'] as const) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const world = createInternalWorld();
      for (const taken of steps) {
        switch (taken[0]) {
          case 'raise':
          case 'resolve':
            await world.record(taken[0], taken[1]);
            break;
          case 'rename':
            await world.rename(taken[1], taken[2]);
            break;
          case 'remove':
            await world.remove(taken[1]);
            break;
          case 'process':
            await world.processOne();
            break;
          case 'endings':
            await world.hearEndings();
            break;
          case 'crash':
            await world.crashWhileProcessing();
            break;
          case 'replay':
            world.replay(taken[1], taken[2]);
            break;
          case 'pass':
            await world.pass(taken[1]);
            break;
          case 'person resolves':
            await world.personResolves();
            break;
          default:
            taken satisfies never;
        }
        world.expectOneFiringEach();
      }
      await world.processAll();
      world.expectOneFiringEach();
      expect(
        world
          .firing()
          .map(({ name }) => name)
          .sort(),
      ).toEqual(world.raised().sort());
      expect(world.starts()).toEqual(world.raisedSince());
      const said = (change: string) => world.logged().filter((line) => line.startsWith(change)).length;
      expect(said('raised') - said('resolved')).toBe(world.raised().length);
      expect(world.dropped()).toBe(0);
    }),
    { numRuns: 300 },
  );
}, 60_000);
