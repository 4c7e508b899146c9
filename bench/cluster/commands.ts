/** How long a Command takes at the replica that owns its Alert Group, and at another one. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Json } from '../../test/harness/api.ts';
import { Cluster } from '../../test/harness/cluster.ts';
import { evenlySpread } from '../../test/harness/cluster-facts.ts';
import { randomSource } from '../../test/harness/random.ts';
import { Traffic } from '../../test/harness/traffic.ts';

export interface CommandTimes {
  readonly local: number[];
  readonly remote: number[];
}

/** Notes at a fixed rate, on groups of all replicas, while Snapshots come in. Times count from when a Note was due. */
export async function measureCommands(seconds: number, perSecond: number): Promise<CommandTimes> {
  const cluster = await Cluster.start({ durable: true, logLevel: 'error', destinations: 1 });
  const times: CommandTimes = { local: [], remote: [] };
  try {
    await evenlySpread(cluster);
    const traffic = new Traffic(cluster, 'Bench', { random: randomSource(1), people: 0 });
    try {
      await pause(3_000);
      const groups = await openGroups(cluster);
      const begun = performance.now();
      const under: Promise<void>[] = [];
      for (let n = 0; n < seconds * perSecond; n++) {
        const due = begun + (n / perSecond) * 1000;
        await pause(Math.max(0, due - performance.now()));
        under.push(writeNote(cluster, groups[n % groups.length]!, n, due, times));
      }
      await Promise.all(under);
    } finally {
      await traffic.stop();
    }
    return times;
  } finally {
    await cluster.remove();
  }
}

interface OwnedGroup {
  readonly id: string;
  readonly owner: string;
}

async function openGroups(cluster: Cluster): Promise<OwnedGroup[]> {
  const groups = await cluster.sql<OwnedGroup[]>`
    select a.key as id, split_part(s.owner, '/', 1) as owner
    from actors a join shards s using (shard) where a.kind = 'alert_group'`;
  if (groups.length === 0) throw new Error('There is no Alert Group to write on.');
  return groups;
}

async function writeNote(
  cluster: Cluster,
  group: OwnedGroup,
  n: number,
  due: number,
  times: CommandTimes,
): Promise<void> {
  const replica = cluster.replicas[n % cluster.replicas.length]!;
  const answer: { status: number; body: Json } = await cluster
    .api(replica)
    .call('POST', `/alert-groups/${group.id}/notes`, { body: `note ${n}` });
  if (answer.status !== 201)
    throw new Error(`A Note was answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  times[replica.id === group.owner ? 'local' : 'remote'].push(performance.now() - due);
}
