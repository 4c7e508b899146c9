/** The primary dies under load and its synchronous standby takes its place: nothing accepted is lost, no event comes twice. */
import path from 'node:path';
import { expect, test } from 'vitest';
import type { Sql } from '../../storage/postgres/records.ts';
import { comesBackInRecovery } from '../harness/standby.ts';
import type { Traffic } from '../harness/traffic.ts';
import { until } from '../harness/until.ts';
import { goesOn, seed, underLoad } from './scenario.ts';

/** How long no post is accepted before that counts as waiting for the standby. */
const UNCONFIRMED_MS = 5_000;
/** For each step, on a machine that is busy with other things. */
const STEP_S = 120;

test(`a killed primary costs time only (seed ${seed})`, {
  timeout: 900_000,
}, async () => {
  await underLoad({ replicas: 2, standby: true }, async ({ cluster, traffic }) => {
    const standby = cluster.standby!;
    standby.signal('SIGSTOP');
    try {
      await acceptsNothing(traffic);
      await cancelledCommitFails(cluster.sql);
    } finally {
      standby.signal('SIGCONT');
    }
    await goesOn(traffic, STEP_S);

    const { accepted } = traffic;
    const at = Date.now();
    await cluster.killPostgres();
    await standby.promote();
    const promoted = Date.now() - at;
    await until('a post to be accepted', async () => traffic.accepted > accepted + 10, STEP_S);
    console.log(`killed → promoted ${promoted} ms → posts accepted ${Date.now() - at} ms`);
    await goesOn(traffic, STEP_S);

    await comesBackInRecovery(path.join(cluster.home, 'postgres'));
    await cluster.startPostgres();
    await cluster.sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'tocsin %'`;
    await goesOn(traffic, STEP_S);
    expect(cluster.replicas.flatMap(({ crashes }) => crashes)).toEqual([]);
  });
});

/** A post that was confirmed before the standby froze may be answered after. */
async function acceptsNothing(traffic: Traffic): Promise<void> {
  let { accepted } = traffic;
  let since = performance.now();
  const rests = async () => {
    if (traffic.accepted !== accepted) since = performance.now();
    accepted = traffic.accepted;
    return performance.now() - since > UNCONFIRMED_MS;
  };
  await until('no post to be accepted while no standby confirms', rests, STEP_S);
}

/** PostgreSQL ends the cancelled wait of a commit with success and a warning: the client must make an error of it. */
async function cancelledCommitFails(sql: Sql): Promise<void> {
  const commits = [sql`create table alone_1 ()`, sql.begin((tx) => tx`create table alone_2 ()`)];
  const failed = Promise.all(
    commits.map((commit) => expect(commit).rejects.toMatchObject({ code: 'UNREPLICATED' })),
  );
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  failed.then(over, over);
  const cancelling = until(
    'both cancelled commits to be answered',
    async () => {
      await sql`
        select pg_cancel_backend(pid) from pg_stat_activity
        where application_name = 'cluster-test' and wait_event = 'SyncRep'`;
      return isOver;
    },
    STEP_S,
  );
  await Promise.all([failed, cancelling]);
}
