/** What feeds, Alert Groups and Integrations make of Snapshots is what the contract says, written once more (test/model). */
import { describe, expect, it, test } from 'vitest';
import { anyDifference, difference, differenceWhenBehind } from '../../test/model/compare.ts';
import { expected } from '../../test/model/model.ts';
import { BEHINDS, PACES, recordedStory } from '../../test/model/recorded.ts';
import { drawStory } from '../../test/model/sequences.ts';
import { shrink } from '../../test/model/shrink.ts';
import { type Received, readStory, type Story, storyText } from '../../test/model/story.ts';
import { seedOfRun } from '../../test/simulation/random.ts';

/** Stories on which the two once differed, as short as they could be made. */
const FOUND: readonly (readonly [string, string])[] = [
  [
    'a resolve arrives late, the Alert was listed again since and is missed now',
    `window 10
    0 G A1m+60
    1200 G A1m+60
    1246 G
    900 G A1m-120`,
  ],
  [
    'a resolve arrives late, as old as a truncated list that did not name the Alert, which is missed since',
    `window 45
    5896 G A1m+0
    6496 G cut
    6596 G
    6496 G A1m-120`,
  ],
  [
    'a final notification names the older start of the pair, and the next start comes after a silence',
    `window 45
    0 G A1m+11 B1m+0
    60 G A1m+1 B1m+0
    120 G A1m-1 B1m-0 over
    36000 G A1m+30000`,
  ],
  [
    'a final notification names a start that ended before, and the next start comes after a silence',
    `window 45
    0 G A1m+1
    60 G A1m-1
    120 G A1m+100
    180 G A1m+1
    181 G A1m-1 over
    36000 G A1m+30000`,
  ],
  [
    'another group lists the Alert that a final notification names with an older start',
    `window 45
    0 G A1m+11
    1 H A1m+11
    60 G A1m+1
    120 G A1m-1 over
    36000 G A1m+30000`,
  ],
  [
    'final notifications of two groups name the older start, and the next start comes after a silence',
    `window 45
    0 G A1m+11
    1 H A1m+11
    60 G A1m+1
    61 H A1m+1
    120 G A1m-1 over
    121 H A1m-1 over
    36000 G A1m+30000
    36001 H A1m+30000`,
  ],
  [
    'a final notification names an older start, and nothing comes for a day',
    `window 45
    0 G A1m+11 B1m+0
    120 G A1m-1 B1m-0 over
    90119 H A1n+0
    90121 H A1n+0
    100000 G A1m+11`,
  ],
  [
    'a final notification of one group names an older start, another group lists the Alert for a day',
    `window 45
    0 G A1m+11
    1 H A1m+11
    120 G A1m-1 over
    100000 K A1n+0
    100001 H A1m-11 over`,
  ],
  [
    'a day after a final notification named an older start, another names the newer one, which was stale by then',
    `window 120
    1201 G A2m+120
    3701 G A1m+60 A2m-60 over
    103701 G A2m-120 over`,
  ],
  [
    'another group named the older start too short a time ago',
    `window 45
    0 G A1m+11
    1 H A1m+11
    60 G A1m-1 over
    61 H A1m-1 over
    400 H A1m+11
    500 H A1m-1 over
    799 G A1m+300`,
  ],
  [
    'a lagging instance repeats a final notification after the next Alert began',
    `window 45
    0 G A1m+0
    60 G A1m-0 over
    120 G B1m+100
    180 G A1m-0 over
    restart
    240 G B1m+100`,
  ],
  [
    'a lagging instance repeats the firing and its final notification after the next Alert began',
    `window 45
    0 G A1m+0
    60 G A1m-0 over
    120 G B1m+100
    180 G A1m-7
    181 G A1m-7 over
    restart
    240 G B1m+100`,
  ],
  [
    'a lagging instance of one of two groups repeats a final notification',
    `window 45
    0 G A1m+0
    1 H A1m+0
    60 G A1m-0 over
    61 H A1m-0 over
    120 G B1m+100
    121 H B1m+100
    180 G A1m-0 over`,
  ],
  [
    'a final notification of a group names what ended by that of another, and leaves the rest out',
    `window 45
    0 G A1m+0 B1m+0
    1 H A1m+0
    60 H A1m-0 over
    61 G A1m-0 over
    120 G B1m+100
    180 G A1m-0 over`,
  ],
  [
    'a lagging instance repeats an earlier firing and its end',
    `window 45
    0 G A1m+0
    60 G A1m-0 over
    120 G A1m+100
    180 G A1m+0
    181 G A1m-0 over
    600 G A1m+100`,
  ],
  [
    'an older start inside the window, its end after it',
    `window 600
    904 G A1m+120
    948 G A1m+0
    1048 G A1m-0`,
  ],
  [
    'a Snapshot that calls the group resolved and names an older start misses the Alert',
    `window 120
    301 G B1m+120
    737 G B1m-0 over`,
  ],
  [
    'a newer start comes with a Snapshot that is older than a repeat of another group',
    `window 45
    90 G A1n+49"x"
    106 G A1n+49"x"
    103 H A1n+56`,
  ],
  [
    'a newer start comes with an early Snapshot',
    `window 45
    2110 G A3m+0
    2098 G A3m+120
    2188 G A3m-0`,
  ],
  [
    'an early group-wide resolve after another group listed the Alert',
    `window 120
    97 G A1m+6
    61 H A1m+6
    64 G over`,
  ],
  [
    'a resolve follows an ignored one',
    `window 45
    97 K A1n+75
    120 K A1n-68
    144 K A1n-124`,
  ],
  [
    'an absence becomes long enough inside a window that says nothing else',
    `window 45
    45 G B1m+120
    91 G
    390 G A2m+120
    406 G A2m+120`,
  ],
  [
    'a resolve repeated inside the window, another group listed the Alert in between',
    `window 120
    49 G A2m-9 A3m-3 over
    52 K A2m+9
    81 G A2m-9 A3m-3 over`,
  ],
  [
    'an ignored resolve between two listings that say the same',
    `window 120
    1768 G B1m+120
    2067 G B1m+0
    2182 G B1m-60
    2767 H B1m+60"x"
    3767 G B1m+0`,
  ],
  [
    'what a former home passes on ends the last Alerts in two steps',
    `window 45
    319 H A2m+0
    957 H over
    2011 G A1m+0
    2012 K A2m+0
    restart
    2913 G A1m-60 A2m-120`,
  ],
  [
    'an early Snapshot was received inside the Reopen window of a group that has a successor',
    `window 600
    808 G B2m+58
    827 G B2m-58
    1760 G B2m+914
    1665 G B2m+914"x"`,
  ],
  [
    'a group-wide resolve at the moment in which another group is heard, which then repeats an older Snapshot',
    `window 120
    18 H A2m+23
    103 G A2m+23
    64 G A2m+10
    103 H over`,
  ],
];

