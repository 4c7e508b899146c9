import { expect, onTestFinished, test } from 'vitest';
import { startTcpProxy } from '../../test/harness/tcp-proxy.ts';
import { until } from '../../test/harness/until.ts';
import { type RedisSentinel, type RedisServer, startRedis, startSentinel } from '../../test/redis.ts';
import { SECOND } from '../clock.ts';
import type { Beat } from '../placement/coordination.ts';
import { untilUp, useAdapters } from './redis.fixture.ts';

const open = useAdapters();

const PASSWORD = 'hunter2';
const NAME = 'mymaster';
const beat: Beat = { id: 'ann', boot: 'a1', version: '0.1.0', isDraining: false, holds: [7] };

interface Group {
  readonly primary: RedisServer;
  readonly copy: RedisServer;
  readonly sentinels: readonly RedisSentinel[];
  readonly url: string;
}

/** A primary, its copy and three Sentinels that know of each other. */
async function startGroup(): Promise<Group> {
  const primary = await startRedis({ password: PASSWORD });
  onTestFinished(() => primary.stop());
  const copy = await startRedis({ password: PASSWORD, replicaOf: primary.port });
  onTestFinished(() => copy.stop());
  const sentinels: RedisSentinel[] = [];
  for (let count = 0; count < 3; count++) {
    const sentinel = await startSentinel({ name: NAME, primary, password: PASSWORD, quorum: 2 });
    onTestFinished(() => sentinel.stop());
    sentinels.push(sentinel);
  }
  for (const sentinel of sentinels)
    await until('the Sentinels to know each other and the copy', async () => {
      const facts = pairs(await sentinel.command('sentinel', 'master', NAME));
      return facts.get('num-other-sentinels') === '2' && facts.get('num-slaves') === '1';
    });
  const list = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
  return { primary, copy, sentinels, url: `redis+sentinel://:${PASSWORD}@${list}/${NAME}` };
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
  expect(String(await copy.command('info', 'replication'))).toContain('role:master');

  // The old primary comes back, is made a copy, and is not used any more.
  primary.thaw();
  await until('the old primary to be a copy', async () =>
    String(await primary.command('info', 'replication')).includes('role:slave'),
  );
  expect((await own.coordination.beat(beat)).granted).toEqual([7]);
  expect(own.logged.map(([event]) => event)).toEqual(['redis_unavailable', 'redis_restored']);
});

test('a failover by hand breaks the connections to the old primary, and is followed', async () => {
  const { copy, sentinels, url } = await startGroup();
  const own = await open({ url });
  await own.coordination.beat(beat);
  await sentinels[0]?.command('sentinel', 'failover', NAME);
  await until('the copy to lead', async () =>
    String(await copy.command('info', 'replication')).includes('role:master'),
  );
  await until('beats on the new primary', async () => {
    await own.coordination.beat(beat);
    return (await copy.command('hexists', 'tocsin:v1.replicas', 'ann')) === 1;
  });
});

test('Sentinels that do not answer, or do not know, are passed over', async () => {
  const { sentinels, primary } = await startGroup();
  const [gone, ...rest] = sentinels;
  await gone?.kill();
  const silent = await startTcpProxy({ port: primary.port });
  onTestFinished(() => silent.stop());
  silent.blackHole();
  const other = await startSentinel({ name: 'another', primary, password: PASSWORD });
  onTestFinished(() => other.stop());
  const ports = [gone?.port, silent.port, other.port, ...rest.map(({ port }) => port)];
  const list = ports.map((port) => `127.0.0.1:${port}`).join(',');
  const own = await open({ url: `redis+sentinel://:${PASSWORD}@${list}/${NAME}` });
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

/** `[name, value, name, value, …]`, or the same as an object. */
function pairs(answer: unknown): Map<string, unknown> {
  if (!Array.isArray(answer)) return new Map(Object.entries(answer ?? {}));
  return new Map(
    answer.flatMap((name, at) => (at % 2 === 0 ? [[String(name), answer[at + 1]] as const] : [])),
  );
}
