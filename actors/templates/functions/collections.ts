/** Lists and maps (templates §6). */
import { compareBytes } from '../../text.ts';
import { Refusal } from '../failure.ts';
import { printed, TextBuilder } from '../text/verbs.ts';
import { TemplateList, TemplateMap, type TemplateValue, Trusted, textOf, typeName } from '../values.ts';
import { insertion } from './builtin.ts';
import {
  any,
  argument,
  type Call,
  define,
  each,
  escaping,
  list,
  map,
  one,
  type TemplateFunction,
  text,
  two,
} from './define.ts';

/** Equal for values of one type that print alike. */
function identity(value: TemplateValue, call: Call): string {
  const shown = printed(value);
  call.spend(shown.length / 64);
  return `${typeName(value)} ${shown}`;
}

function unique({ items }: TemplateList, call: Call): TemplateList {
  const known = new Set<string>();
  return new TemplateList(
    items.filter((item) => {
      const id = identity(item, call);
      return !known.has(id) && known.add(id);
    }),
  );
}

function sorted({ items }: TemplateList, call: Call): TemplateList {
  call.spend(items.length);
  const keyed = items.map((item) => ({ key: printed(item), item }));
  keyed.sort((left, right) => compareBytes(left.key, right.key));
  return new TemplateList(keyed.map(({ key, item }) => (textOf(item) === null ? key : item)));
}

function joined(separator: Trusted | string, { items }: TemplateList, call: Call): string {
  const builder = new TextBuilder();
  const between = separator instanceof Trusted ? separator.text : call.escape(separator);
  for (const [index, item] of items.entries()) {
    if (index > 0) builder.add(between);
    builder.add(insertion(item, call));
  }
  return builder.text;
}

function dictionary(values: readonly TemplateValue[]): TemplateMap {
  if (values.length % 2 !== 0) throw new Refusal('the last key has no value');
  const entries: [string, TemplateValue][] = [];
  let trusted = true;
  for (let index = 0; index < values.length; index += 2) {
    entries.push([argument(values, index, text), values[index + 1] ?? null]);
    trusted &&= values[index] instanceof Trusted;
  }
  return new TemplateMap(Object.fromEntries(entries), 'dict', trusted);
}

const part = (run: (items: readonly TemplateValue[]) => readonly TemplateValue[]) =>
  one(list, ({ items }) => new TemplateList(run(items)));

export const COLLECTIONS: Readonly<Record<string, TemplateFunction>> = {
  list: each(0, any, (values) => new TemplateList(values)),
  first: one(list, ({ items }) => items[0] ?? null),
  last: one(list, ({ items }) => items.at(-1) ?? null),
  rest: part((items) => items.slice(1)),
  initial: part((items) => items.slice(0, -1)),
  reverse: part((items) => items.toReversed()),
  uniq: one(list, unique),
  sortAlpha: one(list, sorted),
  has: two(any, list, (value, { items }, call) => {
    const id = identity(value, call);
    return items.some((item) => identity(item, call) === id);
  }),
  concat: each(0, list, (lists) => new TemplateList(lists.flatMap(({ items }) => items))),
  join: escaping(
    define(2, 2, (values, call) => {
      const separator = values[0] instanceof Trusted ? values[0] : argument(values, 0, text);
      return joined(separator, argument(values, 1, list), call);
    }),
  ),
  dict: define(0, Infinity, dictionary),
  get: two(text, map, (key, entries) => entries.get(key) ?? (entries.kind === 'labels' ? '' : null)),
  hasKey: two(text, map, (key, entries) => entries.get(key) !== undefined),
  keys: one(map, (entries) => new TemplateList(entries.keys.map((key) => entries.keyValue(key)))),
  values: one(map, (entries) => new TemplateList(entries.keys.map((key) => entries.get(key) ?? null))),
};
