import { describe, expect, onTestFinished, test } from 'vitest';
import { startTcpProxy, type TcpProxy } from '../../test/harness/tcp-proxy.ts';
import { until } from '../../test/harness/until.ts';
import { startRedis } from '../../test/redis.ts';
import { type Beat, CoordinationUnavailableError } from '../placement/coordination.ts';
import { metric, type OpenedRedis, untilUp, useRedis } from './redis.fixture.ts';

/** An outage is noticed within this time, s: a second until the next question, a second for its answer, and the rest. */
const NOTICED_WITHIN = 3;

const redis = useRedis();

const beat: Beat = { id: 'ann', boot: 'a1', version: '0.1.0', isDraining: false, holds: [7] };

/** An adapter whose way to the server can be broken. */
async function openThrough(): Promise<{ own: OpenedRedis; proxy: TcpProxy }> {
  const proxy = await startTcpProxy({ port: redis.server.port });
  onTestFinished(() => proxy.stop());
  return { own: await redis.open({ url: `redis://127.0.0.1:${proxy.port}` }), proxy };
}

/** Beats and signals work again, and what was missed is pointed at. */
async function expectWorking(own: OpenedRedis): Promise<void> {
  await untilUp(own);
  expect(await own.coordination.beat(beat)).toMatchObject({ leader: { id: 'ann' }, granted: [7] });
  let isHeard = false;
  const stop = own.signals.subscribe('again', () => {
    isHeard = true;
  });
  await untilUp(own);
  own.signals.publish('again', '');
  await until('a signal', async () => isHeard);
  stop();
}

/** Those of adapters; tests have no names for theirs. */
async function connectionsAtServer(): Promise<number> {
  const list = String(await redis.server.command('client', 'list'));
  return [...list.matchAll(/ name=tocsin-/g)].length;
}

/** How often a script was sent with its text: that is how a new connection tries whether the server takes writes. */
async function triesAtServer(): Promise<number> {
  const stats = String(await redis.server.command('info', 'commandstats'));
  return Number(/cmdstat_eval:calls=(\d+)/.exec(stats)?.[1] ?? 0);
}

const events = ({ logged }: OpenedRedis) => logged.map(([event]) => event);

interface Outage {
  readonly begin: (proxy: TcpProxy) => Promise<void> | void;
  readonly end: (proxy: TcpProxy) => Promise<void> | void;
}

const OUTAGES: Readonly<Record<string, Outage>> = {
  'the server is killed': { begin: () => redis.server.kill(), end: () => redis.server.start() },
  'the server is frozen': { begin: () => redis.server.freeze(), end: () => redis.server.thaw() },
  'the server refuses connections': { begin: (proxy) => proxy.refuse(), end: (proxy) => proxy.heal() },
  'the network swallows packets': { begin: (proxy) => proxy.blackHole(), end: (proxy) => proxy.heal() },
};

describe.each(Object.entries(OUTAGES))('while %s', (_, { begin, end }) => {
  test('nothing can be used, and everything afterwards', async () => {
    const { own, proxy } = await openThrough();
    const states: boolean[] = [];
    own.signals.onState((isUp) => states.push(isUp));
    let changes = 0;
    own.coordination.onChange(() => changes++);
    const heard: string[] = [];
    own.signals.subscribe('a', (message) => heard.push(message));
    await untilUp(own);
    await own.coordination.beat(beat);
    expect(await metric(own, 'svc_redis_up')).toBe(1);

    states.length = 0;
    await begin(proxy);
    await untilUp(own, false, NOTICED_WITHIN);
    await expect(own.coordination.beat(beat)).rejects.toThrow(CoordinationUnavailableError);
    own.signals.publish('a', 'into the void');
    expect(await metric(own, 'svc_redis_up')).toBe(0);

    changes = 0;
    await end(proxy);
    await expectWorking(own);
    own.signals.publish('a', 'back again');
    await until('a message on the channel of before', async () => heard.includes('back again'));
    expect(states.slice(0, 2)).toEqual([false, true]);
    expect(changes).toBeGreaterThan(0);
    expect(events(own)).toEqual(['redis_unavailable', 'redis_restored']);
    expect(await metric(own, 'svc_redis_up')).toBe(1);
  });
});

