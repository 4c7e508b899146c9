/** A chat server end to end: the running service, a real database, the strict Mattermost server on a port of its own. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type RunningChatServer, startChatServer } from '../fakes/chat-server/http.ts';
import type { FakePost, FakeUser } from '../fakes/chat-server/server.ts';
import { Api } from '../harness/api.ts';
import { postTo } from '../harness/bridge-channel.ts';
import { Sender } from '../harness/sender.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

let tocsin: Installation;
let ready: Ready;
let api: Api;
let sender: Sender;
let chat: RunningChatServer;
let alice: FakeUser;
let destination: string;

beforeAll(async () => {
  tocsin = new Installation();
  chat = await startChatServer();
  alice = chat.server.addUser('alice');
  ready = await tocsin.start();
  api = await Api.signIn(ready);
  sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
  destination = await attach();
  await postTo(api, [destination], { thread_batching_window_seconds: 0 });
});

afterEach(() => expect(chat.server.violations).toEqual([]));

afterAll(async () => {
  await tocsin.remove();
  await chat.close();
});

const WIDE = { limit: 1000, per_seconds: 1 };

const connect = (name: string) =>
  api.post('/connections', {
    ...{ type: 'chat_server', name, server_url: chat.url, bot_token: chat.token },
    ...{ proxy: { enabled: false }, limiter: WIDE },
  });

/** A Connection, its channel as people choose it from the list, and the account of the Admin, linked by a code. */
async function attach(): Promise<string> {
  await api.change('/organization/outbound-policy', (policy) => ({ ...policy, allowed: ['127.0.0.0/8'] }));
  const { id } = await connect('chat');
  const { items } = await api.get(`/connections/${id}/channels?q=alerts`);
  const [{ id: channelId, team_id: teamId }] = items;
  const { destination: created } = await api.post('/destinations', {
    ...{ type: 'chat_server', name: 'ops', limiter: WIDE },
    ...{ connection_id: id, team_id: teamId, channel_id: channelId },
  });
  expect(created).toMatchObject({ team_name: 'Operations', channel_name: 'Alerts', channel_id: channelId });
  await link(id);
  return created.id;
}

async function link(connectionId: string): Promise<void> {
  const started = await api.call('POST', '/me/account-links/chat-server', {
    ...{ connection_id: connectionId, username: '@alice' },
  });
  expect(started.status).toBe(202);
  const [code] = /[A-Z0-9]{4}-?[A-Z0-9]{4}/.exec(chat.server.posts.at(-1)?.message ?? '') ?? [];
  const body = { request_id: started.body.request_id, code };
  expect((await api.call('POST', '/me/account-links/chat-server/confirmation', body)).status).toBe(201);
}

async function fire(name: string, status: 'firing' | 'resolved' = 'firing', pods = ['a']): Promise<void> {
  const alerts = pods.map((pod) => ({
    status,
    labels: { alertname: name, shard: pod, severity: 'critical' },
  }));
  expect(await sender.post({ groupKey: `{}:{alertname="${name}"}`, alerts })).toBe(202);
}

const rootsOf = (name: string): readonly FakePost[] =>
  chat.server.posts.filter(({ rootId, message }) => rootId === '' && message.includes(` ${name}`));
const repliesTo = (root: FakePost) => chat.server.posts.filter(({ rootId }) => rootId === root.id);
const posted = (name: string) => until(`the post about ${name}`, async () => rootsOf(name)[0]);
const shows = (root: FakePost, emoji: string) =>
  until(`${emoji} on ${root.message}`, async () => root.message.startsWith(emoji));

async function groupOf(name: string) {
  const { items } = await api.get(`/alert-groups?q=${name}`);
  return items[0];
}

