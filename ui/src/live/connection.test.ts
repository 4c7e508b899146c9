import { describe, expect, it } from 'vitest';
import { createConnection } from './connection.ts';
import { createVirtualService, createVirtualTime } from './live.fixture.ts';

function setUp(answer: () => Response | 'stream' | null | Error = () => 'stream', random = 0) {
  const time = createVirtualTime();
  const service = createVirtualService(answer);
  const seen: string[] = [];
  const connection = createConnection(
    { fetch: service.fetch, timers: time.timers, now: time.now, random: () => random },
    {
      opened: () => seen.push('opened'),
      bytes: () => undefined,
      hint: (hint) => seen.push(`hint ${hint.type}`),
      lost: () => seen.push('lost'),
      refused: () => seen.push('refused'),
    },
  );
  return { time, service, connection, seen };
}

describe('the connection to the live stream', () => {
  it('reads hints, whatever pieces they come in', async () => {
    const { time, service, connection, seen } = setUp();
    connection.open();
    await time.settle();
    service.streams[0]!.write('retry: 3000\n\nid: 1\nevent: hi');
    service.streams[0]!.write('nt\ndata: {"type":"route","id":null}\n\nevent: other\ndata: {}\n\n');
    await time.settle();
    expect(seen).toEqual(['opened', 'hint route']);
  });

  it('is kept by comment lines alone, and given up after 25 s without a byte', async () => {
    const { time, service, connection, seen } = setUp();
    connection.open();
    await time.settle();
    for (let sent = 0; sent < 20; sent += 1) {
      await time.pass(10);
      service.streams[0]!.write(': keepalive\n\n');
      await time.settle();
    }
    expect(seen).toEqual(['opened']);
    await time.pass(24.9);
    expect(seen).toEqual(['opened']);
    await time.pass(0.2);
    expect([seen, service.streams[0]!.isGivenUp()]).toEqual([['opened', 'lost'], true]);
    await time.pass(3);
    expect([seen, service.attempts()]).toEqual([['opened', 'lost', 'opened'], 2]);
  });

  it.each([
    ['an answer that does not come', () => null, 25 + 3],
    ['no connection', () => new TypeError('network'), 3],
    ['a proxy without the service', () => new Response('', { status: 503 }), 3],
    ['something else than a stream', () => new Response('<html>'), 3],
    ['too many streams', () => new Response('', { status: 429, headers: { 'Retry-After': '5' } }), 5],
    ['an absurd wait', () => new Response('', { status: 503, headers: { 'Retry-After': '99999' } }), 60],
  ])('tries again after %s', async (_, answer, seconds) => {
    const { time, service, connection, seen } = setUp(answer);
    connection.open();
    await time.pass(seconds - 0.1);
    expect(service.attempts()).toBe(1);
    await time.pass(0.2);
    expect([service.attempts(), seen[0]]).toEqual([2, 'lost']);
  });

  it('waits as long as the stream said, and up to half of it longer by chance', async () => {
    const { time, service, connection } = setUp(() => 'stream', 1);
    connection.open();
    await time.settle();
    service.streams[0]!.write('retry: 10000\n\n');
    await time.settle();
    service.streams[0]!.end();
    await time.pass(14.9);
    expect(service.attempts()).toBe(1);
    await time.pass(0.2);
    expect(service.attempts()).toBe(2);
  });

  it.each([401, 403])('ends with %d, for good', async (status) => {
    const { time, service, connection, seen } = setUp(() => new Response('', { status }));
    connection.open();
    await time.pass(600);
    expect([seen, service.attempts()]).toEqual([['refused'], 1]);
  });

  it('is given up when a line has no end', async () => {
    const { time, service, connection, seen } = setUp();
    connection.open();
    await time.settle();
    service.streams[0]!.write(`data: ${'x'.repeat(10_000)}`);
    await time.settle();
    expect([seen, service.streams[0]!.isGivenUp()]).toEqual([['opened', 'lost'], true]);
  });

  it('in a hurry, does not wait for the next attempt', async () => {
    const { time, service, connection } = setUp(() => new TypeError('network'));
    connection.open();
    await time.settle();
    connection.hurry();
    await time.settle();
    expect(service.attempts()).toBe(2);
  });

  it('in a hurry, makes anew what missed a comment line, and keeps what did not', async () => {
    const { time, service, connection, seen } = setUp();
    connection.open();
    await time.pass(11);
    connection.hurry();
    await time.settle();
    expect(service.attempts()).toBe(1);
    time.sleep(3_600);
    connection.hurry();
    await time.settle();
    expect([service.attempts(), seen]).toEqual([2, ['opened', 'lost', 'opened']]);
  });

  it('does nothing any more once it is closed', async () => {
    const { time, service, connection, seen } = setUp();
    connection.open();
    await time.settle();
    connection.close();
    await time.pass(600);
    expect([service.streams[0]!.isGivenUp(), service.attempts(), seen]).toEqual([true, 1, ['opened']]);
  });
});