/** The same, when three Snapshots are processed at once. */
const BEHIND: readonly (readonly [string, string])[] = [
  [
    'a final notification names what was gone and is listed once more with an older start',
    `window 45
    101246 G
    101545 G A1m+60
    101590 G
    102490 G A2m+0
    102490 G A1m+0
    103889 G A1m-120 over`,
  ],
  [
    'a final notification names an Alert whose end is on its way',
    `window 45
    124 G
    91 G A1m+10
    99 G A1m-10 B1m+47
    94 G A1m-23 over`,
  ],
  [
    'an Alert listed twice while its end is under way',
    `window 45
    300 G
    316 G A2m+69
    324 G over
    324 G A2m+69
    342 G A2m+69`,
  ],
  [
    'an Alert listed twice, the first time with a Snapshot older than its end',
    `window 600
    111 G B2m+28
    142 G over
    114 G
    133 G B2m+28
    150 G B2m+28`,
  ],
  [
    'an Alert that ended fires anew with an older start',
    `window 45
    79 G B1m+9
    91 G over
    248 G B1m+2
    293 G B1m-2`,
  ],
  [
    'an older start while the firing itself is not stored yet',
    `window 45
    745 G B1m+120
    1745 G B1m+0
    3045 G B1m-60`,
  ],
  [
    'an old copy while the next firing is not stored yet',
    `window 600
    100 G
    120 G B2m+60
    165 G B2m-60
    465 G B2m+120
    764 G B2m+0`,
  ],
  [
    'a late resolve together with the repeat that is newer',
    `window 10
    600 G A3m+0
    656 G A3m+0
    620 G A3m-60`,
  ],
  [
    'a listing repeats an early one that is older than the absence on its way home',
    `window 10
    1754 G
    1765 G
    2054 G B2m+120
    2074 G
    2093 G
    2373 G
    2420 G
    2419 G B2m+0"x"
    2467 G B2m+0"x"`,
  ],
  [
    'a listing repeats one that came a moment after the late resolve on its way home',
    `window 45
    459 G A3m+60
    758 G
    778 G
    824 G
    880 G
    825 G
    825 G A3m-60
    869 G A3m+0
    883 G A3m+0`,
  ],
  [
    'a resolve of an older start than the one listed before the end on its way home',
    `window 10
    102 H B2m+96
    100 H over
    102 H B2m+89
    112 H B2m-89`,
  ],
  [
    'a final notification names an older start before the first listing is stored',
    `window 45
    2405 H B1m+60
    2770 H B1m-0 over
    3432 H B1m+120`,
  ],
  [
    'a final notification names an older start while an earlier end is on its way, and nothing comes for a day',
    `window 45
    60 G
    105 G
    1005 G A1n+0
    2005 G A1n-60 A3m-120
    2049 G A1n+120
    2349 G A1n-60 over
    102389 G`,
  ],
];

