/** Replays of Snapshots that failed, on the whole service (ingestion §9). */
import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { formatInstant, MINUTE, type Micros } from '../../runtime/clock.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import { createSnapshotQueue } from '../../storage/snapshots/queue.ts';
import { createSnapshotWriter } from '../../storage/snapshots/writer.ts';
import type { Json } from '../harness/api.ts';
import { useWorld } from './world.ts';

const world = useWorld();

async function newIntegration(name: string): Promise<PublicId> {
  const created = await world().admin.post('/integrations', {
    name,
    connection_mode: 'webhook_only',
    static_labels: {},
    duplicate_window_seconds: 45,
    heartbeat: { enabled: false },
  });
  return created.id;
}

const entry = (status: 'firing' | 'resolved') => (name: string) => ({
  ...{ status, labels: { alertname: name }, fingerprint: name },
  startsAt: '2026-10-03T00:00:00Z',
});

const said = (firing: readonly string[], resolved: readonly string[] = []) => ({
  ...{ groupKey: '{}:{team="db"}', status: 'firing', truncatedAlerts: 0 },
  alerts: [...firing.map(entry('firing')), ...resolved.map(entry('resolved'))],
});

/** A Snapshot as a defect left it that is mended since. */
async function failed(integrationId: PublicId, receivedAt: Micros, body: object): Promise<PublicId> {
  const { sql } = world();
  const id = newPublicId('SS');
  const bytes = Buffer.from(JSON.stringify(body));
  const bodyHash = hash('sha256', bytes);
  const snapshot = { id, integrationId, receivedAt, contentType: null, bodyHash, body: bytes, shard: null };
  const [seq = 0] = await createSnapshotWriter(sql).write([snapshot]);
  await createSnapshotQueue(sql).fail([{ seq, at: receivedAt, error: 'processing: a defect' }]);
  return id;
}

const alerts = async (integrationId: PublicId): Promise<string[]> => {
  const { items } = await world().admin.get(`/integrations/${integrationId}/alerts?sort=starts_at`);
  return items.map(({ fingerprint, state }: Json) => `${fingerprint} ${state}`).sort();
};

test('one whose group was not heard later is processed in full, as of its receipt, and once', async () => {
  const receivedAt = (await world().freshHour()) - 10 * MINUTE;
  const integration = await newIntegration('mended');
  const id = await failed(integration, receivedAt, said(['A', 'B']));
  expect(await alerts(integration)).toEqual([]);
  expect(await world().replay(receivedAt, 'mended')).toBe(1);
  expect(await alerts(integration)).toEqual(['A firing', 'B firing']);
  expect(await world().admin.get(`/stored-snapshots/${id}`)).toMatchObject({
    state: 'processed',
    processing_error: null,
    received_at: formatInstant(receivedAt),
    alert_count: 2,
  });
  const before = await world().admin.get(`/integrations/${integration}/alerts`);
  expect(before.items[0].last_seen_at).toBe(formatInstant(receivedAt));
  expect(await world().replay(receivedAt, 'mended')).toBe(1);
  expect(await world().admin.get(`/integrations/${integration}/alerts`)).toEqual(before);
});

test('of one whose group was heard later only what it says of resolved alerts counts', async () => {
  const begin = (await world().freshHour()) - 20 * MINUTE;
  const integration = await newIntegration('overtaken');
  const replay = () => world().replay(begin, 'overtaken');
  await failed(integration, begin, said(['A', 'B']));
  await failed(integration, begin + 5 * MINUTE, said(['B']));
  expect(await replay()).toBe(2);
  expect(await alerts(integration)).toEqual(['A firing', 'B firing']);
  await failed(integration, begin + 3 * MINUTE, said(['C'], ['A']));
  expect(await replay()).toBe(3);
  expect(await alerts(integration)).toEqual(['A resolved', 'B firing']);
  const { items } = await world().admin.get(`/stored-snapshots?integration=${integration}`);
  expect(items.map(({ state }: Json) => state)).toEqual(['processed', 'processed', 'processed']);
});
