/** What a password must be like (access §4). Nothing is trimmed and no kinds of characters are demanded. */

import { codePoints } from '../text.ts';

/** `auth.password_min_length`, in code points. */
export const PASSWORD_MIN_LENGTH = 12;
export const PASSWORD_MAX_LENGTH = 1_024;

/** Judges a new password by its length in code points; null when it will do. */
export function passwordFault(password: string): 'too_short' | 'too_long' | null {
  const length = codePoints(password);
  if (length < PASSWORD_MIN_LENGTH) return 'too_short';
  return length > PASSWORD_MAX_LENGTH ? 'too_long' : null;
}
