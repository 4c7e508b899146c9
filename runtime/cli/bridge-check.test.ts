/** The command over a real network, against the reference bridge and against others. */
import { randomBytes } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import {
  BRIDGE_TOKEN,
  type ReferenceBridge,
  SECOND_BRIDGE_TOKEN,
  startReferenceBridge,
} from '../../test/fakes/reference-bridge.ts';
import { systemClock } from '../clock.ts';
import { PUSH_SECRET, QUICK } from './bridge-check/in-memory.fixture.ts';
import { createInbox, listen } from './bridge-check/inbox.ts';
import { sendOverNetwork } from './bridge-check/send.ts';
import { checkBridge, type Session } from './bridge-check/session.ts';
import { bridgeCheck } from './bridge-check.ts';
import { runCommandLine } from './command.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function reference(...settings: Parameters<typeof startReferenceBridge>): Promise<ReferenceBridge> {
  const bridge = await startReferenceBridge(...settings);
  open.push(bridge);
  return bridge;
}

async function serverOf(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  open.push({ close: () => new Promise((closed) => void server.close(() => closed())) });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

async function run(...words: readonly string[]) {
  const lines: string[] = [];
  const io = {
    env: {},
    out: (line: string) => void lines.push(line),
    err: (line: string) => void lines.push(line),
  };
  const code = await runCommandLine(['bridge-check', ...words], [bridgeCheck], io);
  return { code, lines, all: lines.join('\n') };
}

test('the reference bridge passes over the network, and the exit code is 0', async () => {
  const bridge = await reference();
  const options = [
    '--channel',
    'alerts/prod',
    '--missing-channel',
    'nowhere',
    '--second-token',
    SECOND_BRIDGE_TOKEN,
  ];
  const people = ['--handle', 'alice@example.org', '--unknown-handle', 'nobody@example.org', '--sim'];
  const only = ['--only', QUICK.join(',')];
  const { code, lines } = await run(bridge.url, '--token', BRIDGE_TOKEN, ...options, ...people, ...only);
  const notPassed = lines.filter((line) => !line.startsWith('PASS '));
  expect(notPassed).toEqual([
    expect.stringMatching(/^SKIP W1 .*: needs --push-listen/),
    expect.stringMatching(/^SKIP W2 .*: W1 did not pass$/),
    expect.stringMatching(/^\d+ passed, 0 failed, 0 warned, 2 skipped$/),
  ]);
  expect(code).toBe(0);
});

test('pushed events arrive at the listener over the network', async () => {
  const after = (seconds: number, wake: () => void) => systemClock.after(seconds * 1_000_000, wake);
  const inbox = createInbox({ now: systemClock.now, after });
  const listener = await listen('127.0.0.1', 0, inbox);
  open.push(listener);
  const push = { url: `http://127.0.0.1:${listener.port}/callback`, secret: PUSH_SECRET };
  const bridge = await reference({ push, without: new Set(['poll']) });
  const session: Session = {
    ...{ baseUrl: bridge.url, token: BRIDGE_TOKEN, secondToken: null, pushSecret: PUSH_SECRET },
    ...{ channel: 'alerts', missingChannel: null, handle: null, unknownHandle: null },
    person: 'sim',
    only: ['W2', 'K1', 'N2'],
  };
  const ports = { send: sendOverNetwork, clock: systemClock, random: randomBytes, inbox };
  const outcome = await checkBridge(session, ports, () => undefined);
  const results = outcome.kind === 'checked' ? outcome.results : [];
  expect(results.map(({ id, verdict }) => `${id} ${verdict}`)).toEqual(
    ['K1', 'N1', 'N2', 'W1', 'W2'].map((id) => `${id} PASS`),
  );
});

test('a wrong token fails, and no token is shown', async () => {
  const bridge = await reference();
  const { code, all } = await run(bridge.url, '--token', 'not-the-token', '--second-token', 'nor-this-one');
  expect(code).toBe(1);
  expect(all).toMatch(/FAIL G3 .*\n {5}status 200 was expected, not 401/);
  expect(all).toContain('authorization: Bearer [redacted]');
  expect(all).not.toMatch(/not-the-token|nor-this-one/);
});

test('a bridge that gives the token back does not bring it to the screen', async () => {
  const url = await serverOf((request, response) => {
    const told = JSON.stringify({ class: 'invalid', detail: `you sent ${request.headers.authorization}` });
    response
      .writeHead(400, { 'content-type': 'application/problem+json', 'x-token': 'not-the-token' })
      .end(told);
  });
  const text = await run(url, '--token', 'not-the-token');
  const json = await run(url, '--token', 'not-the-token', '--json');
  expect(text.code).toBe(1);
  expect(text.all + json.all).not.toContain('not-the-token');
});

test('--json prints one object', async () => {
  const bridge = await reference();
  const { code, lines } = await run(bridge.url, '--token', 'not-the-token', '--only', 'G1,G3,P1', '--json');
  expect(code).toBe(1);
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    ok: false,
    base_url: bridge.url,
    checks: [
      { id: 'G1', status: 'PASS', reason: null, exchanges: [] },
      { id: 'G3', status: 'FAIL', reason: expect.any(String), exchanges: [{ answer: { status: 401 } }] },
      { id: 'P1', status: 'SKIP', reason: 'needs --channel' },
    ],
  });
});

test('a redirect fails and is not followed', async () => {
  let followed = 0;
  const target = await serverOf((_request, response) => {
    followed++;
    response.end();
  });
  const url = await serverOf((_request, response) => response.writeHead(307, { location: target }).end());
  const { code, all } = await run(url, '--token', 'a-token', '--only', 'G3');
  expect(code).toBe(1);
  expect(all).toContain('the answer is a redirect (307)');
  expect(followed).toBe(0);
});

test('what cannot be reached is exit code 2', async () => {
  const bridge = await reference();
  await bridge.close();
  const { code, all } = await run(bridge.url, '--token', 'a-token');
  expect(code).toBe(2);
  expect(all).toContain(`${bridge.url} cannot be reached`);
});

const BASE = 'http://127.0.0.1:9';
test.each([
  ['no address', ['--token', 'T'], '<base_url> is missing'],
  ['an address that is none', ['bridge', '--token', 'T'], '<base_url> is an http(s) address'],
  ['an address with a password', ['http://a:b@bridge', '--token', 'T'], 'without user'],
  ['no token', [BASE], '--token is needed'],
  ['a token with a space', [BASE, '--token', 'a b'], '--token is needed'],
  ['an unknown check', [BASE, '--token', 'T', '--only', 'P1,Z9'], 'knows no check "Z9"'],
  ['a listener without a secret', [BASE, '--token', 'T', '--push-listen', ':9'], 'go together'],
  [
    'a secret that is none',
    [BASE, '--token', 'T', '--push-listen', ':9', '--push-secret', 'x'],
    '--push-secret is',
  ],
  ['a person twice', [BASE, '--token', 'T', '--sim', '--interactive'], 'exclude each other'],
  ['questions among JSON', [BASE, '--token', 'T', '--json', '--interactive'], 'exclude each other'],
])('%s is wrong usage', async (_name, words, message) => {
  const { code, all } = await run(...words);
  expect(code).toBe(2);
  expect(all).toContain(message);
});
