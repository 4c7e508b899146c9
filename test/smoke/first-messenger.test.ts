/** The first thing a new person sees: a message, with no messenger at all (bridge part C). */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommandLine } from '../../runtime/cli/command.ts';
import { messengerCheck } from '../../runtime/cli/messenger-check.ts';
import { Api, type Json } from '../harness/api.ts';
import { postTo } from '../harness/bridge-channel.ts';
import { Sender } from '../harness/sender.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const root = path.resolve(import.meta.dirname, '..', '..');
const PROGRAM = [path.join(root, 'runtime', 'main.ts'), 'quickstart', '--messenger', '0'];

let tocsin: Installation;
let ready: Ready & { readonly messenger_url?: string };

beforeAll(async () => {
  tocsin = new Installation({}, PROGRAM);
  ready = await tocsin.start();
});

afterAll(() => tocsin.remove());

async function messages(): Promise<readonly Json[]> {
  const answer = await fetch(new URL('/_sim/messages', ready.messenger_url));
  expect(answer.status).toBe(200);
  return (await answer.json()) as readonly Json[];
}

test('quickstart with a messenger to try out shows the first Alert Group as a message there', async () => {
  expect(ready.messenger_url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const page = await fetch(ready.messenger_url ?? '');
  expect([page.status, page.headers.get('content-type')]).toEqual([
    200,
    expect.stringContaining('text/html'),
  ]);
  const sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
  const alerts = [
    { status: 'firing' as const, labels: { alertname: 'DiskFull', severity: 'critical', host: 'db-1' } },
  ];
  expect(await sender.post({ groupKey: '{}:{alertname="DiskFull"}', alerts })).toBe(202);
  const message = await until('the message', async () =>
    (await messages()).find(({ heading }) => String(heading?.title).includes('DiskFull')),
  );
  expect(message.channel_id).toBe('alerts');
});

test('its channel is a Destination like any other: checked, and used by the Default route', async () => {
  const api = await Api.signIn(ready);
  const { items } = await api.get('/destinations');
  expect(items).toMatchObject([
    { type: 'bridge', name: 'Messenger to try out', channel_id: 'alerts', routes: [{ name: 'Default' }] },
  ]);
  const check = await api.post(`/destinations/${items[0].id}/checks`);
  expect(check).toMatchObject({ ok: true, health: { state: 'healthy' } });
});

test('messenger-check drives the Destination through every step, and names the one that fails', async () => {
  const api = await Api.signIn(ready);
  const { items } = await api.get('/destinations');
  await postTo(api, [items[0].id], { thread_batching_window_seconds: 0 });
  const verbs = ['destinations:read', 'destinations:test', 'connections:read', 'connections:write'];
  const permissions = [...verbs, 'alert-groups:read', 'alert-groups:acknowledge'];
  const { value } = await api.post('/me/personal-access-tokens', { name: 'check', permissions });
  const folder = mkdtempSync(path.join(tmpdir(), 'tocsin-check-'));
  const file = path.join(folder, 'ingest-token');
  writeFileSync(file, `${ready.integration_token}\n`);
  const run = async (words: readonly string[]) => {
    const out: string[] = [];
    const env = { HOME: folder, SVC_API_URL: ready.app_url, SVC_API_TOKEN: value };
    const io = { env, out: (line: string) => out.push(line), err: (line: string) => out.push(line) };
    const code = await runCommandLine(['messenger-check', ...words, '--json'], [messengerCheck], io);
    return { code, out: out.join('\n') };
  };
  const whole = ['Messenger to try out', '--ingest-url', ready.ingest_url, '--ingest-token-file', file];
  try {
    const { code, out } = await run(whole);
    const { ok, steps } = JSON.parse(out);
    expect([code, ok, steps], out).toEqual([0, true, expect.any(Array)]);
    expect(
      steps.map(({ step, verdict }: Json) => `${verdict} ${step}`),
      out,
    ).toEqual([
      ...['PASS destination', 'PASS connection dry_probe', 'PASS connection get_info', 'PASS token'],
      ...['PASS channel_exists', 'PASS test message', 'PASS alert', 'PASS message', 'SKIP message seen'],
      ...['SKIP press', 'PASS edit', 'SKIP edit seen', 'PASS reply', 'SKIP reply seen'],
      ...['PASS resolution', 'SKIP resolution seen'],
    ]);
    const seen = (await messages()).filter(({ heading }) =>
      String(heading?.title).includes('MessengerCheck'),
    );
    expect(seen).toMatchObject([{ buttons: [] }]);
    const replies = (await messages()).filter(({ root_id: root }) => root === seen[0]?.message_id);
    expect(replies.map(({ kind }) => kind)).toContain('reply');
    expect(await run(['nowhere'])).toMatchObject({
      code: 1,
      out: expect.stringContaining('There is no nowhere'),
    });
    expect(await run(['x', '--labels', 'team'])).toMatchObject({ code: 2 });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
