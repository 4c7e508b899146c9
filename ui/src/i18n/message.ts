/** What a text may be, and which values it needs: read from the English text itself, so that a missing one is a type error. */

/** Forms by the categories of `Intl.PluralRules`; the number is the value `count`. */
export type Plural = Readonly<Partial<Record<Intl.LDMLPluralRule, string>>> & { readonly other: string };
export type Message = string | Plural;

type Placeholders<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholders<Rest>
  : never;

type Texts<M> = M extends string ? M : M[keyof M] & string;

export type Values<M> = Placeholders<Texts<M>> | (M extends string ? never : 'count') extends infer Name
  ? [Name] extends [never]
    ? Record<never, never>
    : { readonly [Key in Name & string]: string | number }
  : never;

/** Values that say how many; every other number is a name, such as #N, and gets no separators. */
const AMOUNTS: ReadonlySet<string> = new Set(['count', 'max', 'seconds']);

/** Marks that turn the direction of what follows them, up to the end of the text: of our own words, too. */
const TURNING = /[\u202A-\u202E\u2066-\u2069]/g;

/** Fills `{name}` placeholders and picks the plural form. Values cannot turn the direction of the text around them. */
export function formatMessage(
  message: Message,
  values: Readonly<Record<string, string | number>>,
  plurals: Intl.PluralRules,
  numbers: Intl.NumberFormat,
): string {
  const text = typeof message === 'string' ? message : pluralForm(message, values.count, plurals);
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    if (typeof value === 'number' && AMOUNTS.has(name)) return numbers.format(value);
    return String(value).replace(TURNING, '\uFFFD');
  });
}

function pluralForm(forms: Plural, count: string | number | undefined, plurals: Intl.PluralRules): string {
  return forms[plurals.select(Number(count ?? 0))] ?? forms.other;
}
