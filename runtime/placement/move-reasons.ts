import type { Picture, Targets } from './coordination.ts';

/** Why a shard came here: a replica joined, one drains, one was lost. */
export type MoveReason = 'join' | 'drain' | 'lost';

/** Remembers who should have acted before, to name why a shard moved. */
export class MoveReasons {
  #before: Targets | null = null;
  #now: Targets | null = null;
  #ready = new Set<string>();
  readonly #drained = new Set<string>();

  see({ targets, replicas }: Picture): void {
    this.#ready = new Set(replicas.filter((it) => !it.isDraining).map(({ id }) => id));
    for (const { id, isDraining } of replicas) {
      if (isDraining) this.#drained.add(id);
      else this.#drained.delete(id);
    }
    if (targets === null || targets.every((id, shard) => id === this.#now?.[shard])) return;
    this.#before = this.#now;
    this.#now = targets;
  }

  of(shard: number): MoveReason {
    const before = this.#before?.[shard] ?? null;
    if (before === null || this.#ready.has(before)) return 'join';
    return this.#drained.has(before) ? 'drain' : 'lost';
  }
}
