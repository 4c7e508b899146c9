/** Query parameters that several lists take, as schemas: what is wrong with them is 400 at their own place. */
import * as v from 'valibot';
import type { Matcher } from '../actors/directory.ts';
import { parseMatcherText } from '../actors/route/matcher.ts';
import { codePoints } from '../actors/text.ts';
import { type Micros, parseInstant } from '../runtime/clock.ts';
import type { FieldError } from './problem.ts';
import { issueMessage } from './validate-issues.ts';

const MAX_TEXT = 200;
const MAX_MATCHERS = 20;

/** A date-time with any offset, µs. */
export const instant = v.optional(
  v.pipe(
    v.string(),
    v.check((text) => parseInstant(text) !== null, 'invalid_format'),
    v.transform((text) => parseInstant(text) as Micros),
  ),
);

/** One matcher in text form; what is wrong with it is told at its own place. */
const matcher = v.pipe(
  v.string(),
  v.rawTransform<string, Matcher>(({ dataset, addIssue, NEVER }) => {
    const parsed = parseMatcherText(dataset.value);
    if (parsed.ok) return parsed.matcher;
    addIssue({ message: issueMessage(parsed.code, parsed.detail) });
    return NEVER;
  }),
);

/** `label`, repeated: all of them must match. */
export const labelMatchers = v.optional(v.pipe(v.array(matcher), v.maxLength(MAX_MATCHERS)), []);

/** `q`: trimmed; empty is no filter. */
export const searchText = v.optional(
  v.pipe(
    v.string(),
    v.trim(),
    v.check((text) => codePoints(text) <= MAX_TEXT, 'too_long'),
  ),
);

/** A parameter that repeats; none when it is left out. */
export const many = <Item extends v.GenericSchema>(item: Item) => v.optional(v.array(item), []);

/** 422 of a range `[from, to)` that ends before it begins. */
export function rangeErrors(from: Micros | undefined, to: Micros | undefined): readonly FieldError[] {
  if (from === undefined || to === undefined || from < to) return [];
  return [
    {
      pointer: '/query/to',
      code: 'out_of_range',
      detail: 'The end of the range must be after its start.',
    },
  ];
}
