/** The registry behind /metrics, with what every process of this kind reports. */
import { createHistogram } from 'node:perf_hooks';
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

/** How often the lateness of the event loop is measured, ms. */
const LAG_INTERVAL = 20;

/**
 * Measures how late a timer is called. `monitorEventLoopDelay` is not used: it counts its interval as delay and misses
 * what follows a reset, such as a slow scrape.
 */
function measureEventLoop(registry: Registry): void {
  const lateness = createHistogram();
  let last = performance.now();
  setInterval(() => {
    const now = performance.now();
    // A histogram takes nothing below 1 ns.
    lateness.record(Math.max(1, Math.round((now - last - LAG_INTERVAL) * 1e6)));
    last = now;
  }, LAG_INTERVAL).unref();
  new Gauge({
    name: 'svc_event_loop_lag_seconds',
    help: 'Lateness of the event loop since the last scrape; quantile 1 is the longest.',
    labelNames: ['quantile'],
    registers: [registry],
    collect() {
      for (const quantile of [0.5, 0.95, 0.99, 1]) {
        this.set({ quantile: String(quantile) }, lateness.percentile(quantile * 100) / 1e9);
      }
      lateness.reset();
    },
  });
}
