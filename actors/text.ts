/** Length of a text in Unicode code points, as every limit of the API counts. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
