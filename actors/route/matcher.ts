/** What a Matcher means. Routes and list filters share this, so they never disagree about a label set (routes §1). */
import type { Matcher } from '../directory.ts';
import type { Labels } from '../model.ts';
import { compileRegex } from './regex.ts';

export { formatMatcher, type ParsedMatcher, parseMatcherText } from './matcher-text.ts';

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