test('an alert is a post with buttons; a press acknowledges, the Thread has replies, resolving edits', async () => {
  await fire('Journey');
  const root = await posted('Journey');
  expect(root.props.attachments?.[0]?.actions.map(({ id }) => id).slice(0, 2)).toEqual(['ack', 'resolve']);

  expect(await chat.server.press(root.id, 'ack', alice)).toMatchObject([{ status: 200 }]);
  await shows(root, '🟠');
  expect(chat.server.ephemeral).toEqual([]);
  const group = await groupOf('Journey');
  expect(group.status).toBe('acknowledged');
  const { items } = await api.get(`/audit-log?resource_id=${group.id}`);
  expect(items).toMatchObject([{ action: 'alert_group.acknowledged', transport: 'chat_server' }]);

  await fire('Journey', 'firing', ['a', 'b']);
  const reply = await until('the reply', async () => repliesTo(root)[0]);
  expect(reply.message).toContain('shard: b');
  await fire('Journey', 'resolved', ['a', 'b']);
  await shows(root, '🟢');
  expect(root.props.attachments?.[0]?.actions).toEqual([]);
  expect(rootsOf('Journey')).toHaveLength(1);
  const delivery = (await api.get(`/alert-groups/${group.id}/deliveries`)).items[0];
  expect(delivery).toMatchObject({
    possible_duplicate: false,
    message_url: `${chat.url}/ops/pl/${root.id}`,
  });
});

test('its check reads, and its test message proves the way there and back', async () => {
  const roots = () => chat.server.posts.filter(({ rootId }) => rootId === '').length;
  const before = roots();
  expect(await api.post(`/destinations/${destination}/checks`)).toMatchObject({
    ok: true,
    checks: [
      { name: 'token', ok: true },
      { name: 'bot_in_channel', ok: true },
    ],
  });
  expect(roots()).toBe(before);
  const { steps } = await api.post(`/destinations/${destination}/tests`, { source: { kind: 'example' } });
  expect(steps).toMatchObject([
    { name: 'message', error_class: 'none', response_status: 201 },
    { name: 'press', error_class: 'none', response_status: 200 },
  ]);
  chat.server.channel.members.clear();
  expect(await api.post(`/destinations/${destination}/checks`)).toMatchObject({
    ok: false,
    checks: [{ ok: true }, { ok: false, message: 'The bot has not joined this channel.' }],
  });
  chat.server.channel.members.add(chat.server.bot.id);
});

test('a channel of no use is not saved, nor a Connection of another type; its preview is Markdown', async () => {
  const { name, connection_id, ...rest } = await api.get(`/destinations/${destination}`);
  const lonely = chat.server.addChannel(chat.server.team.id, 'lonely', 'Lonely');
  const refused = await api.call('POST', '/destinations', {
    ...{ ...rest, connection_id, name: 'lonely', channel_id: lonely.id },
  });
  expect([refused.status, refused.body.errors]).toMatchObject([
    422,
    [
      {
        pointer: '/channel_id',
        code: 'destination_check_failed',
        detail: 'The bot has not joined this channel.',
      },
    ],
  ]);
  const groups = { everyone: 'here', user_ids: [], groups: ['on call'] };
  const mentions = { ...rest.mentions, reopen: groups };
  const named = await api.call('POST', '/destinations', { ...rest, connection_id, name: 'x', mentions });
  expect(named.body.errors).toMatchObject([{ pointer: '/mentions/reopen/groups/0', code: 'invalid_format' }]);
  const { items } = await api.post(`/destinations/${destination}/previews`);
  expect(items).toMatchObject([{ name: 'message', format: 'markdown', request: null }]);
});

test('pointed at another Connection to the same server, it ends its post there and posts once here', async () => {
  const other = await connect('other');
  await link(other.id);
  await fire('Switched');
  const before = await posted('Switched');
  const { connection_id: first } = await api.get(`/destinations/${destination}`);
  const pointTo = (connection_id: string) =>
    api.change(`/destinations/${destination}`, (saved) => ({ ...saved, connection_id }));
  await pointTo(other.id);
  await until('the second post', async () => rootsOf('Switched').length === 2);
  const after = rootsOf('Switched')[1]!;
  await until('the last edit', async () => before.props.attachments?.[0]?.actions.length === 0);
  const urls = after.props.attachments?.[0]?.actions.map(({ integration }) => integration?.url);
  expect(urls?.every((url) => url?.endsWith(`/chat-server/${other.id}`))).toBe(true);
  await chat.server.press(after.id, 'ack', alice);
  await shows(after, '🟠');
  expect(before.message.startsWith('🟠')).toBe(false);
  await pointTo(first);
  await until('the third post', async () => rootsOf('Switched').length === 3);
  await fire('Switched', 'resolved');
  await shows(rootsOf('Switched')[2]!, '🟢');
});

