/** `npm run try` serves a messenger that an alert arrives in and that a person answers from, without an account anywhere. */
import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Api, type Json } from '../harness/api.ts';
import { postTo } from '../harness/bridge-channel.ts';
import { processEnvironment } from '../harness/prepared.ts';
import { Sender } from '../harness/sender.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const ROOT = path.resolve(import.meta.dirname, '..', '..');
const tocsin = new Installation();
let ready: Ready;
let api: Api;
let child: ChildProcess | undefined;

beforeAll(async () => {
  ready = await tocsin.start();
  api = await Api.signIn(ready);
  await api.change('/organization/outbound-policy', (policy) => ({ ...policy, allowed: ['127.0.0.0/8'] }));
});

afterEach(() => void child?.kill());
afterAll(() => tocsin.remove());

/** Starts it on a free port. `output` is what it printed so far. */
function start(name: string) {
  const started = spawn(process.execPath, ['scripts/try.ts', name, '0'], {
    ...{ cwd: ROOT, env: processEnvironment() },
  });
  child = started;
  let output = '';
  started.stdout.on('data', (part) => {
    output += part;
  });
  const printed = (text: RegExp) => until(`${text}`, async () => text.exec(output));
  return {
    printed,
    type: (line: string) => started.stdin.write(`${line}\n`),
    output: () => output,
    value: async (field: string) => (await printed(new RegExp(`^${field} +(\\S+)\n`, 'm')))[1] ?? '',
  };
}

async function attach(connection: object, destination: object): Promise<Json> {
  const made = await api.post('/connections', { proxy: { enabled: false }, ...connection });
  const check = { ...connection, proxy: { enabled: false }, connection_id: made.id, bot_token: undefined };
  expect((await api.post('/connections/checks', { ...check, name: undefined })).ok).toBe(true);
  const saved = await api.post('/destinations', { ...destination, connection_id: made.id });
  await postTo(api, [saved.destination.id]);
  return made;
}

async function raise(alertname: string): Promise<void> {
  const sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
  await sender.post({ groupKey: alertname, alerts: [{ labels: { alertname, severity: 'critical' } }] });
}

const ownerOf = async (title: string) =>
  (await api.get('/alert-groups')).items.find((group: Json) => group.title.includes(title))?.owner?.name;

test('mattermost: an alert is printed, and a press is answered to one person', async () => {
  const { value, printed, type, output } = start('mattermost');
  const server = { type: 'chat_server', name: 'Mattermost', server_url: await value('address') };
  const connection = { ...server, bot_token: await value('token') };
  const { id } = await api.post('/connections', { ...connection, name: 'lister', proxy: { enabled: false } });
  const [channel] = (await api.get(`/connections/${id}/channels`)).items;
  const place = { team_id: channel.team_id, channel_id: channel.id };
  await attach(connection, { type: 'chat_server', name: 'Mattermost', ...place });
  await raise('TriedThere');
  await printed(/post 1\n.*TriedThere[\s\S]*\[ack\] \[resolve\]/);
  type('nonsense');
  await printed(/Type a button and the number of its post/);
  type('ack 1');
  await printed(/to one person: .*account/i);
  expect(output()).not.toMatch(/would refuse or warn/);
});

test('telegram: the typed link links the person, whose press acknowledges in their name', async () => {
  const { value, printed, type, output } = start('telegram');
  const connection = {
    ...{ type: 'channel_bot', name: 'Telegram', bot_api_base_url: await value('address') },
    bot_token: await value('token'),
  };
  const { id } = await attach(connection, { type: 'channel_bot', name: 'Telegram', channel_id: '@alerts' });
  const link = await api.post('/me/account-links/channel-bot', { connection_id: id });
  type(`start ${link.deep_link}`);
  await until('the link', async () => (await api.get('/me/account-links')).items.length === 1);
  await raise('TriedHere');
  const [, number] = await printed(/post (\d+)\n.*TriedHere[\s\S]*?\[ack\] \[resolve\]/);
  await printed(new RegExp(`post \\d+  under ${number}\\n  \\| the copy in Alerts talk`));
  type(`ack ${number}`);
  await until('the owner', async () => (await ownerOf('TriedHere')) !== undefined);
  await printed(new RegExp(`edit ${number}\\n[\\s\\S]*\\[unack\\]`));
  expect(output()).not.toMatch(/would refuse or warn/);
});

test('another name is refused with those that there are', async () => {
  const { output } = start('irc');
  const code = await new Promise((resolve) => child?.once('exit', resolve));
  expect([code, output()]).toEqual([2, '']);
});
