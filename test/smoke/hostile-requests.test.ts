/** What outsiders may send to the real process: it answers within its bounds and lives on. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api } from '../harness/api.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const MIB = 1024 * 1024;

let tocsin: Installation;
let ready: Ready;
let api: Api;

beforeAll(async () => {
  tocsin = new Installation({ SVC_TRUSTED_PROXIES: '127.0.0.0/8' });
  ready = await tocsin.start();
  api = await Api.signIn(ready);
});

afterAll(() => tocsin.remove());

/** The most memory that the process ever held, bytes. */
function peakMemory(): number {
  const status = readFileSync(`/proc/${tocsin.pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

/** A connection that has sent all of a body but its last byte. */
async function unfinishedBody(from: string, size: number): Promise<Socket> {
  const { hostname, port } = new URL(ready.app_url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.resume();
  socket.write(
    `POST /api/v1/sessions HTTP/1.1\r\nHost: tocsin\r\nX-Forwarded-For: ${from}\r\nContent-Length: ${size}\r\n\r\n`,
  );
  await new Promise((written) => socket.write(Buffer.alloc(size - 1, 'x'), written));
  return socket;
}

/** One key of half the size, and as many faulty values below it as fit. */
function oneLongKey(size: number): string {
  const fault = '"\\u0000"';
  const values = Array(Math.floor(size / 2 / (fault.length + 1)) - 10).fill(fault);
  return `{"login":{"${'k'.repeat(size / 2)}":[${values.join()}]}}`;
}

function post(path: string, body: string, headers: Readonly<Record<string, string>> = {}) {
  return fetch(`${ready.app_url}/api/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
}

test.each(['/sessions', '/password-setups'])(
  '409 kB under one long key, anonymously to %s, are 413',
  async (path) => {
    for (let round = 0; round < 5; round++) {
      const answer = await post(path, oneLongKey(409_000));
      expect(answer.status).toBe(413);
      expect((await answer.arrayBuffer()).byteLength).toBeLessThan(65_536);
    }
    expect(peakMemory()).toBeLessThan(512 * MIB);
    expect((await Api.signIn(ready)).cookie).not.toBe('');
  },
);

test.each(['/sessions', '/password-setups'])(
  '16 KiB of faults, anonymously to %s, are 50 at most',
  async (path) => {
    const answer = await post(path, oneLongKey(16_000));
    const text = await answer.text();
    expect(answer.status).toBe(400);
    expect(text.length).toBeLessThan(65_536);
    expect(JSON.parse(text).errors.length).toBeLessThanOrEqual(50);
  },
);

test('1 MiB of faults under one long key, by somebody signed in, is an answer below 64 KiB', async () => {
  const csrf = (await api.get('/sessions/current')).csrf_token;
  for (let round = 0; round < 5; round++) {
    const answer = await post('/routes', oneLongKey(1_000_000), { cookie: api.cookie, 'x-csrf-token': csrf });
    expect(answer.status).toBe(400);
    expect((await answer.arrayBuffer()).byteLength).toBeLessThan(65_536);
  }
  expect(peakMemory()).toBeLessThan(512 * MIB);
});

test('64 MiB of unfinished anonymous bodies from a hundred addresses stop no sign-in, and are cut', async () => {
  const size = 16_384;
  const parked: Socket[] = [];
  for (let count = 0; count < (64 * MIB) / size; count += 64) {
    const more = Array.from({ length: 64 }, (_, index) =>
      unfinishedBody(`198.51.100.${(count + index) % 100}`, size),
    );
    parked.push(...(await Promise.all(more)));
  }
  expect((await Api.signIn(ready)).cookie).not.toBe('');
  await until('every connection to be ended', async () => parked.every(({ closed }) => closed), 30);
  expect(peakMemory()).toBeLessThan(512 * MIB);
});

test.each([
  ['GET', '/api/v1/<script>alert(1)</script>'],
  ['GET', '/<script>alert(1)</script>'],
  ['GET', '/assets/<script>alert(1)</script>.js'],
  ['POST', '/<script>alert(1)</script>'],
  ['GET', '/api/v1/routes?limit=<script>alert(1)</script>'],
  ['GET', '/api/v1/sessions/oidc/callback?error=<script>alert(1)</script>'],
  ['<SCRIPT>', '/'],
])('%s %s: what was sent never comes back as HTML', async (method, target) => {
  for (const url of [ready.app_url, ready.ingest_url, ready.internal_url]) {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.write(`${method} ${target} HTTP/1.1\r\nHost: tocsin\r\nConnection: close\r\n\r\n`);
    let answer = '';
    for await (const piece of socket) answer += piece;
    const [head = '', ...body] = answer.split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 [2345]\d\d /);
    const isTyped = /^content-type:/im.test(head);
    if (!isTyped || /^content-type: *text\/html/im.test(head))
      expect(body.join()).not.toMatch(/alert\(1\)|<SCRIPT>/);
    else expect(head).toMatch(/^content-type: (?:application\/|text\/plain)/im);
  }
});
