/**
 * A text as it is meant: what is escaped in it for JSON, HTML or a URL, or for several of them one inside the other, is
 * read as what it stands for. Texts that are the same but for escapes read the same, however each of their characters is
 * written. One walk, whatever the text holds: an escape is read when its last character is, and what it stands for may
 * be the last character of another one.
 */

/**
 * What of a text can be told apart once nobody knows how it was escaped: no backslashes, since each may belong to an
 * escape; line ends as the letters that stand for them behind a backslash; `+` as the blank that it is in a form.
 */
export interface Reading {
  /** UTF-16, and bytes that are no part of a character. The first `length` of them count. */
  readonly units: Int32Array;
  readonly length: number;
  /** Where in the text each was written. Backslashes that were left out stand between the end of one and the next. */
  readonly starts: Int32Array;
  readonly ends: Int32Array;
}

export function read(text: string): Reading {
  return new Reader(text.length).read(text);
}

/** Room for a text of this many units is kept for the next one. */
const MOST_KEPT = 131_072;
let kept: Reader | null = null;

/** As {@link read}, without making room for each text. What it gives holds until the next call. */
export function readForNow(text: string): Reading {
  if (text.length > MOST_KEPT) return read(text);
  if (kept === null || kept.units.length < text.length) kept = new Reader(2 * text.length);
  return kept.read(text);
}

const [BACKSLASH, PERCENT, AMPERSAND, SEMICOLON, LETTER_U] = [0x5c, 0x25, 0x26, 0x3b, 0x75];
/** A byte behind a percent sign that is no character by itself is this much more, to be no unit of a text. */
const BYTE = 0x200000;
const NOTHING = -1;

/** Units of `&#x0010ffff;`, the longest way to write a character in HTML. */
const LONGEST_ENTITY = 12;
const ENTITIES: ReadonlyMap<string, number> = new Map([
  ['amp', 0x26],
  ['lt', 0x3c],
  ['gt', 0x3e],
  ['quot', 0x22],
  ['apos', 0x27],
]);
const ENTITY_NUMBER = /^#(?:[xX]([0-9a-fA-F]+)|(\d+))$/;

const ASCII = Array.from({ length: 128 }, (_, unit) => String.fromCharCode(unit));
const HEX_DIGITS = Int8Array.from(ASCII, (letter) => '0123456789abcdef'.indexOf(letter.toLowerCase()));
const ALIKE: Readonly<Record<string, string>> = {
  '\b': 'b',
  '\t': 't',
  '\n': 'n',
  '\f': 'f',
  '\r': 'r',
  '+': ' ',
};
const FOLDED = Int32Array.from(ASCII, (letter) => (ALIKE[letter] ?? letter).charCodeAt(0));

class Reader implements Reading {
  readonly units: Int32Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  length = 0;
  /** Where the escape began that was read last. */
  #from = 0;

  constructor(most: number) {
    this.units = new Int32Array(most);
    this.starts = new Int32Array(most);
    this.ends = new Int32Array(most);
  }

  read(text: string): this {
    this.length = 0;
    for (let at = 0; at < text.length; at++) this.#add(text.charCodeAt(at), at);
    this.#fold();
    return this;
  }

  #add(unit: number, at: number): void {
    this.#from = at;
    for (let value = unit; value !== NOTHING && value !== BACKSLASH; value = this.#escape(value)) {
      if (value <= 0xffff || value >= BYTE) this.#put(value, at + 1);
      else {
        this.#put(0xd800 + ((value - 0x10000) >> 10), at + 1);
        this.#put(0xdc00 + (value & 0x3ff), at + 1);
      }
    }
  }

  /** Makes alike what stands for the same in some way of writing. */
  #fold(): void {
    for (let at = 0; at < this.length; at++) {
      const unit = this.units[at] ?? 0;
      if (unit < 128) this.units[at] = FOLDED[unit] ?? 0;
    }
  }

  #put(unit: number, end: number): void {
    const at = this.length++;
    this.units[at] = unit;
    this.starts[at] = this.#from;
    this.ends[at] = end;
  }

  /** Takes away the escape that ends with this unit. @returns what it stands for */
  #escape(last: number): number {
    if (last === SEMICOLON) return this.#entity();
    if (last >= BYTE) return this.#character();
    return hexOf(last) < 0 ? NOTHING : this.#number();
  }

  #number(): number {
    if (this.units[this.length - 3] === PERCENT) {
      const byte = this.#digits(2);
      if (byte === NOTHING) return NOTHING;
      this.#take(3);
      return byte < 0x80 ? byte : BYTE + byte;
    }
    const first = this.length - 5;
    if (this.units[first] !== LETTER_U || !this.#isBehindBackslash(first)) return NOTHING;
    const unit = this.#digits(4);
    if (unit !== NOTHING) this.#take(5);
    return unit;
  }

  #entity(): number {
    const least = Math.max(0, this.length - LONGEST_ENTITY);
    let start = this.length - 2;
    while (start >= least && this.units[start] !== AMPERSAND) start--;
    if (start < least) return NOTHING;
    const name = String.fromCharCode(...this.units.subarray(start + 1, this.length - 1));
    const value = ENTITIES.get(name) ?? numberOf(name);
    if (value !== NOTHING) this.#take(this.length - start);
    return value;
  }

  /** Of UTF-8 whose last byte was read. */
  #character(): number {
    let value = 0;
    for (let size = 1; size <= 4; size++) {
      const byte = (this.units[this.length - size] ?? 0) - BYTE;
      if (byte < 0) return NOTHING;
      if ((byte & 0xc0) === 0x80) {
        value += (byte & 0x3f) << (6 * (size - 1));
        continue;
      }
      if (size === 1 || size !== sizeBy(byte)) return NOTHING;
      value += (byte & (0x7f >> size)) << (6 * (size - 1));
      if (value > 0x10ffff) return NOTHING;
      this.#take(size);
      return value;
    }
    return NOTHING;
  }

  #take(count: number): void {
    this.length -= count;
    this.#from = this.starts[this.length] ?? 0;
  }

  /** What the last so many units are as hexadecimal digits. */
  #digits(count: number): number {
    let value = 0;
    for (let at = this.length - count; at < this.length; at++) {
      const digit = hexOf(this.units[at] ?? 0);
      if (digit < 0) return NOTHING;
      value = value * 16 + digit;
    }
    return value;
  }

  #isBehindBackslash(at: number): boolean {
    return (this.starts[at] ?? 0) > (this.ends[at - 1] ?? 0);
  }
}

function hexOf(unit: number): number {
  return unit < 128 ? (HEX_DIGITS[unit] ?? NOTHING) : NOTHING;
}

function numberOf(name: string): number {
  const [, hex, decimal] = ENTITY_NUMBER.exec(name) ?? [];
  const value = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  return value > 0 && value <= 0x10ffff ? value : NOTHING;
}

/** Bytes of a character of UTF-8 by its first one. */
function sizeBy(byte: number): number {
  if (byte >= 0xf0) return 4;
  return byte >= 0xe0 ? 3 : 2;
}
