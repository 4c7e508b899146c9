/** Which parts of a text are worth looking up by trigrams, judged by a sample of the texts. */

/** One of the texts, and the share of them that it stands for, 0 to 1. */
export interface SampledText {
  readonly text: string;
  readonly share: number;
}

/** What an index of trigrams takes for part of a word: where the database's locale is C, nothing beyond ASCII. */
export type WordLetters = 'any' | 'ascii';

/** Held by as many, a trigram costs a long list and leaves few texts out. */
const COMMON = 0.25;
/** What all parts that are looked up may have in common with, at most: each of these texts is read. */
const FEW = 0.01;

const TRIGRAM = 3;
const PATTERNS = { any: patternsOf('\\p{L}\\p{Nd}'), ascii: patternsOf('A-Za-z0-9') } as const;
/** Its lower case depends on what stands beside it, so that a part might not be found where the whole is. */
const DEPENDENT = /[\u03a3\p{M}]/u;

/** A sample, its texts as {@link plainText} has them. */
export interface PlainSample {
  readonly texts: readonly SampledText[];
  readonly letters: WordLetters;
}

export function plainSample(sample: readonly SampledText[], letters: WordLetters): PlainSample {
  return { texts: sample.map(({ text, share }) => ({ text: plainText(text, letters), share })), letters };
}

interface Window {
  /** Its first character is the so many-th of the text. */
  readonly start: number;
  /** As {@link plainText} has it. */
  readonly text: string;
}

/**
 * Parts that every text holds which holds this one; a common trigram is in none of them. Null: the text as a whole is as
 * good, for what is rare of it is not rare enough, or there is nothing rare about it.
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

/** @param word the characters of words, as a class of characters has them */
function patternsOf(word: string) {
  return {
    gaps: new RegExp(`[^${word}]+`, 'gu'),
    /** Three characters that the index has a trigram for, whatever stands before and behind them. */
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

/** First and last start of windows that follow each other character by character. */
function joined(windows: readonly Window[]): readonly (readonly [number, number])[] {
  const runs: [number, number][] = [];
  for (const { start } of windows) {
    const run = runs.at(-1);
    if (run && run[1] === start - 1) run[1] = start;
    else runs.push([start, start]);
  }
  return runs;
}

/** Words in lower case with a space before, between and behind them. */
function plainText(text: string, letters: WordLetters): string {
  return lowered(` ${text} `, letters);
}

function lowered(text: string, letters: WordLetters): string {
  return text.replace(PATTERNS[letters].gaps, ' ').toLowerCase();
}
