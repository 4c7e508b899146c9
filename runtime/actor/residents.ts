import type { AnyActorDefinition } from './definition.ts';
import type { EngineLimits } from './limits.ts';
import type { Kind, Resident } from './resident.ts';

/** The actors in memory, bounded by count and weight; the longest unused leave first. */
export class Residents {
  readonly kinds: ReadonlyMap<string, Kind>;
  readonly #limits: EngineLimits['memory'];
  #count = 0;
  #weight = 0;
  #newest: Resident | null = null;
  #oldest: Resident | null = null;

  constructor(definitions: readonly AnyActorDefinition[], limits: EngineLimits['memory']) {
    this.kinds = new Map(
      definitions.map((definition) => [definition.kind, { definition, residents: new Map() }]),
    );
    this.#limits = limits;
  }

  add(resident: Resident): void {
    resident.kind.residents.set(resident.self.key, resident);
    this.#count++;
    this.#weight += resident.weight;
    this.#link(resident);
  }

  remove(resident: Resident): void {
    resident.kind.residents.delete(resident.self.key);
    this.#count--;
    this.#weight -= resident.weight;
    this.#unlink(resident);
  }

  /** Notes that an actor was used just now and what it weighs since. */
  used(resident: Resident): void {
    if (resident.phase === 'ready') {
      const weight = Math.max(1, resident.kind.definition.weight(resident.state, resident.rows));
      this.#weight += weight - resident.weight;
      resident.weight = weight;
    }
    if (this.#newest === resident) return;
    this.#unlink(resident);
    this.#link(resident);
  }

  /**
   * Lets idle actors go until the bounds hold, longest unused first.
   * @param patience how many busy ones in between are passed over
   * @returns how many left
   */
  passivate(patience = 1000): number {
    let passivated = 0;
    let candidate = this.#oldest;
    while (candidate !== null && patience > 0 && this.#isOver()) {
      const next: Resident | null = candidate.newer;
      if (candidate.isIdle) {
        this.remove(candidate);
        passivated++;
      } else patience--;
      candidate = next;
    }
    return passivated;
  }

  all(): Resident[] {
    return [...this.kinds.values()].flatMap((kind) => [...kind.residents.values()]);
  }

  #isOver(): boolean {
    return this.#count > this.#limits.actors || this.#weight > this.#limits.weight;
  }

  #link(resident: Resident): void {
    resident.older = this.#newest;
    resident.newer = null;
    if (this.#newest !== null) this.#newest.newer = resident;
    this.#newest = resident;
    this.#oldest ??= resident;
  }

  #unlink(resident: Resident): void {
    if (resident.newer !== null) resident.newer.older = resident.older;
    else this.#newest = resident.older;
    if (resident.older !== null) resident.older.newer = resident.newer;
    else this.#oldest = resident.newer;
    resident.newer = null;
    resident.older = null;
  }
}
