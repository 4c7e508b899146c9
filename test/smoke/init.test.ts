/** `tocsin init` writes a file with which a real Alertmanager sends here (operations §10). */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommandLine } from '../../runtime/cli/command.ts';
import { senderFiles } from '../../runtime/cli/init/sender-files.ts';
import { init } from '../../runtime/cli/init.ts';
import { Api, type Json } from '../harness/api.ts';
import { startAlertmanager } from '../harness/peers.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const root = path.resolve(import.meta.dirname, '..', '..');
const folder = mkdtempSync(path.join(tmpdir(), 'tocsin-init-'));
let tocsin: Installation;
let ready: Ready;
let api: Api;
let token: string;

beforeAll(async () => {
  tocsin = new Installation({}, [path.join(root, 'runtime', 'main.ts'), 'quickstart']);
  ready = await tocsin.start();
  api = await Api.signIn(ready);
  const permissions = ['integrations:read', 'integrations:write', 'alert-groups:read'];
  ({ value: token } = await api.post('/me/personal-access-tokens', { name: 'init', permissions }));
});

afterAll(async () => {
  await tocsin?.remove();
  rmSync(folder, { recursive: true, force: true });
});

async function run(...words: readonly string[]) {
  const out: string[] = [];
  const env = { HOME: folder, SVC_API_URL: ready.app_url, SVC_API_TOKEN: token };
  const io = { env, out: (line: string) => out.push(line), err: (line: string) => out.push(line) };
  const code = await runCommandLine(['init', '--dir', folder, ...words], [init], io);
  return { code, out: out.join('\n') };
}

const named = ['--integration', 'made by init', '--json'];

test('a real Alertmanager with the written file delivers, and the test alert came and went', async () => {
  const { code, out } = await run('--ingest-url', ready.ingest_url, ...named);
  expect(code, out).toBe(0);
  const { group_number: number, files } = JSON.parse(out);
  expect(files.map((file: string) => path.basename(file))).toEqual(['alertmanager.yml', 'tocsin-rules.yml']);
  const { items } = await api.get('/alert-groups?status=resolved&q=TocsinInit');
  expect(items.map((group: Json) => group.number)).toEqual([number]);
  const [config, rules] = files;
  expect(statSync(config).mode & 0o777).toBe(0o600);
  expect(out).not.toContain('svc_int_');
  expect(spawnSync('/usr/bin/amtool', ['check-config', config]).status).toBe(0);
  expect(spawnSync('/usr/bin/promtool', ['check', 'rules', rules]).status).toBe(0);
  const text = readFileSync(config, 'utf8').replace('route:\n', 'route:\n  group_wait: 0s\n');
  const alertmanager = await startAlertmanager({ config: text });
  try {
    const { status } = await fetch(`${alertmanager.url}/api/v2/alerts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify([{ labels: { alertname: 'FromAlertmanager' } }]),
    });
    expect(status).toBe(200);
    await until('its Alert Group', async () => {
      const found = await api.get('/alert-groups?status=firing&q=FromAlertmanager');
      return found.items[0];
    });
  } finally {
    await alertmanager.stop();
  }
});

test('files that exist are refused before a token is made, and replaced with --force', async () => {
  const kept = path.join(folder, 'alertmanager.yml');
  writeFileSync(kept, 'mine\n');
  const before = await api.get('/integrations');
  const refused = await run('--ingest-url', ready.ingest_url, '--integration', 'other', '--json');
  expect(refused).toMatchObject({ code: 1, out: expect.stringContaining('--force replaces it') });
  expect(readFileSync(kept, 'utf8')).toBe('mine\n');
  expect((await api.get('/integrations')).items).toHaveLength(before.items.length);
  const forced = await run('--ingest-url', ready.ingest_url, ...named, '--force', '--no-test');
  expect(forced.code, forced.out).toBe(0);
  expect(readFileSync(kept, 'utf8')).toContain('svc_int_');
  expect(statSync(kept).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder).filter((file) => file.endsWith('.new'))).toEqual([]);
});

test.each([
  ['without a terminal nothing is asked', ['--json']],
  ['an address without http', ['--ingest-url', 'tocsin:1', '--integration', 'x']],
  ['an address with a login', ['--ingest-url', 'http://a:b@tocsin', '--integration', 'x']],
])('%s: wrong usage', async (_, words) => {
  expect((await run(...words)).code).toBe(2);
});

const SNIPPET = { name: 'prod: "eu" #1', ingestUrl: 'https://ingest.example.org', token: 'svc_int_x' };

function accepted(program: string, words: readonly string[], text: string): string {
  const file = path.join(folder, 'checked.yml');
  writeFileSync(file, text);
  const { status, stdout, stderr } = spawnSync(program, [...words, file], { encoding: 'utf8' });
  return status === 0 ? 'accepted' : stdout + stderr;
}

test.each([
  ['with a Heartbeat', true],
  ['without a Heartbeat', false],
])('amtool accepts the whole file %s', (_, given) => {
  expect(accepted('/usr/bin/amtool', ['check-config'], senderFiles(SNIPPET, given).alertmanager)).toBe(
    'accepted',
  );
});

test('promtool accepts the rule that always fires', () => {
  const { heartbeatRule } = senderFiles(SNIPPET, true);
  expect(accepted('/usr/bin/promtool', ['check', 'rules'], heartbeatRule ?? '')).toBe('accepted');
});