test('a firing whose groups all named an older start ends before the next one', async () => {
  const { window, steps } = readStory(FOUND.find(([name]) => name.includes('two groups'))?.[1] ?? '');
  const received = steps.filter((step): step is Received => step !== 'restart');
  const pictures = expected(received, { window, instanceLabels: [] });
  expect(pictures.map(({ groups }) => groups['A#1']?.events.join(', '))).toEqual([
    ...['created A1m', '', '', '', '', ''],
    ...['resolved gone A1m, reopened A1m', ''],
  ]);
});

describe('the engine shows what the model expects after every Snapshot', () => {
  it.each(FOUND)('%s', async (_, text) => {
    expect(await difference(readStory(text))).toBeNull();
  });

  // Every pace and every lag once; all pairs of them: npm run simulate:ingestion.
  it.each(PACES.map((pace, index) => [pace, BEHINDS[index] ?? 'neither'] as const))(
    'of the recorded pair, %i times slower, behind: %s',
    async (pace, behind) => {
      expect(await difference(recordedStory(pace, behind))).toBeNull();
    },
    60_000,
  );

  it.each(BEHIND)('when Snapshots arrive faster than they are processed: %s', async (_, text) => {
    expect(await differenceWhenBehind(readStory(text))).toBeNull();
  });

  it('of random stories, others at every commit', async () => {
    const first = 1_000_000 + seedOfRun(undefined);
    for (let seed = first; seed < first + 30; seed++) {
      const story = drawStory(seed);
      if ((await anyDifference(story)) === null) continue;
      const shortest = await shrink(story, async (one) => (await anyDifference(one)) !== null);
      const found = `seed ${seed}\n${storyText(shortest)}\n${await anyDifference(shortest)}`;
      expect.fail(`${found}\nreplay with: npm run simulate:ingestion -- --sequences 1 --seed ${seed}`);
    }
  }, 60_000);
});

test('the model looks at nothing that was received later', () => {
  const settings = { window: 45_000_000, instanceLabels: ['pod'] };
  for (let seed = 1; seed <= 20; seed++) {
    const received = drawStory(seed).steps.filter((step): step is Received => step !== 'restart');
    const all = expected(received, settings);
    for (const length of received.keys()) {
      expect(expected(received.slice(0, length), settings)).toEqual(all.slice(0, length));
    }
  }
});

test('a story is read as it was written', () => {
  for (let seed = 1; seed <= 50; seed++) {
    const story = drawStory(seed);
    expect(readStory(storyText(story))).toEqual(story);
  }
});

test('a story that fails is made as short as it can be', async () => {
  const story = readStory('window 45\n0 G A1m+0"x" B1m+0 cut\nrestart\n60 H B1m-0 over\n90 G A1m-0 over');
  const hasResolve = async ({ steps }: Story) =>
    steps.some(
      (step) => step !== 'restart' && step.entries.some(({ name, firing }) => name === 'B1m' && !firing),
    );
  expect(storyText(await shrink(story, hasResolve))).toBe('window 45\n60 H B1m-0');
});
