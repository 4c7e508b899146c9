/**
 * A text that everything matched by a regular expression holds, so that a database can leave out most values before the
 * engine judges the rest. Read off plain expressions only; property-tested against the engine.
 */

/** What makes parts of an expression optional, or letters equal that are not. */
const BRANCHES = /[|(]|\\Q/;
const LONE_SURROGATE = /\p{Surrogate}/u;
const QUANTIFIERS = new Set('*?{+');
/** Between two of these, texts end; anything else that is no letter of a text ends the reading. */
const GAP = /^(?:\.|\^|\$|\\[dDsSwWbB])/;
const ESCAPED = /^\\([!-/:-@[-^`{-~])/;
const META = new Set('\\.+*?()|[]{}^$\0\ufffd');

/**
 * The longest text that is found to be in every value that the expression matches as a whole; empty when none is. The
 * expression must have compiled.
 */
export function requiredText(expression: string): string {
  if (BRANCHES.test(expression) || LONE_SURROGATE.test(expression)) return '';
  const texts: string[] = [''];
  let rest = expression;
  while (rest !== '') {
    const atom = readAtom(rest);
    if (!atom) break;
    rest = rest.slice(atom.length);
    const isRepeated = QUANTIFIERS.has(rest.charAt(0));
    if (atom.text === null || isRepeated) texts.push('');
    else texts.push((texts.pop() ?? '') + atom.text);
    rest = rest.replace(/^(?:[*?+]|\{\d+(?:,\d*)?\})+/, '');
  }
  return texts.reduce((longest, text) => (text.length > longest.length ? text : longest));
}

/** One character, as text or as a gap. Null: of unknown meaning. */
function readAtom(rest: string): { readonly length: number; readonly text: string | null } | null {
  const [gap] = GAP.exec(rest) ?? [];
  if (gap !== undefined) return { length: gap.length, text: null };
  const [escaped, text] = ESCAPED.exec(rest) ?? [];
  if (escaped !== undefined && text !== undefined) return { length: escaped.length, text };
  const character = String.fromCodePoint(rest.codePointAt(0) ?? 0);
  return META.has(character) ? null : { length: character.length, text: character };
}
