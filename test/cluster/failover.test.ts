/** The primary dies under load and its synchronous standby takes its place: nothing accepted is lost, no event comes twice. */
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { comesBackInRecovery } from '../harness/standby.ts';
import { until } from '../harness/until.ts';
import { goesOn, seed, underLoad } from './scenario.ts';

/** Posts wait for the standby meanwhile. */
const UNCONFIRMED_MS = 5_000;
/** A post that was confirmed before the standby froze may be answered after. */
const UNDER_WAY_MS = 4_000;

test(`a killed primary costs time only (seed ${seed})`, {
  timeout: 300_000,
}, async () => {
  await underLoad({ replicas: 2, standby: true }, async ({ cluster, traffic }) => {
    const standby = cluster.standby!;
    standby.signal('SIGSTOP');
    await pause(UNDER_WAY_MS);
    const before = traffic.accepted;
    await pause(UNCONFIRMED_MS);
    expect(traffic.accepted - before, 'accepted while no standby confirms').toBe(0);
    standby.signal('SIGCONT');
    await goesOn(traffic);

    const { accepted } = traffic;
    const at = Date.now();
    await cluster.killPostgres();
    await standby.promote();
    const promoted = Date.now() - at;
    await until('a post to be accepted', async () => traffic.accepted > accepted + 10, 60);
    console.log(`killed → promoted ${promoted} ms → posts accepted ${Date.now() - at} ms`);
    await goesOn(traffic);

    await comesBackInRecovery(path.join(cluster.home, 'postgres'));
    await cluster.startPostgres();
    await cluster.sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'tocsin %'`;
    await goesOn(traffic);
    expect(cluster.replicas.flatMap(({ crashes }) => crashes)).toEqual([]);
  });
});
