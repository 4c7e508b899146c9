/** Splits what stands between `{{` and `}}` into tokens, with Go's rules for strings, comments and trim markers. */

export interface TemplateError {
  readonly code: 'template_syntax' | 'unknown_function' | 'invalid_format';
  readonly message: string;
  /** 1-based. */
  readonly line: number;
  /** 1-based, in characters. */
  readonly column: number;
}

/** A mistake at an offset of the source. Never leaves this folder. */
export class TemplateFailure extends Error {
  override readonly name = 'TemplateFailure';
  readonly code: TemplateError['code'];
  readonly offset: number;

  constructor(code: TemplateError['code'], message: string, offset: number) {
    super(message);
    this.code = code;
    this.offset = offset;
  }

  at(source: string): TemplateError {
    const lines = source.slice(0, this.offset).split('\n');
    const column = [...(lines.at(-1) ?? '')].length + 1;
    return { code: this.code, message: this.message, line: lines.length, column };
  }
}

export type ActionToken =
  | { readonly kind: 'string'; readonly text: string; readonly at: number }
  /** `.A.B` or `$.A.B`; an empty path is `.` or `$`. */
  | { readonly kind: 'field'; readonly path: readonly string[]; readonly at: number }
  | { readonly kind: 'word'; readonly text: string; readonly at: number }
  /** Anything else: numbers, pipes, parentheses, variables, declarations. */
  | { readonly kind: 'other'; readonly text: string; readonly at: number };

export interface Action {
  /** Null for a comment. */
  readonly tokens: readonly ActionToken[] | null;
  readonly trimsBefore: boolean;
  readonly trimsAfter: boolean;
  /** Offset behind the closing `}}`. */
  readonly end: number;
}

const BLANK = /[ \t\r\n]/;
const FIELD = /\$?(?:\.[A-Za-z_]\w*)+|\$(?!\w)|\.(?![\w.])/y;
const WORD = /[A-Za-z_]\w*/y;
const OTHER = /\$\w+(?:\.\w+)*|\.?\w+|:=|./y;
const COMMENT = /\/\*[\s\S]*?\*\//y;

/** Reads the action that opens at `open`. @throws {TemplateFailure} */
export function lexAction(source: string, open: number): Action {
  let at = open + 2;
  const trimsBefore = source[at] === '-' && BLANK.test(source[at + 1] ?? '');
  if (trimsBefore) at += 2;
  if (source.startsWith('/*', at)) return comment(source, open, at, trimsBefore);

  const tokens: ActionToken[] = [];
  for (;;) {
    while (BLANK.test(source[at] ?? '')) at++;
    if (at >= source.length) throw new TemplateFailure('template_syntax', 'The action is not closed.', open);
    const trimsAfter = source.startsWith('-}}', at) && BLANK.test(source[at - 1] ?? '');
    if (trimsAfter || source.startsWith('}}', at)) {
      return { tokens, trimsBefore, trimsAfter, end: at + (trimsAfter ? 3 : 2) };
    }
    const [token, next] = tokenAt(source, at);
    tokens.push(token);
    at = next;
  }
}

function comment(source: string, open: number, at: number, trimsBefore: boolean): Action {
  COMMENT.lastIndex = at;
  const text = COMMENT.exec(source)?.[0];
  if (text === undefined) throw new TemplateFailure('template_syntax', 'The comment is not closed.', open);
  const behind = at + text.length;
  if (source.startsWith('}}', behind))
    return { tokens: null, trimsBefore, trimsAfter: false, end: behind + 2 };
  if (BLANK.test(source[behind] ?? '') && source.startsWith('-}}', behind + 1)) {
    return { tokens: null, trimsBefore, trimsAfter: true, end: behind + 4 };
  }
  throw new TemplateFailure('template_syntax', 'A comment must fill its action.', open);
}

function tokenAt(source: string, at: number): [token: ActionToken, next: number] {
  if (source[at] === '"') return quoted(source, at);
  if (source[at] === '`') return raw(source, at);
  const field = match(FIELD, source, at);
  if (field !== null) {
    const path = field.replace(/^\$/, '').split('.').filter(Boolean);
    return [{ kind: 'field', path, at }, at + field.length];
  }
  const word = match(WORD, source, at);
  if (word !== null) return [{ kind: 'word', text: word, at }, at + word.length];
  const other = match(OTHER, source, at) ?? source.charAt(at);
  return [{ kind: 'other', text: other, at }, at + other.length];
}

function raw(source: string, at: number): [ActionToken, number] {
  const end = source.indexOf('`', at + 1);
  if (end < 0) throw new TemplateFailure('template_syntax', 'The string is not closed.', at);
  return [{ kind: 'string', text: source.slice(at + 1, end), at }, end + 1];
}

const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '"': '"',
  "'": "'",
};
const CODED_ESCAPE = /x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([0-7]{3})/y;

function quoted(source: string, at: number): [ActionToken, number] {
  let text = '';
  let index = at + 1;
  while (source[index] !== '"') {
    const character = source[index];
    if (character === undefined || character === '\n') {
      throw new TemplateFailure('template_syntax', 'The string is not closed.', at);
    }
    if (character !== '\\') {
      text += character;
      index++;
      continue;
    }
    const simple = SIMPLE_ESCAPES[source[index + 1] ?? ''];
    const coded = simple === undefined ? codedEscape(source, index + 1) : null;
    if (simple === undefined && coded === null) {
      throw new TemplateFailure('template_syntax', 'The string holds an unknown escape.', index);
    }
    text += simple ?? coded?.text ?? '';
    index += 1 + (coded?.length ?? 1);
  }
  return [{ kind: 'string', text, at }, index + 1];
}

function codedEscape(source: string, at: number): { text: string; length: number } | null {
  CODED_ESCAPE.lastIndex = at;
  const found = CODED_ESCAPE.exec(source);
  if (!found) return null;
  const [whole, byte, short, long, octal] = found;
  const code =
    octal === undefined ? Number.parseInt(byte ?? short ?? long ?? '', 16) : Number.parseInt(octal, 8);
  return code > 0x10ffff ? null : { text: String.fromCodePoint(code), length: whole.length };
}

function match(pattern: RegExp, source: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(source)?.[0] ?? null;
}
