/**
 * SIGKILL at random moments under load. Every Snapshot that was answered 202 must be processed once, every lifecycle
 * event must exist once, and the webhook receiver must have seen every event, each under one id, in rising order.
 */

import { createHash } from 'node:crypto';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../../storage/postgres/connection.ts';
import { startEmbeddedPostgres } from '../../storage/postgres/embedded/embedded.ts';
import { startWebhookReceiver, type WebhookBody, type WebhookReceiver } from '../fakes/webhook-receiver.ts';
import { Api, type Json } from '../harness/api.ts';
import { randomSource } from '../harness/random.ts';
import { Sender } from '../harness/sender.ts';
import { SendingGroup } from '../harness/sending-group.ts';
import { Installation } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';
import { seedOfRun } from '../simulation/random.ts';

/** `CRASH_KILLS=100` kills as often. */
const KILLS = Number(process.env.CRASH_KILLS ?? 12);
const GROUPS = 24;
const SENDERS = 12;

/** Repeatable "random": a failing run is run again with CRASH_SEED. */
const seed = seedOfRun(process.env.CRASH_SEED);

let tocsin: Installation;
let receiver: WebhookReceiver;

beforeAll(async () => {
  tocsin = new Installation();
  receiver = await startWebhookReceiver();
});

afterAll(async () => {
  await tocsin.remove();
  await receiver.close();
});

async function allowLoopback(api: Api): Promise<void> {
  await api.change('/organization/outbound-policy', (policy) => ({ ...policy, allowed: ['127.0.0.0/8'] }));
}

async function attachWebhook(api: Api): Promise<void> {
  const created = await api.post('/destinations', {
    type: 'webhook',
    name: 'receiver',
    mode: 'events',
    events: { url: receiver.url, headers: [] },
    limiter: { limit: 1000, per_seconds: 1 },
  });
  receiver.trust(created.signing_secret);
  const routes = await api.get('/routes');
  const fallback = routes.items.find((route: Json) => route.is_default);
  await api.change(`/routes/${fallback.id}`, (route) => ({
    ...route,
    destination_ids: [created.destination.id],
  }));
}

