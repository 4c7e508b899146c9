/** Parts of a template for its highlighting: what stands between `{{` and `}}`, as far as it can be told at a glance. */

export interface Token {
  readonly from: number;
  readonly to: number;
  readonly kind:
    | 'delimiter'
    | 'keyword'
    | 'function'
    | 'field'
    | 'variable'
    | 'string'
    | 'number'
    | 'comment';
}

const KEYWORDS = new Set(
  'if else end with range break continue define template block true false nil'.split(' '),
);
const PARTS = [
  ['comment', /\/\*[\s\S]*?(?:\*\/|$)/y],
  ['string', /"(?:\\.|[^"\\\n])*"?|`[^`]*`?|'(?:\\.|[^'\\\n])*'?/y],
  ['number', /\d[\w.]*/y],
  ['variable', /\$\w*/y],
  ['field', /\.[A-Za-z_]\w*/y],
  ['word', /[A-Za-z_]\w*/y],
] as const;

/** The tokens of a source in order. */
export function tokensOf(source: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let open = source.indexOf('{{'); open >= 0; ) {
    const close = readAction(source, open, tokens);
    open = source.indexOf('{{', close);
  }
  return tokens;
}

/** @returns where the text behind the action begins */
function readAction(source: string, open: number, tokens: Token[]): number {
  let at = open + (/-\s/.test(source.slice(open + 2, open + 4)) ? 3 : 2);
  tokens.push({ from: open, to: at, kind: 'delimiter' });
  while (at < source.length) {
    const end = /^(?:-?\}\})/.exec(source.slice(at, at + 3));
    if (end) {
      tokens.push({ from: at, to: at + end[0].length, kind: 'delimiter' });
      return at + end[0].length;
    }
    const token = tokenAt(source, at);
    if (token) tokens.push(token);
    at = token?.to ?? at + 1;
  }
  return at;
}

function tokenAt(source: string, from: number): Token | null {
  for (const [kind, pattern] of PARTS) {
    pattern.lastIndex = from;
    const found = pattern.exec(source)?.[0];
    if (found === undefined || found === '') continue;
    const to = from + found.length;
    if (kind !== 'word') return { from, to, kind };
    return { from, to, kind: KEYWORDS.has(found) ? 'keyword' : 'function' };
  }
  return null;
}

/** Whether a place lies within an action, where names can be completed. */
export function isInAction(source: string, at: number): boolean {
  const before = source.slice(0, at);
  return before.lastIndexOf('{{') > before.lastIndexOf('}}');
}
