/** Bodies that are held: nobody takes the room of others, and nobody keeps it by sending slowly. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import * as v from 'valibot';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SECOND } from '../../runtime/clock.ts';
import { type SignedIn, startHttp, type TestHttp } from '../../test/http-server.ts';
import { type Operation, operation } from '../operation.ts';
import { addPiece, BODY_BUDGETS, createBodyBudgets } from './body-budget.ts';

const KIB = 1024;

const operations: readonly Operation[] = (['none', 'authenticated'] as const).map((needs) =>
  operation({
    id: needs,
    method: 'POST',
    path: `/${needs}`,
    tag: 'Test',
    summary: 'Takes a text',
    needs,
    body: v.object({ text: v.string() }),
    answers: { 204: { description: 'Done' } },
    handle: async () => ({ status: 204 }),
  }),
);

const start = () => startHttp({ operations: [operations], trustedProxies: ['127.0.0.0/8'] });

interface Parked {
  readonly from: string;
  readonly path: string;
  readonly announced: number;
  readonly sent: number;
  readonly headers?: readonly string[];
}

/** Sends all but the end of a body; resolves when the server has it, or has answered. */
async function park(
  server: TestHttp,
  { from, path, announced, sent, headers = [] }: Parked,
): Promise<Socket> {
  const socket = connect(server.addresses.app.port, '127.0.0.1');
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  const head = [
    `POST /api/v1${path} HTTP/1.1`,
    'Host: tocsin',
    `X-Forwarded-For: ${from}`,
    `Content-Length: ${announced}`,
    'Content-Type: application/json',
    ...headers,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  await new Promise((written) => socket.write(Buffer.alloc(sent, 'x'), written));
  // What this connection sent was read before an answer on another one.
  await server.send('GET', '/api/v1/sign-in-options');
  return socket;
}

const anonymously = (server: TestHttp, from: string) =>
  server.send('POST', '/api/v1/none', {
    body: { text: 'x'.repeat(1_000) },
    headers: { 'x-forwarded-for': from },
  });

/** The status of a body in two pieces: refused for want of room with the first, or for its form with the second. */
async function statusOfArriving(server: TestHttp, from: string): Promise<number> {
  const socket = await park(server, { from, path: '/none', announced: 9_000, sent: 8_000 });
  const answer = once(socket, 'data') as Promise<[Buffer]>;
  socket.write(Buffer.alloc(1_000, 'x'));
  const [data] = await answer;
  socket.destroy();
  return Number(data.toString().split(' ')[1]);
}

const signedIn = (server: TestHttp, as: SignedIn, from: string) =>
  server.send('POST', '/api/v1/authenticated', {
    ...{ as, body: { text: 'x'.repeat(500_000) } },
    headers: { 'x-forwarded-for': from },
  });

describe('unfinished anonymous bodies', () => {
  test('of one address stop that address alone, and leave with their connections', async () => {
    const server = await start();
    const parked: Socket[] = [];
    for (let count = 0; count < 16; count++) {
      parked.push(
        await park(server, { from: '203.0.113.9', path: '/none', announced: 16 * KIB, sent: 16 * KIB - 1 }),
      );
    }
    expect(await statusOfArriving(server, '203.0.113.9')).toBe(503);
    expect(await statusOfArriving(server, '203.0.113.10')).toBe(400);
    for (const socket of parked) socket.destroy();
    await expect.poll(() => statusOfArriving(server, '203.0.113.9')).toBe(400);
  });

  test('of a /64 count as one address', async () => {
    const server = await start();
    for (let count = 0; count < 16; count++) {
      const from = `2001:db8:1:2::${count.toString(16)}`;
      await park(server, { from, path: '/none', announced: 16 * KIB, sent: 16 * KIB - 1 });
    }
    expect(await statusOfArriving(server, '2001:db8:1:2:ffff::1')).toBe(503);
    expect(await statusOfArriving(server, '2001:db8:1:3::1')).toBe(400);
  });

  test('of many addresses leave room for bodies that arrive at once, and for those who are signed in', async () => {
    const server = await start();
    const as = await server.signIn('viewer');
    const addresses = Math.ceil(BODY_BUDGETS.anonymous.total / BODY_BUDGETS.anonymous.each) + 1;
    await Promise.all(
      Array.from({ length: addresses * 16 }, (_, count) =>
        park(server, {
          ...{ from: `198.51.100.${Math.floor(count / 16)}`, path: '/none' },
          ...{ announced: 16 * KIB, sent: 16 * KIB - 1 },
        }),
      ),
    );
    expect(await statusOfArriving(server, '203.0.113.9')).toBe(503);
    expect((await anonymously(server, '203.0.113.9')).status).toBe(204);
    expect((await server.signIn('viewer', 'late')).cookie).not.toBe('');
    expect((await signedIn(server, as, '198.51.100.1')).status).toBe(204);
  });
});

test('unfinished bodies of a person count for that person, whatever the address', async () => {
  const server = await start();
  const greedy = await server.signIn('viewer', 'greedy');
  const other = await server.signIn('viewer', 'other');
  const parkFor = async ({ cookie, csrf }: SignedIn, from: string) => {
    const headers = [`Cookie: ${cookie}`, `X-CSRF-Token: ${csrf}`];
    return park(server, { from, path: '/authenticated', announced: 1_024 * KIB, sent: 1_000 * KIB, headers });
  };
  const fitting = Math.floor(BODY_BUDGETS.signed_in.each / (1_000 * KIB));
  for (let count = 0; count < fitting; count++) await parkFor(greedy, `203.0.113.${count}`);
  const [refused] = (await once(await parkFor(greedy, '203.0.113.99'), 'data')) as [Buffer];
  expect(refused.toString()).toMatch(/^HTTP\/1\.1 503 /);
  const taken = await parkFor(other, '203.0.113.1');
  await server.send('GET', '/api/v1/sign-in-options');
  expect(taken.closed).toBe(false);
});

test('a cookie that nobody issued is answered before its body is complete, and its connection ends', async () => {
  const server = await start();
  const headers = [`Cookie: svc_session=${'A'.repeat(43)}`];
  const socket = await park(server, {
    ...{ from: '203.0.113.9', path: '/authenticated' },
    ...{ announced: 1_024 * KIB, sent: 1, headers },
  });
  const answer = await new Promise<string>((resolve) => {
    let text = '';
    socket.on('data', (data) => {
      text += data.toString();
    });
    socket.on('close', () => resolve(text));
  });
  expect(answer).toMatch(/^HTTP\/1\.1 401 Unauthorized\r\n/);
  expect(answer).toContain('\r\nConnection: close\r\n');
});

describe('a body', () => {
  test('that arrives at less than 4 KiB a second is cut after 5 s of grace', async () => {
    const server = await start();
    const socket = await park(server, {
      from: '203.0.113.9',
      path: '/none',
      announced: 16 * KIB,
      sent: 4 * KIB,
    });
    const closed = once(socket, 'close');
    server.clock.advance(6 * SECOND);
    expect((await anonymously(server, '203.0.113.9')).status).toBe(204);
    expect(socket.closed).toBe(false);
    server.clock.advance(SECOND);
    await closed;
  });

  test('that keeps the pace is taken however long it is', async () => {
    const server = await start();
    const as = await server.signIn('viewer');
    const text = JSON.stringify({ text: 'x'.repeat(100_000) });
    const socket = await park(server, {
      ...{ from: '203.0.113.9', path: '/authenticated', announced: text.length, sent: 0 },
      headers: [`Cookie: ${as.cookie}`, `X-CSRF-Token: ${as.csrf}`],
    });
    for (let at = 0; at < text.length; at += 5_000) {
      await new Promise((written) => socket.write(text.slice(at, at + 5_000), written));
      await server.send('GET', '/api/v1/sign-in-options');
      server.clock.advance(SECOND);
    }
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 204 /);
  });
});

test('what a body held is given back once, wherever it was counted last', () => {
  const budgets = createBodyBudgets();
  const { each } = BODY_BUDGETS.unproven;
  const first = budgets.open('unproven', 'a');
  expect(first.take(each, false)).toBe(true);
  expect(budgets.open('unproven', 'a').take(1, false)).toBe(false);
  expect(first.move('signed_in', 'person')).toBe(true);
  expect(budgets.open('unproven', 'a').take(each, false)).toBe(true);
  first.release();
  first.release();
  expect(first.take(1, false)).toBe(false);
  expect(budgets.open('signed_in', 'person').take(BODY_BUDGETS.signed_in.each, false)).toBe(true);
  expect(budgets.open('signed_in', 'person').take(1, false)).toBe(false);
});

test('a body that comes byte by byte is kept in few pieces', () => {
  const pieces: Buffer[] = [];
  for (let count = 0; count < 100_000; count++) addPiece(pieces, Buffer.from([count % 256]));
  expect(pieces.length).toBeLessThan(200);
  expect(Buffer.concat(pieces).every((byte, index) => byte === index % 256)).toBe(true);
});
