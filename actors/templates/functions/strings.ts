/** Functions on strings and URLs, and escaping as Go does it; the string comes last (templates §6). */
import { offsetFromEnd, offsetOf, safeUrl } from '../../text.ts';
import { countedTooFar, MOST_BYTES, MOST_COUNTED, Refusal, tooLong } from '../failure.ts';
import { goQuoted, isPrintable } from '../text/strconv.ts';
import { printed, TextBuilder } from '../text/verbs.ts';
import type { TemplateValue } from '../values.ts';
import {
  define,
  each,
  escaping,
  int,
  one,
  type TemplateFunction,
  text,
  textItems,
  three,
  two,
} from './define.ts';

const WORD_START = /(?<![\p{L}\p{M}\p{Nd}_'’])\p{L}/gu;

const textOnly = (run: (value: string) => TemplateValue) => one(text, (value) => run(value));
const texts = (run: (first: string, subject: string) => TemplateValue) =>
  two(text, text, (first, subject) => run(first, subject));

function replaced(old: string, replacement: string, subject: string): string {
  const parts = subject.split(old === '' ? /(?:)/u : old);
  const edges = old === '' ? 2 : 0;
  const growth = (parts.length - 1 + edges) * (replacement.length - old.length);
  if (subject.length + growth > MOST_BYTES) throw tooLong();
  const joined = parts.join(replacement);
  if (old !== '') return joined;
  return subject === '' ? replacement : `${replacement}${joined}${replacement}`;
}

function repeated(count: bigint, subject: string): string {
  if (count > BigInt(MOST_COUNTED)) throw countedTooFar();
  const times = Math.max(Number(count), 0);
  if (times * subject.length > MOST_BYTES) throw tooLong();
  return subject.repeat(times);
}

/** The first `count` code points; with a negative count the last. */
function truncated(count: bigint, subject: string): string {
  const size = Number(count < 0n ? -count : count);
  if (subject.length <= size) return subject;
  return count < 0n ? subject.slice(offsetFromEnd(subject, size)) : subject.slice(0, offsetOf(subject, size));
}

function ellipsis(count: bigint, subject: string): string {
  if (count <= 0n) return '';
  const cut = truncated(count, subject);
  return cut === subject ? subject : `${truncated(count - 1n, subject)}…`;
}

function indented(count: bigint, subject: string): string {
  if (count > BigInt(MOST_COUNTED)) throw new Refusal(`argument 1 must be at most ${MOST_COUNTED}`);
  const space = ' '.repeat(Math.max(Number(count), 0));
  const builder = new TextBuilder();
  for (const [index, line] of subject.split('\n').entries()) {
    builder.add(`${index > 0 ? '\n' : ''}${space}${line}`);
  }
  return builder.text;
}

function trimmedOf(cut: string, subject: string): string {
  const points = [...subject];
  const characters = new Set(cut);
  const isCut = (point: string | undefined) => point !== undefined && characters.has(point);
  let [start, end] = [0, points.length];
  while (start < end && isCut(points[start])) start++;
  while (end > start && isCut(points[end - 1])) end--;
  return points.slice(start, end).join('');
}

function quoted(values: readonly TemplateValue[], quote: (value: string) => string): string {
  const builder = new TextBuilder();
  for (const [index, value] of values.entries()) {
    builder.add(`${index > 0 ? ' ' : ''}${quote(value === null ? '' : printed(value))}`);
  }
  return builder.text;
}

export const STRINGS: Readonly<Record<string, TemplateFunction>> = {
  toUpper: textOnly((value) => value.toUpperCase()),
  toLower: textOnly((value) => value.toLowerCase()),
  title: textOnly((value) => value.replace(WORD_START, (letter) => letter.toUpperCase())),
  trim: textOnly((value) => value.trim()),
  trimSpace: textOnly((value) => value.trim()),
  trimAll: texts(trimmedOf),
  trimPrefix: texts((prefix, value) => (value.startsWith(prefix) ? value.slice(prefix.length) : value)),
  trimSuffix: texts((suffix, value) =>
    value.endsWith(suffix) ? value.slice(0, value.length - suffix.length) : value,
  ),
  contains: texts((part, value) => value.includes(part)),
  hasPrefix: texts((prefix, value) => value.startsWith(prefix)),
  hasSuffix: texts((suffix, value) => value.endsWith(suffix)),
  replace: three(text, text, text, replaced),
  repeat: two(int, text, repeated),
  trunc: two(int, text, truncated),
  ellipsis: two(int, text, ellipsis),
  indent: two(int, text, indented),
  nindent: two(int, text, (count, value) => `\n${indented(count, value)}`),
  quote: define(0, Infinity, (values) => quoted(values, goQuoted)),
  squote: define(0, Infinity, (values) => quoted(values, (value) => `'${value}'`)),
  splitList: two(text, text, (separator, value, call) =>
    textItems(separator === '' ? [...value] : value.split(separator), call),
  ),
  stringSlice: each(0, text, (values, call) => textItems(values, call)),
};

/** Escaping as Go's functions of these names do it. */
const HTML: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
  '\0': '\uFFFD',
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"'\0]/g, (character) => HTML[character] ?? character);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: Go escapes them, too.
const JS_ESCAPED = /[\\'"<>&=\0-\x1f]|[^\0-\x7f]/gu;

export function escapeJs(text: string): string {
  return text.replace(JS_ESCAPED, (character) => {
    if (character === '\\' || character === "'" || character === '"') return `\\${character}`;
    const code = character.codePointAt(0) ?? 0;
    if (code > 0x7e && isPrintable(character)) return character;
    return `\\u${code.toString(16).toUpperCase().padStart(4, '0')}`;
  });
}

export function escapeQuery(text: string): string {
  return percentEncoded(text, /[A-Za-z0-9_.~-]/).replaceAll('%20', '+');
}

function escapePathSegment(text: string): string {
  return percentEncoded(text, /[A-Za-z0-9_.~$&+=:@-]/);
}

function percentEncoded(text: string, kept: RegExp): string {
  let result = '';
  for (const byte of Buffer.from(text)) {
    const character = String.fromCharCode(byte);
    result += kept.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return result;
}

/** The text behind a query's escapes; null when an escape is broken. */
function unescapeQuery(text: string): string | null {
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) return null;
  if (!text.includes('%')) return text.replaceAll('+', ' ');
  const bytes = text
    .replaceAll('+', ' ')
    .replace(/%([0-9A-Fa-f]{2})|[^\0-\x7f]+/g, (part, code: string | undefined) =>
      code === undefined ? Buffer.from(part).toString('latin1') : String.fromCharCode(parseInt(code, 16)),
    );
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** Functions on URLs (templates §6). */
function parameter(name: string, url: string): string {
  const [address = ''] = url.split('#', 1);
  const start = address.indexOf('?');
  if (start < 0) return '';
  for (const pair of address.slice(start + 1).split('&')) {
    const end = pair.indexOf('=');
    const key = unescapeQuery(end < 0 ? pair : pair.slice(0, end));
    const value = unescapeQuery(end < 0 ? '' : pair.slice(end + 1));
    if (key === name && value !== null) return value;
  }
  return '';
}

export const URLS: Readonly<Record<string, TemplateFunction>> = {
  urlUnescape: one(text, (value) => {
    const plain = unescapeQuery(value);
    if (plain === null) throw new Refusal('bad escape');
    return plain;
  }),
  urlPathEscape: one(text, escapePathSegment),
  queryParam: two(text, text, parameter),
  safeUrl: escaping(
    one(text, (value, call) => {
      const safe = safeUrl(value);
      return safe === null ? '' : call.context.format.link(safe);
    }),
  ),
  safeHtml: one(text, (value) => value),
};