test('a call under way when the network goes silent fails within a second or so, and its late answer reaches nobody', async () => {
  const { own, proxy } = await openThrough();
  await own.coordination.beat(beat);
  proxy.blackHole();
  const from = performance.now();
  await expect(own.coordination.beat({ ...beat, holds: [7, 8] })).rejects.toThrow(
    CoordinationUnavailableError,
  );
  expect(performance.now() - from).toBeLessThan(2_000);
  await proxy.heal();
  await untilUp(own);
  // The round happened after all, as it may; the answer to this one is its own.
  expect((await own.coordination.beat({ ...beat, version: '0.2.0' })).replicas).toMatchObject([
    { version: '0.2.0' },
  ]);
});

test('a pause of this process is no outage: what arrived meanwhile counts', async () => {
  const own = await redis.open();
  await own.coordination.beat(beat);
  const answer = own.coordination.beat(beat);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500);
  expect((await answer).granted).toEqual([7]);
  await expectWorking(own);
  expect(events(own)).toEqual([]);
});

test('a connection that breaks now and then costs a moment each time', async () => {
  const { own, proxy } = await openThrough();
  for (let time = 0; time < 5; time++) {
    proxy.cut();
    await untilUp(own, false);
    await expectWorking(own);
  }
  expect(events(own)).toEqual(
    Array.from({ length: 5 }, () => ['redis_unavailable', 'redis_restored']).flat(),
  );
});

test.each([
  ['nonsense', '\u0000\u0001nonsense\r\n'],
  ['an answer that nobody waits for', '+OK\r\n'],
  ['an error that nobody asked for', '-ERR just so\r\n'],
  ['half an answer', '$1000\r\nabc'],
])('%s ends the connections, and new ones are made', async (_, bytes) => {
  const { own, proxy } = await openThrough();
  own.signals.subscribe('a', () => undefined);
  await untilUp(own);
  proxy.inject(bytes);
  await untilUp(own, false);
  await expectWorking(own);
  expect(events(own)).toEqual(['redis_unavailable', 'redis_restored']);
});

test('losing only one of the two connections is an outage, too', async () => {
  const own = await redis.open();
  for (const type of ['pubsub', 'normal']) {
    own.signals.subscribe('a', () => undefined);
    await untilUp(own);
    await redis.server.command('client', 'kill', 'type', type, 'skipme', 'yes');
    await untilUp(own, false);
    await expectWorking(own);
    expect(await connectionsAtServer()).toBe(2);
  }
});

test('subscriptions made during an outage are in place after it', async () => {
  const { own, proxy } = await openThrough();
  await proxy.refuse();
  await untilUp(own, false);
  const heard: string[] = [];
  own.signals.subscribe('a', (message) => heard.push(message));
  own.signals.subscribe('b', () => undefined)();
  await proxy.heal();
  await untilUp(own);
  own.signals.publish('a', 'x');
  await until('the message', async () => heard.length > 0);
});

test('a server that became a copy of another one is given up until it takes writes', async () => {
  const other = await startRedis();
  onTestFinished(() => other.stop());
  const own = await redis.open();
  await redis.server.command('replicaof', '127.0.0.1', other.port);
  await expect(own.coordination.beat(beat)).rejects.toThrow('READONLY');
  await untilUp(own, false);
  const before = await triesAtServer();
  await until('several tries', async () => (await triesAtServer()) > before + 3);
  expect(own.signals.isUp).toBe(false);
  expect(own.logged).toMatchObject([['redis_unavailable', { error: expect.stringContaining('READONLY') }]]);
  await redis.server.command('replicaof', 'no', 'one');
  await expectWorking(own);
  expect(events(own)).toEqual(['redis_unavailable', 'redis_restored']);
});

test('a server without memory left is an outage with its reason', async () => {
  const own = await redis.open();
  await redis.server.command('config', 'set', 'maxmemory', '1');
  onTestFinished(() => redis.server.command('config', 'set', 'maxmemory', '0').then(() => undefined));
  await expect(own.coordination.beat(beat)).rejects.toThrow('OOM');
  await untilUp(own, false);
  await redis.server.command('config', 'set', 'maxmemory', '0');
  await expectWorking(own);
});

test('the end during an outage comes soon and is quiet', async () => {
  const { own, proxy } = await openThrough();
  proxy.blackHole();
  await untilUp(own, false);
  const from = performance.now();
  await own.close();
  expect(performance.now() - from).toBeLessThan(3_000);
  await proxy.heal();
  await until('its connections to be gone', async () => proxy.connections === 0);
  expect(events(own)).toEqual(['redis_unavailable']);
});
