/** Whether a figure grows: the line through the second half of what was measured. */

/** Growth over the second half that counts as none, as a share of its mean. */
export const TOLERATED = { memory: 0.1, heap: 0.25, latency: 0.5, tables: 0.25 } as const;

/**
 * @param points second and figure, in order of time
 * @returns by how much the line of least squares rises over the second half, as a share of the mean there; NaN for less
 *   than two points
 */
export function growthOf(points: readonly (readonly [second: number, figure: number])[]): number {
  const half = points.slice(Math.floor(points.length / 2));
  const mean = (place: 0 | 1) => half.reduce((sum, point) => sum + point[place], 0) / half.length;
  const [second, figure] = [mean(0), mean(1)];
  const spread = half.reduce((sum, [at]) => sum + (at - second) ** 2, 0);
  const slope = half.reduce((sum, [at, value]) => sum + (at - second) * (value - figure), 0) / spread;
  return (slope * ((half.at(-1)?.[0] ?? 0) - (half[0]?.[0] ?? 0))) / figure;
}
