/** What two feeds say of one Alert within moments may cross with what its home tells them; nothing is lost by it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MINUTE, SECOND } from '../../../runtime/clock.ts';
import { createPair, type PairEntry, type PairFeed } from './pair.fixture.ts';

type Happening =
  | {
      readonly is: 'said';
      readonly feed: PairFeed;
      readonly name: string;
      readonly word: Word;
      readonly at: Moment;
    }
  | { readonly is: 'arrival'; readonly place: number }
  | { readonly is: 'time'; readonly seconds: number }
  | { readonly is: 'command' };
type Word = 'fires' | 'starts anew' | 'is resolved' | 'is left out';
/** At the very µs of the Snapshot before, or one later. */
type Moment = 'same' | 'next';

const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record({
      is: fc.constant('said' as const),
      feed: fc.constantFrom<PairFeed>('G', 'H'),
      name: fc.constantFrom('A', 'B'),
      word: fc.constantFrom<Word>('fires', 'fires', 'starts anew', 'is resolved', 'is left out'),
      at: fc.constantFrom<Moment>('same', 'next'),
    }),
  },
  { weight: 9, arbitrary: fc.record({ is: fc.constant('arrival' as const), place: fc.nat(9) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      is: fc.constant('time' as const),
      seconds: fc.constantFrom(1, 50, 180, 420, 960),
    }),
  },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('command' as const) }) },
);
const happenings = fc.array(happening, { minLength: 4, maxLength: 24 });

/** Plays a story; answers the world, all quiet, and what each feed lists in the end. */
async function play(story: readonly Happening[]) {
  const pair = createPair();
  const listed: Record<PairFeed, Map<string, number>> = { G: new Map(), H: new Map() };
  for (const [place, one] of story.entries()) {
    if (one.is === 'arrival') await pair.arrive(one.place);
    else if (one.is === 'command') await pair.personResolves();
    else if (one.is === 'time') {
      await pair.arriveAll();
      await pair.pass(one.seconds * SECOND);
    } else {
      if (one.at === 'next') await pair.pass(1);
      await pair.hear(one.feed, ...said(one, listed, place));
    }
  }
  await pair.arriveAll();
  await pair.pass(MINUTE);
  await pair.arriveAll();
  return { pair, listed };
}

function said(
  { feed, name, word }: Extract<Happening, { is: 'said' }>,
  listed: Record<PairFeed, Map<string, number>>,
  place: number,
): [entries: PairEntry[], status: 'firing' | 'resolved'] {
  const names = listed[feed];
  const known = names.get(name);
  const ended: PairEntry[] = [];
  if (word === 'starts anew') names.set(name, place);
  else if (word === 'fires') names.set(name, known ?? listed.G.get(name) ?? listed.H.get(name) ?? place);
  else {
    names.delete(name);
    if (word === 'is resolved' && known !== undefined) ended.push({ name, firing: false, start: known });
  }
  return [[...firing(names), ...ended], names.size === 0 ? 'resolved' : 'firing'];
}

function firing(names: ReadonlyMap<string, number>): PairEntry[] {
  return [...names].map(([name, start]) => ({ name, firing: true, start }));
}

it('ends an Alert that one feed listed anew while the other ended its firing', async () => {
  const pair = createPair();
  const entry = (start: number, isFiring = true) => [{ name: 'A', firing: isFiring, start }];
  await pair.hear('G', entry(1), 'firing');
  await pair.hear('H', entry(1), 'firing');
  await pair.arriveAll();
  await pair.pass(10 * MINUTE);
  await pair.hear('H', entry(2), 'firing');
  await pair.pass(1);
  await pair.hear('G', entry(1, false), 'resolved');
  // The end is told to H before the home hears what H listed, and arrives after H listed it.
  await pair.arriveFrom('G');
  await pair.arriveFrom('H');
  expect(pair.firing()).toEqual(['A']);
  await pair.arriveAt('H');
  await pair.pass(10 * MINUTE);
  await pair.hear('H', [], 'resolved');
  await pair.arriveAll();
  expect(pair.firing()).toEqual([]);
});

describe('a lagging instance of the sender', () => {
  const entry = (start: number, firing: boolean): PairEntry[] => [{ name: 'A', firing, start }];

  it.each([
    ['a resolve', [entry(1, true), entry(1, false), entry(2, true)]],
    ['a Continuation', [entry(1, true), entry(2, true)]],
  ])('that repeats the firing before %s, and its end, does not end the present one', async (_, told) => {
    for (const pause of [SECOND, MINUTE]) {
      const pair = createPair();
      for (const entries of [...told, entry(1, true), entry(1, false), entry(1, false)]) {
        await pair.hear('G', entries, entries[0]?.firing ? 'firing' : 'resolved');
        await pair.arriveAll();
        await pair.pass(pause);
      }
      expect(pair.firing()).toEqual(['A']);
    }
  });
});

