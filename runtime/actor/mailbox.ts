import type { ActorMessage } from './definition.ts';
import type { Envelope } from './envelope.ts';

const EMPTY: Envelope[] = [];

/** First in, first out; made for being short. Holds no array while it is empty. */
export class Mailbox {
  #items: Envelope[] = EMPTY;
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  peek(): Envelope | undefined {
    return this.#items[this.#head];
  }

  /** The messages behind the first one, in order. */
  *following(): Generator<ActorMessage> {
    for (let index = this.#head + 1; index < this.#items.length; index++) yield this.#items[index]!.message;
  }

  push(envelope: Envelope): void {
    if (this.#items === EMPTY) this.#items = [];
    this.#items.push(envelope);
  }

  shift(): Envelope | undefined {
    const envelope = this.#items[this.#head];
    if (envelope === undefined) return undefined;
    this.#head++;
    if (this.#head === this.#items.length) this.#clear();
    else if (this.#head >= 64 && this.#head * 2 >= this.#items.length) this.#compact();
    return envelope;
  }

  /** Puts a message back in front of all others. */
  unshift(envelope: Envelope): void {
    if (this.#items === EMPTY) this.#items = [];
    if (this.#head > 0) this.#items[--this.#head] = envelope;
    else this.#items.unshift(envelope);
  }

  /** Takes out the messages that came from actors of the batch under way, in order, and keeps the others. */
  takeSends(): Envelope[] {
    const taken: Envelope[] = [];
    const kept: Envelope[] = [];
    for (const envelope of this.takeAll()) (envelope.isExternal ? kept : taken).push(envelope);
    if (kept.length > 0) this.#items = kept;
    return taken;
  }

  all(): readonly Envelope[] {
    return this.#items.slice(this.#head);
  }

  takeAll(): Envelope[] {
    const all = this.#items.slice(this.#head);
    this.#clear();
    return all;
  }

  #clear(): void {
    this.#items = EMPTY;
    this.#head = 0;
  }

  #compact(): void {
    this.#items = this.#items.slice(this.#head);
    this.#head = 0;
  }
}
