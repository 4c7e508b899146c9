/** Picks and fills the texts of messages (messages §11, §12). */
import type { Micros } from '../../../runtime/clock.ts';
import { offsetAt } from '../../wall-clock.ts';
import { en, type PlainKey, type PluralKey } from './en.ts';
import { ru } from './ru.ts';

export type { PlainKey, PluralKey } from './en.ts';
export type Language = 'en' | 'ru';

/** Values for placeholders. They are inserted as they are: untrusted ones come escaped for their format. */
export type TextValues = Readonly<Record<string, string | number>>;

export const CATALOGUES = { en, ru } as const;

/** A text without plural forms. */
export function text(language: Language, key: PlainKey, values: TextValues = {}): string {
  return fill(CATALOGUES[language][key], values);
}

/** A text in the form that the number `values.n` asks for. */
export function counted(
  language: Language,
  key: PluralKey,
  values: TextValues & { readonly n: number },
): string {
  switch (language) {
    case 'en': {
      const [one, other] = en[key];
      return fill(values.n === 1 ? one : other, values);
    }
    case 'ru':
      return fill(ru[key][russianForm(values.n)], values);
  }
}

/** Index of the Russian form: one (21), few (22), many (25, 11). */
export function russianForm(n: number): 0 | 1 | 2 {
  const [tens, ones] = [n % 100, n % 10];
  if (ones === 1 && tens !== 11) return 0;
  return ones >= 2 && ones <= 4 && !(tens >= 12 && tens <= 14) ? 1 : 2;
}

/** Fills every placeholder in one pass, so that a value that looks like one stays what it is. */
function fill(template: string, values: TextValues): string {
  return template.replace(/\{(\w+)\}/g, (placeholder, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : placeholder,
  );
}

/** `2026-10-04 18:00 UTC+02:00` in a zone of the IANA database; `UTC` where the offset is zero. */
export function fullTime(at: Micros, zone: string): string {
  const instant = Math.floor(at / 1000);
  const offset = offsetAt(zone, instant);
  const [date = '', time = ''] = new Date(instant + offset * 1000).toISOString().split('T');
  return `${date} ${time.slice(0, 5)} ${offsetText(Math.round(offset / 60))}`;
}

/** `18:00`, for notes about what happened lately. */
export function shortTime(at: Micros, zone: string): string {
  const instant = Math.floor(at / 1000);
  return new Date(instant + offsetAt(zone, instant) * 1000).toISOString().slice(11, 16);
}

const UNITS = [
  ['duration.day', 86_400],
  ['duration.hour', 3_600],
  ['duration.minute', 60],
  ['duration.second', 1],
] as const satisfies readonly (readonly [PlainKey, number])[];

/** Seconds in the largest unit that divides them: 86,400 is `1 d`, 5,400 is `90 min`. */
export function durationText(seconds: number, language: Language): string {
  const [key, size] = UNITS.find(([, unit]) => seconds % unit === 0) ?? UNITS[3];
  return text(language, key, { n: seconds / size });
}

function offsetText(minutes: number): string {
  if (minutes === 0) return 'UTC';
  const size = Math.abs(minutes);
  const two = (value: number) => String(value).padStart(2, '0');
  return `UTC${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}
