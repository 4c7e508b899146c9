import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../test/harness/until.ts';
import { PREFIX, untilUp, useRedis } from './redis.fixture.ts';

const redis = useRedis();

test('a message reaches every subscriber, the sender included, in order', async () => {
  const [one, other] = await Promise.all([redis.open(), redis.open()]);
  const heard: Record<string, string[]> = { one: [], also: [], other: [] };
  one.signals.subscribe('shard.7', (message) => heard.one?.push(message));
  one.signals.subscribe('shard.7', (message) => heard.also?.push(message));
  other.signals.subscribe('shard.7', (message) => heard.other?.push(message));
  await Promise.all([untilUp(one), untilUp(other)]);
  const messages = ['first', '', 'third ü\u0000\n'];
  for (const message of messages) one.signals.publish('shard.7', message);
  one.signals.publish('shard.8', 'for nobody');
  await until('the messages', async () => Object.values(heard).every((list) => list.length === 3));
  expect(heard).toEqual({ one: messages, also: messages, other: messages });
});

test('a listener that stopped hears nothing, its neighbours go on', async () => {
  const own = await redis.open();
  const heard: string[] = [];
  const stop = own.signals.subscribe('a', () => heard.push('stopped'));
  own.signals.subscribe('a', (message) => heard.push(message));
  await untilUp(own);
  stop();
  stop();
  own.signals.publish('a', 'x');
  await until('the message', async () => heard.length > 0);
  expect(heard).toEqual(['x']);
});

test('the server is asked for a channel once, and told when nobody listens any more', async () => {
  const own = await redis.open();
  const stops = ['a', 'a', 'b'].map((name) => own.signals.subscribe(name, () => undefined));
  await untilUp(own);
  const channels = () => redis.server.command('pubsub', 'channels', `${PREFIX}*`);
  expect([...((await channels()) as string[])].sort()).toEqual([`${PREFIX}signal.a`, `${PREFIX}signal.b`]);
  stops[0]?.();
  stops[2]?.();
  await until('the channel to be gone', async () => ((await channels()) as string[]).length === 1);
  expect(await channels()).toEqual([`${PREFIX}signal.a`]);
});

test('a channel that comes, goes and comes again in one turn is in place afterwards', async () => {
  const own = await redis.open();
  const heard: string[] = [];
  own.signals.subscribe('a', () => undefined)();
  const stop = own.signals.subscribe('a', () => undefined);
  await untilUp(own);
  stop();
  own.signals.subscribe('a', (message) => heard.push(message));
  await untilUp(own);
  own.signals.publish('a', 'x');
  await until('the message', async () => heard.length > 0);
});

test('is not up until a new channel is in place, and says so', async () => {
  const own = await redis.open();
  const states: boolean[] = [];
  const stop = own.signals.onState((isUp) => states.push(isUp));
  expect(own.signals.isUp).toBe(true);
  for (let shard = 0; shard < 256; shard++) own.signals.subscribe(`shard.${shard}`, () => undefined);
  expect(own.signals.isUp).toBe(false);
  await untilUp(own);
  expect(states).toEqual([false, true]);
  stop();
  own.signals.subscribe('more', () => undefined);
  await untilUp(own);
  expect(states).toEqual([false, true]);
});

test('a listener is told when its own channel is in place and when it is not, whatever becomes of others', async () => {
  const own = await redis.open();
  const states: boolean[] = [];
  own.signals.subscribe(
    'a',
    () => undefined,
    (isPlaced) => states.push(isPlaced),
  );
  expect(states).toEqual([]);
  await untilUp(own);
  own.signals.subscribe('b', () => undefined);
  await untilUp(own);
  expect(states).toEqual([true]);
  own.signals.subscribe(
    'a',
    () => undefined,
    (isPlaced) => states.push(isPlaced),
  );
  expect(states).toEqual([true, true]);
  await redis.server.command('client', 'kill', 'type', 'pubsub');
  await until('the channel to be back', async () => states.length === 6);
  expect(states.slice(2)).toEqual([false, false, true, true]);
});

test('what is published in one turn goes out in one write', async () => {
  const own = await redis.open();
  await redis.server.command('config', 'resetstat');
  for (let count = 0; count < 1000; count++) own.signals.publish('a', 'x');
  const published = async () => /cmdstat_publish:calls=1000,/.test(await info('commandstats'));
  await until('the messages', published);
  // One read each for the connections that asked meanwhile; a write a message would have taken hundreds.
  expect(await reads()).toBeLessThan(100);
});

test('a message that the server refuses is an outage, for it will refuse the others, too', async () => {
  const own = await redis.open();
  await redis.server.command('acl', 'setuser', 'default', '-publish');
  onTestFinished(() => redis.server.command('acl', 'setuser', 'default', '+publish').then(() => undefined));
  own.signals.publish('a', 'x');
  await until('the outage', async () => own.logged.length > 0);
  expect(own.logged[0]).toEqual(['redis_unavailable', { error: expect.stringContaining('NOPERM') }]);
});

test('other installations hear nothing', async () => {
  const [own, other] = await Promise.all([redis.open(), redis.open({ prefix: 'other:' })]);
  const heard: string[] = [];
  other.signals.subscribe('a', (message) => heard.push(message));
  await untilUp(other);
  own.signals.publish('a', 'for ours');
  other.signals.publish('a', 'for the others');
  await until('the message', async () => heard.length > 0);
  expect(heard).toEqual(['for the others']);
});

test('what was published in the turn of the end is sent, later messages are not', async () => {
  const [own, other] = await Promise.all([redis.open(), redis.open()]);
  const heard: string[] = [];
  other.signals.subscribe('a', (message) => heard.push(message));
  await untilUp(other);
  own.signals.publish('a', 'last');
  await own.close();
  expect(own.signals.isUp).toBe(false);
  own.signals.publish('a', 'too late');
  other.signals.publish('a', 'later');
  await until('the messages', async () => heard.length >= 2);
  expect(heard).toEqual(['last', 'later']);
});

async function info(section: string): Promise<string> {
  return String(await redis.server.command('info', section));
}

async function reads(): Promise<number> {
  return Number(/total_reads_processed:(\d+)/.exec(await info('stats'))?.[1]);
}
