import { expect, test } from 'vitest';
import { parseSnapshot } from '../../actors/feed/snapshot.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { type AlertRow, alertOf } from './loader.ts';

const LABELS = { alertname: 'X', ['n'.repeat(2_000)]: 'named', long: '\u{1F525}'.repeat(5_000) };
const ANNOTATIONS = { description: 'd'.repeat(20_000), summary: 'short' };

/** As the running code stores an Alert with these texts. */
function received() {
  const alert = {
    status: 'firing',
    labels: LABELS,
    annotations: ANNOTATIONS,
    startsAt: '2026-10-03T09:41:07Z',
  };
  const parsed = parseSnapshot(
    Buffer.from(JSON.stringify({ groupKey: 'k', status: 'firing', truncatedAlerts: 0, alerts: [alert] })),
  );
  const entry = parsed.ok ? parsed.snapshot.entries[0] : undefined;
  if (!entry) throw new Error('the body of the test is invalid');
  return entry;
}

function row(texts: Pick<AlertRow, 'labels' | 'annotations' | 'severity_raw'>): AlertRow {
  return {
    ...{ group_id: 'AG1' as PublicId, integration_id: 'NT1' as PublicId, fingerprint: 'f', position: 0 },
    ...{ state: 'firing', route_id: 'RT1' as PublicId, generator_url: null, severity_level: 'info' },
    ...{ label_conflicts: [], starts_at: 0, ended_start: null, last_seen_at: 0, resolved_at: null },
    ...{ resolved_by: null, moved_to: null, feeds: {}, sender_groups: [] },
    ...texts,
  };
}

test('an Alert that was stored before texts had bounds equals the same one received now', () => {
  const { labels, annotations } = received();
  const { report } = alertOf(row({ labels: LABELS, annotations: ANNOTATIONS, severity_raw: LABELS.long }));
  expect(report.labels).toEqual(labels);
  expect(report.annotations).toEqual(annotations);
  expect(report.severityRaw).toBe(labels.long);
});

test('texts that are cut already are read as they are', () => {
  const { labels, annotations } = received();
  const stored = row({ labels, annotations, severity_raw: labels.long ?? null });
  const { report } = alertOf(stored);
  expect(report.labels).toBe(labels);
  expect(report.annotations).toBe(annotations);
  expect(report.severityRaw).toBe(labels.long);
});
