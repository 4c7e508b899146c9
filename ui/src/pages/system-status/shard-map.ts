/** Which replica owns which shards, in words (ui §11.6). */

/** Whole numbers in order, with runs of three and more written as one: `0–12, 40, 41`. */
export function ranges(numbers: readonly number[]): string {
  const runs: [first: number, last: number][] = [];
  for (const number of numbers) {
    const run = runs.at(-1);
    if (run !== undefined && run[1] === number - 1) run[1] = number;
    else runs.push([number, number]);
  }
  return runs
    .map(([first, last]) => {
      if (first === last) return `${first}`;
      return `${first}${last === first + 1 ? ', ' : '–'}${last}`;
    })
    .join(', ');
}

/** The shard that an address leads to by its hash, `#shard-17`; null without one. */
export function shardOfHash(hash: string): number | null {
  const [, number] = /^#shard-(\d{1,3})$/.exec(hash) ?? [];
  return number === undefined ? null : Number(number);
}

/** @param owners by number of the shard, the index of its owner; null without one */
export function shardsOf(owners: readonly (number | null)[], owner: number | null): number[] {
  return owners.flatMap((each, shard) => (each === owner ? [shard] : []));
}
