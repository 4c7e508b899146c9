/** What really happened while a recording was made, told in the time of its replay. */
import type { Micros } from '../../runtime/clock.ts';
import type { Line } from '../recordings/recording.ts';

export interface Span {
  readonly from: Micros;
  readonly until: Micros;
}

type Labels = Readonly<Record<string, string>>;

interface Told extends Span {
  readonly labels: Labels;
}

export class Truth {
  readonly #fired: readonly Told[];
  readonly #silenced: readonly Told[];

  /** @param time of the replay for a time of the recording */
  constructor(lines: readonly Line[], time: (at: Micros) => Micros) {
    const told = (kind: 'fired' | 'silenced'): Told[] =>
      lines.flatMap((line) =>
        line.kind === kind ? [{ labels: line.labels, from: time(line.at), until: time(line.until) }] : [],
      );
    this.#fired = told('fired');
    this.#silenced = told('silenced');
  }

  /** Whether an Alert with these labels fired during the whole span and nobody silenced it then. */
  firedThroughout(labels: Labels, { from, until }: Span): boolean {
    const within = this.#fired.some(
      (one) => isAbout(one.labels, labels) && one.from <= from && until <= one.until,
    );
    const silenced = this.#silenced.some(
      (one) => isAbout(one.labels, labels) && one.from < until && from < one.until,
    );
    return within && !silenced;
  }

  /**
   * By Group key value, when something of it fired that was not silenced.
   * @param quiet shorter pauses count as none
   */
  spells(groupKey: readonly string[], quiet: Micros): Map<string, Span[]> {
    const spells = new Map<string, Span[]>();
    const visible = this.#fired.flatMap((one) => this.#visible(one));
    for (const { labels, from, until } of visible.sort((left, right) => left.from - right.from)) {
      const key = keyOf(labels, groupKey);
      const known = spells.get(key) ?? [];
      spells.set(key, known);
      const last = known.at(-1);
      if (last && from - last.until < quiet) {
        known[known.length - 1] = { from: last.from, until: Math.max(last.until, until) };
      } else known.push({ from, until });
    }
    return spells;
  }

  /** What is left of a firing without the silences. */
  #visible(firing: Told): Told[] {
    let left = [firing];
    for (const silence of this.#silenced.filter(({ labels }) => isAbout(labels, firing.labels))) {
      left = left.flatMap((one) => [
        { ...one, until: Math.min(one.until, silence.from) },
        { ...one, from: Math.max(one.from, silence.until) },
      ]);
      left = left.filter(({ from, until }) => from < until);
    }
    return left;
  }
}

export function keyOf(labels: Labels, groupKey: readonly string[]): string {
  return groupKey.map((name) => labels[name]).join(' ');
}

/** Whether all labels of the first are among those of the second. */
export function isAbout(some: Labels, all: Labels): boolean {
  return Object.entries(some).every(([name, value]) => all[name] === value);
}
