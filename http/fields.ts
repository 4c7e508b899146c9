/** Fields that many bodies share, as schemas (400) and as checks of meaning (422). */
import * as v from 'valibot';
import type { TemplateError } from '../actors/templates/index.ts';
import { codePoints } from '../actors/text.ts';
import { type PublicId, parsePublicId } from '../runtime/public-id.ts';
import type { FieldError } from './problem.ts';

export const NAME_LIMIT = 200;

/** A name as it arrives; {@link nameErrors} judges the rest, {@link trimmed} is stored (api §1.2 rule 9). */
export const name = v.pipe(v.string(), v.nonEmpty('too_short'));

/** 422 of a name: only white space, or too long once trimmed. */
export function nameErrors(value: string, pointer = '/name'): readonly FieldError[] {
  const length = codePoints(value.trim());
  if (length === 0) return [{ pointer, code: 'required', detail: 'Give it a name.' }];
  if (length <= NAME_LIMIT) return [];
  return [{ pointer, code: 'too_long', detail: `A name has at most ${NAME_LIMIT} characters.` }];
}

/** A mistake in a template, with its place. */
export function templateError(pointer: string, { code, message, line, column }: TemplateError): FieldError {
  return { pointer, code, detail: message, line, column };
}

/** An id in a body, normalised. Whether it refers to anything is another question. */
export const publicId = v.pipe(
  v.string(),
  v.check((value) => parsePublicId(value) !== null, 'invalid_format'),
  v.transform((value) => parsePublicId(value) as PublicId),
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
