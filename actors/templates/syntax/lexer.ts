/** Cuts a source into text and the tokens of its actions, with Go's rules for white space, trimming and comments. */
import { TemplateFailure } from '../failure.ts';
import { quotedText, rawText, runeOf } from './literals.ts';

export type Token =
  | { readonly kind: 'text'; readonly text: string; readonly at: number }
  | { readonly kind: 'open'; readonly at: number }
  | { readonly kind: 'close'; readonly at: number }
  | { readonly kind: 'space'; readonly at: number }
  | { readonly kind: 'word'; readonly text: string; readonly at: number }
  /** `.Name`, without the dot; an empty name is the dot itself. */
  | { readonly kind: 'field'; readonly name: string; readonly at: number }
  /** `$name`, with the dollar sign. */
  | { readonly kind: 'variable'; readonly name: string; readonly at: number }
  | { readonly kind: 'string'; readonly value: string; readonly text: string; readonly at: number }
  | { readonly kind: 'number'; readonly text: string; readonly at: number }
  | { readonly kind: 'rune'; readonly value: bigint; readonly text: string; readonly at: number }
  | { readonly kind: 'mark'; readonly text: Mark; readonly at: number }
  | { readonly kind: 'end'; readonly at: number };

const MARKS = [':=', '=', '|', ',', '(', ')'] as const;
type Mark = (typeof MARKS)[number];

const BLANK = /[ \t\r\n]/;
const BLANKS = /[ \t\r\n]+/y;
const COMMENT_END = '*/';
const WORD = /[\p{L}_][\p{L}\p{Nd}_]*/uy;
const NAME = /[\p{L}\p{Nd}_]*/uy;
const NUMBER_START = /[+-]|\.?[0-9]/y;
/** A number as Go reads one, and whatever would make it none. */
const NUMBER = /(?:0[xX][0-9a-fA-F_.]*|(?:[0-9_.]|[eE][+-]?)*)[+\p{L}\p{Nd}_-]*/uy;
/** What may follow a name directly. */
const AFTER_NAME = /[ \t\r\n.,|:()]|}}|$/y;

/** @throws {TemplateFailure} */
function* tokensOf(source: string): Generator<Token, undefined, undefined> {
  let at = 0;
  let trims = false;
  for (let open = source.indexOf('{{'); open >= 0; open = source.indexOf('{{', at)) {
    const trimsBefore = source[open + 2] === '-' && BLANK.test(source[open + 3] ?? '');
    yield* textToken(source.slice(at, open), at, trims, trimsBefore);
    const inside = open + (trimsBefore ? 4 : 2);
    const comment = source.startsWith('/*', inside) ? skipComment(source, open, inside) : null;
    const action = comment ?? (yield* actionTokens(source, open, inside));
    [at, trims] = [action.end, action.trimsAfter];
  }
  yield* textToken(source.slice(at), at, trims, false);
  yield { kind: 'end', at: source.length };
}

interface ActionEnd {
  /** Offset behind the action. */
  readonly end: number;
  readonly trimsAfter: boolean;
}

function* textToken(text: string, at: number, trimsStart: boolean, trimsEnd: boolean): Generator<Token> {
  let kept = trimsStart ? text.replace(/^[ \t\r\n]+/, '') : text;
  if (trimsEnd) kept = withoutBlankEnd(kept);
  if (kept !== '') yield { kind: 'text', text: kept, at };
}

