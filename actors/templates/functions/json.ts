/** Compact JSON that can stand in a script (templates §6 `toJson`). */
import { Refusal } from '../refusal.ts';
import { TextBuilder } from '../text/builder.ts';
import { formatTime } from '../text/time.ts';
import { REDACTED } from '../text/verbs.ts';
import {
  TemplateDuration,
  TemplateList,
  TemplateMap,
  TemplateMention,
  TemplateObject,
  TemplateTime,
  type TemplateValue,
  Trusted,
} from '../values.ts';

/** @throws {Refusal} for NaN and infinity */
export function jsonText(value: TemplateValue): string {
  const builder = new TextBuilder();
  write(builder, value);
  return builder.text;
}

function write(builder: TextBuilder, value: TemplateValue): void {
  if (value instanceof TemplateList) writeList(builder, value.items);
  else if (value instanceof TemplateObject) writeMembers(builder, Object.entries(value.fields));
  else if (value instanceof TemplateMap) writeMap(builder, value);
  else builder.add(simple(value));
}

function writeMap(builder: TextBuilder, map: TemplateMap): void {
  if (map.kind === 'secrets') builder.add(stringText(REDACTED));
  else
    writeMembers(
      builder,
      map.keys.map((key) => [key, map.get(key) ?? null] as const),
    );
}

function writeList(builder: TextBuilder, items: readonly TemplateValue[]): void {
  builder.add('[');
  for (const [index, item] of items.entries()) {
    if (index > 0) builder.add(',');
    write(builder, item);
  }
  builder.add(']');
}

function writeMembers(builder: TextBuilder, members: readonly (readonly [string, TemplateValue])[]): void {
  builder.add('{');
  for (const [index, [name, value]] of members.entries()) {
    builder.add(`${index > 0 ? ',' : ''}${stringText(name)}:`);
    write(builder, value);
  }
  builder.add('}');
}

type Simple = Exclude<TemplateValue, TemplateList | TemplateObject | TemplateMap>;

function simple(value: Simple): string {
  if (typeof value === 'string') return stringText(value);
  if (value instanceof Trusted || value instanceof TemplateMention) return stringText(value.text);
  if (value instanceof TemplateTime)
    return stringText(formatTime(value, '2006-01-02T15:04:05.999999999Z07:00'));
  if (value instanceof TemplateDuration) return value.nanos.toString();
  if (typeof value !== 'number') return String(value);
  if (Number.isFinite(value)) return String(value);
  throw new Refusal(`${Number.isNaN(value) ? 'NaN' : 'infinity'} has no JSON`);
}

/** What could end a script or break a line of one is written as an escape. */
function stringText(text: string): string {
  return JSON.stringify(text).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
