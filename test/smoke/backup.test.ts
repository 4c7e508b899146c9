/** `tocsin backup` while Alerts come in, and `tocsin restore` into a new folder, from which the service goes on. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWebhookReceiver, type WebhookReceiver } from '../fakes/webhook-receiver.ts';
import { Api } from '../harness/api.ts';
import { runTocsin } from '../harness/program.ts';
import { groupOf, raise, seed, TROUBLES } from '../harness/seeded.ts';
import { Sender } from '../harness/sender.ts';
import { SmallVolume } from '../harness/small-volume.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';
import { startTestServer } from '../postgres.ts';

const home = mkdtempSync(path.join(tmpdir(), 'tocsin-backup-'));
const file = path.join(home, 'tocsin.backup');
const tocsin = new Installation();
const restored = new Installation();
let receiver: WebhookReceiver;
let ready: Ready;

const command = (name: string, ...words: string[]) => runTocsin([name, ...words]);
const keysOf = ({ dataDir }: Installation) => path.join(dataDir, 'secret-keys');
/** Rows in no order, and without the line that tells when it was made. */
const rowsOf = (backup: string) =>
  gunzipSync(readFileSync(backup)).toString('latin1').split('\n').slice(1).sort();
beforeAll(async () => {
  receiver = await startWebhookReceiver();
  ready = await tocsin.start();
  const { api, close } = await seed(ready);
  const events = { url: receiver.url, headers: [] };
  const { destination, signing_secret } = await api.post('/destinations', {
    ...{ type: 'webhook', name: 'after a restore', mode: 'events', events },
  });
  receiver.trust(signing_secret);
  const { items } = await api.get('/routes');
  const { id } = items.find((route: { is_default: boolean }) => route.is_default);
  await api.change(`/routes/${id}`, (route) => ({ ...route, destination_ids: [destination.id] }));
  await close();
});

afterAll(async () => {
  await Promise.all([tocsin.remove(), restored.remove(), receiver.close()]);
  rmSync(home, { recursive: true, force: true });
});

test('a backup made under load is one moment, and the service goes on from it in a new folder', async () => {
  const sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
  const trouble = { ...TROUBLES[0]!, alertname: 'BeforeTheBackup' };
  await raise(sender, trouble);
  const api = await Api.signIn(ready);
  const group = await groupOf(api, trouble.alertname);
  let isOver = false;
  const load = (async () => {
    for (let n = 0; !isOver; n++) await raise(sender, { ...trouble, alertname: `Load${n}` });
  })();
  // The server knows its folder by another path.
  const linked = path.join(home, 'linked');
  symlinkSync(tocsin.dataDir, linked);
  await command('backup', '--to', file, '--data-dir', linked).finally(() => {
    isOver = true;
  });
  expect(existsSync(path.join(tocsin.dataDir, 'postgres', 'cluster', 'postmaster.pid'))).toBe(true);
  await load;
  await tocsin.stop();

  await command('restore', '--from', file, '--keys', keysOf(tocsin), '--data-dir', restored.dataDir);
  const again = path.join(home, 'again.backup');
  await command('backup', '--to', again, '--data-dir', restored.dataDir);
  const [before, after] = [rowsOf(file), rowsOf(again)];
  expect(after.filter((row, n) => row !== before[n]).slice(0, 3)).toEqual([]);
  expect(after.length).toBe(before.length);

  const here = await restored.start();
  const there = await Api.signIn({ ...here, login: ready.login, password: ready.password });
  expect(await groupOf(there, trouble.alertname)).toMatchObject({ id: group.id, number: group.number });
  await raise(new Sender(here.ingest_endpoint, ready.integration_token ?? ''), trouble, {
    resolved: trouble.pods,
  });
  await until('the event of its resolution, signed', async () =>
    receiver.received.find(({ body }) => body.event === 'resolved' && body.alert_group.id === group.id),
  );
  expect(receiver.faults).toEqual([]);
});

/** Without the first row of a table to which nothing refers. */
function withoutRow(whole: Buffer): Buffer {
  const from = whole.indexOf('\n', whole.indexOf('{"table":"presences"')) + 1;
  return Buffer.concat([whole.subarray(0, from), whole.subarray(whole.indexOf('\n', from) + 1)]);
}

const refusal = (...words: string[]) => refusalOf(words);
const refusalOf = (words: readonly string[], env: Record<string, string> = {}) =>
  runTocsin(words, env).then(
    () => 'done',
    (error: { stderr?: string; code?: number }) => [error.code, error.stderr?.trim()],
  );

