/** What can be told about a cluster from outside. */
import type { Cluster } from './cluster.ts';
import type { Replica } from './replica.ts';
import { until } from './until.ts';

/** A request that began before a takeover may arrive after it, ms. */
export const UNDER_WAY_MS = 250;
/** A former owner may begin a call while its proof is good, 2 s (operations §5.2 rule 2); the rest is the way, ms. */
export const OF_FORMER_OWNER_MS = 3_000;

/** The replica whose metrics say that it leads; null when none or several do. */
export async function leaderOf(cluster: Cluster): Promise<Replica | null> {
  const running = cluster.replicas.filter(({ isRunning, isFrozen }) => isRunning && !isFrozen);
  const leads = await Promise.all(
    running.map(async (replica) => (await metricOf(replica, 'svc_leader')) === 1),
  );
  const leaders = running.filter((_replica, place) => leads[place]);
  return leaders.length === 1 ? leaders[0]! : null;
}

/** The value of a metric without labels; null when it is not there. */
export async function metricOf(replica: Replica, name: string): Promise<number | null> {
  const answer = await fetch(`${replica.url}/metrics`, { signal: AbortSignal.timeout(2_000) });
  const line = new RegExp(`^${name} (\\S+)$`, 'm').exec(await answer.text());
  return line ? Number(line[1]) : null;
}

/** Waits until every running replica acts for about its share of the shards. */
export async function evenlySpread(cluster: Cluster, seconds = 40): Promise<void> {
  await until(
    'the shards to be spread evenly',
    async () => {
      const running = cluster.replicas.filter(({ isRunning, isFrozen }) => isRunning && !isFrozen);
      const held = await cluster.holdings();
      const share = 256 / running.length;
      const counts = running.map(({ id }) => held.get(id) ?? 0);
      const isEven = counts.every((count) => count > share / 2 && count < share * 1.6);
      if (isEven && counts.reduce((sum, count) => sum + count, 0) === 256) return true;
      throw new Error(JSON.stringify(Object.fromEntries(held)));
    },
    seconds,
  );
}

/** Webhook requests that came from a replica which did not own their Destination any more. One sentence each. */
export async function strayRequests(cluster: Cluster): Promise<string[]> {
  const owners = await Promise.all(cluster.rows.destinationIds.map((id) => ownersOf(cluster, id)));
  return cluster.receiver.received.flatMap(({ from, at, path, id }) => {
    const history = owners[Number(path.split('/').at(-1))] ?? [];
    const allowed = history.filter(
      ({ since }, place) =>
        since <= at && (history[place + 1]?.since ?? Number.POSITIVE_INFINITY) >= at - OF_FORMER_OWNER_MS,
    );
    const isFine = from === null || allowed.some(({ owner }) => owner === from);
    return isFine
      ? []
      : [`${id} came from ${from}; ${allowed.map(({ owner }) => owner).join(', ')} owned it`];
  });
}

/** Who owned a Destination since when, by the witness. */
async function ownersOf(cluster: Cluster, id: string): Promise<{ owner: string; since: number }[]> {
  return cluster.sql<{ owner: string; since: number }[]>`
    select split_part(r.owner, '/', 1) as owner,
      (extract(epoch from pg_xact_commit_timestamp(r.xmin)) * 1000)::float8 as since
    from witness.raises r join actors a using (shard)
    where a.kind = 'destination' and a.key = ${id} order by r.epoch`;
}
