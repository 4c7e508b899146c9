/** `tocsin init` asks at a terminal; a real Prometheus and Alertmanagers send by what it writes (operations §10). */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { senderFiles } from '../../http/resources/integrations/sender-files.ts';
import { runCommandLine } from '../../runtime/cli/command.ts';
import { init } from '../../runtime/cli/init.ts';
import { Api, type Json } from '../harness/api.ts';
import { type Peer, startAlertmanager, startPrometheus } from '../harness/peers.ts';
import { freePorts } from '../harness/ports.ts';
import { processEnvironment } from '../harness/prepared.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const root = path.resolve(import.meta.dirname, '..', '..');
const folder = mkdtempSync(path.join(tmpdir(), 'tocsin-init-'));
const peers: Peer[] = [];
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
  for (const peer of peers) await peer.stop();
  await tocsin?.remove();
  rmSync(folder, { recursive: true, force: true });
});

const given = () => ({ HOME: folder, SVC_API_URL: ready.app_url, SVC_API_TOKEN: token });

async function run(...words: readonly string[]) {
  const out: string[] = [];
  const io = {
    env: given(),
    out: (line: string) => out.push(line),
    err: (line: string) => out.push(line),
  };
  const code = await runCommandLine(['init', '--dir', folder, ...words], [init], io);
  return { code, out: out.join('\n') };
}

const named = ['--integration', 'made by init', '--json'];
const madeHere = async (name: string) =>
  (await api.get('/integrations')).items.find((integration: Json) => integration.name === name);

test('by the written files a Prometheus and a pair of Alertmanagers send, and the Heartbeat lives', async () => {
  const { code, out } = await run('--ingest-url', ready.ingest_url, ...named);
  expect(code, out).toBe(0);
  expect(out).not.toContain('svc_int_');
  const { group_number: number, files } = JSON.parse(out);
  const { items } = await api.get('/alert-groups?status=resolved&q=TocsinInit');
  expect(items.map((group: Json) => group.number)).toEqual([number]);
  expect(statSync(files[0]).mode & 0o777).toBe(0o600);
  const [config = '', rules = '', heartbeat = ''] = files.map((file: string) => readFileSync(file, 'utf8'));
  expect(rules).toContain(`runbook_url: ${ready.app_url}/runbooks/SvcDown`);
  const [first = 0, second = 0] = await freePorts(2);
  const both = [`127.0.0.1:${first}`, `127.0.0.1:${second}`];
  for (const clusterPort of [first, second])
    peers.push(await startAlertmanager({ config, clusterPort, clusterPeers: both }));
  const targets = peers.map(({ url }) => new URL(url).host);
  const prometheus = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    alerting: { alertmanagers: [{ static_configs: [{ targets }] }] },
    rule_files: ['tocsin-rules.yml', 'tocsin-heartbeat-rule.yml', 'own.yml'],
    scrape_configs: [
      { job_name: 'tocsin', static_configs: [{ targets: [new URL(ready.internal_url).host] }] },
    ],
  };
  const own = `groups: [{ name: own, rules: [{ alert: DiskFull, expr: 'up{job="tocsin"} == 1' }] }]`;
  const asWritten = { 'tocsin-rules.yml': rules, 'tocsin-heartbeat-rule.yml': heartbeat, 'own.yml': own };
  peers.push(await startPrometheus({ config: stringify(prometheus), files: asWritten }));
  await until('the Heartbeat', async () => (await madeHere('made by init')).heartbeat.state === 'live', 90);
  const titles = async () =>
    (await api.get('/alert-groups?status=firing')).items.map(({ title }: Json) => title);
  await until('the Alert Group', async () => (await titles()).length > 0, 90);
  expect(await titles()).toEqual(['DiskFull']);
});

/** Types at a terminal, as `script` makes one, before anything is asked; the terminal ends after it. */
async function typed(text: string): Promise<{ code: number | null; out: string; files: string[] }> {
  const there = mkdtempSync(path.join(folder, 'typed-'));
  const words = [process.execPath, path.join(root, 'runtime', 'main.ts'), 'init', '--dir', there];
  const command = words.map((word) => `'${word}'`).join(' ');
  const env = { ...processEnvironment(), ...given() };
  const child = spawn('/usr/bin/script', ['--quiet', '--return', '--command', command, '/dev/null'], { env });
  let out = '';
  child.stdout.on('data', (chunk) => (out += String(chunk)));
  child.stdin.end(text);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, out, files: readdirSync(there).sort() };
}

