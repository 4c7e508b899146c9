/** Keeps a text within the number of tags that a channel bot's messenger takes (channel bot §6). */

const MOST_TAGS = 90;
const TAG = /<(\/?)([a-z]+)([^>]*)>/g;

interface Pair {
  readonly name: string;
  readonly attributes: string;
  readonly opensAt: number;
  closesAt: number;
}

/**
 * Leaves out tags beyond the limit and keeps their text: formatting from the end first, then links from the end. Links
 * to `page` and to people stay.
 * @param output balanced HTML
 */
export function limitTags(output: string, page: string): string {
  const pairs = pairsOf(output);
  if (pairs.length <= MOST_TAGS) return output;
  const isKept = ({ attributes }: Pair) => attributes.includes(`"${page}"`) || attributes.includes('"tg://');
  const leaving = [
    ...pairs.filter(({ name }) => name !== 'a').reverse(),
    ...pairs.filter((pair) => pair.name === 'a' && !isKept(pair)).reverse(),
  ].slice(0, pairs.length - MOST_TAGS);
  const left = new Set(leaving.flatMap(({ opensAt, closesAt }) => [opensAt, closesAt]));
  return output.replace(TAG, (tag, ...rest: unknown[]) => (left.has(Number(rest.at(-2))) ? '' : tag));
}

/** By their opening tags. */
function pairsOf(output: string): Pair[] {
  const pairs: Pair[] = [];
  const open: Pair[] = [];
  for (const { index, 1: slash, 2: name = '', 3: attributes = '' } of output.matchAll(TAG)) {
    if (slash === '/') {
      const pair = open.pop();
      if (pair) pair.closesAt = index;
    } else {
      const pair = { name, attributes, opensAt: index, closesAt: index };
      open.push(pair);
      pairs.push(pair);
    }
  }
  return pairs;
}
