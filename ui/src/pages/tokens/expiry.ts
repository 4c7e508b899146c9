/** When a new token ends, as people choose it. */
import { fromZoned } from '../../time/zoned.ts';

export const EXPIRIES = ['30', '90', '365', 'date', 'never'] as const;
export type Expiry = (typeof EXPIRIES)[number];

const DAY_MS = 86_400_000;

/** @param date `YYYY-MM-DD`: the token ends as the day begins. @returns null for never, `invalid` for no date */
export function expiresAt(
  expiry: Expiry,
  date: string,
  now: number,
  zone: string,
): string | null | 'invalid' {
  if (expiry === 'never') return null;
  if (expiry !== 'date') return new Date(now + Number(expiry) * DAY_MS).toISOString();
  const at = date === '' ? null : fromZoned(`${date}T00:00`, zone);
  return at === null ? 'invalid' : new Date(at).toISOString();
}
