/** What people type among the filters: matchers and names of labels. Apart from the filters, which the first load has. */
import { labelMatcher, MAX_LABEL_NAME, quote } from './filters.ts';
import type { KnownLabels } from './known-labels.ts';

/** Completions that are offered at once. */
const MOST = 30;

/**
 * A label matcher in the text form of the API. What people type without quotes gets them; text that is no matcher at
 * all is null.
 */
export function toMatcherText(typed: string): string | null {
  const match = /^\s*("(?:[^"\\]|\\.)*"|[A-Za-z_:][A-Za-z0-9_:]*)\s*(=~|!~|!=|=)\s*(.*?)\s*$/s.exec(typed);
  if (match === null) return null;
  const [, name = '', op = '', value = ''] = match;
  return `${name}${op}${/^"(?:[^"\\]|\\.)*"$/s.test(value) ? value : quote(value)}`;
}

/** The name of a label, as people type it; null for text that is none, such as a matcher or several words. */
export function toLabelName(typed: string): string | null {
  const name = typed.trim();
  return /^[^\s"'`=~!{},]+$/.test(name) && name.length <= MAX_LABEL_NAME ? name : null;
}

/** Whole matchers that begin like the text typed so far. */
export function completions(known: KnownLabels, typed: string): readonly string[] {
  const wanted = typed.trim().replaceAll('"', '').toLowerCase();
  const found: string[] = [];
  for (const [name, values] of known) {
    for (const value of values.keys()) {
      if (!`${name}=${value}`.toLowerCase().startsWith(wanted)) continue;
      found.push(labelMatcher(name, value, false));
      if (found.length === MOST) return found;
    }
  }
  return found;
}
