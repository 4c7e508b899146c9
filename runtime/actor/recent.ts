import type { Micros } from '../clock.ts';
import type { Address } from './address.ts';

/** How many messages of an actor are remembered. */
const KEPT = 50;

/** Code of a message: its type's place × this + the place of its sender's kind. */
const KINDS = 64;

/** A message that an actor was given, without what it said. */
export interface RecentMessage {
  readonly at: Micros;
  readonly type: string;
  /** Kind of the actor that sent it; null when it came from outside (HTTP, a wake-up, ingestion). */
  readonly from: string | null;
}

/**
 * Asks the owner of an actor for its recent messages by the road of all asks; answered by the engine and never seen by
 * the actor.
 */
export const RECENT = { type: '@recent' } as const;

/** Words by number, so that a message is remembered as two numbers. Types and kinds are those of the program. */
class Words {
  readonly #codes = new Map<string, number>();
  readonly #words: string[] = [];

  code(word: string): number {
    const known = this.#codes.get(word);
    if (known !== undefined) return known;
    this.#codes.set(word, this.#words.length);
    return this.#words.push(word) - 1;
  }

  word(code: number): string {
    return this.#words[code] ?? '';
  }
}

const types = new Words();
/** The first stands for messages from outside. */
const kinds = new Words();
kinds.code('');

/**
 * The last messages that an actor in memory was given: a ring of (µs, code) pairs, 16 bytes a message and nothing made
 * per message once it is full.
 */
export class RecentMessages {
  readonly #slots: number[] = [];
  #next = 0;

  note(at: Micros, type: string, from: Address | null): void {
    const sender = from === null ? 0 : kinds.code(from.kind);
    this.#slots[this.#next] = at;
    this.#slots[this.#next + 1] = types.code(type) * KINDS + sender;
    this.#next = (this.#next + 2) % (2 * KEPT);
  }

  /** The newest first. */
  list(): RecentMessage[] {
    const count = this.#slots.length / 2;
    return Array.from({ length: count }, (_, age) => {
      const at = (this.#next - 2 * (age + 1) + 2 * count) % (2 * count);
      const code = this.#slots[at + 1] ?? 0;
      const kind = code % KINDS;
      return {
        at: this.#slots[at] ?? 0,
        type: types.word(Math.floor(code / KINDS)),
        from: kind === 0 ? null : kinds.word(kind),
      };
    });
  }

  clear(): void {
    this.#slots.length = 0;
    this.#next = 0;
  }
}