test('what is not a whole backup, or not for this place, is refused and leaves the place as it was', async () => {
  const whole = gunzipSync(readFileSync(file));
  const made = (name: string, content: Buffer) => {
    writeFileSync(path.join(home, name), content);
    return path.join(home, name);
  };
  const broken = {
    cut: made('cut', readFileSync(file).subarray(0, 20_000)),
    'without its check sum': made('unchecked', readFileSync(file).subarray(0, -8)),
    'without a row': made('a-row-less', gzipSync(withoutRow(whole))),
    'without its end': made('endless', gzipSync(whole.subarray(0, whole.lastIndexOf('{"tables"')))),
    'of another program': made('other', Buffer.from('PGDMP')),
    'of a later release': made(
      'later',
      gzipSync(Buffer.from(whole.toString('latin1').replace(/"schema":\d+/, '"schema":9999'), 'latin1')),
    ),
  };
  const said: Record<string, unknown> = {};
  for (const [what, from] of Object.entries(broken)) {
    const folder = path.join(home, `into ${what}`);
    said[what] = await refusal('restore', '--from', from, '--keys', keysOf(tocsin), '--data-dir', folder);
  }
  expect(said).toEqual({
    cut: [1, expect.stringMatching(/^This is no backup, or it is damaged: unexpected end of file/)],
    'without its check sum': [
      1,
      expect.stringMatching(/^This is no backup, or it is damaged: unexpected end/),
    ],
    'without a row': [1, 'This backup is damaged: its tables do not add up.'],
    'without its end': [1, 'This backup is not whole: its end is missing.'],
    'of another program': [
      1,
      expect.stringMatching(/^This is no backup, or it is damaged: incorrect header/),
    ],
    'of a later release': [1, expect.stringMatching(/schema version 9999.*Use a newer release/)],
  });
  expect(await refusal('backup', '--to', file, '--data-dir', tocsin.dataDir)).toEqual([
    1,
    expect.stringMatching(/is there already/),
  ]);
  expect(await refusal('restore', '--from', file, '--data-dir', tocsin.dataDir)).toEqual([
    1,
    expect.stringMatching(/holds an installation already/),
  ]);
  const cut = path.join(home, 'into cut');
  expect(readdirSync(cut)).toEqual([]);
  expect(await refusal('restore', '--from', file, '--keys', keysOf(tocsin), '--data-dir', cut)).toBe('done');
  const wrong = made('wrong-keys', Buffer.from(`${Buffer.alloc(32, 7).toString('base64')}\n`));
  expect(
    await refusal('restore', '--from', file, '--keys', wrong, '--data-dir', path.join(home, 'wrong')),
  ).toEqual([1, expect.stringMatching(/key/)]);
  expect(await refusal('backup')).toEqual([2, 'tocsin backup needs --to FILE.']);
});

test('a disk without room ends it with a sentence, and the server goes on', async () => {
  const folder = path.join(home, 'small');
  mkdirSync(folder);
  const volume = new SmallVolume(folder, 1);
  try {
    volume.fill();
    const said = await refusal('backup', '--to', path.join(folder, 'b'), '--data-dir', restored.dataDir);
    expect(said).toEqual([1, expect.stringMatching(/b cannot be written: ENOSPC/)]);
    expect(readdirSync(folder)).toEqual(['ballast']);
  } finally {
    volume.unmount();
  }
});

test('a database that variables name: only they are needed, and wrong keys leave nothing in it', async () => {
  const server = await startTestServer();
  try {
    const { host, port, user, password, database } = await server.createDatabase();
    const env = {
      ...{ SVC_DATABASE_HOST: host, SVC_DATABASE_PORT: String(port), SVC_DATABASE_NAME: database },
      ...{ SVC_DATABASE_USER: user, SVC_DATABASE_PASSWORD: password ?? '', SVC_DATABASE_SSLMODE: 'disable' },
    };
    const wrong = path.join(home, 'wrong-keys');
    const words = ['restore', '--from', file, '--data-dir', path.join(home, 'nowhere'), '--keys'];
    expect(await refusalOf([...words, wrong], env)).toEqual([1, expect.stringMatching(/key/)]);
    expect(await refusalOf([...words, keysOf(tocsin)], env)).toBe('done');
    const again = path.join(home, 'named.backup');
    expect(await refusalOf(['backup', '--to', again], env)).toBe('done');
    expect(rowsOf(again)).toEqual(rowsOf(file));
    expect(existsSync(path.join(home, 'nowhere'))).toBe(false);
  } finally {
    await server.stop();
  }
});
