import type { Labels } from '../../../actors/model.ts';

interface Name {
  /** Number of each value of this label. */
  readonly codes: Map<string, number>;
  /** The same values in the order in which they came, and their numbers. */
  readonly values: string[];
  readonly numbers: number[];
}

/** Labels of groups: each pair of name and value is kept once and known by a number. */
export class LabelPairs {
  /** Of all names and values together. */
  characters = 0;
  /** How many pairs there are. */
  count = 0;
  readonly #names = new Map<string, Name>();

  /** The numbers of a group's labels. */
  add(labels: Labels): readonly number[] {
    return Object.entries(labels).map(([name, value]) => this.#add(name, value));
  }

  /** Every value that this label ever had, with the number of the pair. Both lists only grow. */
  of(label: string): { readonly values: readonly string[]; readonly numbers: readonly number[] } {
    return this.#names.get(label) ?? NONE;
  }

  find(label: string, value: string): number | undefined {
    return this.#names.get(label)?.codes.get(value);
  }

  #add(label: string, value: string): number {
    let name = this.#names.get(label);
    if (name === undefined) {
      name = { codes: new Map(), values: [], numbers: [] };
      this.#names.set(label, name);
      this.characters += label.length;
    }
    const known = name.codes.get(value);
    if (known !== undefined) return known;
    this.characters += value.length;
    name.codes.set(value, this.count);
    name.values.push(value);
    name.numbers.push(this.count);
    return this.count++;
  }
}

const NONE = { values: [], numbers: [] };
