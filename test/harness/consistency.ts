/** Consistency of a cluster after a load: what was sent, stored, grouped and delivered agrees to the last event. */
import { createHash } from 'node:crypto';
import type { Sql } from '../../storage/postgres/records.ts';
import type { ReceivedWebhook, WebhookReceiver } from '../fakes/webhook-receiver.ts';
import type { Cluster } from './cluster.ts';
import { UNDER_WAY_MS } from './cluster-facts.ts';
import type { People } from './people.ts';
import type { Traffic } from './traffic.ts';
import { until } from './until.ts';

export interface Consistency {
  readonly accepted: number;
  readonly stored: number;
  readonly events: number;
  readonly requests: number;
  readonly notes: number;
  /** One sentence each; empty when everything agrees. */
  readonly faults: readonly string[];
}

/** Waits until nothing is under way any more, then compares. @throws when something stays under way */
export async function checkConsistency(
  cluster: Cluster,
  traffic: Traffic,
  seconds = 60,
): Promise<Consistency> {
  const { sql, receiver } = cluster;
  await everythingProcessed(sql, seconds);
  const events = await lifecycleEvents(sql);
  const { stored, faults } = await storedSnapshots(sql, traffic.accepted);
  return {
    accepted: traffic.accepted,
    stored,
    events: events.length,
    requests: receiver.received.length,
    notes: traffic.people.notes.length,
    faults: [
      ...faults,
      ...(await firings(sql, traffic)),
      ...sequences(events),
      ...(await recordedWebhooks(sql, events, cluster.rows.destinationIds)),
      ...receivedWebhooks(receiver, events, cluster.rows.destinationIds.length),
      ...(await commands(sql, traffic.people)),
      ...traffic.people.faults,
      ...traffic.balancer.faults,
      ...cluster.replicas.flatMap(({ crashes }) => crashes),
    ],
  };
}

/**
 * Nothing queued, nothing between actors, no webhook that waits. How long that takes depends on the machine.
 * @throws when nothing becomes less for so many seconds
 */
export async function everythingProcessed(sql: Sql, seconds = 60): Promise<void> {
  let least = Number.POSITIVE_INFINITY;
  for (let isOver = false; !isOver; ) {
    isOver = await until(
      `fewer than ${least} things to be processed and delivered`,
      async () => {
        const [row] = await sql<Record<string, number>[]>`
          select (select count(*)::int from snapshot_queue) as queued,
            (select count(*)::int from inbox) as inbox,
            (select count(*)::int from webhook_events where finished_at is null) as undelivered`;
        const left = Object.values(row!).reduce((sum, count) => sum + count, 0);
        if (left >= least) throw new Error(JSON.stringify(row));
        least = left;
        return { isOver: left === 0 };
      },
      seconds,
    ).then((seen) => seen.isOver);
  }
}

async function storedSnapshots(sql: Sql, accepted: number): Promise<{ stored: number; faults: string[] }> {
  const [row] = await sql<{ stored: number; twice: number; failed: number; dead: number }[]>`
    select count(*)::int as stored, (count(*) - count(distinct id))::int as twice,
      count(processing_error)::int as failed, (select count(*)::int from dead_letters) as dead
    from stored_snapshots`;
  const { stored, twice, failed, dead } = row!;
  const faults: string[] = [];
  if (stored < accepted) faults.push(`${accepted} Snapshots were accepted, ${stored} were processed`);
  if (twice > 0) faults.push(`${twice} Snapshots were processed twice`);
  if (failed > 0) faults.push(`${failed} Snapshots failed`);
  if (dead > 0) faults.push(`${dead} messages were set aside`);
  return { stored, faults };
}

/** Every accepted alert fired once, in one Alert Group. */
async function firings(sql: Sql, traffic: Traffic): Promise<string[]> {
  const rows = await sql<{ name: string; n: number; times: number }[]>`
    select a.labels ->> 'alertname' as name, (a.labels ->> 'n')::int as n, count(*)::int as times
    from timeline_entries t
    cross join lateral jsonb_array_elements_text(t.entry -> 'fingerprints') f (fingerprint)
    join group_alerts a on a.group_id = t.group_id and a.fingerprint = f.fingerprint
    where t.entry ->> 'event' in ('created', 'alerts_added', 'reopened')
    group by 1, 2`;
  const times = new Map(rows.map((row) => [`${row.name} ${row.n}`, row.times]));
  const faults: string[] = [];
  for (const group of traffic.groups) {
    for (const n of group.accepted) {
      const fired = times.get(`${group.name} ${n}`) ?? 0;
      if (fired !== 1) faults.push(`alert ${n} of ${group.name} fired ${fired} times`);
    }
  }
  return faults;
}

export interface LifecycleEvent {
  readonly group: string;
  readonly sequence: number;
  readonly event: string;
}

async function lifecycleEvents(sql: Sql): Promise<LifecycleEvent[]> {
  return sql<LifecycleEvent[]>`
    select group_id as group, (entry ->> 'sequence')::int as sequence, entry ->> 'event' as event
    from (select group_id, entry from timeline_entries union all select group_id, entry from notes) entries
    where entry ->> 'sequence' is not null
    order by 1, 2`;
}

