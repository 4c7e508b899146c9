import type { Matcher } from '../../api/shapes.ts';

/** A Matcher as people read it: `cluster="eu"`. */
export function matcherText({ label, op, value }: Matcher): string {
  return `${label}${op}${JSON.stringify(value)}`;
}
