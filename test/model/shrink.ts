/** Makes a story that fails as short as it can be while it still fails. */
import type { Entry, Received, Step, Story } from './story.ts';

export async function shrink(story: Story, fails: (story: Story) => Promise<boolean>): Promise<Story> {
  let smallest = story;
  for (;;) {
    const smaller = await firstThatFails(smallest, fails);
    if (smaller === null) return smallest;
    smallest = smaller;
  }
}

async function firstThatFails(
  story: Story,
  fails: (story: Story) => Promise<boolean>,
): Promise<Story | null> {
  for (const smaller of smallerThan(story)) if (await fails(smaller)) return smaller;
  return null;
}

/** Stories with less in them, the shortest first. */
function* smallerThan({ window, steps }: Story): Iterable<Story> {
  for (let length = steps.length >> 1; length >= 1; length >>= 1) {
    for (let from = 0; from < steps.length; from += length) {
      yield { window, steps: steps.toSpliced(from, length) };
    }
  }
  for (const [index, step] of steps.entries()) {
    for (const smaller of smallerSteps(step)) yield { window, steps: steps.with(index, smaller) };
  }
}

function* smallerSteps(step: Step): Iterable<Received> {
  if (step === 'restart') return;
  const { entries, over, cut } = step;
  if (cut) yield { ...step, cut: false };
  if (over) yield { ...step, over: false };
  for (const [index, entry] of entries.entries()) {
    yield { ...step, entries: entries.toSpliced(index, 1) };
    if (entry.text !== '') yield { ...step, entries: entries.with(index, { ...entry, text: '' } as Entry) };
  }
}