test(`${KILLS} kills lose nothing and repeat nothing (seed ${seed})`, {
  timeout: 300_000 + KILLS * 20_000,
}, async () => {
  const random = randomSource(seed);
  const ready = await tocsin.start();
  const api = await Api.signIn(ready);
  await allowLoopback(api);
  await attachWebhook(api);

  const groups = Array.from(
    { length: GROUPS },
    (_, n) => new SendingGroup(`Crash${String(n).padStart(2, '0')}`),
  );
  let sending = true;
  let accepted = 0;
  const sender = new Sender(ready.ingest_endpoint, ready.integration_token!);
  const senders = Array.from({ length: SENDERS }, async (_, lane) => {
    const mine = groups.filter((_group, index) => index % SENDERS === lane);
    for (let turn = 0; sending; turn++) {
      const group = mine[turn % mine.length]!;
      const status = await sender.post({ groupKey: group.name, ...group.snapshot() }).catch(() => 0);
      if (status === 202) {
        group.settle();
        accepted++;
      } else {
        await pause(20);
      }
    }
  });

  for (let kill = 0; kill < KILLS; kill++) {
    const before = accepted;
    await pause(50 + random() * 900);
    // On a busy machine that is too short for the load that a kill needs.
    await until('ten Snapshots more', async () => accepted - before > 10, 60);
    await tocsin.kill();
    await tocsin.start();
  }
  await pause(500);
  sending = false;
  await Promise.all(senders);
  expect(accepted).toBeGreaterThan(KILLS * 10);

  const signedIn = await Api.signIn({ ...ready });
  const events = new Map<string, { event: string; sequence: number }>();
  const seen = await until(
    'every accepted alert to be in an Alert Group',
    async () => {
      const found = await alertsByGroup(signedIn);
      return groups.every((group) => [...group.accepted].every((n) => found.get(group.name)?.has(n)))
        ? found
        : null;
    },
    60,
  );

  for (const group of groups) {
    for (const n of group.accepted) expect(seen.get(group.name)!.get(n), `${group.name} alert ${n}`).toBe(1);
  }

  for (const group of await allGroups(signedIn)) {
    const timeline = await signedIn.all(`/alert-groups/${group.id}/timeline?order=asc`);
    const lifecycle = timeline.filter((entry) => entry.sequence !== undefined && entry.sequence !== null);
    expect(lifecycle.map((entry) => entry.sequence)).toEqual(lifecycle.map((_entry, index) => index + 1));
    for (const entry of lifecycle) events.set(`${group.id}/${entry.sequence}`, entry);
  }

  await until(
    'the receiver to have seen every event',
    async () => {
      const arrived = new Set(receiver.received.map(({ body }) => keyOf(body)));
      return [...events.keys()].every((key) => arrived.has(key));
    },
    90,
  );
  const ids = new Map<string, string>();
  const bodies = new Map<string, string>();
  const newest = new Map<string, number>();
  for (const request of receiver.received) {
    const key = keyOf(request.body);
    expect(events.has(key), `the receiver saw ${key}, which is on no Timeline`).toBe(true);
    const digest = createHash('sha256').update(request.raw).digest('hex');
    expect(ids.get(key) ?? request.id).toBe(request.id);
    expect(bodies.get(key) ?? digest).toBe(digest);
    const before = newest.get(request.body.alert_group.id) ?? 0;
    if (!ids.has(key)) expect(request.body.sequence).toBeGreaterThan(before);
    newest.set(request.body.alert_group.id, Math.max(before, request.body.sequence));
    ids.set(key, request.id);
    bodies.set(key, digest);
  }

  expect(receiver.faults).toEqual([]);
  expect(await tocsin.stop()).toBe(0);
  expect(await unprocessed(tocsin.dataDir)).toEqual({ queued: 0, unprocessed: 0, failed: 0, duplicates: 0 });
  console.log(`${accepted} Snapshots, ${events.size} events, ${receiver.received.length} webhook requests`);
});

function keyOf(event: Pick<WebhookBody, 'alert_group' | 'sequence'>): string {
  return `${event.alert_group.id}/${event.sequence}`;
}

function allGroups(api: Api): Promise<Json[]> {
  return api.all('/alert-groups?status=firing&status=acknowledged&status=snoozed&status=resolved');
}

/** For each sender group: in how many firings each alert number was recorded. */
async function alertsByGroup(api: Api): Promise<Map<string, Map<number, number>>> {
  const found = new Map<string, Map<number, number>>();
  for (const group of await allGroups(api)) {
    const numbers = new Map<string, number>();
    for (const alert of await api.all(`/alert-groups/${group.id}/alerts`)) {
      numbers.set(alert.fingerprint, Number(alert.labels.n));
    }
    const counts = found.get(group.title) ?? new Map<number, number>();
    for (const entry of await api.all(`/alert-groups/${group.id}/timeline`)) {
      if (!['created', 'alerts_added', 'reopened'].includes(entry.event)) continue;
      for (const fingerprint of entry.fingerprints) {
        const n = numbers.get(fingerprint)!;
        counts.set(n, (counts.get(n) ?? 0) + 1);
      }
    }
    found.set(group.title, counts);
  }
  return found;
}

async function unprocessed(dataDir: string): Promise<Record<string, number>> {
  const server = await startEmbeddedPostgres({ dataDir: path.join(dataDir, 'postgres') });
  const sql = connect(server.settings, { max: 1, applicationName: 'crash-test' });
  try {
    const [row] = await sql<Record<string, number>[]>`
      select (select count(*)::int from snapshot_queue) as queued,
             (select count(*)::int from stored_snapshots where processed_at is null) as unprocessed,
             (select count(*)::int from stored_snapshots where processing_error is not null) as failed,
             (select count(*)::int from (select 1 from timeline_entries where kind <> 'delivery'
                group by group_id, place having count(*) > 1) twice) as duplicates`;
    return { ...row! };
  } finally {
    await sql.end();
    await server.stop();
  }
}
