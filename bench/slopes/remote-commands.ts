/** What three replicas cost at rest, and what a Command adds that comes to a replica which does not own its group. */
import { setTimeout as pause } from 'node:timers/promises';
import { Cluster } from '../../test/harness/cluster.ts';
import { evenlySpread } from '../../test/harness/cluster-facts.ts';
import { load } from '../load/start.ts';
import { consumption, readMeters } from './meters.ts';

const REST_SECONDS = 10;

export interface RemoteCommands {
  /** A second of one replica. */
  readonly atRest: { readonly redisCommands: number; readonly transactions: number };
  /** Of one Command, beyond rest. */
  readonly redisCommands: number;
  readonly transactions: number;
}

export async function measureRemoteCommands(commands: number): Promise<RemoteCommands> {
  const cluster = await Cluster.start({ durable: true, logLevel: 'error', destinations: 0 });
  try {
    await evenlySpread(cluster);
    const [first] = cluster.replicas;
    await load({
      ...{ url: `${first!.url}/api/v1/ingest`, token: cluster.rows.token, connections: 1, rate: 40 },
      ...{ seconds: 2, warmupSeconds: 0, groups: 60, body: 'webhook', changes: 0 },
    });
    await pause(REST_SECONDS * 1000);
    const atRest = await readMeters(cluster);
    await pause(REST_SECONDS * 1000);
    const begun = await readMeters(cluster);
    const from = performance.now();
    const groups = await cluster.sql<{ id: string; owner: string }[]>`
      select a.key as id, split_part(s.owner, '/', 1) as owner
      from actors a join shards s using (shard) where a.kind = 'alert_group'`;
    for (let n = 0; n < commands; n++) {
      const group = groups[n % groups.length]!;
      const other = cluster.replicas.find(({ id }) => id !== group.owner)!;
      const { status } = await cluster
        .api(other)
        .call('POST', `/alert-groups/${group.id}/notes`, { body: `note ${n}` });
      if (status !== 201) throw new Error(`A Note was answered ${status}`);
    }
    const seconds = (performance.now() - from) / 1000;
    const ended = await readMeters(cluster);
    const rest = consumption(atRest, begun, REST_SECONDS);
    const added = consumption(begun, ended, commands);
    return {
      atRest: {
        redisCommands: rest.redisCommands / cluster.replicas.length,
        transactions: rest.transactions / cluster.replicas.length,
      },
      redisCommands: added.redisCommands - (rest.redisCommands * seconds) / commands,
      transactions: added.transactions - (rest.transactions * seconds) / commands,
    };
  } finally {
    await cluster.remove();
  }
}
