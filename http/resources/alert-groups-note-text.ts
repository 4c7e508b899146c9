import * as v from 'valibot';
import { codePoints } from '../../actors/text.ts';

/** Setting alert_group.note_max_length. */
const NOTE_LIMIT = 4000;

const withinLimit = v.check((text: string) => codePoints(text) <= NOTE_LIMIT, 'too_long');

/** Text of a Note, kept as it was sent: 1 to 4,000 code points. */
export const noteText = v.pipe(v.string(), v.nonEmpty('too_short'), withinLimit);

/** The same where an empty text stands for no Note (Alert Group chapter §6.6). */
export const noteTextOrEmpty = v.pipe(v.string(), withinLimit);

export function isBlank(text: string): boolean {
  return text.trim() === '';
}