/** A regular expression would look at every blank of a text as a possible start. */
function withoutBlankEnd(text: string): string {
  let end = text.length;
  while (end > 0 && BLANK.test(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

function skipComment(source: string, open: number, inside: number): ActionEnd {
  const close = source.indexOf(COMMENT_END, inside + 2);
  if (close < 0) throw new TemplateFailure('unclosed comment', open);
  const behind = close + COMMENT_END.length;
  const end = closeAt(source, behind);
  if (!end) throw new TemplateFailure(`unexpected ${shown(source, behind)} after comment`, behind);
  return end;
}

/** The end of an action at this offset: `}}`, or white space, minus and `}}`. */
function closeAt(source: string, at: number): ActionEnd | null {
  if (source.startsWith('}}', at)) return { end: at + 2, trimsAfter: false };
  if (!BLANK.test(source[at] ?? '') || !source.startsWith('-}}', at + 1)) return null;
  return { end: at + 4, trimsAfter: true };
}

function* actionTokens(source: string, open: number, inside: number): Generator<Token, ActionEnd> {
  yield { kind: 'open', at: open };
  let at = inside;
  for (;;) {
    const close = closeAt(source, at);
    if (close) {
      yield { kind: 'close', at: close.trimsAfter ? at + 1 : at };
      return close;
    }
    if (at >= source.length) throw new TemplateFailure('unclosed action', open);
    const blanks = match(BLANKS, source, at);
    if (blanks) {
      yield { kind: 'space', at };
      at += blanks.length;
      // The last blank may belong to the end of the action.
      if (source.startsWith('-}}', at)) at--;
      continue;
    }
    const [token, next] = tokenAt(source, at);
    yield token;
    at = next;
  }
}

function tokenAt(source: string, at: number): [token: Token, next: number] {
  const first = source[at];
  if (first === '"') return quoted(source, at);
  if (first === '`') return raw(source, at);
  if (first === "'") return rune(source, at);
  if (match(NUMBER_START, source, at)) return number(source, at);
  if (first === '.') return named(source, at, 'field');
  if (first === '$') return named(source, at, 'variable');
  const word = match(WORD, source, at);
  if (word) return [{ kind: 'word', text: word, at }, afterName(source, at + word.length)];
  const mark = MARKS.find((text) => source.startsWith(text, at));
  if (!mark) throw new TemplateFailure(`unexpected ${shown(source, at)}`, at);
  return [{ kind: 'mark', text: mark, at }, at + mark.length];
}

function named(source: string, at: number, kind: 'field' | 'variable'): [Token, number] {
  const name = match(NAME, source, at + 1) ?? '';
  const token: Token = kind === 'field' ? { kind, name, at } : { kind, name: `$${name}`, at };
  return [token, afterName(source, at + 1 + name.length)];
}

function afterName(source: string, at: number): number {
  if (match(AFTER_NAME, source, at) === null) {
    throw new TemplateFailure(`unexpected ${shown(source, at)}`, at);
  }
  return at;
}

function number(source: string, at: number): [Token, number] {
  const sign = /[+-]/.test(source.charAt(at)) ? 1 : 0;
  const text = source.slice(at, at + sign) + (match(NUMBER, source, at + sign) ?? '');
  return [{ kind: 'number', text, at }, at + text.length];
}

function quoted(source: string, at: number): [Token, number] {
  let end = at + 1;
  while (source[end] !== '"') {
    if (end >= source.length || source[end] === '\n') throw new TemplateFailure('unterminated string', at);
    end += source[end] === '\\' && source[end + 1] !== '\n' ? 2 : 1;
  }
  const text = source.slice(at, end + 1);
  return [{ kind: 'string', value: quotedText(text, at), text, at }, end + 1];
}

function raw(source: string, at: number): [Token, number] {
  const end = source.indexOf('`', at + 1);
  if (end < 0) throw new TemplateFailure('unterminated string', at);
  const text = source.slice(at, end + 1);
  return [{ kind: 'string', value: rawText(text), text, at }, end + 1];
}

function rune(source: string, at: number): [Token, number] {
  let end = at + 1;
  while (source[end] !== "'") {
    if (end >= source.length || source[end] === '\n') {
      throw new TemplateFailure('unterminated character', at);
    }
    end += source[end] === '\\' && source[end + 1] !== '\n' ? 2 : 1;
  }
  const text = source.slice(at, end + 1);
  return [{ kind: 'rune', value: runeOf(text, at), text, at }, end + 1];
}

/** The character at an offset as errors show it. */
function shown(source: string, at: number): string {
  const character = source.codePointAt(at);
  return character === undefined ? 'end' : JSON.stringify(String.fromCodePoint(character));
}

function match(pattern: RegExp, source: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(source)?.[0] ?? null;
}

/** Tokens with as much looking ahead as the parser needs. */
export class TokenStream {
  readonly #tokens: Generator<Token, undefined, undefined>;
  readonly #ahead: Token[] = [];
  #end: Token = { kind: 'end', at: 0 };

  constructor(source: string) {
    this.#tokens = tokensOf(source);
  }

  /** The token that comes after `skipped` others. */
  peek(skipped = 0): Token {
    while (this.#ahead.length <= skipped) {
      const { value } = this.#tokens.next();
      if (value?.kind === 'end') this.#end = value;
      this.#ahead.push(value ?? this.#end);
    }
    return this.#ahead[skipped] ?? this.#end;
  }

  next(): Token {
    const token = this.peek();
    this.#ahead.shift();
    return token;
  }

  /** The next token that is no white space, not taken. */
  peekSolid(): Token {
    this.skipSpace();
    return this.peek();
  }

  nextSolid(): Token {
    this.skipSpace();
    return this.next();
  }

  skipSpace(): void {
    if (this.peek().kind === 'space') this.next();
  }

  /** Takes the end of an action. @throws {TemplateFailure} when something else comes */
  close(): void {
    const token = this.nextSolid();
    if (token.kind !== 'close') throw unexpected(token);
  }
}

export function unexpected(token: Token): TemplateFailure {
  return new TemplateFailure(`unexpected ${shownToken(token)}`, token.at);
}

function shownToken(token: Token): string {
  if (token.kind === 'end') return 'end of the template';
  if (token.kind === 'close') return '"}}"';
  if (token.kind === 'open') return '"{{"';
  if (token.kind === 'space') return 'space';
  if (token.kind === 'field') return JSON.stringify(`.${token.name}`);
  if (token.kind === 'variable') return JSON.stringify(token.name);
  if (token.kind === 'string' || token.kind === 'rune') return token.text;
  return JSON.stringify(token.text);
}
