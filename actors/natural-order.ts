/** The order in which people expect names with numbers: `p2` before `p10`. */
const RUNS = /\d+|\D+/g;

/** Runs of digits compare as numbers, everything else by code units. */
export function naturalOrder(left: string, right: string): number {
  const [a, b] = [left.match(RUNS) ?? [], right.match(RUNS) ?? []];
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const difference = compareRuns(a[index] ?? '', b[index] ?? '');
    if (difference !== 0) return difference;
  }
  return a.length - b.length || compareTexts(left, right);
}

/** Of any length, so that digits are never turned into a number. */
function compareRuns(left: string, right: string): number {
  if (!isNumber(left) || !isNumber(right)) return compareTexts(left, right);
  const [a, b] = [left.replace(/^0+/, ''), right.replace(/^0+/, '')];
  return a.length - b.length || compareTexts(a, b);
}

function isNumber(run: string): boolean {
  return /^\d/.test(run);
}

function compareTexts(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
