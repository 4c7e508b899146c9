/** What the token at the caret can become: keys, label names and values, the most frequent first (ui §3). */
import { SEVERITIES, TABS } from '../filters.ts';
import type { KnownLabels, LabelNames } from '../known-labels.ts';
import { IS_WORDS, KEYS, quoteIfNeeded, type SearchNames, tokensOf } from './tokens.ts';

const MOST = 8;
/** Characters of a word from which values that begin with it are offered with their names. */
const VALUES_FROM = 2;

export interface Completion {
  /** What takes the place of the token. A name waits for its value; a value ends with a space. */
  readonly text: string;
  /** How many Alert Groups have it: of those that are loaded, or of all where the service was asked; null for what is no label. */
  readonly groups: number | null;
}

export interface Completions {
  readonly from: number;
  readonly to: number;
  readonly options: readonly Completion[];
}

/** Name of the label whose value is typed at the caret; null where none is. */
export function labelAt(text: string, caret: number): string | null {
  const name = /(?:^|\s)-?([A-Za-z_]\w*):\S*$/.exec(text.slice(0, caret))?.[1];
  return name === undefined || KEYS.some((key) => key === name) ? null : name;
}

/**
 * @param caret position in the text; what is typed is the token before it
 * @param labels names that can be completed, the most frequent first
 */
export function completionsAt(
  text: string,
  caret: number,
  known: KnownLabels,
  labels: LabelNames,
  names: SearchNames,
): Completions {
  const token = tokensOf(text.slice(0, caret)).at(-1);
  const typed = token !== undefined && token.to === caret ? token : { from: caret, text: '' };
  const minus = typed.text.startsWith('-') ? '-' : '';
  const plain = typed.text.slice(minus.length);
  const colon = plain.indexOf(':');
  const found = colon < 0 ? namesLike(plain, known, labels) : valuesLike(plain, colon, known, names);
  const options = found.slice(0, MOST).map(({ text: each, groups }) => ({ text: minus + each, groups }));
  return { from: typed.from, to: caret, options };
}

function namesLike(typed: string, known: KnownLabels, found: LabelNames): readonly Completion[] {
  const wanted = typed.toLowerCase();
  const keys = KEYS.map((key) => ({ text: `${key}:`, groups: null }));
  const labels = [...found]
    .filter(([name]) => isToken(name))
    .map(([name, groups]) => ({ text: `${name}:`, groups }));
  const names = [...keys, ...labels].filter(({ text }) => text.toLowerCase().startsWith(wanted));
  return wanted.length < VALUES_FROM ? names : [...names, ...tokensWith(wanted, known)];
}

/** Whether a token can say a label of that name. */
const isToken = (name: string) => /^[A-Za-z_]\w*$/.test(name) && !KEYS.some((key) => key === name);

/** Labels whose value begins with the word, the most frequent first. */
function tokensWith(wanted: string, known: KnownLabels): readonly (Completion & { groups: number })[] {
  const found = [...known].flatMap(([name, values]) =>
    isToken(name)
      ? [...values]
          .filter(([value]) => value.toLowerCase().startsWith(wanted))
          .map(([value, groups]) => ({ text: `${name}:${quoteIfNeeded(value)} `, groups }))
      : [],
  );
  return found.sort((one, other) => other.groups - one.groups);
}

function valuesLike(
  typed: string,
  colon: number,
  known: KnownLabels,
  names: SearchNames,
): readonly Completion[] {
  const name = typed.slice(0, colon);
  const wanted = typed
    .slice(colon + 1)
    .replaceAll('"', '')
    .toLowerCase();
  const all = knownValues(name, names) ?? [...(known.get(name) ?? [])];
  const begins = all.filter(([value]) => value.toLowerCase().startsWith(wanted));
  const holds = all.filter(([value]) => value.toLowerCase().indexOf(wanted) > 0);
  return [...begins, ...holds].map(([value, groups]) => ({
    text: `${name}:${quoteIfNeeded(value)} `,
    groups,
  }));
}

/** Values of the keys that are no labels; null for labels. */
function knownValues(name: string, names: SearchNames): readonly (readonly [string, null])[] | null {
  const plain = (values: readonly string[]) => values.map((value) => [value, null] as const);
  switch (name) {
    case 'severity':
      return plain(SEVERITIES);
    case 'status':
      return plain(TABS);
    case 'is':
      return plain(Object.keys(IS_WORDS));
    case 'owner':
      return plain(['me', 'none', ...names.people.map(({ login }) => login)]);
    case 'route':
      return plain((names.routes ?? []).map((route) => route.name));
    case 'integration':
      return plain((names.integrations ?? []).map((integration) => integration.name));
    default:
      return null;
  }
}
