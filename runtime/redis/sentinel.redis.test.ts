import { expect, onTestFinished, test } from 'vitest';
import { CERTIFICATE } from '../../test/fakes/certificate.ts';
import { leads, RedisGroup, type RedisGroupOptions } from '../../test/harness/redis-group.ts';
import { startTcpProxy } from '../../test/harness/tcp-proxy.ts';
import { until } from '../../test/harness/until.ts';
import { startSentinel } from '../../test/redis.ts';
import { SECOND } from '../clock.ts';
import { createTrust } from '../outbound/trust.ts';
import type { Beat } from '../placement/coordination.ts';
import { untilUp, useAdapters } from './redis.fixture.ts';

const open = useAdapters();

/** Longer than a test may take. */
const LONG = 600 * SECOND;

const beat: Beat = { id: 'ann', boot: 'a1', version: '0.1.0', isDraining: false, holds: [7] };

async function startGroup(options?: RedisGroupOptions): Promise<RedisGroup> {
  const group = await RedisGroup.start(options);
  onTestFinished(() => group.stop());
  return group;
}

test('a failover is followed, from the frozen primary to its copy', async () => {
  const { primary, copy, url } = await startGroup();
  const own = await open({ url });
  own.signals.subscribe('a', () => undefined);
  await untilUp(own);
  await own.coordination.beat(beat);

  primary.freeze();
  await untilUp(own, false);
  await untilUp(own, true, 30);
  expect((await own.coordination.beat(beat)).granted).toEqual([7]);
  expect(await leads(copy)).toBe(true);

  // The old primary comes back, is made a copy, and is not used any more.
  primary.thaw();
  await until('the old primary to be a copy', async () => !(await leads(primary)));
  expect((await own.coordination.beat(beat)).granted).toEqual([7]);
  expect(own.logged.map(([event]) => event)).toEqual(['redis_unavailable', 'redis_restored']);
});

test('a failover by hand breaks the connections to the old primary, and is followed', async () => {
  const group = await startGroup();
  const { copy, sentinels, url } = group;
  const own = await open({ url });
  await own.coordination.beat(beat);
  await sentinels[0]?.command('sentinel', 'failover', group.name);
  await until('the copy to lead', () => leads(copy));
  await until('beats on the new primary', async () => {
    await own.coordination.beat(beat);
    return (await copy.command('hexists', 'tocsin:v1.replicas', 'ann')) === 1;
  });
});

test('Sentinels that do not answer, or do not know, are passed over', async () => {
  const group = await startGroup();
  const { sentinels, primary } = group;
  const [gone, ...rest] = sentinels;
  await gone?.kill();
  const silent = await startTcpProxy({ port: primary.port });
  onTestFinished(() => silent.stop());
  silent.blackHole();
  const other = await startSentinel({ name: 'another', primary });
  onTestFinished(() => other.stop());
  const ports = [gone!, silent, other, ...rest].map(({ port }) => port);
  const own = await open({ url: group.urlOf(ports) });
  expect((await own.coordination.beat(beat)).granted).toEqual([7]);
});

test('the start says what each Sentinel said', async () => {
  const { sentinels } = await startGroup();
  const port = sentinels[0]?.port;
  await expect(
    open({ url: `redis+sentinel://127.0.0.1:${port},127.0.0.1:1/other`, patience: SECOND }),
  ).rejects.toThrow(
    `Redis at other (Sentinels 127.0.0.1:${port}, 127.0.0.1:1) cannot be used: no Sentinel names a server: ` +
      `127.0.0.1:${port}: does not know other; 127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1`,
  );
});

test('Sentinels and servers with TLS are used, and refused at once when their issuer is not trusted', async () => {
  const { url } = await startGroup({ tls: true });
  const own = await open({ url, trust: createTrust([CERTIFICATE]) });
  expect((await own.coordination.beat(beat)).granted).toEqual([7]);
  const refused = open({ url, trust: createTrust(), patience: LONG });
  await expect(refused).rejects.toThrow(/(its certificate is not trusted.*){3}/);
});
