/** Rows of Matchers as they are typed, and what is sent of them: a row without anything in it counts for nothing. Pure. */
import type { FieldError } from '../../api/problem.ts';
import type { Matcher } from '../../api/shapes.ts';

export function isBlank({ label, value }: Matcher): boolean {
  return label === '' && value === '';
}

export function filledRows(matchers: readonly Matcher[]): Matcher[] {
  return matchers.filter((matcher) => !isBlank(matcher));
}

/** Errors of what was sent, at the rows and fields that people see. */
export function errorsAsTyped(
  errors: readonly FieldError[],
  matchers: readonly Matcher[],
): readonly FieldError[] {
  const places = matchers.flatMap((matcher, index) => (isBlank(matcher) ? [] : [index]));
  return errors.map((error) => ({
    ...error,
    pointer: error.pointer
      .replace(/^\/matchers\/(\d+)/, (whole, sent: string) => {
        const place = places[Number(sent)];
        return place === undefined ? whole : `/matchers/${place}`;
      })
      .replace(/^\/proposed_group_key/, '/group_key'),
  }));
}

/** A Matcher as people read it: `cluster="eu"`. */
export function matcherText({ label, op, value }: Matcher): string {
  return `${label}${op}${JSON.stringify(value)}`;
}
