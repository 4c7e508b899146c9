import { expect, test } from 'vitest';
import type { PublicId } from '../../runtime/public-id.ts';
import { EMPTY_DIRECTORY } from '../directory.fixture.ts';
import type { RouteConfig } from '../directory.ts';
import type { StoredSnapshotBody } from '../feed/ports.ts';
import { createSampleReader } from './samples.ts';

type Entry = readonly [status: 'firing' | 'resolved', minute: string, summary?: string];

/** The summary that a Stored Snapshot of these Alerts has as a sample. */
async function summaryOf(entries: readonly Entry[]): Promise<string | null | undefined> {
  const alerts = entries.map(([status, minute, summary], index) => ({
    ...{ status, labels: { alertname: 'X', pod: `p${index}` }, annotations: { summary: summary ?? '' } },
    startsAt: `2026-10-03T09:${minute}:00Z`,
  }));
  const body = Buffer.from(JSON.stringify({ groupKey: 'k', status: 'firing', truncatedAlerts: 0, alerts }));
  const samples = createSampleReader({
    snapshots: { async *newest() {} },
    stored: { read: async () => ({ integrationId: 'NT1', body }) as unknown as StoredSnapshotBody },
    publicUrl: 'https://oncall.example.org',
  });
  const route = { id: 'RT1', name: 'R', groupKey: ['alertname'], urgent: false } as unknown as RouteConfig;
  const sample = await samples.ofSnapshot('SS1' as PublicId, route, { directory: EMPTY_DIRECTORY, now: 0 });
  return sample?.summary;
}

test.each<[string, Entry[], string | null]>([
  [
    'the firing Alert with the earliest start',
    [
      ['firing', '05', 's'],
      ['firing', '03', 't'],
    ],
    't',
  ],
  [
    'the first listed of equal starts',
    [
      ['firing', '03', 's'],
      ['firing', '03', 't'],
    ],
    's',
  ],
  [
    'a firing Alert before those that ended',
    [
      ['resolved', '01', 's'],
      ['firing', '03', 't'],
    ],
    't',
  ],
  [
    'all Alerts when none fires',
    [
      ['resolved', '05', 's'],
      ['resolved', '03', 't'],
    ],
    't',
  ],
  [
    'an Alert that has one',
    [
      ['firing', '03'],
      ['firing', '05', 't'],
    ],
    't',
  ],
  [
    'nothing when those that fire have none',
    [
      ['resolved', '01', 's'],
      ['firing', '03'],
    ],
    null,
  ],
])('the summary of a sample is that of %s', async (_, entries, expected) => {
  expect(await summaryOf(entries)).toBe(expected);
});
