/** One group of a sender under load: what it posts next, and which of its alerts were accepted. */
import type { SentAlert } from './sender.ts';

/** After this many Snapshots that add an alert each, one in which all of them have ended. */
const FIRINGS = 6;

/** Each Snapshot adds one alert that was never seen before, and now and then all of them end. */
export class SendingGroup {
  readonly name: string;
  /** Alerts whose Snapshot was answered 202, by their number. */
  readonly accepted = new Set<number>();
  /** Snapshots that were answered 202. */
  snapshots = 0;
  #next = 0;
  #firing: number[] = [];

  constructor(name: string) {
    this.name = name;
  }

  /** The next Snapshot; the same one again until {@link settle} says that it was accepted. */
  snapshot(): { alerts: SentAlert[] } {
    const firing = this.#isEnding ? [] : [...this.#firing, this.#next];
    const resolved = this.#isEnding ? this.#firing : [];
    return {
      alerts: [
        ...firing.map((n) => this.#alert(n, 'firing')),
        ...resolved.map((n) => this.#alert(n, 'resolved')),
      ],
    };
  }

  settle(): void {
    if (!this.#isEnding) this.accepted.add(this.#next);
    this.#firing = this.#isEnding ? [] : [...this.#firing, this.#next];
    this.#next++;
    this.snapshots++;
  }

  get #isEnding(): boolean {
    return this.#next % (FIRINGS + 1) === FIRINGS;
  }

  #alert(n: number, status: 'firing' | 'resolved'): SentAlert {
    return {
      labels: { alertname: this.name, n: String(n) },
      status,
      startsAt: new Date(Date.UTC(2026, 9, 3) + n * 1000).toISOString(),
    };
  }
}
