/**
 * Rows that commits of two replicas may both lock are written in one order everywhere, so that one waits for the other
 * and never both. By code units: the order only has to be the same at every replica.
 */
export function compareKeys(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
