/** Units in which people enter durations. */
export const UNITS = ['seconds', 'minutes', 'hours', 'days'] as const;
export type DurationUnit = (typeof UNITS)[number];

export const SECONDS: Record<DurationUnit, number> = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400 };

/** The largest unit that states a duration as a whole number. @param seconds whole seconds */
export function largestUnit(seconds: number): DurationUnit {
  if (seconds === 0) return 'minutes';
  return [...UNITS].reverse().find((unit) => seconds % SECONDS[unit] === 0) ?? 'seconds';
}