describe('a feed that resolved what it listed and falls silent, overtaken by a newer listing of the other', () => {
  const lists = (start: number) => [{ name: 'A', firing: true, start }];
  const rest = [{ name: 'B', firing: true, start: 1 }];

  it.each<[string, readonly PairEntry[], number]>([
    ['with its whole group', [], 1],
    ['by its own entry, and the other continues it', [{ name: 'A', firing: false, start: 1 }], 2],
    ['with its whole group, and the other continues it', [], 2],
  ])('%s, does not keep the Alert firing', async (_, said, start) => {
    const pair = createPair();
    await pair.hear('G', lists(1), 'firing');
    await pair.hear('H', [...lists(1), ...rest], 'firing');
    await pair.arriveAll();
    await pair.pass(10 * MINUTE);
    await pair.hear('G', said, 'resolved');
    await pair.pass(MINUTE);
    await pair.hear('H', [...lists(start), ...rest], 'firing');
    if (start > 1) await pair.arriveFrom('H');
    await pair.arriveAll();
    expect(pair.firing().toSorted()).toEqual(['A', 'B']);
    for (const pause of [MINUTE, 6 * MINUTE]) {
      await pair.pass(pause);
      await pair.hear('H', rest, 'firing');
      await pair.arriveAll();
    }
    expect(pair.firing()).toEqual(['B']);
  });

  it('is heard again as soon as it lists the Alert again', async () => {
    const pair = createPair();
    await pair.hear('G', lists(1), 'firing');
    await pair.hear('H', lists(1), 'firing');
    await pair.arriveAll();
    await pair.pass(10 * MINUTE);
    await pair.hear('G', [], 'resolved');
    await pair.hear('G', lists(1), 'firing');
    await pair.pass(1);
    await pair.hear('H', lists(2), 'firing');
    await pair.arriveFrom('H');
    await pair.arriveAll();
    await pair.hear('H', [], 'resolved');
    await pair.arriveAll();
    await pair.pass(MINUTE);
    await pair.hear('G', lists(1), 'firing');
    await pair.arriveAll();
    expect(pair.firing()).toEqual(['A']);
  });
});

it('keeps the presence of an Alert that is on its way to another group when its feed verifies what it lists', async () => {
  const pair = createPair();
  const listed = [{ name: 'A', firing: true, start: 1 }];
  await pair.hear('G', listed, 'firing');
  await pair.arriveAll();
  await pair.personResolves();
  await pair.pass(16 * MINUTE);
  await pair.hear('G', listed, 'firing');
  await pair.arriveAll();
  expect(pair.firing()).toEqual(['A']);
  for (const pause of [MINUTE, 6 * MINUTE]) {
    await pair.pass(pause);
    await pair.hear('G', [{ name: 'C', firing: true, start: 1 }], 'firing');
    await pair.arriveAll();
  }
  expect(pair.firing()).toEqual(['C']);
});

it('keeps the presence of an Alert whose older start is listed at the moment of its move', async () => {
  const pair = createPair();
  await pair.hear('G', [{ name: 'A', firing: true, start: 1 }], 'firing');
  await pair.arriveAll();
  await pair.personResolves();
  await pair.pass(16 * MINUTE);
  await pair.hear('G', [{ name: 'A', firing: true, start: 0 }], 'firing');
  await pair.arriveAll();
  expect(pair.firing()).toEqual(['A']);
  await pair.hear('G', [], 'resolved');
  await pair.arriveAll();
  expect(pair.firing()).toEqual([]);
});

it('gives a firing that was on its way to a new group to the one that is unresolved meanwhile', async () => {
  const pair = createPair();
  const [a, b] = ['A', 'B'].map((name) => ({ name, firing: true, start: 1 }) as const);
  await pair.hear('G', [a!], 'firing');
  await pair.arriveAll();
  await pair.personResolves();
  await pair.pass(MINUTE);
  await pair.hear('G', [a!, b!], 'firing');
  // The resolved group sends it on, and gives its Slot away.
  await pair.arriveFrom('G');
  await pair.personUnresolves();
  pair.slotsAreRefused();
  await pair.arriveAll();
  expect(pair.openGroups()).toBe(1);
  expect(pair.firing()).toEqual(['A', 'B']);
});

it('leaves nothing firing once both feeds say that all is over', async () => {
  await fc.assert(
    fc.asyncProperty(happenings, async (story) => {
      const { pair } = await play(story);
      for (const feed of ['G', 'H'] as const) {
        await pair.hear(feed, [], 'resolved');
        await pair.arriveAll();
      }
      expect(pair.firing()).toEqual([]);
    }),
    { numRuns: 150 },
  );
}, 60_000);

it('leaves nothing firing that is kept by a feed which said that all is over and fell silent', async () => {
  await fc.assert(
    fc.asyncProperty(
      happenings,
      happenings,
      fc.constantFrom<PairFeed>('G', 'H'),
      async (before, after, silent) => {
        const other = silent === 'G' ? 'H' : 'G';
        const isOver = (name: string): Happening => {
          return { is: 'said', feed: silent, name, word: 'is left out', at: 'next' };
        };
        const rest = after.filter((one) => one.is !== 'said' || one.feed === other);
        const { pair } = await play([...before, isOver('A'), isOver('B'), ...rest]);
        for (const pause of [MINUTE, 2 * MINUTE, 16 * MINUTE]) {
          await pair.pass(pause);
          await pair.hear(other, [{ name: 'C', firing: true, start: 1 }], 'firing');
          await pair.arriveAll();
        }
        expect(pair.firing()).toEqual(['C']);
      },
    ),
    { numRuns: 100 },
  );
}, 60_000);

it('lets everything fire that a feed lists for as long as it takes to verify it', async () => {
  await fc.assert(
    fc.asyncProperty(happenings, async (story) => {
      const { pair, listed } = await play(story);
      for (const feed of ['G', 'H', 'G', 'H'] as const) {
        await pair.pass(16 * MINUTE);
        await pair.arriveAll();
        await pair.hear(feed, firing(listed[feed]), 'firing');
        await pair.arriveAll();
      }
      expect(pair.firing().toSorted()).toEqual(
        [...new Set([...listed.G.keys(), ...listed.H.keys()])].toSorted(),
      );
    }),
    { numRuns: 100 },
  );
}, 60_000);
