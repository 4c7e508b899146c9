/**
 * Secrets that are recognised wherever they turn up: as they are, or as base64, percent-encoded, escaped or in hex,
 * whole or broken off. What escapes change in a value stands between two parts that no escape touches.
 */
import { randomBytes } from 'node:crypto';

/** Characters of a part that are looked for: long enough to be nobody else's. */
const PART = 12;
const ALPHABET = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';

interface Needle {
  readonly name: string;
  readonly bytes: Buffer;
}

export class Canaries {
  readonly #needles = new Map<number, Needle[]>();
  /** Which beginnings there are: most places of a text are none. */
  readonly #beginnings = new Uint8Array(1 << 24);
  readonly #names: string[] = [];

  get names(): readonly string[] {
    return this.#names;
  }

  /** A new secret; `between` is what its two halves enclose. */
  make(name: string, between = ''): string {
    const [head, tail] = [word(), word()];
    this.#look(name, [head, tail]);
    return head + between + tail;
  }

  /** A secret that somebody else made. */
  add(name: string, value: string): string {
    const runs = value.split(/[^A-Za-z0-9]+/).sort((one, other) => other.length - one.length);
    const [longest = ''] = runs;
    // No escape changes a run of letters; a value that has none is looked for as it is.
    const part = longest.length >= PART ? longest : value.replace(/=+$/, '');
    this.#look(name, [part.slice(-PART)]);
    return value;
  }

  /** A secret of bytes that texts may hold in any form. */
  addBytes(name: string, bytes: Buffer): void {
    this.#look(name, [bytes.subarray(0, PART).toString('latin1'), bytes.subarray(-PART).toString('latin1')]);
  }

  /** A short secret, looked for as it is written only. */
  addWhole(name: string, spellings: readonly string[]): void {
    this.#names.push(name);
    for (const spelling of spellings) this.#await(name, Buffer.from(spelling, 'utf8'));
  }

  /** Names of what a text holds, each once. */
  in(text: string | Buffer): readonly string[] {
    const bytes = typeof text === 'string' ? Buffer.from(text, 'utf8') : text;
    const found = new Set<string>();
    let beginning = 0;
    for (let at = 0; at < bytes.length; at++) {
      beginning = ((beginning << 8) | (bytes[at] ?? 0)) & 0xffffff;
      if (this.#beginnings[beginning] === 0 || at < 2) continue;
      for (const { name, bytes: wanted } of this.#needles.get(beginning) ?? []) {
        if (bytes.subarray(at - 2, at - 2 + wanted.length).equals(wanted)) found.add(name);
      }
    }
    return [...found];
  }

  #look(name: string, parts: readonly string[]): void {
    this.#names.push(name);
    for (const bytes of parts.map((part) => Buffer.from(part, 'latin1')).flatMap(formsOf))
      this.#await(name, bytes);
  }

  #await(name: string, bytes: Buffer): void {
    const beginning = bytes.readUIntBE(0, 3);
    this.#beginnings[beginning] = 1;
    this.#needles.set(beginning, [...(this.#needles.get(beginning) ?? []), { name, bytes }]);
  }
}

function word(): string {
  return [...randomBytes(2 * PART)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
}

/** As it is, in hex, and what base64 makes of it wherever it stands in what is encoded. */
function formsOf(part: Buffer): Buffer[] {
  const hex = part.toString('hex');
  const base64 = [0, 1, 2].flatMap((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), part]).toString('base64');
    const certain = encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + part.length) * 8) / 6));
    return [certain, certain.replaceAll('+', '-').replaceAll('/', '_')];
  });
  const texts = [hex, hex.toUpperCase(), ...new Set(base64)].map((text) => Buffer.from(text, 'latin1'));
  return [part.subarray(0, PART), part.subarray(-PART), ...texts];
}
