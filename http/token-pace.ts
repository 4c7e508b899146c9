/** How fast one API token may ask: 20 requests a second, 100 at once (access §9 rule 6). Each replica counts for itself. */
import { type Micros, SECOND } from '../runtime/clock.ts';
import type { PublicId } from '../runtime/public-id.ts';

const PER_SECOND = 20;
const BURST = 100;
/** A token that asked for nothing in this time may ask for everything again. */
const REFILLED_AFTER: Micros = (BURST / PER_SECOND) * SECOND;
/** Beyond it, those that are full again are forgotten. */
const REMEMBERED = 10_000;

export interface TokenPace {
  /** Counts one request. @returns µs to wait; 0 lets it through */
  take(token: PublicId, now: Micros): Micros;
}

export function createTokenPace(): TokenPace {
  const buckets = new Map<PublicId, { left: number; at: Micros }>();

  const forgetFull = (now: Micros) => {
    for (const [token, { at }] of buckets) if (now - at >= REFILLED_AFTER) buckets.delete(token);
  };

  return {
    take(token, now) {
      const known = buckets.get(token) ?? { left: BURST, at: now };
      const passed = Math.max(0, now - known.at) / SECOND;
      const left = Math.min(BURST, known.left + passed * PER_SECOND);
      const isLet = left >= 1;
      buckets.set(token, { left: isLet ? left - 1 : left, at: now });
      if (buckets.size > REMEMBERED) forgetFull(now);
      return isLet ? 0 : ((1 - left) / PER_SECOND) * SECOND;
    },
  };
}
