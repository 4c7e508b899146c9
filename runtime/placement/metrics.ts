/** Metrics of placement (operations §8). */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { MoveReason } from './move-reasons.ts';

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
