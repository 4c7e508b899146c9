/** What valibot found, as field errors of the API. */
import type * as v from 'valibot';
import { escapePointer } from './json-body.ts';
import { FIELD_ERROR_CODES, type FieldError, type FieldErrorCode } from './problem.ts';

type Issue = v.BaseIssue<unknown>;

/**
 * One error per failing field, in the order found.
 * @param base pointer of the value that was validated
 * @param known errors found before; their fields are not told twice
 */
export function fieldErrors(
  issues: readonly Issue[],
  base: string,
  known: readonly FieldError[] = [],
): readonly FieldError[] {
  const told = new Set(known.map((error) => error.pointer));
  const errors: FieldError[] = [];
  for (const issue of issues) {
    const pointer = base + pointerOf(issue);
    if (told.has(pointer)) continue;
    told.add(pointer);
    const { code, detail } = toldBy(issue) ?? { code: codeOf(issue), detail: null };
    errors.push({ pointer, code, detail: detail ?? detailOf(code, issue) });
  }
  return errors;
}

function pointerOf(issue: Issue): string {
  return (issue.path ?? []).map((item) => `/${escapePointer(String(item.key))}`).join('');
}

const CODES: ReadonlySet<string> = new Set(FIELD_ERROR_CODES);

/** The message of a check that knows better than its kind what is wrong. */
export function issueMessage(code: FieldErrorCode, detail: string): string {
  return `${code}: ${detail}`;
}

/** What a message is that begins with a code: the code, and the sentence behind it if there is one. */
function toldBy({
  message,
}: Issue): { readonly code: FieldErrorCode; readonly detail: string | null } | null {
  const [first = '', ...rest] = message.split(': ');
  if (!CODES.has(first)) return null;
  return { code: first as FieldErrorCode, detail: rest.length > 0 ? rest.join(': ') : null };
}

/** The kind of the failed check decides. */
function codeOf(issue: Issue): FieldErrorCode {
  if (issue.kind === 'schema') return issue.received === 'undefined' ? 'required' : 'invalid_format';
  return CODE_OF_CHECK[issue.type] ?? 'invalid_format';
}

const CODE_OF_CHECK: Readonly<Record<string, FieldErrorCode>> = {
  non_empty: 'too_short',
  min_length: 'too_short',
  min_bytes: 'too_short',
  min_graphemes: 'too_short',
  min_size: 'too_short',
  min_entries: 'too_short',
  max_length: 'too_long',
  max_bytes: 'too_long',
  max_graphemes: 'too_long',
  max_size: 'too_long',
  max_entries: 'too_long',
  min_value: 'out_of_range',
  max_value: 'out_of_range',
  gt_value: 'out_of_range',
  lt_value: 'out_of_range',
  safe_integer: 'out_of_range',
};

/** Never repeats the value that was sent. */
function detailOf(code: FieldErrorCode, issue: Issue): string {
  const bound = typeof issue.requirement === 'number' ? issue.requirement : null;
  switch (code) {
    case 'required':
      return 'This field is needed.';
    case 'too_short':
      return bound === null ? 'This is too short.' : `This needs at least ${bound}.`;
    case 'too_long':
      return bound === null ? 'This is too long.' : `This takes at most ${bound}.`;
    case 'out_of_range':
      return bound === null ? 'This is out of range.' : `This is out of range; the bound is ${bound}.`;
    case 'duplicate':
      return 'This is given twice.';
    default:
      return 'This does not have the expected form.';
  }
}
