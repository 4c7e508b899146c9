/** What the Leader does once for all, what System status says of it, and what a downtime leaves behind. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MINUTE } from '../../runtime/clock.ts';
import { startHeartbeatReceiver } from '../fakes/heartbeat-receiver.ts';
import type { Json } from '../harness/api.ts';
import { Cluster } from '../harness/cluster.ts';
import { evenlySpread } from '../harness/cluster-facts.ts';
import type { Replica } from '../harness/replica.ts';
import { until } from '../harness/until.ts';

/** Of a killed Leader: its lease lapses, another one takes it and reads the gauges at once. */
const TAKEOVER_WITHIN_S = 30;
/** Gauges are read every 15 s: those of what was made since the last reading come with the next. */
const GAUGES_WITHIN_S = 60;
const GAUGES = ['svc_ingest_backlog', 'svc_alert_groups', 'svc_delivery_queue', 'svc_destination_broken'];

let cluster: Cluster;

beforeAll(async () => {
  cluster = await Cluster.start();
  await evenlySpread(cluster);
}, 120_000);
afterAll(() => cluster.remove());

const running = () => cluster.replicas.filter((replica) => replica.isRunning);
const status = (replica: Replica): Promise<Json> => cluster.api(replica).get('/system-status');

async function seriesOf(replica: Replica): Promise<string[]> {
  const answer = await fetch(`${replica.url}/metrics`);
  return (await answer.text()).split('\n');
}

const exportsGauges = (series: readonly string[]) =>
  GAUGES.every((name) => series.some((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `)));

/** The one replica that leads by its own metrics and exports the gauges, while no other does. */
async function onlyLeader(): Promise<Replica | null> {
  const all = await Promise.all(
    running().map(async (replica) => ({ replica, series: await seriesOf(replica) })),
  );
  const leaders = all.filter(({ series }) => series.includes('svc_leader 1'));
  const exporters = all.filter(({ series }) => exportsGauges(series));
  const isOne = leaders.length === 1 && exporters.length === 1 && leaders[0] === exporters[0];
  return isOne ? (leaders[0]?.replica ?? null) : null;
}

test('one replica leads and exports the gauges; after a kill another one does, and every replica knows', async () => {
  const first = await until('one Leader with gauges', onlyLeader, GAUGES_WITHIN_S);
  for (const replica of cluster.replicas) {
    const { replicas, coordination } = await status(replica);
    expect(replicas.map(({ id, leader }: Json) => [id, leader])[0]).toEqual([first.id, true]);
    expect(replicas).toHaveLength(3);
    const owned: number[] = coordination.replicas.map(({ shards }: Json) => shards);
    expect(owned.reduce((sum, shards) => sum + shards, coordination.shards.without_owner)).toBe(256);
    expect(coordination).toMatchObject({ mode: 'redis', redis_up: true, shards: { without_owner: 0 } });
    const { owners } = coordination.shards;
    expect([0, 1, 2].map((owner) => owners.filter((each: number) => each === owner).length)).toEqual(owned);
  }

  await first.kill();
  const next = await until('another Leader with gauges', onlyLeader, TAKEOVER_WITHIN_S);
  expect(next).not.toBe(first);
  for (const replica of running()) {
    await until(`${replica.id} to know the new Leader and owners of all shards`, async () => {
      const { replicas, coordination } = await status(replica);
      const leaders = replicas.filter(({ leader }: Json) => leader).map(({ id }: Json) => id);
      return leaders.join() === next.id && coordination.shards.without_owner === 0;
    });
  }
  await first.start();
});

// internal-alerts §9 row 14.
test('replicas send one outgoing heartbeat a minute together, also after the Leader was killed', async () => {
  const receiver = await startHeartbeatReceiver();
  const set = (url: string | null) =>
    cluster.api(running()[0] as Replica).change('/organization', (organization) => ({
      ...organization,
      outgoing_heartbeat: { url, proxy: { enabled: false } },
    }));
  const sent = (count: number) =>
    until(`heartbeat ${count}`, async () => receiver.requests.length >= count, TAKEOVER_WITHIN_S);
  try {
    await set(receiver.url);
    await sent(1);
    const first = await until('one Leader', onlyLeader, GAUGES_WITHIN_S);
    // The minute since the last attempt is over when the next Leader begins.
    await first.kill();
    await cluster.sql`update outgoing_heartbeat set claimed_at = claimed_at - ${MINUTE}`;
    await sent(2);
    await first.start();
    await until('one Leader that every replica knows', onlyLeader, GAUGES_WITHIN_S);
    expect(receiver.requests).toHaveLength(2);
  } finally {
    await set(null);
    await receiver.close();
  }
});

test('a clean stop removes the record of a replica at once', async () => {
  const [last] = cluster.replicas.slice(-1) as [Replica];
  const [other] = cluster.replicas as [Replica, ...Replica[]];
  await last.terminate();
  const { replicas } = await status(other);
  expect(replicas.map(({ id }: Json) => id)).not.toContain(last.id);
  await last.start();
});

test('after ten minutes without anybody the downtime is recorded once, and everybody is told', async () => {
  await Promise.all(cluster.replicas.map((replica) => replica.terminate()));
  await cluster.sql`update alive_mark set at = at - ${10 * MINUTE}`;
  await Promise.all(cluster.replicas.map((replica) => replica.start()));
  const recorded = () => cluster.replicas.flatMap((replica) => replica.events('downtime_recorded'));
  await until('the downtime in the log', async () => recorded().length > 0);
  for (const replica of cluster.replicas) {
    const { items } = await cluster.api(replica).get('/system-notices');
    expect(items).toMatchObject([{ kind: 'recovering_after_downtime', audience: 'all' }]);
    expect((await status(replica)).recovery).toMatchObject({ active: true });
  }
  expect(recorded()).toHaveLength(1);
  expect(recorded()[0]?.duration_seconds).toBeGreaterThanOrEqual(600);
});

test('a replica that does not hold the active key ends', async () => {
  await cluster.sql`update keyring set active_key_id = 'k-0000000000000000'`;
  const [one] = cluster.replicas as [Replica];
  await until('the key to be missed', async () => one.events('active_key_not_held').length > 0, 40);
  expect(await one.ends()).toBe(1);
});
