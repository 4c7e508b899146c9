/** A channel bot end to end: the running service, a real database, the strict Bot API server on a port of its own. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type RunningBotApi, startBotApi } from '../fakes/channel-bot/http.ts';
import type { FakeMessage, FakePerson } from '../fakes/channel-bot/world.ts';
import { Api } from '../harness/api.ts';
import { postTo } from '../harness/bridge-channel.ts';
import { Sender } from '../harness/sender.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

let tocsin: Installation;
let ready: Ready;
let api: Api;
let sender: Sender;
let bot: RunningBotApi;
let alice: FakePerson;
let destination: string;

beforeAll(async () => {
  tocsin = new Installation();
  bot = await startBotApi();
  bot.server.settings.limits = false;
  alice = bot.server.world.addPerson(5001, 'alice_tg');
  ready = await tocsin.start();
  api = await Api.signIn(ready);
  sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
  destination = await attach();
  await postTo(api, [destination], { thread_batching_window_seconds: 0 });
});

afterEach(() => expect(bot.server.violations).toEqual([]));

afterAll(async () => {
  await tocsin.remove();
  await bot.close();
});

const WIDE = { limit: 1000, per_seconds: 1 };

/** A Connection, its channel by the name that people know, and the account of the Admin, linked by the deep link. */
async function attach(): Promise<string> {
  await api.change('/organization/outbound-policy', (policy) => ({ ...policy, allowed: ['127.0.0.0/8'] }));
  const connection = await api.post('/connections', {
    ...{ type: 'channel_bot', name: 'bot', bot_api_base_url: bot.url, bot_token: bot.token },
    ...{ proxy: { enabled: false }, limiter: WIDE },
  });
  const { destination: created } = await api.post('/destinations', {
    ...{ type: 'channel_bot', name: 'alerts', limiter: WIDE },
    ...{ connection_id: connection.id, channel_id: '@alerts' },
  });
  const { channel, group } = bot.server.world;
  expect(created).toMatchObject({
    ...{ channel_id: '@alerts', channel_name: channel.title },
    ...{ discussion_group_id: String(group.id), discussion_group_title: group.title },
  });
  const started = await api.post('/me/account-links/channel-bot', { connection_id: connection.id });
  const token = new URL(started.deep_link).searchParams.get('start');
  const chat = bot.server.world.chats.get(alice.id);
  if (chat) bot.server.write(chat, alice, `/start ${token}`);
  await until('the link', async () => (await api.get('/me/account-links')).items.length === 1);
  return created.id;
}

async function fire(name: string, status: 'firing' | 'resolved' = 'firing', pods = ['a']): Promise<void> {
  const alerts = pods.map((pod) => ({
    status,
    labels: { alertname: name, shard: pod, severity: 'critical' },
  }));
  expect(await sender.post({ groupKey: `{}:{alertname="${name}"}`, alerts })).toBe(202);
}

const rootsOf = (name: string): readonly FakeMessage[] => {
  const { world } = bot.server;
  return world.messages(world.channel).filter(({ text }) => text.includes(` ${name}\n`));
};
/** Comments under the copy of a post. */
const repliesTo = (root: FakeMessage): readonly FakeMessage[] => {
  const comments = bot.server.world.messages(bot.server.world.group);
  const copy = comments.find(({ copyOf }) => copyOf?.messageId === root.messageId);
  return copy ? comments.filter(({ replyTo }) => replyTo === copy.messageId) : [];
};
const posted = (name: string) => until(`the post about ${name}`, async () => rootsOf(name)[0]);
const shows = (root: FakeMessage, emoji: string) =>
  until(`${emoji} on ${root.text.split('\n')[0]}`, async () => root.text.startsWith(emoji));
const labels = (root: FakeMessage) => root.keyboard.map((row) => row.map(({ text }) => text));

async function groupOf(name: string) {
  const { items } = await api.get(`/alert-groups?q=${name}`);
  return items[0];
}

const idOf = async (name: string): Promise<string> =>
  (await until(`the group ${name}`, () => groupOf(name))).id;

async function deliveryOf(groupId: string) {
  return (await api.get(`/alert-groups/${groupId}/deliveries`)).items[0];
}

/** The answer that the person saw, and how long after the press. */
const answerTo = (queryId: string) =>
  until('the answer', async () => bot.server.answers.find((answer) => answer.queryId === queryId));

