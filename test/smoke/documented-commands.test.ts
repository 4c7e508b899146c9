/** What the docs have somebody type does what it is for: taken from the pages and run by a shell. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { programOf } from '../../deploy/helm.fixture.ts';
import { QUICK } from '../../runtime/cli/bridge-check/in-memory.fixture.ts';
import { INTEGRATION_TOKEN } from '../../runtime/config-values.ts';
import { Api, type Json } from '../harness/api.ts';
import { freePorts } from '../harness/ports.ts';
import { processEnvironment } from '../harness/prepared.ts';
import { Sender } from '../harness/sender.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';
import { startTestServer } from '../postgres.ts';

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

const inFolder = (folder: string) => readdirSync(path.join(ROOT, folder)).map((name) => `${folder}/${name}`);
const PAGES = ['README.md', 'deploy/README.md', ...inFolder('docs'), ...inFolder('docs/runbooks')].filter(
  (page) => page.endsWith('.md'),
);

/** What a page has somebody type: blocks of `sh`, and those with a prompt. */
function blocksOf(page: string): readonly string[] {
  const fenced = readFileSync(path.join(ROOT, page), 'utf8').matchAll(/^```(\w*)\n([\s\S]*?)^```/gm);
  return [...fenced]
    .filter(([, kind, text = '']) => kind === 'sh' || /^\$ /m.test(text))
    .map(([, , text = '']) => text);
}

/** Blocks that a test below runs, by page and a text of theirs. */
const RUN = [
  ['docs/getting-started.md', 'curl --request POST'],
  ['docs/operating.md', 'tocsin groups list --mine'],
  ['docs/api.md', 'curl --cookie-jar'],
  ['docs/operating.md', 'runtime/main.ts doctor'],
  ['docs/operating.md', '$ tocsin doctor'],
  ['docs/deploying.md', 'cp .env.example .env'],
  ['docs/deploying.md', 'kubectl create namespace'],
  ['docs/bridges.md', 'tocsin bridge-reference --token demo'],
  ['docs/operating.md', 'tocsin migrate && tocsin serve'],
  ['docs/keys.md', 'tocsin keys reset'],
  ['deploy/README.md', 'promtool test rules'],
] as const;

/** Blocks that cannot be run here, and why. Their commands are parsed by scripts/documentation.test.ts. */
const NOT_RUN = [
  ['README.md', 'npm start', 'installs anew; test/smoke/start-stop.test.ts starts the service the same way'],
  ['README.md', 'npm install --prefix', 'installs in the home folder; release.test.ts does it in another'],
  ['README.md', 'npm test', 'this is what runs'],
  ['docs/getting-started.md', 'npm start', 'test/smoke/start-stop.test.ts starts the service the same way'],
  ['docs/getting-started.md', 'npx tocsin init', 'asks; test/smoke/init.test.ts answers it at a terminal'],
  ['docs/bridges.md', 'https://bridge.example.org/matrix', 'needs a bridge and a person who answers it'],
  ['docs/deploying.md', 'docker buildx build', 'needs Docker, a registry of images and two machines'],
  ['docs/deploying.md', 'docker compose build', 'needs Docker; deploy/try-compose.sh runs it'],
  ['docs/mattermost.md', 'npm run try', 'goes on until it is stopped; test/smoke/try.test.ts runs it'],
  ['docs/telegram.md', 'npm run try', 'goes on until it is stopped; test/smoke/try.test.ts runs it'],
  ['docs/operating.md', 'tocsin init', 'needs an address; test/smoke/init.test.ts runs it'],
  [
    'docs/operating.md',
    'tocsin messenger-check',
    'needs a messenger; test/smoke/first-messenger.test.ts runs it with the one to try out',
  ],
] as const;

/** The block of a page that has the text in it. */
function typed(...[page, text]: (typeof RUN)[number]): string {
  const block = blocksOf(page).find((lines) => lines.includes(text));
  if (block === undefined) throw new Error(`${page} has nobody type ${text}`);
  return block;
}