test('a press by somebody whom Tocsin does not know changes nothing and says how to link', async () => {
  await fire('Stranger');
  const root = await posted('Stranger');
  const before = chat.server.ephemeral.length;
  await chat.server.press(root.id, 'ack', chat.server.addUser('mallory'));
  expect(chat.server.ephemeral.slice(before)).toMatchObject([
    { message: expect.stringContaining('/profile'), rootId: root.id },
  ]);
  expect((await groupOf('Stranger')).status).toBe('firing');
  await fire('Stranger', 'resolved');
});

test('a deleted post is noticed at the next edit and published again once', async () => {
  await fire('Deleted');
  const first = await posted('Deleted');
  chat.server.remove(first.id);
  await api.post(`/alert-groups/${(await groupOf('Deleted')).id}/acknowledge`);
  await until('the second post', async () => rootsOf('Deleted').length === 2);
  await shows(rootsOf('Deleted')[1]!, '🟠');
});

test('the limiter of the server holds everything for as long as it says, and nothing is lost', async () => {
  chat.server.limit(true);
  const before = chat.server.calls.length;
  await fire('Limited');
  await until('a refused call', async () => chat.server.calls.length > before);
  const refused = Date.now();
  chat.server.limit(false);
  const root = await posted('Limited');
  expect(root.createAt - refused).toBeGreaterThan(900);
  expect(rootsOf('Limited')).toHaveLength(1);
});

test('killed while its post was stored and the answer lost, the service finds the mark and posts no second', async () => {
  chat.server.settings.deduplicates = false;
  chat.loseAnswers(1, ' Killed"');
  await fire('Killed');
  await posted('Killed');
  await until('the lost answer', async () => chat.leftToLose() === 0);
  await tocsin.kill();
  await fire('KilledToo').catch(() => undefined);
  await tocsin.start();
  api = await Api.signIn(ready);
  const group = await until('the group', () => groupOf('Killed'));
  await api.post(`/alert-groups/${group.id}/acknowledge`);
  await shows(await posted('Killed'), '🟠');
  expect(rootsOf('Killed')).toHaveLength(1);
  // The post shows the edit before the service has its answer.
  const delivery = await until('the delivery', async () => {
    const [each] = (await api.get(`/alert-groups/${group.id}/deliveries`)).items;
    return each.state === 'delivered' ? each : null;
  });
  expect(delivery).toMatchObject({ possible_duplicate: false });
  await fire('KilledToo');
  await posted('KilledToo');
  expect(rootsOf('KilledToo')).toHaveLength(1);
});

test('killed again and again in a burst, every group ends as one post in its last state, its replies once', async () => {
  const names = Array.from({ length: 12 }, (_, index) => `Burst${index}x`);
  const roots = () => names.flatMap((name) => rootsOf(name));
  const restarted = async () => {
    await tocsin.kill();
    await tocsin.start();
    api = await Api.signIn(ready);
  };
  chat.loseAnswers(3);
  await Promise.all(names.map((name) => fire(name)));
  await until('some posts', async () => roots().length >= 4);
  await restarted();
  await until('every post', async () => roots().length >= names.length);
  chat.loseAnswers(3);
  await Promise.all(names.map((name) => fire(name, 'firing', ['a', 'b'])));
  await until('some replies', async () => roots().some((root) => repliesTo(root).length > 0));
  await restarted();
  await until('every reply', async () => roots().every((root) => repliesTo(root).length > 0));
  await Promise.all(names.map((name) => fire(name, 'resolved', ['a', 'b'])));
  await until('some ends', async () => roots().some(({ message }) => message.startsWith('🟢')));
  await restarted();
  await until('every end', async () => roots().every(({ message }) => message.startsWith('🟢')));

  expect(names.map((name) => rootsOf(name).length)).toEqual(names.map(() => 1));
  const added = (root: FakePost) => repliesTo(root).filter(({ message }) => message.includes('shard: b'));
  expect(roots().map((root) => added(root).length)).toEqual(names.map(() => 1));
});
