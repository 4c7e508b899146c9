/** Metrics of placement (operations §8). */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Picture, Targets } from './coordination.ts';

export interface PlacementMetrics {
  moved(reason: MoveReason, count: number): void;
  /** Reads the number of shards owned whenever it is asked for. */
  watchShards(count: () => number): void;
}

export function createPlacementMetrics(registry: Registry): PlacementMetrics {
  const moves = new Counter({
    name: 'svc_shard_moves_total',
    help: 'Shards that this replica took over.',
    labelNames: ['reason'],
    registers: [registry],
  });
  for (const reason of ['join', 'drain', 'lost']) moves.inc({ reason }, 0);
  return {
    moved: (reason, count) => moves.inc({ reason }, count),
    watchShards(count) {
      new Gauge({
        name: 'svc_shards',
        help: 'Shards that this replica owns.',
        registers: [registry],
        collect() {
          this.set(count());
        },
      });
    },
  };
}

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