test('each block that a page has somebody type is run here, or there is a reason why not', () => {
  const known = [...RUN, ...NOT_RUN];
  const unknown = PAGES.flatMap((page) =>
    blocksOf(page).filter((block) => !known.some(([of, text]) => of === page && block.includes(text))),
  );
  expect(unknown).toEqual([]);
  const stale = known.filter(([page, text]) => !blocksOf(page).some((block) => block.includes(text)));
  expect(stale).toEqual([]);
});

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

test('the first alert of a new user is sent by curl, and is in the list', async () => {
  const lines = typed('docs/getting-started.md', 'curl --request POST')
    .replace('svc_int_…', ready.integration_token ?? '')
    .replace('http://127.0.0.1:8081/api/v1/ingest', ready.ingest_endpoint);
  await inShell(lines.replace('curl ', 'curl --fail '), home);
  await until('the Alert Group', async () =>
    (await api.get('/alert-groups?q=FirstAlert')).items.some(({ title }: Json) =>
      title.includes('FirstAlert'),
    ),
  );
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

/** The embedded database, as the settings of another process. */
const databaseEnvironment = () => ({
  SVC_DATABASE_HOST: path.join(tocsin.dataDir, 'postgres', 'socket'),
  SVC_DATABASE_NAME: 'postgres',
  SVC_DATABASE_USER: 'tocsin_service',
  SVC_DATABASE_PASSWORD_FILE: path.join(tocsin.dataDir, 'postgres', 'cluster', 'tocsin.password'),
});

test('the doctor prints what it looked at, in the form that its page shows', async () => {
  const [command, ...shown] = typed('docs/operating.md', '$ tocsin doctor').trim().split('\n');
  const env = {
    ...databaseEnvironment(),
    SVC_SECRET_KEYS_FILE: path.join(tocsin.dataDir, 'secret-keys'),
    SVC_PUBLIC_URL: ready.app_url,
  };
  const said = await inShell(`${command?.replace('$ ', '')} || true`, home, env);
  for (const line of shown.filter((each) => each.startsWith('OK '))) {
    const [check = ''] = line.split(':');
    expect(said).toContain(`${check}: `);
  }
});

/** The slow checks are made on a clock that skips their waits (runtime/cli/bridge-check/conforming.test.ts). */
test('the example of a bridge runs, and the program that checks bridges finds nothing wrong with it', async () => {
  const [port] = await freePorts(1);
  const [example = '', check = ''] = typed('docs/bridges.md', 'tocsin bridge-reference --token demo')
    .replaceAll(/#.*$/gm, '')
    .replaceAll('8090', String(port))
    .trim()
    .split('\n');
  const lines = `${example.trim()} --port ${port} & trap 'kill %1' EXIT
    until curl --silent --output bridge-page http://127.0.0.1:${port}; do sleep 0.2; done
    ${check} --only ${QUICK.join()}`;
  expect(await inShell(lines, home)).toMatch(/\S/);
});

test('the secrets of a Compose installation are made', async () => {
  const copy = path.join(home, 'compose');
  cpSync(path.join(ROOT, 'deploy'), path.join(copy, 'deploy'), { recursive: true });
  const lines = typed('docs/deploying.md', 'cp .env.example .env').split('\n');
  const byHand = lines.filter((line) => /^(vi|docker) /.test(line));
  expect(byHand).toHaveLength(2);
  await inShell(lines.filter((line) => !byHand.includes(line)).join('\n'), copy);
  const secrets = path.join(copy, 'deploy', 'secrets');
  const made = ['admin-password', 'database-password', 'ingest-token', 'secret-keys'];
  expect(readdirSync(secrets).sort()).toEqual(made);
  expect(readFileSync(path.join(secrets, 'ingest-token'), 'utf8').trim()).toMatch(INTEGRATION_TOKEN);
  expect(Buffer.from(readFileSync(path.join(secrets, 'secret-keys'), 'utf8'), 'base64')).toHaveLength(32);
});

test('what a cluster is given is taken by kubectl and Helm, as far as they judge without one', async () => {
  const copy = path.join(home, 'kubernetes');
  cpSync(path.join(ROOT, 'deploy'), path.join(copy, 'deploy'), { recursive: true, dereference: true });
  const bin = path.join(copy, 'bin');
  mkdirSync(bin);
  const program = (name: string, lines: string) =>
    writeFileSync(path.join(bin, name), `#!/bin/sh\n${lines}\n`, { mode: 0o755 });
  program('kubectl', `echo ---; exec ${programOf('kubectl')} "$@" --dry-run=client --output yaml`);
  program('helm', `shift 2; exec ${programOf('helm')} template --kube-version 1.30.0 "$@"`);
  const lines = typed('docs/deploying.md', 'kubectl create namespace');
  const objects = parseAllDocuments(await inShell(`PATH=${bin}:$PATH\n${lines}`, copy), { merge: true })
    .map((document) => document.toJS())
    .filter((object) => object !== null);
  const [namespace, secret, ...others] = objects;
  expect(namespace).toMatchObject({ kind: 'Namespace', metadata: { name: 'tocsin' } });
  expect(secret).toMatchObject({ kind: 'Secret', metadata: { name: 'tocsin', namespace: 'tocsin' } });
  const files = JSON.stringify(others).matchAll(/\/run\/secrets\/tocsin\/([\w-]+)/g);
  expect([...new Set([...files].map(([, key]) => key))].sort()).toEqual(Object.keys(secret.data).sort());
});

test('the rules for Prometheus pass their cases', async () => {
  expect(await inShell(typed('deploy/README.md', 'promtool test rules'), ROOT)).toContain('SUCCESS');
});

test('a release serves on a PostgreSQL server of its owner', { timeout: 120_000 }, async () => {
  const server = await startTestServer();
  try {
    const { host, port, user, password, database } = await server.createDatabase('empty');
    const [app, ingest, internal] = (await freePorts(3)).map((each) => `127.0.0.1:${each}`);
    const place = `${user}:${password}@${encodeURIComponent(host)}:${port}/${database}?sslmode=disable`;
    const lines = typed('docs/operating.md', 'tocsin migrate && tocsin serve')
      .replace('tocsin:…@db.example.org/tocsin', place)
      .replace('https://tocsin.example.org', `http://${app}`)
      .replace('PASSWORD=…', "PASSWORD='correct horse battery'");
    writeFileSync(path.join(home, 'serve.sh'), lines);
    const said = await inShell(
      `setsid bash -eu serve.sh >serve.log 2>&1 & trap 'kill -- -$! && wait $! || cat serve.log >&2' EXIT
      curl --silent --fail --retry 30 --retry-delay 1 --retry-all-errors http://${internal}/health/ready`,
      home,
      { SVC_LISTEN_APP: app!, SVC_LISTEN_INGEST: ingest!, SVC_LISTEN_INTERNAL: internal! },
    );
    expect(said).toBe('ok');
  } finally {
    await server.stop();
  }
});

/** The last one: nobody is signed in afterwards. */
test('after the loss of all keys an installation gets another one', async () => {
  const [command = ''] = typed('docs/keys.md', 'tocsin keys reset').split('\n');
  const env = {
    ...{ ...databaseEnvironment(), SVC_PUBLIC_URL: ready.app_url },
    SVC_SECRET_KEYS: randomBytes(32).toString('base64'),
  };
  const said = await inShell(command.replace('$ ', '').replace('<your name>', 'ada'), home, env);
  expect(said).toMatch(/^k-[0-9a-f]{16} is active; \d+ values? wiped, \d+ sessions? ended\.$/m);
  await expect(api.get('/routes')).rejects.toThrow('401');
});
