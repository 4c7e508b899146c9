/** Fields that many bodies and queries share, as schemas (400) and as checks of meaning (422). */
import * as v from 'valibot';
import type { Limiter } from '../../actors/destination/limiter.ts';
import type { Matcher } from '../../actors/directory.ts';
import { parseMatcherText } from '../../actors/route/matcher.ts';
import { text } from '../../actors/schemas.ts';
import type { TemplateError } from '../../actors/templates/index.ts';
import { codePoints } from '../../actors/text.ts';
import { type Micros, parseInstant } from '../../runtime/clock.ts';
import { type PublicId, parsePublicId } from '../../runtime/public-id.ts';
import type { FieldError } from '../problem.ts';
import { issueMessage } from '../request/json-body.ts';
import * as d from './described.ts';
import { documented, PUBLIC_ID, sentAs } from './described.ts';

export const NAME_LIMIT = 200;

/** A name as it arrives; {@link nameErrors} judges the rest, {@link trimmed} is stored (api §1.2 rule 9). */
export const name = documented(v.pipe(v.string(), v.nonEmpty('too_short')), {
  component: 'ResourceName',
  description: 'A name, trimmed, 1 to 200 characters.',
  maxLength: NAME_LIMIT,
});

/** The description of a resource. */
export const freeText = d.described(
  v.optional(v.nullable(text(2_000))),
  'Free text, up to 2,000 characters; null or left out is empty.',
);

/** A character that takes room: no white space, and none that joins, hides or turns others. */
const VISIBLE = /[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u;

/** 422 of a name: nothing of it can be seen, or it is too long once trimmed. */
export function nameErrors(value: string, pointer = '/name'): readonly FieldError[] {
  const length = codePoints(value.trim());
  if (!VISIBLE.test(value)) return [{ pointer, code: 'required', detail: 'Give it a name.' }];
  if (length <= NAME_LIMIT) return [];
  return [{ pointer, code: 'too_long', detail: `A name has at most ${NAME_LIMIT} characters.` }];
}

/** A mistake in a template, with its place. */
export function templateError(pointer: string, { code, message, line, column }: TemplateError): FieldError {
  return { pointer, code, detail: message, line, column };
}

/** An id in a body, normalised. Whether it refers to anything is another question. */
export const publicId = documented(
  v.pipe(
    v.string(),
    v.check((value) => parsePublicId(value) !== null, 'invalid_format'),
    v.transform((value) => parsePublicId(value) as PublicId),
  ),
  PUBLIC_ID,
);

/** One `duplicate` for every item that was there before, at its own index. */
export function duplicates(items: readonly unknown[], pointer: string): readonly FieldError[] {
  const seen = new Set<unknown>();
  const errors: FieldError[] = [];
  for (const [index, item] of items.entries()) {
    if (seen.has(item)) {
      errors.push({
        pointer: `${pointer}/${index}`,
        code: 'duplicate',
        detail: 'This is in the list already.',
      });
    }
    seen.add(item);
  }
  return errors;
}

/** Limiters of Connections and Destinations as they arrive and as they are answered (api §14, §15). */
const DEFAULT_LIMITER: Limiter = { limit: 5, per_seconds: 1 };
const BOUNDS = { limit: 1000, per_seconds: 3600 } as const;
const COUNTS = { limit: 'Calls, 1 to 1,000.', per_seconds: 'Seconds, 1 to 3,600.' } as const;

export const limiterInput = v.optional(
  d.named(
    'LimiterInput',
    v.nullable(
      v.object({
        limit: d.described(v.number(), COUNTS.limit),
        per_seconds: d.described(v.number(), COUNTS.per_seconds),
      }),
    ),
    'Most calls in a time. Left out it stays, null goes back to the default of the type.',
  ),
);

export const LimiterShape = d.named(
  'Limiter',
  v.object({ limit: d.count(COUNTS.limit), per_seconds: d.count(COUNTS.per_seconds) }),
  'At most `limit` calls in any `per_seconds`.',
);

/** A Limiter as it is saved; absent or null: see {@link limiterOf}. */
type LimiterInput = v.InferOutput<typeof limiterInput>;

/** 422 at `/limiter/…`: its numbers are whole and within their bounds. */
export function limiterErrors(limiter: LimiterInput): readonly FieldError[] {
  if (!limiter) return [];
  return (['limit', 'per_seconds'] as const).flatMap((field): FieldError[] => {
    const value = limiter[field];
    if (Number.isInteger(value) && value >= 1 && value <= BOUNDS[field]) return [];
    const detail = `This is a whole number from 1 to ${BOUNDS[field]}.`;
    return [{ pointer: `/limiter/${field}`, code: 'out_of_range', detail }];
  });
}

/** The Limiter to store: one that is left out keeps its value, null goes back to the default (api §1.7). */
export function limiterOf(
  input: LimiterInput,
  current: Limiter | undefined,
  byDefault: Limiter = DEFAULT_LIMITER,
): Limiter {
  if (input === undefined) return current ?? byDefault;
  return input ?? byDefault;
}

/** Query parameters that several lists take, as schemas: what is wrong with them is 400 at their own place. */
const MAX_TEXT = 200;
const MAX_MATCHERS = 20;

/** A date-time with any offset, µs. */
export const requiredInstant = d.documented(
  v.pipe(
    v.string(),
    v.check((text) => parseInstant(text) !== null, 'invalid_format'),
    v.transform((text) => parseInstant(text) as Micros),
  ),
  { format: 'date-time' },
);
export const instant = v.optional(requiredInstant);

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
export const labelMatchers = d.described(
  v.optional(v.pipe(v.array(matcher), v.maxLength(MAX_MATCHERS)), []),
  'A Matcher in text form, such as `job=~"node.*"`. Repeated, all must match; at most 20.',
);

/** `q`: trimmed; empty is no filter. */
export const searchText = v.optional(
  d.documented(
    v.pipe(
      v.string(),
      v.trim(),
      v.check((text) => codePoints(text) <= MAX_TEXT, 'too_long'),
    ),
    { maxLength: MAX_TEXT },
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

/** A whole number of a query; outside its bounds it is 400 `out_of_range`. */
export function wholeNumber(least: number, most: number, facts: { readonly default?: number } = {}) {
  return sentAs(
    v.pipe(
      v.string(),
      v.regex(/^-?\d+$/, 'invalid_format'),
      v.transform(Number),
      v.minValue(least, 'out_of_range'),
      v.maxValue(most, 'out_of_range'),
    ),
    { type: 'integer', minimum: least, maximum: most, ...facts },
  );
}

/** `true` or `false` of a query. */
export const yesOrNo = sentAs(
  v.pipe(
    v.picklist(['true', 'false']),
    v.transform((text) => text === 'true'),
  ),
  { type: 'boolean' },
);
