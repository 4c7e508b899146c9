/** What the docs have somebody type does what it is for: taken from the pages and run by a shell. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api, type Json } from '../harness/api.ts';
import { processEnvironment } from '../harness/prepared.ts';
import { Sender } from '../harness/sender.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const ROOT = path.resolve(import.meta.dirname, '..', '..');
const home = mkdtempSync(path.join(tmpdir(), 'tocsin-typed-'));
const tocsin = new Installation();
let ready: Ready;
let api: Api;

beforeAll(async () => {
  ready = await tocsin.start();
  api = await Api.signIn(ready);
  // An installation has these programs; here they are those of the sources.
  const bin = path.join(home, 'bin');
  mkdirSync(bin);
  const program = `exec ${process.execPath} ${path.join(ROOT, 'runtime', 'main.ts')} "$@"\n`;
  writeFileSync(path.join(bin, 'tocsin'), `#!/bin/sh\n${program}`, { mode: 0o755 });
  writeFileSync(path.join(bin, 'npx'), '#!/bin/sh\nexec "$@"\n', { mode: 0o755 });
});

afterAll(async () => {
  await tocsin.remove();
  rmSync(home, { recursive: true });
});

/** The block of a page that has the text in it. */
function typed(page: string, text: string): string {
  const blocks = [...readFileSync(path.join(ROOT, page), 'utf8').matchAll(/^```sh\n([\s\S]*?)^```/gm)];
  const block = blocks.map(([, lines = '']) => lines).find((lines) => lines.includes(text));
  if (block === undefined) throw new Error(`${page} has nobody type ${text}`);
  return block;
}

/** Runs lines in a folder. @returns what they print. @throws when one of them fails */
async function inShell(
  lines: string,
  folder: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const found = processEnvironment();
  const searched = `${path.join(home, 'bin')}:${path.dirname(process.execPath)}:${found.PATH}`;
  const options = { cwd: folder, env: { ...found, HOME: home, ...env, PATH: searched } };
  return (await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', lines], options)).stdout;
}

test('an Alert Group is listed, shown, acknowledged, snoozed, annotated and resolved from a terminal', async () => {
  const sender = new Sender(ready.ingest_endpoint, ready.integration_token!);
  const alerts = [{ labels: { alertname: 'DiskFull', severity: 'critical' } }];
  expect(await sender.post({ groupKey: 'typed', alerts })).toBe(202);
  const { id, number } = await until(
    'the Alert Group',
    async () => (await api.get('/alert-groups')).items[0] as Json,
  );
  const verbs = ['read', 'acknowledge', 'resolve', 'snooze', 'note'];
  const permissions = verbs.map((verb) => `alert-groups:${verb}`);
  const { value } = await api.post('/me/personal-access-tokens', { name: 'terminal', permissions });
  const lines = typed('docs/operating.md', 'tocsin groups list --mine').replaceAll('#12', `#${number}`);
  await inShell(lines, home, { SVC_API_URL: ready.app_url, SVC_API_TOKEN: value });
  expect(await api.get(`/alert-groups/${id}`)).toMatchObject({ status: 'resolved' });
  const notes = (await api.get(`/alert-groups/${id}/notes`)).items.map(({ body }: Json) => body);
  expect(notes.sort()).toEqual(['Fixed.', 'The disk is being replaced.']);
});

test('curl signs in and keeps the cookie', async () => {
  const lines = typed('docs/api.md', 'curl --cookie-jar')
    .replace('"…"', JSON.stringify(ready.password))
    .replace('http://localhost:8080', ready.app_url);
  expect(JSON.parse(await inShell(lines, home))).toMatchObject({ state: 'active', method: 'local' });
  expect(readFileSync(path.join(home, 'jar'), 'utf8')).toContain('svc_session');
});

test('the doctor looks at the database of a data folder', async () => {
  const lines = typed('docs/operating.md', 'runtime/main.ts doctor')
    .replaceAll('$PWD/data', tocsin.dataDir)
    .replaceAll('=data/', `=${tocsin.dataDir}/`);
  const said = await inShell(lines.replace(/\n$/, ' || true\n'), ROOT);
  expect(said).toMatch(/^OK database: /m);
  expect(said).not.toMatch(/^FAIL (settings|database|schema)/m);
});

test('the secrets of a Compose installation are made', async () => {
  const copy = path.join(home, 'compose');
  cpSync(path.join(ROOT, 'deploy'), path.join(copy, 'deploy'), { recursive: true });
  const lines = typed('docs/deploying.md', 'cp .env.example .env').split('\n');
  const byHand = lines.filter((line) => /^(vi|docker) /.test(line));
  expect(byHand).toHaveLength(2);
  await inShell(lines.filter((line) => !byHand.includes(line)).join('\n'), copy);
  const secrets = path.join(copy, 'deploy', 'secrets');
  expect(readdirSync(secrets).sort()).toEqual(['admin-password', 'database-password', 'secret-keys']);
  expect(Buffer.from(readFileSync(path.join(secrets, 'secret-keys'), 'utf8'), 'base64')).toHaveLength(32);
});
