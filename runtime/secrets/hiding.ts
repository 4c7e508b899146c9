/** Finds known secrets in texts, whatever became of them on the way, and puts something else in their place. */
import { type Reading, read, readForNow } from './reading.ts';
import { Search, SHORTEST_SOUGHT } from './search.ts';

/** One form of a secret, as it reads. */
interface Form {
  readonly units: Int32Array;
  /** A part of base64: characters beside it are the secret's, too. */
  readonly isBase64: boolean;
  /** It ends with backslashes, which a reading leaves out. */
  readonly isOpen: boolean;
}

/** Units of a written form that are looked for first: so few that the look takes no longer, whatever the text holds. */
const BEGINNING = 8;

export class Hiding {
  readonly #forms: readonly Form[];
  readonly #inReading: Search;
  readonly #written: readonly string[];
  /** Made when a text holds the beginning of one of them, which hardly any does. */
  #inText: Search | null = null;

  /** @param secrets of four characters or more, without white space around them */
  constructor(secrets: readonly string[]) {
    this.#forms = secrets.flatMap((secret) => [...readForms(secret), ...base64Forms(secret)]);
    this.#inReading = new Search(this.#forms.map(({ units }) => units));
    this.#written = secrets.flatMap(writtenForms);
  }

  hide(text: string, replacement: string): string {
    if (this.#written.length === 0) return text;
    const places = new Places(text);
    const reading = readForNow(text);
    this.#inReading.within(reading.units.subarray(0, reading.length), (which, first, last) => {
      const form = this.#forms[which];
      if (form) places.add(...placeOf(form, reading, text, first, last));
    });
    // With what stands beside it, a secret may look like an escape: as it is written, it is found all the same.
    if (
      reading.length < text.length &&
      this.#written.some((form) => text.includes(form.slice(0, BEGINNING)))
    ) {
      this.#inText ??= new Search(this.#written.map(unitsOf));
      this.#inText.within(unitsOf(text), (_, first, last) => places.add(first, last + 1));
    }
    return places.replaced(replacement);
  }
}

/** URLs leave tabs and line ends out. */
function readForms(secret: string): readonly Form[] {
  const texts = new Set([secret, secret.replace(/[\t\r\n]/g, '')]);
  return [...texts].flatMap((text) => {
    const { units, ends, length } = read(text);
    if (length < SHORTEST_SOUGHT) return [];
    const isOpen = (ends[length - 1] ?? 0) < text.length;
    return [{ units: units.slice(0, length), isBase64: false, isOpen }];
  });
}

/** Of one that is hardly more than escapes, so that too little of it can be read, only what programs mostly write. */
function writtenForms(secret: string): readonly string[] {
  if (read(secret).length >= SHORTEST_SOUGHT) return [secret];
  const once = ESCAPES.map((escaped) => escaped(secret));
  const twice = once.flatMap((text) => ESCAPES.map((escaped) => escaped(text)));
  return [secret, ...once, ...twice];
}

const ESCAPES: readonly ((text: string) => string)[] = [
  (text) => JSON.stringify(text).slice(1, -1),
  (text) => text.replace(/[^\w.~!'()*-]/gu, (character) => [...Buffer.from(character)].map(percent).join('')),
  (text) =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;'),
];

function percent(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
}

/** Shorter ones would be found in what has nothing to do with the secret. */
const SHORTEST_CORE = 5;

/** What base64 makes of a secret for certain, wherever it begins in what is encoded. */
function base64Forms(secret: string): readonly Form[] {
  const bytes = Buffer.from(secret, 'utf8');
  const cores = [0, 1, 2].flatMap((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    const certain = encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
    return [certain, certain.replaceAll('+', '-').replaceAll('/', '_')];
  });
  return [...new Set(cores)]
    .filter((core) => core.length >= SHORTEST_CORE)
    .map((core) => ({ units: read(core).units, isBase64: true, isOpen: false }));
}

/** Where it is written that was found in the reading. */
function placeOf(
  { isBase64, isOpen }: Form,
  { starts, ends, length }: Reading,
  text: string,
  first: number,
  last: number,
): readonly [from: number, to: number] {
  const isIn = (letters: RegExp, at: number) =>
    isBase64 && at < length && letters.test(text[starts[at] ?? 0] ?? '');
  const past = (at: number, letters: RegExp) => [at, at + 1].find((next) => !isIn(letters, next)) ?? at + 2;
  const begin = first > 0 && isIn(/[\w+/-]/, first - 1) ? first - 1 : first;
  const end = past(past(last + 1, /[\w+/-]/), /=/);
  // Backslashes before it may be a part of how it was escaped.
  const from = begin === 0 ? 0 : (ends[begin - 1] ?? 0);
  if (!isOpen) return [from, ends[end - 1] ?? 0];
  return [from, end < length ? (starts[end] ?? 0) : text.length];
}

function unitsOf(text: string): Int32Array {
  const units = new Int32Array(text.length);
  for (let at = 0; at < text.length; at++) units[at] = text.charCodeAt(at);
  return units;
}

/** Of a text, to be replaced. */
class Places {
  readonly #text: string;
  /** How far the longest one goes that begins at each place; 0 where none does. */
  #reach: Int32Array | null = null;

  constructor(text: string) {
    this.#text = text;
  }

  add(from: number, to: number): void {
    this.#reach ??= new Int32Array(this.#text.length);
    this.#reach[from] = Math.max(this.#reach[from] ?? 0, to);
  }

  /** Those that overlap are one. */
  replaced(replacement: string): string {
    const reach = this.#reach;
    if (!reach) return this.#text;
    let written = '';
    let done = 0;
    for (let at = 0; at < reach.length; at++) {
      let end = reach[at] ?? 0;
      if (end === 0) continue;
      written += this.#text.slice(done, at) + replacement;
      for (let inner = at + 1; inner < end; inner++) end = Math.max(end, reach[inner] ?? 0);
      done = end;
      at = end - 1;
    }
    return written + this.#text.slice(done);
  }
}
