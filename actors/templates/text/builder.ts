/** Puts a text together that may not grow without end. */
import { MOST_BYTES, tooLong } from '../refusal.ts';

export class TextBuilder {
  #text = '';

  /** @throws {Refusal} when the text becomes longer than any result may be */
  add(text: string): void {
    this.room(text.length);
    this.#text += text;
  }

  /** Asks before something long is made. Counts UTF-16 units, of which a result never has more than bytes. */
  room(length: number): void {
    if (this.#text.length + length > MOST_BYTES) throw tooLong();
  }

  get text(): string {
    return this.#text;
  }
}
