import { readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { createSecureContext } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { CERTIFICATE } from '../../test/fakes/certificate.ts';
import { freePorts } from '../../test/harness/ports.ts';
import { startTcpProxy } from '../../test/harness/tcp-proxy.ts';
import { startRedis } from '../../test/redis.ts';
import { SECOND } from '../clock.ts';
import type { Beat } from '../placement/coordination.ts';
import { useAdapters, useRedis } from './redis.fixture.ts';

const PASSWORD = 'hunter2 & co';
/** Longer than a test may take. */
const LONG = 600 * SECOND;

/** As the page says them to operators. */
function documentedRights(): readonly string[] {
  const page = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');
  const line = /^ACL SETUSER tocsin on >password (.+)$/m.exec(page);
  return line?.[1]?.split(' ') ?? [];
}

const redis = useRedis({ password: PASSWORD });
const open = useAdapters();

const beat: Beat = { id: 'ann', boot: 'a1', version: '0.1.0', isDraining: false, holds: [7] };

/** What the start says when it fails. */
async function refusal(url: string, patience = SECOND): Promise<string> {
  try {
    await open({ url, patience });
  } catch (error) {
    return String(error);
  }
  throw new Error('It started.');
}

describe('the start', () => {
  test('says which version it found', async () => {
    expect((await redis.open()).version).toMatch(/^\d+\.\d+\.\d+$/);
  });

  test('waits for a server that is late, and logs that it waits', async () => {
    const [port] = await freePorts(1);
    const opening = open({ url: `redis://127.0.0.1:${port}`, patience: 30 * SECOND });
    const server = await startRedis({ port: port ?? 0 });
    onTestFinished(() => server.stop());
    const own = await opening;
    expect(own.signals.isUp).toBe(true);
    expect(own.logged.map(([event]) => event)).toEqual(
      own.logged.length === 0 ? [] : ['redis_unavailable', 'redis_restored'],
    );
  });

  test('gives up after a while, naming host and cause', async () => {
    const [port] = await freePorts(1);
    expect(await refusal(`redis://ann:hunter2@127.0.0.1:${port}`)).toBe(
      `Error: Redis at 127.0.0.1:${port} cannot be used: connect ECONNREFUSED 127.0.0.1:${port}`,
    );
  });

  test('gives up on a name that leads nowhere', async () => {
    expect(await refusal('redis://nowhere.invalid')).toMatch(
      /^Error: Redis at nowhere.invalid:6379 .*nowhere.invalid/,
    );
  });

  test.each([
    ['speaks HTTP', (socket: Socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['hangs up', (socket: Socket) => socket.destroy()],
    ['is silent', () => undefined],
    ['sends bytes', (socket: Socket) => socket.write(Buffer.from([0, 255, 13, 10]))],
    ['answers and hangs up', (socket: Socket) => socket.end('+OK\r\n')],
  ])('gives up on something that %s', async (_, greet) => {
    const port = await serve(greet);
    expect(await refusal(`redis://127.0.0.1:${port}`, 2 * SECOND)).toContain(
      `127.0.0.1:${port} cannot be used: `,
    );
  });

  test('does not wait after a refused login, and does not tell the password', async () => {
    const url = `redis://:hunter3@127.0.0.1:${redis.server.port}`;
    const words = await refusal(url, 30 * SECOND);
    expect(words).toMatch(/^Error: Redis at 127\.0\.0\.1:\d+ cannot be used: WRONGPASS/);
    expect(words).not.toContain('hunter3');
  });

  test('asks for the password that is missing', async () => {
    expect(await refusal(`redis://127.0.0.1:${redis.server.port}`, 30 * SECOND)).toContain('NOAUTH');
  });

  test('takes a database that is not there for a mistake', async () => {
    expect(await refusal(`${redis.server.url}/99`)).toContain('DB index is out of range');
  });

  test('refuses an address that leads to one server after the other', async () => {
    const other = await startRedis({ password: PASSWORD });
    onTestFinished(() => other.stop());
    const balancer = await startTcpProxy(redis.server, other);
    onTestFinished(() => balancer.stop());
    const url = redis.server.url.replace(`${redis.server.port}`, `${balancer.port}`);
    expect(await refusal(url)).toContain('two connections led to two servers');
  });

  test.each(['6.0.16', '5.9.9'])('refuses version %s, naming what is needed', async (version) => {
    const port = await serveVersion(version);
    expect(await refusal(`redis://127.0.0.1:${port}`, 30 * SECOND)).toBe(
      `Error: Redis at 127.0.0.1:${port} cannot be used: it is version ${version}; Tocsin needs 6.2 or newer`,
    );
  });
});

test('a user needs no more than the documented rights', async () => {
  await redis.server.command('acl', 'setuser', 'tocsin', 'on', '>pw', ...documentedRights());
  onTestFinished(() => redis.server.command('acl', 'deluser', 'tocsin').then(() => undefined));
  await redis.server.command('acl', 'log', 'reset');
  const own = await open({ url: `redis://tocsin:pw@127.0.0.1:${redis.server.port}/0` });
  await own.coordination.beat(beat);
  await own.coordination.assign(
    beat,
    0,
    Array.from({ length: 256 }, () => 'ann'),
  );
  await own.coordination.beat(beat);
  await own.coordination.release(beat, [7]);
  own.coordination.onChange(() => undefined)();
  own.signals.publish('a', 'x');
  await own.coordination.leave(beat);
  await own.close();
  expect(own.logged).toEqual([]);
  expect(await redis.server.command('acl', 'log')).toEqual([]);
});

test('TLS is checked against the given roots; an issuer that is none of them is refused at once', async () => {
  const server = await startRedis({ tls: true });
  onTestFinished(() => server.stop());
  const trust = () => createSecureContext({ ca: CERTIFICATE });
  const own = await open({ url: server.url, trust });
  expect((await own.coordination.beat(beat)).granted).toEqual([7]);
  const words = await refusalOf(
    open({ url: server.url, trust: () => createSecureContext(), patience: LONG }),
  );
  // Node.js 24 says more about it.
  expect(words.replace(/; if the root CA is installed locally[^)]*/, '')).toBe(
    `Error: Redis at 127.0.0.1:${server.port} cannot be used: its certificate is not trusted (self-signed certificate): ` +
      'name a PEM file with the certificate of its issuer in NODE_EXTRA_CA_CERTS',
  );
  expect(await refusal(server.url.replace('rediss', 'redis'))).toContain('cannot be used');
});

async function refusalOf(opening: Promise<unknown>): Promise<string> {
  return opening.then(
    () => 'it started',
    (error: unknown) => String(error),
  );
}

/** A server that says of itself that it is of a version. @returns its port */
function serveVersion(version: string): Promise<number> {
  return serve((socket) => {
    socket.on('data', (bytes) => {
      for (const [, name = ''] of bytes.toString().matchAll(/\*\d+\r\n\$\d+\r\n(\w+)\r\n/g)) {
        const text = `redis_version:${version}\r\nrun_id:1\r\n`;
        socket.write(name.toLowerCase() === 'info' ? `$${text.length}\r\n${text}\r\n` : '+OK\r\n');
      }
    });
  });
}

/** A server that does this with every connection. @returns its port */
async function serve(greet: (socket: Socket) => unknown): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    greet(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
