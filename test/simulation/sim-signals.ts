import type { Signals } from '../../runtime/broadcast.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { World } from './world.ts';

/** Signals between simulated processes: late, lost and doubled as the dice say. */
export class SignalsBetween {
  /** How often a signal is lost, and how often it comes twice. */
  lossRate = 0;
  readonly #world: World;
  readonly #ends = new Set<(channel: string, message: string, side: number) => void>();

  constructor(world: World) {
    this.#world = world;
  }

  /**
   * @param isUp whether the process reaches the place where signals pass
   * @param feel runs something in the process, when it lives and goes on
   * @param side where the process listens now: while there are two places, signals of one are not heard at the other
   */
  end(isUp: () => boolean, feel: (run: () => void) => void, side: () => number): SignalsEnd {
    const listeners = new Map<string, Set<(message: string) => void>>();
    const watchers = new Set<(isUp: boolean) => void>();
    let wasUp = true;
    this.#ends.add((channel, message, from) => {
      if (!isUp() || side() !== from) return;
      feel(() => {
        for (const listener of listeners.get(channel) ?? []) listener(message);
      });
    });
    return {
      get isUp() {
        return wasUp;
      },
      onState(listener) {
        watchers.add(listener);
        return () => void watchers.delete(listener);
      },
      publish: (channel, message) => {
        if (isUp()) this.carry(channel, message, side());
      },
      subscribe(channel, listener) {
        const known = listeners.get(channel) ?? new Set();
        listeners.set(channel, known.add(listener));
        return () => void known.delete(listener);
      },
      notice() {
        if (wasUp === isUp()) return;
        wasUp = !wasUp;
        for (const watcher of [...watchers]) watcher(wasUp);
      },
    };
  }

  protected carry(channel: string, message: string, side: number): void {
    const { random } = this.#world;
    for (const end of this.#ends) {
      if (random.chance(this.lossRate)) continue;
      this.#later(() => end(channel, message, side));
      if (random.chance(this.lossRate)) this.#later(() => end(channel, message, side));
    }
  }

  #later(run: () => void): void {
    const delay: Micros = this.#world.random.between(100, 3000);
    this.#world.after(delay, run);
  }
}

export interface SignalsEnd extends Signals {
  /** The process finds out whether signals pass. */
  notice(): void;
}
