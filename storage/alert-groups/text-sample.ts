/** Picks the rare trigrams of a search text, judged by the planner's sample of the stored texts. */
import { MINUTE, type Micros, type Monotonic } from '../../runtime/clock.ts';
import type { Transaction } from '../postgres/records.ts';

/** How long the sample is cached; ANALYZE runs a few times a day. */
const CACHED_FOR: Micros = MINUTE;

/** The groups that a text index covers. */
export type Half = 'open' | 'resolved';

/** The rare parts of a text in each half; null: use the whole text. */
export type TextParts = Readonly<Record<Half, readonly string[] | null>>;

const INDEX = { open: 'alert_groups_open_text', resolved: 'alert_groups_resolved_text' } as const;

interface SampledHalf {
  /** Null where the server has no sample of either index. */
  readonly index_name: string | null;
  /** The database's character classification (`datctype`). */
  readonly ctype: string;
  readonly common: readonly string[] | null;
  readonly common_shares: readonly number[] | null;
  /** The other sampled texts: they share what the common ones leave, in equal parts. */
  readonly others: readonly string[] | null;
}

interface Known {
  readonly until: Micros;
  readonly isThere: boolean;
  readonly open: PlainSample | null;
  readonly resolved: PlainSample | null;
}

/** The text indexes of titles and summaries. They exist only where the database server offers trigram indexes. */
export class TextIndexes {
  readonly #monotonic: Monotonic;
  #known: Known | null = null;

  constructor(monotonic: Monotonic) {
    this.#monotonic = monotonic;
  }

  async areThere(tx: Transaction): Promise<boolean> {
    return (await this.#read(tx)).isThere;
  }

  async partsOf(tx: Transaction, text: string): Promise<TextParts> {
    const { open, resolved } = await this.#read(tx);
    return { open: open && rareParts(text, open), resolved: resolved && rareParts(text, resolved) };
  }

  async #read(tx: Transaction): Promise<Known> {
    const now = this.#monotonic();
    if (this.#known !== null && now < this.#known.until) return this.#known;
    const rows = await tx<(SampledHalf & { readonly is_there: boolean })[]>`
      select
        to_regclass(${INDEX.open}) is not null as is_there, tablename as index_name,
        most_common_vals::text::text[] as common, most_common_freqs as common_shares,
        histogram_bounds::text::text[] as others,
        (select datctype from pg_database where datname = current_database()) as ctype
      from (values (0)) as one
      left join pg_stats on schemaname = current_schema() and tablename in (${INDEX.open}, ${INDEX.resolved})`;
    const sampleIn = (half: Half) => {
      const found = rows.find(({ index_name }) => index_name === INDEX[half]);
      return found === undefined ? null : plainSample(sampleOf(found), lettersOf(found));
    };
    this.#known = {
      until: now + CACHED_FOR,
      isThere: rows[0]?.is_there ?? false,
      open: sampleIn('open'),
      resolved: sampleIn('resolved'),
    };
    return this.#known;
  }
}

function sampleOf({ common, common_shares, others }: SampledHalf): readonly SampledText[] {
  const shares = common_shares ?? [];
  const left = 1 - shares.reduce((sum, share) => sum + share, 0);
  return [
    ...(common ?? []).map((text, index) => ({ text, share: shares[index] ?? 0 })),
    ...(others ?? []).map((text, _, { length }) => ({ text, share: left / length })),
  ];
}

function lettersOf({ ctype }: SampledHalf): WordLetters {
  return ctype === 'C' || ctype === 'POSIX' ? 'ascii' : 'any';
}

/** A sampled text, and the share of all texts that it represents, 0 to 1. */
export interface SampledText {
  readonly text: string;
  readonly share: number;
}

/** Which letters a trigram index counts as parts of words: with the locale C only those of ASCII. */
export type WordLetters = 'any' | 'ascii';

/** Share of texts from which on a trigram is common: its posting list is long, and it rules few texts out. */
const COMMON = 0.25;
/** Largest share of texts that may contain all rare parts: each of them is read and rechecked. */
const FEW = 0.01;

const TRIGRAM = 3;
const PATTERNS = { any: patternsOf('\\p{L}\\p{Nd}'), ascii: patternsOf('A-Za-z0-9') } as const;
/** Characters whose lower case depends on their neighbours: a part with one might not match where the whole text does. */
const DEPENDENT = /[\u03a3\p{M}]/u;

/** A sample whose texts are normalised by {@link plainText}. */
interface PlainSample {
  readonly texts: readonly SampledText[];
  readonly letters: WordLetters;
}

export function plainSample(sample: readonly SampledText[], letters: WordLetters): PlainSample {
  return { texts: sample.map(({ text, share }) => ({ text: plainText(text, letters), share })), letters };
}

interface Window {
  /** Index of its first character in the text. */
  readonly start: number;
  /** Normalised by {@link plainText}. */
  readonly text: string;
}

/**
 * Trigrams of the search text that are rare enough to narrow the search, adjacent ones joined; null: use the whole
 * text. Every text that contains the search text contains all of them.
 */
export function rareParts(text: string, { texts, letters }: PlainSample): readonly string[] | null {
  const characters = [...text];
  const shareWith = (windows: readonly Window[]) =>
    texts
      .filter((one) => windows.every((window) => one.text.includes(window.text)))
      .reduce((sum, { share }) => sum + share, 0);
  const rare = windowsOf(characters, letters).filter((window) => shareWith([window]) < COMMON);
  if (rare.length === 0 || shareWith(rare) > FEW) return null;
  return joined(rare).map(([first, last]) => characters.slice(first, last + TRIGRAM).join(''));
}

/** @param word the characters of words, written as in a character class */
function patternsOf(word: string) {
  return {
    gaps: new RegExp(`[^${word}]+`, 'gu'),
    /** Three characters for which the index has a trigram whatever their neighbours are. */
    window: new RegExp(`^(?:[${word}]{2}.|.[${word}]{2}|[^${word}][${word}][^${word}])$`, 'su'),
  };
}

function windowsOf(characters: readonly string[], letters: WordLetters): readonly Window[] {
  return characters.flatMap((_, start) => {
    const window = characters.slice(start, start + TRIGRAM).join('');
    if (!PATTERNS[letters].window.test(window) || DEPENDENT.test(window)) return [];
    return [{ start, text: lowered(window, letters) }];
  });
}

/** Runs of windows that start at adjacent characters: the first and last start of each. */
function joined(windows: readonly Window[]): readonly (readonly [number, number])[] {
  const runs: [number, number][] = [];
  for (const { start } of windows) {
    const run = runs.at(-1);
    if (run && run[1] === start - 1) run[1] = start;
    else runs.push([start, start]);
  }
  return runs;
}

/** The words in lower case, with one space before, between and after them. */
function plainText(text: string, letters: WordLetters): string {
  return lowered(` ${text} `, letters);
}

function lowered(text: string, letters: WordLetters): string {
  return text.replace(PATTERNS[letters].gaps, ' ').toLowerCase();
}
