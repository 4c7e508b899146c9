/** Picks and fills the texts of messages (messages §11, §12). */
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
