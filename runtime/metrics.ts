/** The registry behind /metrics, with what every process of this kind reports. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Version } from './version.ts';

/** A fresh registry with build and runtime metrics in it; each part adds its own. */
export function createRegistry(version: Version): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'svc_build_info',
    help: 'Always 1; says which build runs.',
    labelNames: ['version', 'commit'],
    registers: [registry],
  }).set({ version: version.version, commit: version.commit }, 1);
  measureEventLoop(registry);
  return registry;
}

/** How long the event loop was late since the last scrape; nothing is done between scrapes. */
function measureEventLoop(registry: Registry): void {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  new Gauge({
    name: 'svc_event_loop_lag_seconds',
    help: 'Lateness of the event loop since the last scrape.',
    labelNames: ['quantile'],
    registers: [registry],
    collect() {
      for (const quantile of [0.5, 0.95, 0.99]) {
        this.set({ quantile: String(quantile) }, delay.percentile(quantile * 100) / 1e9);
      }
      delay.reset();
    },
  });
}
