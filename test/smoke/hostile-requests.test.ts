/** What outsiders may send to the real process: it answers within its bounds and lives on. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { Api } from '../harness/api.ts';
import { startIdentityProvider } from '../harness/identity-provider.ts';
import { Sender } from '../harness/sender.ts';
import {
  containerEnvironment,
  Installation,
  MEMORY_LIMIT,
  peakMemory,
  type Ready,
} from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const MIB = 1024 * 1024;

let tocsin: Installation;
let ready: Ready;
let api: Api;

beforeAll(async () => {
  tocsin = new Installation({ ...containerEnvironment(), SVC_TRUSTED_PROXIES: '127.0.0.0/8' });
  ready = await tocsin.start();
  api = await Api.signIn(ready);
});

afterAll(() => tocsin.remove());

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
    expect(peakMemory(tocsin.pid)).toBeLessThan(MEMORY_LIMIT);
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
  expect(peakMemory(tocsin.pid)).toBeLessThan(MEMORY_LIMIT);
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
  const [begun, sender] = [performance.now(), new Sender(ready.ingest_endpoint, ready.integration_token!)];
  expect(await sender.post({ alerts: [{ labels: { alertname: 'Meanwhile' } }] })).toBe(202);
  expect(performance.now() - begun).toBeLessThan(1_000);
  expect((await Api.signIn(ready)).cookie).not.toBe('');
  await until('every connection to be ended', async () => parked.every(({ closed }) => closed), 30);
  expect(peakMemory(tocsin.pid)).toBeLessThan(MEMORY_LIMIT);
});

test('of 200 parallel wrong sign-ins from one address no more are evaluated than in a row', async () => {
  const wrong = () =>
    post('/sessions', JSON.stringify({ login: ready.login, password: 'wrong '.repeat(3) }), {
      'x-forwarded-for': '203.0.113.9',
    });
  const statuses = (await Promise.all(Array.from({ length: 200 }, wrong))).map(({ status }) => status);
  expect(statuses.filter((status) => status !== 429 && status !== 401)).toEqual([]);
  expect(statuses.filter((status) => status === 401).length).toBeGreaterThan(0);
  expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(3);
  expect((await Api.signIn(ready)).cookie).not.toBe('');
});

test('refused tokens of every kind are in the Audit log with their number, and nothing of them', async () => {
  const guess = (prefix: string, length: number) => prefix + 'q'.repeat(length);
  const from = { 'x-forwarded-for': '203.0.113.10' };
  const bearer = (token: string) => ({ ...from, authorization: `Bearer ${token}` });
  for (let round = 0; round < 40; round++) {
    const answers = await Promise.all([
      fetch(`${ready.app_url}/api/v1/me`, { headers: bearer(guess('svc_pat_', 52)) }),
      fetch(ready.ingest_endpoint, { method: 'POST', headers: bearer(guess('svc_int_', 43)), body: '{}' }),
      fetch(`${ready.ingest_url}/api/v1/callbacks/bridge/CN0000000000AA`, {
        ...{ method: 'POST', headers: from, body: '{}' },
      }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
  }
  const actions = ['api_token.refused', 'integration_token.refuse', 'connection.callback_refused'];
  const entries = await until(
    'an entry of each kind',
    async () => {
      const lists = await Promise.all(actions.map((action) => api.get(`/audit-log?action=${action}`)));
      const found = lists.flatMap(({ items }) => items).filter(({ address }) => address === '203.0.113.10');
      return found.length >= 3 && found;
    },
    30,
  );
  expect(entries.map(({ action }: { action: string }) => action).sort()).toEqual([...actions].sort());
  expect(JSON.stringify(entries)).not.toContain('qqq');
}, 60_000);

test('3,000 sign-ins through the provider that are begun and left keep nobody else from signing in', async () => {
  const provider = await startIdentityProvider(`${ready.app_url}/api/v1/sessions/oidc/callback`);
  onTestFinished(() => provider.stop());
  await api.change('/organization/outbound-policy', (policy) => ({ ...policy, allowed: ['127.0.0.0/8'] }));
  await api.change('/oidc-settings', (current) => ({
    ...current,
    ...{ enabled: true, issuer_url: provider.issuer, client_id: provider.clientId },
    client_secret: provider.clientSecret,
    ...{ group_mappings: [{ group: 'ops', role: 'viewer' }], proxy: { enabled: false } },
  }));
  provider.visitor = { sub: 'ann', claims: { preferred_username: 'ann', name: 'Ann', groups: ['ops'] } };
  const start = (address: string) =>
    fetch(`${ready.app_url}/api/v1/sessions/oidc/start`, {
      ...{ redirect: 'manual' as const, headers: { 'x-forwarded-for': address } },
    });
  const mine = await start('203.0.113.11');
  for (let begun = 0; begun < 3_000; begun += 50) {
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => start(`203.0.114.${n % 4}`)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([302]));
  }
  expect(await signedInThrough(mine)).toMatch(/^svc_session=/);
  expect(peakMemory(tocsin.pid)).toBeLessThan(MEMORY_LIMIT);
}, 120_000);

/** Follows a sign-in that was begun to its end. @returns the cookie of the session */
async function signedInThrough(begun: Response): Promise<string | undefined> {
  const jar = new Map<string, string>();
  let answer = begun;
  for (let hops = 0; hops < 12; hops++) {
    for (const set of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      jar.set(name, value);
    }
    const location = answer.headers.get('location');
    if (jar.get('svc_session') || location === null) break;
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    answer = await fetch(new URL(location, answer.url), { redirect: 'manual', headers: { cookie } });
  }
  return jar.get('svc_session') && `svc_session=${jar.get('svc_session')}`;
}

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
