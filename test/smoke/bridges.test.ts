/** The commands about bridges as people run them: two processes. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '..', '..');
const TOKENS = ['smoke-token-one', 'smoke-token-two'] as const;

let bridge: ReturnType<typeof tocsin>;
let baseUrl = '';

function tocsin(...words: readonly string[]) {
  const child = spawn(process.execPath, ['runtime/main.ts', ...words], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout });
  const ended = new Promise<number | null>((resolve) => void child.once('close', resolve));
  return { child, lines, ended };
}

beforeAll(async () => {
  bridge = tocsin('bridge-reference', '--port', '0', '--token', TOKENS.join());
  const line = await new Promise<string>((resolve) => void bridge.lines.once('line', resolve));
  baseUrl = /http:\/\/[^\s,]+/.exec(line)?.[0] ?? '';
});

afterAll(() => {
  bridge.child.kill('SIGKILL');
});

test('the checker finds nothing wrong with the reference bridge', async () => {
  const check = tocsin(
    ...[
      'bridge-check',
      baseUrl,
      '--token',
      TOKENS[0],
      '--second-token',
      TOKENS[1],
      '--channel',
      'alerts/prod',
    ],
    ...['--sim', '--only', 'G1,P5,P18,E6,L2,K2,T3'],
  );
  const lines: string[] = [];
  check.lines.on('line', (line) => void lines.push(line));
  expect(await check.ended).toBe(0);
  expect(lines.at(-1)).toBe('9 passed, 0 failed, 0 warned, 0 skipped');
});

test('a person at the terminal is asked, and what they do comes as an event', async () => {
  const check = tocsin('bridge-check', baseUrl, '--token', TOKENS[0], '--interactive', '--only', 'N2');
  const lines: string[] = [];
  check.lines.on('line', async (line) => {
    lines.push(line);
    const [, token] = /Send this to the bot in a direct chat: (\S{43}) /.exec(line) ?? [];
    if (token === undefined) return;
    await fetch(`${baseUrl}/_sim/direct`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ user: 'u-17', text: token }),
    });
    check.child.stdin.write('\n');
  });
  expect(await check.ended).toBe(0);
  expect(lines.slice(1)).toEqual([
    expect.stringMatching(/^PASS N1 /),
    expect.stringMatching(/^PASS N2 /),
    '2 passed, 0 failed, 0 warned, 0 skipped',
  ]);
});

test('the reference bridge ends with SIGTERM', async () => {
  bridge.child.kill('SIGTERM');
  expect(await bridge.ended).toBe(0);
});
