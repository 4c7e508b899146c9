import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { NO_COUNTS, type SnapshotReported } from '../../actors/feed/effects.ts';
import { SECOND } from '../../runtime/clock.ts';
import { newPublicId } from '../../runtime/public-id.ts';
import { createHandClock } from './ingest.fixture.ts';
import { createIngestMetrics, createSnapshotReport } from './metrics.ts';

const LAB = newPublicId('NT');

function setting() {
  const registry = new Registry();
  const clock = createHandClock();
  const logged: string[] = [];
  const report = createSnapshotReport({
    clock,
    log: (event) => void logged.push(event),
    metrics: createIngestMetrics(registry),
    logsInfo: true,
  });
  const reported = (given: Partial<SnapshotReported>) =>
    report({
      type: 'snapshot.reported',
      integrationId: LAB,
      snapshotId: newPublicId('SS'),
      receivedAt: clock.now() - SECOND,
      groupKey: 'K',
      alerts: 1,
      truncatedAlerts: 2,
      late: false,
      counts: { ...NO_COUNTS, dropped: 3 },
      error: null,
      ...given,
    });
  const value = async (name: string) => {
    const line = (await registry.metrics()).split('\n').find((one) => one.startsWith(`${name}{`));
    return line === undefined ? null : Number(line.split(' ')[1]);
  };
  return { reported, value, logged };
}

describe('the report of a Snapshot', () => {
  it('counts what its sender cut, what was dropped and how long it took', async () => {
    const { reported, value, logged } = setting();
    reported({});
    expect(await value('svc_ingest_truncated_snapshots_total')).toBe(1);
    expect(await value('svc_ingest_resolved_dropped_total')).toBe(3);
    expect(await value('svc_ingest_processing_delay_seconds_sum')).toBe(1);
    expect(logged).toEqual(['snapshot_processed']);
  });

  it('of a late or replayed one counts nothing, and is logged all the same', async () => {
    const { reported, value, logged } = setting();
    reported({ late: true, counts: NO_COUNTS });
    expect(await value('svc_ingest_truncated_snapshots_total')).toBeNull();
    expect(await value('svc_ingest_resolved_dropped_total')).toBeNull();
    expect(await value('svc_ingest_processing_delay_seconds_sum')).toBeNull();
    expect(logged).toEqual(['snapshot_processed']);
  });

  it('of a failed one counts the failure', async () => {
    const { reported, value, logged } = setting();
    reported({ error: 'the Integration was deleted' });
    expect(await value('svc_ingest_failed_snapshots_total')).toBe(1);
    expect(logged).toEqual(['snapshot_failed']);
  });
});
