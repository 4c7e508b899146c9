/** Tokens with as much looking ahead as the parser needs. */
import { TemplateFailure } from '../failure.ts';
import { type Token, tokensOf } from './lexer.ts';

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
  return new TemplateFailure(`unexpected ${shown(token)}`, token.at);
}

function shown(token: Token): string {
  if (token.kind === 'end') return 'end of the template';
  if (token.kind === 'close') return '"}}"';
  if (token.kind === 'open') return '"{{"';
  if (token.kind === 'space') return 'space';
  if (token.kind === 'field') return JSON.stringify(`.${token.name}`);
  if (token.kind === 'variable') return JSON.stringify(token.name);
  if (token.kind === 'string' || token.kind === 'rune') return token.text;
  return JSON.stringify(token.text);
}
