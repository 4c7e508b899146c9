/** What a Matcher means. Routes and list filters share this, so they never disagree about a label set (routes §1). */
import type { Matcher, MatcherOp } from '../directory.ts';
import type { Labels } from '../model.ts';
import { codePoints } from '../text.ts';
import { compileRegex } from './regex.ts';

export type LabelTest = (labels: Labels) => boolean;

/** A Matcher whose expression the engine refuses. */
export interface MatcherProblem {
  readonly index: number;
  /** The engine's message. */
  readonly message: string;
}

/**
 * One test for all Matchers together (AND); an empty list matches everything. A list with an expression that does not
 * compile matches nothing: {@link matcherProblems} says which (routes §1.1).
 */
export function compileMatchers(matchers: readonly Matcher[]): LabelTest {
  const tests = matchers.map(compileMatcher);
  const [first, second] = tests;
  if (!first) return () => true;
  if (tests.length === 1) return first;
  if (tests.length === 2 && second) return (labels) => first(labels) && second(labels);
  return (labels) => tests.every((test) => test(labels));
}

/** Every Matcher whose regular expression does not compile. */
export function matcherProblems(matchers: readonly Matcher[]): readonly MatcherProblem[] {
  const problems: MatcherProblem[] = [];
  for (const [index, { op, value }] of matchers.entries()) {
    if (op === '=' || op === '!=') continue;
    const regex = compileRegex(value);
    if (!regex.ok) problems.push({ index, message: regex.message });
  }
  return problems;
}

/** The label's value; a label that is missing has the value `""`. */
export function labelValue(labels: Labels, name: string): string {
  return Object.hasOwn(labels, name) ? (labels[name] ?? '') : '';
}

function compileMatcher({ label, op, value }: Matcher): LabelTest {
  switch (op) {
    case '=':
      return (labels) => labelValue(labels, label) === value;
    case '!=':
      return (labels) => labelValue(labels, label) !== value;
    case '=~':
    case '!~': {
      const regex = compileRegex(value);
      if (!regex.ok) return () => false;
      const { matches } = regex;
      return op === '=~'
        ? (labels) => matches(labelValue(labels, label))
        : (labels) => !matches(labelValue(labels, label));
    }
  }
}

/** The text form of one Matcher, `name op "value"`, used by list filters and shown to people (routes §1.2). */
export type ParsedMatcher =
  | { readonly ok: true; readonly matcher: Matcher }
  /** `detail` is the error text, for `invalid_regex` that of the engine. */
  | { readonly ok: false; readonly code: 'invalid_format' | 'invalid_regex'; readonly detail: string };

export const LABEL_NAME_LIMIT = 256;
export const MATCHER_VALUE_LIMIT = 1000;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what a label name may not hold
const CONTROL = /[\u0000-\u001f\u007f]/;
const BARE_NAME = /^[A-Za-z_:][A-Za-z0-9_:]*$/;

const SPACE = /[ \t\r\n]*/y;
const NAME = /[A-Za-z_:][A-Za-z0-9_:]*/y;
const OP = /=~|!~|!=|=/y;
const STRING = /"((?:[^"\\\n]|\\[\\"n])*)"/y;

/** Why a text is no label name: 1 to 256 code points without control characters. Null when it is one. */
export function labelNameProblem(name: string): 'required' | 'too_long' | 'invalid_format' | null {
  if (name === '') return 'required';
  if (codePoints(name) > LABEL_NAME_LIMIT) return 'too_long';
  return CONTROL.test(name) ? 'invalid_format' : null;
}

/** Reads exactly one Matcher. */
export function parseMatcherText(text: string): ParsedMatcher {
  const read = reader(text);
  read(SPACE);
  const quoted = read(STRING);
  const label = quoted === null ? read(NAME) : unescaped(quoted);
  if (label === null) return malformed('Start with a label name; put one with unusual characters in quotes.');
  read(SPACE);
  const op = read(OP) as MatcherOp | null;
  if (op === null) return malformed('After the label name use =, !=, =~ or !~.');
  read(SPACE);
  const value = read(STRING);
  if (value === null) return malformed('Put the value in double quotes; only \\\\, \\" and \\n are escapes.');
  read(SPACE);
  if (read(/$/y) === null) return malformed('Nothing may follow the value; give each matcher by itself.');
  return checked({ label, op, value: unescaped(value) });
}

/** Reverses {@link parseMatcherText}. */
export function formatMatcher({ label, op, value }: Matcher): string {
  return `${BARE_NAME.test(label) ? label : quote(label)}${op}${quote(value)}`;
}

/** Applies the rules of the object form to the text form. */
function checked(matcher: Matcher): ParsedMatcher {
  const { label, op, value } = matcher;
  if (labelNameProblem(label)) {
    return malformed(`A label name has 1 to ${LABEL_NAME_LIMIT} characters and no control characters.`);
  }
  if (codePoints(value) > MATCHER_VALUE_LIMIT) {
    return malformed(`A value has at most ${MATCHER_VALUE_LIMIT} characters.`);
  }
  if (op === '=~' || op === '!~') {
    const regex = compileRegex(value);
    if (!regex.ok) return { ok: false, code: 'invalid_regex', detail: regex.message };
  }
  return { ok: true, matcher };
}

function malformed(detail: string): ParsedMatcher {
  return { ok: false, code: 'invalid_format', detail };
}

/** Takes what a sticky pattern matches at the present place: its group if it has one, else the whole match. */
function reader(text: string): (pattern: RegExp) => string | null {
  let at = 0;
  return (pattern) => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (!match) return null;
    at = pattern.lastIndex;
    return match[1] ?? match[0];
  };
}

function quote(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
  return `"${escaped}"`;
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_, character: string) => (character === 'n' ? '\n' : character));
}
