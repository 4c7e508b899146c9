/** Every function that a template may call. */
import { Refusal } from '../failure.ts';
import type { MentionTarget, TemplateKind } from '../types.ts';
import { TemplateMention, TemplateObject, type TemplateValue, textOf, typeName } from '../values.ts';
import { BUILTINS, COMPARISONS } from './builtin.ts';
import { COLLECTIONS } from './collections.ts';
import { CONVERSIONS } from './convert.ts';
import {
  any,
  argument,
  type Call,
  define,
  escaping,
  fromOutside,
  type TemplateFunction,
  text,
  three,
} from './define.ts';
import { EXPRESSIONS } from './expressions.ts';
import { NUMBERS, TIMES } from './numbers.ts';
import { STRINGS, URLS } from './strings.ts';

/** Rows of Lookup tables for one message or link set. */
const MOST_ROWS = 100;

function cell(table: string, key: TemplateValue, column: string, call: Call): string {
  if (key === null) return '';
  const row = textOf(key);
  if (row === null) throw new Refusal(`argument 2 must be string, not ${typeName(key)}`);
  const { lookedUp } = call;
  lookedUp.add(JSON.stringify([table, row]));
  if (lookedUp.size > MOST_ROWS) throw new Refusal(`more than ${MOST_ROWS} rows of Lookup tables`, 'action');
  return call.context.lookup(table, row, column);
}

function mention(values: readonly TemplateValue[], call: Call): TemplateValue {
  const target = call.kind === 'webhook_request' ? listedTarget(values) : namedTarget(values);
  const shown = call.context.mention(target);
  if (shown === null) throw new Refusal('function "mention" is not defined', 'name');
  call.mentioned(target);
  return new TemplateMention(shown);
}

function namedTarget(values: readonly TemplateValue[]): MentionTarget {
  const type = argument(values, 0, text);
  if (type === 'group') return { type, name: argument(values, 1, text) };
  if (values.length > 1) throw new Refusal(`${JSON.stringify(type)} takes no name`);
  if (type === 'owner') return { type };
  if (type === 'all' || type === 'channel' || type === 'here') return { type: 'everyone', everyone: type };
  throw new Refusal(`there is no Mention ${JSON.stringify(type)}`);
}

/** One of those that a webhook request lists in `.Mentions`. */
function listedTarget([value = null, ...others]: readonly TemplateValue[]): MentionTarget {
  const target = value instanceof TemplateObject && value.typeName === 'Mention' ? value.fields : null;
  if (!target || others.length > 0) throw new Refusal('give one target of .Mentions');
  const field = (name: string) => textOf(target[name] ?? null) ?? '';
  const everyone = field('Everyone');
  if (everyone === 'all' || everyone === 'channel' || everyone === 'here')
    return { type: 'everyone', everyone };
  if (field('Type') === 'group') return { type: 'group', name: field('Name') };
  return { type: 'user', name: field('Name'), id: field('ID'), login: field('Login') };
}

const OUTSIDE: Readonly<Record<string, TemplateFunction>> = {
  lookup: fromOutside(three(text, any, text, cell)),
  mention: escaping(define(1, 2, mention)),
};

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
