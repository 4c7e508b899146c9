/** Regular expressions on the engine of Route Matchers, whose time grows with the text and no faster (templates §6). */
import { compileSearch, type SearchMatch, type SearchRegex, type Spend } from '../../route/search.ts';
import { Refusal } from '../failure.ts';
import { TextBuilder } from '../text/verbs.ts';
import { type Call, int, one, type TemplateFunction, text, textItems, three, two } from './define.ts';

const MOST_FOUND = 1_000;
const ADVICE = ': use fewer or simpler regular expressions, or shorter texts';

function spendOf(call: Call): Spend {
  return (steps) => call.spend(steps, ADVICE);
}

/** @throws {Refusal} when it is no expression */
function expressionOf(source: string, call: Call): SearchRegex {
  const known = call.expressions.get(source);
  if (known) return known;
  const compiled = compileSearch(source, spendOf(call));
  if (typeof compiled === 'string') throw new Refusal(compiled);
  call.expressions.set(source, compiled);
  return compiled;
}

/** The matches in a text one after the other. An empty one directly behind another one does not count, as in Go. */
function* matches(source: string, subject: string, call: Call): Generator<SearchMatch> {
  const expression = expressionOf(source, call);
  const spend = spendOf(call);
  let [from, end] = [0, -1];
  while (from <= subject.length) {
    const match = expression.find(subject, from, spend);
    if (!match) return;
    const isEmpty = match.start === match.end;
    if (!isEmpty || match.start !== end) yield match;
    end = match.end;
    from = isEmpty ? match.end + widthAt(subject, match.end) : match.end;
  }
}

function widthAt(subject: string, at: number): number {
  return (subject.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

function matched(source: string, subject: string, call: Call): boolean {
  return expressionOf(source, call).has(subject, 0, spendOf(call));
}

function replacedAll(
  source: string,
  subject: string,
  replacement: (match: SearchMatch) => string,
  call: Call,
): string {
  const builder = new TextBuilder();
  let at = 0;
  for (const match of matches(source, subject, call)) {
    builder.add(subject.slice(at, match.start));
    builder.add(replacement(match));
    at = match.end;
  }
  builder.add(subject.slice(at));
  return builder.text;
}

const REFERENCE = /\$(?:(\$)|\{([\p{L}\p{Nd}_]+)\}|([\p{L}\p{Nd}_]+))/gu;

/** `$1`, `${name}` and `$$`, as Go expands them: the longest name counts. */
function expanded(replacement: string, match: SearchMatch): string {
  return replacement.replace(REFERENCE, (_, dollar?: string, braced?: string, bare?: string) =>
    dollar === undefined ? (match.group(braced ?? bare ?? '') ?? '') : '$',
  );
}

function foundAll(source: string, count: bigint, subject: string, call: Call) {
  const most = count < 0n || count > BigInt(MOST_FOUND) ? MOST_FOUND : Number(count);
  const found: string[] = [];
  if (most === 0) return textItems(found, call);
  for (const { start, end } of matches(source, subject, call)) {
    found.push(subject.slice(start, end));
    if (found.length === most) break;
  }
  return textItems(found, call);
}

const match = two(text, text, matched);
const replaceAll = three(text, text, text, (source, replacement, subject, call) =>
  replacedAll(source, subject, (found) => expanded(replacement, found), call),
);

export const EXPRESSIONS: Readonly<Record<string, TemplateFunction>> = {
  match,
  regexMatch: match,
  regexFind: two(text, text, (source, subject, call) => {
    const first = matches(source, subject, call).next().value;
    return first ? subject.slice(first.start, first.end) : '';
  }),
  regexFindAll: three(text, int, text, foundAll),
  regexQuoteMeta: one(text, (value) => value.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&')),
  reReplaceAll: replaceAll,
  regexReplaceAll: replaceAll,
  regexReplaceAllLiteral: three(text, text, text, (source, replacement, subject, call) =>
    replacedAll(source, subject, () => replacement, call),
  ),
};
