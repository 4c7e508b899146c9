/** Behind a PgBouncer in transaction mode: nothing that the service relies on may live in a session of the main connection. */
import { expect, test } from 'vitest';
import { evenlySpread } from '../harness/cluster-facts.ts';
import { runTocsin } from '../harness/program.ts';
import { goesOn, replicaKilled, type Stage, seed, underLoad } from './scenario.ts';

test(`a replica and PgBouncer killed in turn cost time only (seed ${seed})`, {
  timeout: 540_000,
}, async () => {
  await underLoad({ replicas: 2, pooler: true }, async (stage) => {
    const { cluster, traffic } = stage;
    await isRefusedAlone(stage);
    await sharesConnections(stage);
    for (const words of ['keys status', 'ingest failed', 'doctor --offline'])
      await runTocsin(words.split(' '), cluster.environment());

    const victim = await replicaKilled(stage);
    await victim.start();
    await evenlySpread(cluster);

    const at = Date.now();
    await cluster.pooler!.kill();
    await cluster.pooler!.restart();
    await goesOn(traffic);
    console.log(`PgBouncer killed → posts accepted and Commands answered ${Date.now() - at} ms`);
    expect(cluster.replicas.flatMap(({ crashes }) => crashes)).toEqual([]);
  });
});

/** Without a way to the database that keeps its session, the start says what is missing. */
async function isRefusedAlone({ cluster }: Stage): Promise<void> {
  const {
    SVC_DATABASE_SESSION_HOST: _host,
    SVC_DATABASE_SESSION_PORT: _port,
    ...env
  } = cluster.environment();
  for (const word of ['serve', 'migrate'])
    await expect(runTocsin([word], env)).rejects.toThrow(
      /probably because a transaction pooler stands before the database.*SVC_DATABASE_SESSION_HOST/,
    );
}

/** What two replicas open to it comes through fewer connections of the server than one of them has. */
async function sharesConnections({ cluster }: Stage): Promise<void> {
  const [row] = await cluster.sql<{ count: number }[]>`
    select count(*)::int as count from pg_stat_activity
    where application_name similar to 'tocsin (main|commits|ingestion) %'`;
  expect(row?.count).toBeGreaterThan(0);
  expect(row?.count).toBeLessThanOrEqual(8);
}
