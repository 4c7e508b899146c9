/** What a password must be like (access §4). Nothing is trimmed and no kinds of characters are demanded. */

import { DAY, HOUR, type Micros } from '../../runtime/clock.ts';
import { codePoints } from '../text.ts';

/** `auth.password_min_length`, in code points. */
export const PASSWORD_MIN_LENGTH = 12;
export const PASSWORD_MAX_LENGTH = 1_024;

/** `auth.password_setup_link_ttl`. */
export const SETUP_LINK_LIFETIME: Micros = 24 * HOUR;
/** A link is remembered this long after its end, so that whoever opens it late learns why. */
export const ENDED_LINK_KEPT: Micros = 7 * DAY;

/** Judges a new password by its length in code points; null when it will do. */
export function passwordFault(password: string): 'too_short' | 'too_long' | null {
  const length = codePoints(password);
  if (length < PASSWORD_MIN_LENGTH) return 'too_short';
  return length > PASSWORD_MAX_LENGTH ? 'too_long' : null;
}
