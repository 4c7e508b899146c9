/** The senders of deploy/compose.yaml with the files that it gives them: only addresses and the folder of secrets differ. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newIntegrationToken } from '../../actors/integration/snippets.ts';
import { Api, type Json } from '../harness/api.ts';
import { type Peer, startAlertmanager, startPrometheus } from '../harness/peers.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const DEPLOY = path.resolve(import.meta.dirname, '..', '..', 'deploy');
const read = (...names: string[]) => readFileSync(path.join(DEPLOY, ...names), 'utf8');

const secrets = mkdtempSync(path.join(tmpdir(), 'tocsin-compose-'));
const tokenFile = path.join(secrets, 'ingest-token');
const peers: Peer[] = [];
let tocsin: Installation;
let ready: Ready;
let api: Api;

beforeAll(async () => {
  const random = (size: number) => crypto.getRandomValues(new Uint8Array(size));
  writeFileSync(tokenFile, `${newIntegrationToken(random)}\n`);
  tocsin = new Installation({ SVC_BOOTSTRAP_INTEGRATION_TOKEN_FILE: tokenFile });
  ready = await tocsin.start();
  api = await Api.signIn(ready);
});

afterAll(async () => {
  for (const peer of peers) await peer.stop();
  await tocsin?.remove();
  rmSync(secrets, { recursive: true, force: true });
});

const hostOf = (url: string) => new URL(url).host;

test.each([
  ['amtool', ['check-config', 'alertmanager.yml']],
  ['promtool', ['check', 'config', 'prometheus/prometheus.yml']],
])('%s takes the configuration', (program, words) => {
  const { status, stdout, stderr } = spawnSync(`/usr/bin/${program}`, words, {
    cwd: DEPLOY,
    encoding: 'utf8',
  });
  expect(status, stdout + stderr).toBe(0);
});

test('what fires in Prometheus is an Alert Group with nothing set up in Tocsin, and the Heartbeat lives', async () => {
  const config = read('alertmanager.yml')
    .replaceAll('load-balancer:8080', hostOf(ready.ingest_url))
    .replaceAll('/run/secrets/ingest-token', tokenFile);
  const alertmanager = await startAlertmanager({ config });
  peers.push(alertmanager);
  const prometheus = read('prometheus', 'prometheus.yml')
    .replace('alertmanager:9093', hostOf(alertmanager.url))
    .replace(/tocsin-1:8082.*(?=\])/, hostOf(ready.internal_url))
    .replace('- watchdog.yaml', '- watchdog.yaml\n  - own.yaml');
  const own = `groups: [{ name: own, rules: [{ alert: DiskFull, expr: 'up{job="tocsin"} == 1' }] }]`;
  const files = {
    'rules.yaml': read('prometheus', 'rules.yaml'),
    'watchdog.yaml': read('prometheus', 'watchdog.yaml'),
    'own.yaml': own,
  };
  peers.push(await startPrometheus({ config: prometheus, files }));
  await until(
    'the Alert Group',
    async () =>
      (await api.get('/alert-groups?status=firing')).items.some(({ title }: Json) => title === 'DiskFull'),
    90,
  );
  await until(
    'the Heartbeat to live',
    async () => {
      const { items } = await api.get('/integrations');
      const [made] = items.filter(({ builtin }: Json) => !builtin);
      return made.name === 'Alertmanager' && made.heartbeat.state === 'live';
    },
    90,
  );
  const { items } = await api.get('/alert-groups');
  expect(items.map(({ title }: Json) => title)).toEqual(['DiskFull']);
});

test('a start whose token is another one says so and still serves, and the stored one stays valid', async () => {
  const post = (token: string) =>
    fetch(`${ready.ingest_url}/api/v1/heartbeat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    }).then(({ status }) => status);
  const given = readFileSync(tokenFile, 'utf8').trim();
  const other = `svc_int_${'b'.repeat(43)}`;
  writeFileSync(tokenFile, other);
  await tocsin.stop();
  await tocsin.start();
  expect(tocsin.log.filter((line) => line.includes('bootstrap_integration_token_ignored'))).toHaveLength(1);
  expect([await post(given), await post(other)]).toEqual([204, 401]);
  expect(tocsin.log.join()).not.toMatch(/svc_int_[\w-]{43}/);
});