/** 1, 2, 3 … in every Alert Group. */
function sequences(events: readonly LifecycleEvent[]): string[] {
  const faults: string[] = [];
  let before: LifecycleEvent | null = null;
  for (const event of events) {
    const expected = before?.group === event.group ? before.sequence + 1 : 1;
    if (event.sequence !== expected)
      faults.push(`event ${event.sequence} of ${event.group} stands where ${expected} should`);
    before = event;
  }
  return faults;
}

/** One delivered webhook a lifecycle event and Destination. */
async function recordedWebhooks(
  sql: Sql,
  events: readonly LifecycleEvent[],
  destinations: readonly string[],
): Promise<string[]> {
  const rows = await sql<{ key: string; state: string }[]>`
    select destination_id || ' ' || group_id || ' ' || sequence as key, state from webhook_events`;
  const wanted = new Set(
    events.flatMap(({ group, sequence }) => destinations.map((id) => `${id} ${group} ${sequence}`)),
  );
  const faults: string[] = [];
  for (const { key, state } of rows) {
    if (!wanted.delete(key)) faults.push(`the webhook ${key} is recorded twice or for no event`);
    if (state !== 'delivered') faults.push(`the webhook ${key} is ${state}`);
  }
  return [...faults, ...[...wanted].map((key) => `there is no webhook ${key}`)];
}

/** The receiver has seen every event of every Destination, in order, each under one id and with one body. */
function receivedWebhooks(
  receiver: WebhookReceiver,
  events: readonly LifecycleEvent[],
  destinations: number,
): string[] {
  const faults = [...receiver.faults];
  for (let place = 0; place < destinations; place++) {
    const requests = receiver.received.filter(({ path }) => path.endsWith(`/${place}`));
    faults.push(...webhookFaults(requests, events).map((fault) => `Destination ${place}: ${fault}`));
  }
  return faults;
}

/**
 * Of the requests of one Destination, in the order of arrival. An event may come again, but once the next one of its
 * group has come only as a request that a replaced owner had under way: the new owner is through with it.
 */
export function webhookFaults(
  requests: readonly Pick<ReceivedWebhook, 'id' | 'raw' | 'at' | 'body'>[],
  events: readonly LifecycleEvent[],
): string[] {
  const faults: string[] = [];
  const unseen = new Map(events.map(({ group, sequence, event }) => [`${group} ${sequence}`, event]));
  const first = new Map<string, { readonly id: string; readonly digest: string; readonly at: number }>();
  const newest = new Map<string, number>();
  for (const { id, raw, body, at } of requests) {
    const group = body.alert_group.id;
    const key = `${group} ${body.sequence}`;
    const digest = createHash('sha256').update(raw).digest('hex');
    const known = first.get(key);
    if (known && known.id !== id) faults.push(`${key} came as ${known.id} and as ${id}`);
    if (known && known.digest !== digest) faults.push(`${key} came with two bodies`);
    if (!known && unseen.get(key) !== body.event) faults.push(`${key} (${body.event}) is on no Timeline`);
    const behind = at - (first.get(`${group} ${body.sequence + 1}`)?.at ?? at);
    if (known && behind > UNDER_WAY_MS) faults.push(`${key} came again ${behind} ms after the next one`);
    if (!known && body.sequence < (newest.get(group) ?? 0)) {
      faults.push(`${key} came after ${newest.get(group)}`);
    }
    newest.set(group, Math.max(body.sequence, newest.get(group) ?? 0));
    first.set(key, known ?? { id, digest, at });
    unseen.delete(key);
  }
  return [...faults, ...[...unseen].map(([key, event]) => `${key} (${event}) never came`)];
}

/** What people were told was done, was done once; what they were not told, at most once. */
async function commands(sql: Sql, people: People): Promise<string[]> {
  const written = await sql<{ text: string; times: number }[]>`
    select entry ->> 'body' as text, count(*)::int as times from notes group by 1`;
  const times = new Map(written.map((row) => [row.text, row.times]));
  const faults = people.notes
    .filter(({ text }) => times.get(text) !== 1)
    .map(({ text }) => `"${text}" was answered and written ${times.get(text) ?? 0} times`);
  for (const { text, times: count } of written) {
    if (count > 1) faults.push(`"${text}" was written ${count} times`);
    if (!people.tried.has(text)) faults.push(`nobody wrote "${text}"`);
  }
  const [row] = await sql<{ acknowledged: number; unacknowledged: number }[]>`
    select count(*) filter (where entry ->> 'event' = 'acknowledged')::int as acknowledged,
      count(*) filter (where entry ->> 'event' = 'unacknowledged')::int as unacknowledged
    from timeline_entries`;
  const lost = Object.values(people.refusals).reduce((sum, count) => sum + count, 0);
  const pairs = [
    ['acknowledge', row!.acknowledged],
    ['unacknowledge', row!.unacknowledged],
  ] as const;
  for (const [command, events] of pairs) {
    const told = people.done[command];
    if (events < told || events > told + lost)
      faults.push(`${told} ${command} were answered as done, ${events} are on the Timelines`);
  }
  return faults;
}
