import type { Micros } from '../clock.ts';
import type { Address } from './address.ts';

/** How many messages of an actor are remembered. */
const KEPT = 50;

/** Code of a message: its type's place × this + the place of its sender's kind. */
const KINDS = 64;

/** Numbers that stand for one message: when, type and sender, the state after it, and what its machine took. */
const SLOTS = 4;

/** A message that an actor was given, without what it said, and what it did to the actor's machine. */
export interface RecentMessage {
  readonly at: Micros;
  readonly type: string;
  /** Kind of the actor that sent it; null when it came from outside (HTTP, a wake-up, ingestion). */
  readonly from: string | null;
  /** State of its machine afterwards, as XState writes it; null before the machine began. */
  readonly state: unknown;
  /** Events that its machine took, in order: at most four. */
  readonly events: readonly string[];
}

/**
 * Asks the owner of an actor for its recent messages by the road of all asks; answered by the engine and never seen by
 * the actor.
 */
export const RECENT = { type: '@recent' } as const;

/** Of each sort; the program has fewer, but which events one turn takes is decided by what comes from outside. */
const MOST_WORDS = 10_000;

/** Words by number, so that a message is remembered as numbers. */
class Words {
  readonly #codes = new Map<string, number>();
  readonly #words: string[] = [];

  /** @param first has the number 0, and stands for all that come after {@link MOST_WORDS} */
  constructor(first: string) {
    this.code(first);
  }

  code(word: string): number {
    const known = this.#codes.get(word);
    if (known !== undefined) return known;
    if (this.#words.length >= MOST_WORDS) return 0;
    this.#codes.set(word, this.#words.length);
    return this.#words.push(word) - 1;
  }

  word(code: number): string {
    return this.#words[code] ?? '';
  }
}

const types = new Words('');
/** As JSON. */
const states = new Words('null');
/** Separated by blanks. */
const events = new Words('');
/** The first stands for messages from outside. */
const kinds = new Words('');

/**
 * The last messages that an actor in memory was given: a ring of numbers, 32 bytes a message. Nothing of it is stored:
 * a commit writes no byte more for it.
 */
export class RecentMessages {
  readonly #slots: number[] = [];
  #next = 0;
  /** The value that was noted last: while the machine stays where it is, nothing is written anew. */
  #value: unknown;
  #state = 0;

  /** @param value state of the machine after the turn */
  note(at: Micros, type: string, from: Address | null, value: unknown, taken: readonly string[]): void {
    const sender = from === null ? 0 : kinds.code(from.kind);
    if (value !== this.#value || this.#slots.length === 0) {
      this.#value = value;
      this.#state = states.code(JSON.stringify(value ?? null));
    }
    this.#slots[this.#next] = at;
    this.#slots[this.#next + 1] = types.code(type) * KINDS + sender;
    this.#slots[this.#next + 2] = this.#state;
    this.#slots[this.#next + 3] = events.code(taken.length === 0 ? '' : taken.join(' '));
    this.#next = (this.#next + SLOTS) % (SLOTS * KEPT);
  }

  /** The newest first. */
  list(): RecentMessage[] {
    const count = this.#slots.length / SLOTS;
    return Array.from({ length: count }, (_, age) => {
      const at = (this.#next - SLOTS * (age + 1) + SLOTS * count) % (SLOTS * count);
      const code = this.#slots[at + 1] ?? 0;
      const kind = code % KINDS;
      return {
        at: this.#slots[at] ?? 0,
        type: types.word(Math.floor(code / KINDS)),
        from: kind === 0 ? null : kinds.word(kind),
        state: JSON.parse(states.word(this.#slots[at + 2] ?? 0)) as unknown,
        events: events
          .word(this.#slots[at + 3] ?? 0)
          .split(' ')
          .filter((event) => event !== ''),
      };
    });
  }

  clear(): void {
    this.#slots.length = 0;
    this.#next = 0;
    this.#value = undefined;
  }
}