test('an alert is a post with buttons; a press acknowledges, comments follow, resolving edits', async () => {
  await fire('Journey');
  const root = await posted('Journey');
  expect(labels(root)).toEqual([
    ['Ack', 'Resolve'],
    ['Snooze 1 h', 'Snooze 4 h', 'Snooze 1 d'],
  ]);

  const { after, isAlert } = await answerTo(bot.server.press(root, 'Ack', alice));
  expect([after < 2_000, isAlert]).toEqual([true, false]);
  await shows(root, '🟠');
  expect(labels(root)[0]).toEqual(['Unack', 'Resolve']);
  const group = await groupOf('Journey');
  expect(group.status).toBe('acknowledged');
  const { items } = await api.get(`/audit-log?resource_id=${group.id}`);
  expect(items).toMatchObject([{ action: 'alert_group.acknowledged', transport: 'channel_bot' }]);

  await fire('Journey', 'firing', ['a', 'b']);
  const reply = await until('the comment', async () => repliesTo(root)[0]);
  expect(reply.text).toContain('shard: b');
  await fire('Journey', 'resolved', ['a', 'b']);
  await shows(root, '🟢');
  expect(root.keyboard).toEqual([]);
  expect(rootsOf('Journey')).toHaveLength(1);
  expect(await deliveryOf(group.id)).toMatchObject({
    ...{ possible_duplicate: false, thread_not_attached: false },
    message_url: `https://t.me/alerts/${root.messageId}`,
  });
});

test('its check reads, its test message posts, its preview is HTML', async () => {
  const { world } = bot.server;
  const before = world.channel.messages.length;
  expect(await api.post(`/destinations/${destination}/checks`)).toMatchObject({ ok: true });
  expect(world.channel.messages.length).toBe(before);
  const { steps } = await api.post(`/destinations/${destination}/tests`, { source: { kind: 'example' } });
  expect(steps).toMatchObject([
    { name: 'message', error_class: 'none', response_status: 200 },
    { name: 'copy', error_class: 'none', error: null },
  ]);
  const message = world.channel.messages.at(-1);
  if (!message) throw new Error('no test message');
  expect(await answerTo(bot.server.press(message, 'Ack', alice))).toMatchObject({ isAlert: true });
  expect((await api.post(`/destinations/${destination}/previews`)).items).toMatchObject([{ format: 'html' }]);
  expect(JSON.stringify(steps)).not.toContain(bot.token);
});

test('rights that are taken show at once, and those given back end it', async () => {
  const { channel } = bot.server.world;
  const health = async () => (await api.get(`/destinations/${destination}`)).health.state;
  bot.server.setRights(channel, { status: 'member' });
  await until('Broken', async () => (await health()) === 'broken');
  bot.server.setRights(channel, { status: 'administrator' });
  await until('healthy', async () => (await health()) === 'healthy');
});

test('a press by somebody whom Tocsin does not know changes nothing and says how to link', async () => {
  await fire('Stranger');
  const root = await posted('Stranger');
  const mallory = bot.server.world.addPerson(6001, 'mallory');
  const said = await answerTo(bot.server.press(root, 'Ack', mallory));
  expect(said).toMatchObject({ isAlert: true, text: expect.stringContaining('/profile') });
  expect((await groupOf('Stranger')).status).toBe('firing');
  await fire('Stranger', 'resolved');
});

test('a deleted post is noticed at the next edit and published again once', async () => {
  await fire('Deleted');
  const first = await posted('Deleted');
  first.isDeleted = true;
  await api.post(`/alert-groups/${(await groupOf('Deleted')).id}/acknowledge`);
  await shows(await posted('Deleted'), '🟠');
  expect(rootsOf('Deleted')).toHaveLength(1);
});

test('a 429 holds everything for as long as it says, and nothing is lost', async () => {
  const { settings } = bot.server;
  const body = { ok: false, error_code: 429, description: 'Too Many Requests: retry after 2' };
  const before = bot.server.calls.length;
  const isSend = () => bot.server.calls.slice(before).includes('sendMessage');
  settings.instead = {
    ...{ status: 429, headers: { 'content-type': 'application/json' } },
    body: JSON.stringify({ ...body, parameters: { retry_after: 2 } }),
  };
  await fire('Limited');
  await until('a refused call', async () => isSend());
  const refused = Date.now();
  settings.instead = null;
  await posted('Limited');
  expect(Date.now() - refused).toBeGreaterThan(1_500);
  expect(rootsOf('Limited')).toHaveLength(1);
});

test('a post whose answer was lost is known by its copy: one post, with buttons, edits and comments', async () => {
  bot.loseAnswers(1, 'sendMessage', ' Known');
  await fire('Known');
  const root = await posted('Known');
  const known = await idOf('Known');
  await until('the delivery', async () => (await deliveryOf(known))?.state === 'delivered');
  await answerTo(bot.server.press(root, 'Ack', alice));
  await shows(root, '🟠');
  await fire('Known', 'firing', ['a', 'b']);
  await until('the comment', async () => repliesTo(root)[0]);
  await fire('Known', 'resolved', ['a', 'b']);
  await shows(root, '🟢');
  expect(rootsOf('Known')).toHaveLength(1);
  expect(await deliveryOf(known)).toMatchObject({ possible_duplicate: false, thread_not_attached: false });
});

