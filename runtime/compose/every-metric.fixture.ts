/** Every metric of the service in one registry, without starting it: for the reference page and for checks of rules. */
import path from 'node:path';
import type { Registry } from 'prom-client';
import { array, number, object, optional, parse, picklist, string } from 'valibot';
import { createOidcMetrics } from '../../actors/access/oidc/rechecks.ts';
import { createAlertGroupMetrics } from '../../actors/alert-group/metrics.ts';
import { createDeliveryMetrics } from '../../actors/destination/metrics.ts';
import { createSystemMetrics } from '../../actors/system/metrics.ts';
import { createTemplateMetrics } from '../../actors/templates/metrics.ts';
import { createHttpMetrics } from '../../http/app.ts';
import { createIngestMetrics } from '../../http/ingest/index.ts';
import { createActorMetrics } from '../actor/index.ts';
import { createClockSkewMetrics } from '../clock-skew.ts';
import { readDocuments } from '../documents.ts';
import { createRegistry } from '../metrics.ts';
import { createOutboundMetrics } from '../outbound/metrics.ts';
import { createPlacementMetrics } from '../placement/metrics.ts';
import { createRedisMetrics } from '../redis/link.ts';
import { createPoolMetrics } from './database.ts';
import { createHousekeepingMetrics } from './housekeeping.ts';

const DESCRIBED = object({
  name: string(),
  help: string(),
  type: picklist(['counter', 'gauge', 'histogram', 'summary']),
  labelNames: array(string()),
  /** Of histograms. */
  upperBounds: optional(array(number())),
});

interface MetricDescription {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  readonly labelNames: readonly string[];
  readonly buckets: readonly number[];
}

/** Descriptions by name, those of the runtime (`process_*`, `nodejs_*`) included. */
export function everyMetric(): ReadonlyMap<string, MetricDescription> {
  const described = registryOfAll()
    .getMetricsAsArray()
    .map((metric) => {
      const { upperBounds = [], ...rest } = parse(DESCRIBED, metric);
      return { ...rest, buckets: upperBounds };
    });
  return new Map(described.map((metric) => [metric.name, metric]));
}

/** A test compares these calls with the functions that make metrics, so that none is left out. */
function registryOfAll(): Registry {
  const registry = createRegistry({ version: '0.0.0', commit: 'unknown' });
  createActorMetrics(registry);
  createOutboundMetrics(registry);
  createHttpMetrics(registry);
  createAlertGroupMetrics(registry);
  createDeliveryMetrics(registry);
  createTemplateMetrics(registry);
  createIngestMetrics(registry).watchAcceptQueue(() => 0);
  createPlacementMetrics(registry).watchShards(() => 0);
  createRedisMetrics(registry);
  createClockSkewMetrics(registry);
  createSystemMetrics(registry);
  createHousekeepingMetrics(registry);
  createPoolMetrics(registry);
  createOidcMetrics(registry);
  return registry;
}

/** The page docs/metrics.md, written from the registry (operations §8). */
const OWN = /^svc_/;

/** Generated; a test compares it with the committed page. */
export function metricsPage(): string {
  const render = readDocuments<{ metrics: { metrics: readonly MetricDescription[] } }>(
    path.join(import.meta.dirname, 'documents'),
    String,
  );
  const own = [...everyMetric().values()].filter(({ name }) => OWN.test(name));
  return render('metrics', { metrics: own.sort((a, b) => (a.name < b.name ? -1 : 1)) });
}
