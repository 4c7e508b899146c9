/** Go's printf: reads the format, never fails for a wrong use, but for what would be too large (templates §5). */
import { Refusal } from '../failure.ts';
import { isTrusted, type TemplateValue } from '../values.ts';
import { type Flags, formatted, goTypeName, NO_FLAGS, TextBuilder } from './verbs.ts';

const MOST_WIDE = 50_000;
const DIRECTIVE = /%([-+# 0]*)(\d*)(?:(\.)(\d*))?/y;

export type Escape = (text: string) => string;

/**
 * @param trusted whether whoever wrote the template wrote the format
 * @param escaped applied to what comes of untrusted arguments, after width and precision
 * @throws {Refusal}
 */
export function printf(
  format: string,
  trusted: boolean,
  values: readonly TemplateValue[],
  escaped: Escape,
): string {
  const builder = new TextBuilder();
  const literal = (text: string) => builder.add(trusted ? text : escaped(text));
  const insert = (text: string, value: TemplateValue) =>
    builder.add(trusted && isTrusted(value) ? text : escaped(text));
  let [at, used] = [0, 0];
  for (let percent = format.indexOf('%'); percent >= 0; percent = format.indexOf('%', at)) {
    literal(format.slice(at, percent));
    const { flags, end } = directive(format, percent);
    const code = format.codePointAt(end);
    const verb = code === undefined ? '' : String.fromCodePoint(code);
    at = end + verb.length;
    if (verb === '*' || verb === '[') throw new Refusal(`${verb} is not supported in a format`);
    const value = values[used];
    if (verb === '') literal('%!(NOVERB)');
    else if (verb === '%') literal('%');
    else if (value === undefined) literal(`%!${verb}(MISSING)`);
    else {
      insert(formatted(value, verb, verb === 'v' ? plainer(flags) : flags), value);
      used++;
    }
  }
  literal(format.slice(at));
  if (used < values.length) writeExtra(values.slice(used), literal, insert);
  return builder.text;
}

function writeExtra(
  values: readonly TemplateValue[],
  literal: (text: string) => void,
  insert: (text: string, value: TemplateValue) => void,
): void {
  literal('%!(EXTRA ');
  for (const [index, value] of values.entries()) {
    if (index > 0) literal(', ');
    const type = value === null ? '' : `${goTypeName(value)}=`;
    insert(type + formatted(value, 'v', NO_FLAGS), value);
  }
  literal(')');
}

/** `%+v` is `%v`, and `%#v` only quotes. */
function plainer(flags: Flags): Flags {
  return { ...flags, plus: false, sharp: false, quotes: flags.sharp };
}

function directive(format: string, at: number): { flags: Flags; end: number } {
  DIRECTIVE.lastIndex = at;
  const [whole = '%', marks = '', width = '', point, precision = ''] = DIRECTIVE.exec(format) ?? [];
  const minus = marks.includes('-');
  const flags: Flags = {
    plus: marks.includes('+'),
    minus,
    sharp: marks.includes('#'),
    space: marks.includes(' '),
    zero: marks.includes('0') && !minus,
    quotes: false,
    width: width === '' ? null : measure('width', width),
    precision: point === undefined ? null : measure('precision', precision),
  };
  return { flags, end: at + whole.length };
}

function measure(what: string, digits: string): number {
  const value = Number(digits);
  if (value > MOST_WIDE) throw new Refusal(`${what} is more than ${MOST_WIDE}`);
  return value;
}