test('at a terminal two questions are asked, and Enter takes what is offered', async () => {
  const { code, out, files } = await typed('\nasked for\n');
  expect(code, out).toBe(0);
  expect(out).toContain(`Where do senders reach Tocsin (http or https)? [${ready.ingest_url}]`);
  expect(out).toMatch(/For which Integration\? \[.+\]/);
  expect(out).toMatch(/The test alert arrived: Alert Group #\d+/);
  expect(files).toEqual(['alertmanager.yml', 'tocsin-heartbeat-rule.yml', 'tocsin-rules.yml']);
  expect((await madeHere('asked for')).heartbeat.state).toBe('waiting');
});

test.each([
  ['the end of the terminal is nobody\u2019s answer', '', 'nobody answered'],
  ['an address that is none is refused', 'tocsin:8081\nrefused\n', 'an http or https address'],
])('%s: nothing is made', async (_, text, said) => {
  const { items } = await api.get('/integrations');
  const { code, out, files } = await typed(text);
  expect({ code, files }).toEqual({ code: 1, files: [] });
  expect(out).toContain(said);
  expect((await api.get('/integrations')).items).toHaveLength(items.length);
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

test('--yes asks nothing, and where the Heartbeat is off it says where to turn it on', async () => {
  const { code, out } = await run('--yes', '--no-test', '--force');
  expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/Heartbeat is off; .*\/NT\w+\/edit/) });
});

test('an earlier release, which makes no files, is left without the token that it made', async () => {
  const asked: string[] = [];
  const earlier = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const integration = { id: 'NT000000000001', name: 'x', heartbeat: { enabled: true } };
    const answer =
      request.method === 'GET' ? { items: [integration] } : { token: { id: 'NK1' }, value: 'svc_int_x' };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => earlier.listen(0, '127.0.0.1', resolve));
  const { port } = earlier.address() as AddressInfo;
  // As a process: answers to this one are held against the description of the present release.
  const words = [
    '--ingest-url',
    ready.ingest_url,
    '--integration',
    'x',
    '--force',
    '--json',
    '--dir',
    folder,
  ];
  const main = path.join(root, 'runtime', 'main.ts');
  const env = { ...processEnvironment(), ...given(), SVC_API_URL: `http://127.0.0.1:${port}` };
  const child = spawn(process.execPath, [main, 'init', ...words], { env });
  let out = '';
  child.stdout.on('data', (chunk) => (out += String(chunk)));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  earlier.close();
  expect({ code, error: JSON.parse(out).error }).toEqual({
    code: 1,
    error: expect.stringContaining('earlier release'),
  });
  const tokens = '/api/v1/integrations/NT000000000001/tokens';
  expect(asked.slice(1)).toEqual([`POST ${tokens}`, `DELETE ${tokens}/NK1`]);
});

test.each([
  ['without a terminal nothing is asked', ['--json']],
  ['an address without http', ['--ingest-url', 'tocsin:1', '--integration', 'x']],
  ['an address with a login', ['--ingest-url', 'http://a:b@tocsin', '--integration', 'x']],
])('%s: wrong usage', async (_, words) => {
  expect((await run(...words)).code).toBe(2);
});

test.each([
  ['amtool', ['check-config'], 'alertmanager.yml'],
  ['promtool', ['check', 'rules'], 'tocsin-heartbeat-rule.yml'],
] as const)('%s accepts what is written for a name with every mark in it', (program, words, which) => {
  const of = {
    name: 'prod: "eu" #1\u0085\u2028global:\u2028\ufeff\u007f {{ x }} *',
    ingestUrl: 'https://ingest.example.org',
    token: 'svc_int_x',
  };
  const file = path.join(folder, 'checked.yml');
  writeFileSync(file, senderFiles(of, 'https://tocsin.example')[which]);
  const { status, stdout, stderr } = spawnSync(`/usr/bin/${program}`, [...words, file], { encoding: 'utf8' });
  expect(status, stdout + stderr).toBe(0);
});