test('killed while its post was made and the answer lost, the service knows the post by its copy', async () => {
  bot.loseAnswers(1, 'sendMessage', ' Killed');
  await fire('Killed');
  const root = await posted('Killed');
  await tocsin.kill();
  await tocsin.start();
  api = await Api.signIn(ready);
  const killed = await idOf('Killed');
  await until('the delivery', async () => (await deliveryOf(killed))?.state === 'delivered');
  await fire('Killed', 'resolved');
  await until('the end', async () => (rootsOf('Killed').at(-1)?.text ?? '').startsWith('🟢'));
  const isOne = rootsOf('Killed').length === 1;
  expect([isOne, root.keyboard.length === 0 || !isOne]).toEqual([
    !(await deliveryOf(killed)).possible_duplicate,
    true,
  ]);
});

test('a lost post whose copy comes after it was made again can be pressed, and says that it is not kept', async () => {
  bot.server.settings.copiesHeld = true;
  bot.loseAnswers(1, 'sendMessage', ' Twice');
  await fire('Twice');
  const [first, second] = await until('both posts', async () => {
    const roots = rootsOf('Twice');
    return roots.length === 2 ? roots : null;
  });
  const twice = await idOf('Twice');
  await until('the flag', async () => (await deliveryOf(twice)).possible_duplicate);
  bot.server.settings.copiesHeld = false;
  expect((await answerTo(bot.server.press(first as FakeMessage, 'Ack', alice))).isAlert).toBe(false);
  await shows(second as FakeMessage, '🟠');
  await until('the last edit', async () => first?.keyboard.length === 0);
  expect(first?.text).toContain('Not kept up to date any more.');
  expect((await answerTo(bot.server.press(second as FakeMessage, 'Unack', alice))).isAlert).toBe(false);
  await fire('Twice', 'resolved');
  await shows(second as FakeMessage, '🟢');
  expect(rootsOf('Twice')).toHaveLength(2);
});

test('a post whose answer was lost and that has no copy is posted again, and the delivery says so', async () => {
  bot.server.settings.copies = 'never';
  bot.loseAnswers(1, 'sendMessage', ' Lost');
  await fire('Lost');
  await until('the second post', async () => rootsOf('Lost').length === 2);
  const lost = await idOf('Lost');
  await until('the flag', async () => (await deliveryOf(lost)).possible_duplicate);
  bot.server.settings.copies = 'always';
  await fire('Lost', 'resolved');
  const last = rootsOf('Lost').at(-1);
  if (last) await shows(last, '🟢');
});

test('killed again and again in a burst, every group ends in its last state, once or as a named duplicate', async () => {
  const names = Array.from({ length: 12 }, (_, index) => `Burst${index}x`);
  const roots = () => names.flatMap((name) => rootsOf(name));
  const restarted = async () => {
    await tocsin.kill();
    await tocsin.start();
    api = await Api.signIn(ready);
  };
  const current = (name: string) => rootsOf(name).at(-1) as FakeMessage;
  const everyCurrent = (holds: (root: FakeMessage) => boolean) =>
    names.every((name) => rootsOf(name).length > 0 && holds(current(name)));
  bot.loseAnswers(2, 'sendMessage', 'Burst');
  await Promise.all(names.map((name) => fire(name)));
  await until('some posts', async () => roots().length >= 4);
  await restarted();
  await until('every post', async () => everyCurrent(() => true));
  const groups = await Promise.all(names.map(idOf));
  await Promise.all(names.map((name) => fire(name, 'firing', ['a', 'b'])));
  await until('some comments', async () => roots().some((root) => repliesTo(root).length > 0));
  await restarted();
  await until('every comment', async () => everyCurrent((root) => repliesTo(root).length > 0));
  await Promise.all(names.map((name) => fire(name, 'resolved', ['a', 'b'])));
  await until('some ends', async () => roots().some(({ text }) => text.startsWith('🟢')));
  await restarted();
  await until('every end', async () =>
    everyCurrent(({ text, keyboard }) => text.startsWith('🟢') && keyboard.length === 0),
  );

  const deliveries = await until('every delivery', async () => {
    const all = await Promise.all(groups.map(deliveryOf));
    return all.every(({ state }) => state === 'delivered') ? all : null;
  });
  for (const [index, name] of names.entries()) {
    const added = repliesTo(current(name)).filter(({ text }) => text.includes('shard: b'));
    const isOnce = rootsOf(name).length === 1 && added.length === 1;
    expect([name, isOnce || deliveries[index]?.possible_duplicate]).toEqual([name, true]);
  }
});
