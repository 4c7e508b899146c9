/** What ingestion counts, and what it logs of each processed Snapshot. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { SnapshotReported } from '../../actors/feed/effects.ts';
import { type Clock, SECOND } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';

export type RequestOutcome = 'accepted' | 'unauthorized' | 'too_large' | 'unavailable' | 'failed';

export type IngestMetrics = ReturnType<typeof createIngestMetrics>;

/** Registers the metrics of ingestion; hot counters keep their labelled children. */
export function createIngestMetrics(registry: Registry) {
  const registers = [registry];
  const requests = new Counter({
    name: 'svc_ingest_requests_total',
    help: 'Requests of the ingestion endpoint.',
    labelNames: ['integration', 'outcome'],
    registers,
  });
  const requestSeconds = new Histogram({
    name: 'svc_ingest_request_duration_seconds',
    help: 'From the head of a request to its answer, the commit included.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const processingDelay = new Histogram({
    name: 'svc_ingest_processing_delay_seconds',
    help: 'From the receipt of a Snapshot to the commit of what it led to.',
    labelNames: ['integration'],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600],
    registers,
  });
  const perIntegration = (name: string, help: string) =>
    new Counter({ name, help, labelNames: ['integration'], registers });
  const truncated = perIntegration('svc_ingest_truncated_snapshots_total', 'Snapshots cut by the sender.');
  const failed = perIntegration(
    'svc_ingest_failed_snapshots_total',
    'Snapshots that could not be processed.',
  );
  const dropped = perIntegration(
    'svc_ingest_resolved_dropped_total',
    'Resolved entries that match no Alert.',
  );
  const alertsResolved = new Counter({
    name: 'svc_alerts_resolved_total',
    help: 'Alerts that stopped firing.',
    labelNames: ['integration', 'reason'],
    registers,
  });

  const outcomes = remembered((key: string) => {
    const [integration = '', outcome = ''] = key.split(' ');
    return requests.labels(integration, outcome);
  });
  const delays = remembered((integration: string) => processingDelay.labels(integration));

  return {
    request(integration: string, outcome: RequestOutcome, seconds: number): void {
      outcomes(`${integration} ${outcome}`).inc();
      requestSeconds.observe(seconds);
    },
    processed(integration: string, delaySeconds: number): void {
      delays(integration).observe(delaySeconds);
    },
    truncated: (integration: string) => truncated.labels(integration).inc(),
    failed: (integration: string) => failed.labels(integration).inc(),
    dropped: (integration: string, count: number) => dropped.labels(integration).inc(count),
    /** Counted by the home of the Alerts. */
    alertsResolved,
    /** Watches the accept queue; read at each scrape. */
    watchAcceptQueue(requestsWaiting: () => number): void {
      new Gauge({
        name: 'svc_ingest_accept_queue',
        help: 'Requests waiting for their commit in this process.',
        registers,
        collect() {
          this.set(requestsWaiting());
        },
      });
    },
  };
}

/** Keeps what `make` gives for each key; the keys are a closed set times the Integrations. */
function remembered<Child>(make: (key: string) => Child): (key: string) => Child {
  const children = new Map<string, Child>();
  return (key) => {
    const known = children.get(key);
    if (known !== undefined) return known;
    const child = make(key);
    children.set(key, child);
    return child;
  };
}

/** Tells the log and the metrics about processed Snapshots: one line each, never one per Alert (ingestion §14). */
export interface ReportDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: IngestMetrics;
  /** Whether `snapshot_processed` is written at all: a line for every Snapshot. */
  readonly logsInfo: boolean;
}

/** Performs the effect `snapshot.reported`. */
export function createSnapshotReport(deps: ReportDeps): (reported: SnapshotReported) => void {
  const { clock, log, metrics, logsInfo } = deps;
  return (reported) => {
    const { integrationId, counts, error, truncatedAlerts, late } = reported;
    const delay = clock.now() - reported.receivedAt;
    // The delay of what was replayed says nothing of how processing keeps up.
    if (!late) metrics.processed(integrationId, delay / SECOND);
    if (error !== null) {
      metrics.failed(integrationId);
      log('snapshot_failed', { integration: integrationId, stored_snapshot: reported.snapshotId, error });
      return;
    }
    if (truncatedAlerts > 0 && !late) metrics.truncated(integrationId);
    if (counts.dropped > 0) metrics.dropped(integrationId, counts.dropped);
    if (!logsInfo) return;
    log('snapshot_processed', {
      integration: integrationId,
      stored_snapshot: reported.snapshotId,
      group_key: reported.groupKey,
      alerts: reported.alerts,
      ...counts,
      truncated: truncatedAlerts,
      duration_ms: Math.round(delay / 1000),
    });
  };
}
