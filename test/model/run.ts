/**
 * `npm run simulate:ingestion -- [--sequences 20000] [--seed 1]`: compares the engine with the model over the recorded
 * pair at every pace with either instance behind, and over so many random stories, beginning with the one of a seed; what
 * one sender group says also while Snapshots are in flight. The first on which they differ is made short and printed;
 * `--story FILE` runs what was printed.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { anyDifference, difference } from './compare.ts';
import { BEHINDS, PACES, recordedStory } from './recorded.ts';
import { drawStory } from './sequences.ts';
import { shrink } from './shrink.ts';
import { readStory, type Story, storyText } from './story.ts';

const { values } = parseArgs({
  options: {
    sequences: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    story: { type: 'string' },
  },
});

process.exitCode =
  values.story === undefined ? (await runRecorded()) || (await runMany()) : await runStory(values.story);

async function runRecorded(): Promise<number> {
  for (const pace of PACES) {
    for (const behind of BEHINDS) {
      const differs = await difference(recordedStory(pace, behind));
      if (differs === null) continue;
      console.log(
        `the recorded pair, ${pace} times slower, behind: ${behind}: the engine and the model differ`,
      );
      console.log(differs);
      return 1;
    }
  }
  console.log(`the engine and the model agree on the recorded pair, ${PACES.join(', ')} times slower`);
  return 0;
}

async function runMany(): Promise<number> {
  const [first, count] = [Number(values.seed), Number(values.sequences)];
  const begin = performance.now();
  let snapshots = 0;
  for (let seed = first; seed < first + count; seed++) {
    const story = drawStory(seed);
    snapshots += story.steps.filter((step) => step !== 'restart').length;
    if ((await anyDifference(story)) === null) continue;
    const shortest = await shrink(story, async (one) => (await anyDifference(one)) !== null);
    console.log(`seed ${seed}: the engine and the model differ. The shortest story:`);
    return tell(shortest);
  }
  const seconds = Math.round((performance.now() - begin) / 1000);
  console.log(
    `the engine and the model agree on ${count} sequences from seed ${first}: ${snapshots} Snapshots, ${seconds} s`,
  );
  return 0;
}

async function runStory(file: string): Promise<number> {
  return tell(readStory(readFileSync(file, 'utf8')));
}

async function tell(story: Story): Promise<number> {
  const differs = await anyDifference(story);
  console.log(storyText(story));
  console.log(differs ?? 'the engine and the model agree');
  return differs === null ? 0 : 1;
}
