/** Tells the log and the metrics about processed Snapshots: one line each, never one per Alert (ingestion §14). */
import type { SnapshotReported } from '../../actors/feed/effects.ts';
import { type Clock, SECOND } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { IngestMetrics } from './metrics.ts';

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
