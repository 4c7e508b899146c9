/** Calls of printf with formats of every kind, right and wrong. */
import type { Dice } from './generator.ts';

const VERBS = 'v v v s s q d d o x X c U e f g E G t z'.split(' ');
const FLAGS = ['', '', '', '-', '+', '0', ' ', '#', '+0', '-5', '05'] as const;
const SIZES = ['', '', '', '1', '6', '12', '.2', '8.3', '.0', '.', '5.'] as const;

export interface Expressions {
  /** A number, a string or a boolean. */
  scalar(): string;
  /** A string constant. */
  word(): string;
  any(): string;
}

export function printfCall(dice: Dice, expressions: Expressions): string {
  // Lists and maps have types of other names in Go, so nothing may name them.
  if (dice.chance(0.2)) {
    return `(printf "%${dice.one(['v', 's', '8v', 'q', '.2s'])}" ${expressions.any()})`;
  }
  const count = dice.number(4);
  const verbs = Array.from({ length: count }, () => VERBS[dice.number(VERBS.length)] ?? 'v');
  const values = Array.from({ length: Math.max(count + dice.number(3) - 1, 0) }, (_, index) =>
    // Go writes floats in hexadecimal, too.
    /[xX]/.test(verbs[index] ?? '') ? expressions.word() : expressions.scalar(),
  );
  const directives = verbs.map((verb) => directive(dice, verb));
  const end = dice.chance(0.05) ? '%' : dice.one(['', ' 100%%', 'é', ' %T']);
  return `(printf "${directives.join(' ')}${end}"${values.map((each) => ` ${each}`).join('')})`;
}

function directive(dice: Dice, verb: string): string {
  const flags = dice.one(FLAGS);
  // How these two print is the service's own rule.
  const isOwn = verb === 'v' && /[#+]/.test(flags);
  return `%${isOwn ? '' : flags}${dice.one(SIZES)}${verb}`;
}
