/** Every function that a template may call. */
import type { TemplateKind } from '../types.ts';
import { BUILTINS } from './builtin.ts';
import { COLLECTIONS } from './collections.ts';
import { COMPARISONS } from './compare.ts';
import { CONVERSIONS } from './convert.ts';
import type { TemplateFunction } from './define.ts';
import { EXPRESSIONS } from './expressions.ts';
import { OUTSIDE } from './mention.ts';
import { NUMBERS } from './numbers.ts';
import { STRINGS } from './strings.ts';
import { TIMES } from './times.ts';
import { URLS } from './urls.ts';

export const FUNCTIONS: ReadonlyMap<string, TemplateFunction> = new Map(
  [
    BUILTINS,
    COMPARISONS,
    STRINGS,
    EXPRESSIONS,
    URLS,
    CONVERSIONS,
    NUMBERS,
    COLLECTIONS,
    TIMES,
    OUTSIDE,
  ].flatMap((functions) => Object.entries(functions)),
);

/** Whether templates of a kind know the function; links have nobody to mention. */
export function isFunction(kind: TemplateKind, name: string): boolean {
  return FUNCTIONS.has(name) && !(name === 'mention' && kind === 'link_rule');
}
