/**
 * One Alert Group in several messengers and at a webhook at once, and what changes of its Route and of a Destination come to
 * (delivery §3, §8). Two Connections lead to the same server.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningBotApi, startBotApi } from '../fakes/channel-bot/http.ts';
import { type RunningChatServer, startChatServer } from '../fakes/chat-server/http.ts';
import { type ReferenceBridge, startReferenceBridge } from '../fakes/reference-bridge.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../fakes/webhook-receiver.ts';
import { Api, type Json } from '../harness/api.ts';
import { postTo } from '../harness/bridge-channel.ts';
import { Sender } from '../harness/sender.ts';
import { Installation } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const WIDE = { limit: 1000, per_seconds: 1 };
const tocsin = new Installation();
let api: Api;
let sender: Sender;
let chat: RunningChatServer;
let bot: RunningBotApi;
let bridge: ReferenceBridge;
let receiver: WebhookReceiver;
let chatPlace: Json;
/** Ids of Connections and Destinations, by name. */
const connections: Record<string, string> = {};
const destinations: Record<string, string> = {};

beforeAll(async () => {
  [chat, bot, bridge, receiver] = await Promise.all([
    startChatServer(),
    startBotApi(),
    startReferenceBridge(),
    startWebhookReceiver(),
  ]);
  bot.server.settings.limits = false;
  const ready = await tocsin.start();
  api = await Api.signIn(ready);
  sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
  await api.change('/organization/outbound-policy', (policy) => ({ ...policy, allowed: ['127.0.0.0/8'] }));
  for (const name of ['chat', 'same server']) {
    await connect(name, { type: 'chat_server', server_url: chat.url, bot_token: chat.token });
  }
  await connect('bot', { type: 'channel_bot', bot_api_base_url: bot.url, bot_token: bot.token });
  await connect('bridge', { type: 'bridge', base_url: bridge.url, bot_token: bridge.token });
  const { items } = await api.get(`/connections/${connections.chat}/channels?q=alerts`);
  chatPlace = { type: 'chat_server', team_id: items[0].team_id, channel_id: items[0].id };
  await createDestination('chat', { ...chatPlace, connection_id: connections.chat });
  await createDestination('same channel', { ...chatPlace, connection_id: connections['same server'] });
  const channel = String(bot.server.world.channel.id);
  await createDestination('bot', {
    type: 'channel_bot',
    connection_id: connections.bot,
    channel_id: channel,
  });
  await createDestination('bridge', {
    ...{ type: 'bridge', connection_id: connections.bridge, channel_id: 'alerts/prod' },
  });
  const events = { url: `${receiver.url}/in`, headers: [] };
  receiver.trust(await createDestination('webhook', { type: 'webhook', mode: 'events', events }));
});

afterAll(async () => {
  await tocsin.remove();
  await Promise.all([chat, bot, bridge, receiver].map((fake) => fake.close()));
});

async function connect(name: string, fields: object): Promise<void> {
  const common = { name, proxy: { enabled: false }, limiter: WIDE };
  connections[name] = (await api.post('/connections', { ...common, ...fields })).id;
}

/** @returns the signing secret of a webhook */
async function createDestination(name: string, fields: object): Promise<string> {
  const created = await api.post('/destinations', { name, limiter: WIDE, ...fields });
  destinations[name] = created.destination.id;
  return created.signing_secret;
}

async function fire(name: string, status: 'firing' | 'resolved' = 'firing', pods = ['a']): Promise<void> {
  const alerts = pods.map((shard) => ({ status, labels: { alertname: name, shard, severity: 'critical' } }));
  expect(await sender.post({ groupKey: `{}:{alertname="${name}"}`, alerts })).toBe(202);
}

const route = (...names: readonly string[]) =>
  postTo(
    api,
    names.map((name) => destinations[name] ?? ''),
    { thread_batching_window_seconds: 0 },
  );
const groupOf = async (name: string): Promise<Json> => (await api.get(`/alert-groups?q=${name}`)).items[0];

/** Root messages about a group that stand in the chat server now, and how each begins. */
const posts = (name: string) =>
  chat.server.posts.filter(
    ({ rootId, message, deleteAt }) => rootId === '' && deleteAt === 0 && message.includes(` ${name}`),
  );
const botPosts = (name: string) => {
  const { world } = bot.server;
  return world.messages(world.channel).filter(({ text }) => text.includes(` ${name}`));
};
const bridgePosts = (name: string) =>
  bridge.messenger.posts.filter(
    ({ kind, heading, deleted }) => kind === 'root' && !deleted && heading?.title.endsWith(` ${name}`),
  );
const eventsOf = (name: string) =>
  receiver.received.filter(({ raw }) => raw.includes(`"${name}"`)).map(({ body: { event } }) => event);

test('one group is one message in each messenger and one line of events, and all of them follow it', async () => {
  await route('chat', 'bot', 'bridge', 'webhook');
  await fire('Crossing');
  const standing = () =>
    [posts('Crossing'), botPosts('Crossing'), bridgePosts('Crossing')].map((all) => all.length);
  await until('a message in each', async () => standing().every((count) => count > 0));
  const group = await until('the group', () => groupOf('Crossing'));
  await api.post(`/alert-groups/${group.id}/acknowledge`);
  await until('the edit', async () => {
    const [post, sent, relayed] = [posts('Crossing')[0], botPosts('Crossing')[0], bridgePosts('Crossing')[0]];
    return (
      post?.message.startsWith('🟠') &&
      sent?.text.startsWith('🟠') &&
      relayed?.heading?.status === 'acknowledged'
    );
  });
  await fire('Crossing', 'resolved');
  await until('the end', async () => {
    const [post, sent, relayed] = [posts('Crossing')[0], botPosts('Crossing')[0], bridgePosts('Crossing')[0]];
    return (
      post?.message.startsWith('🟢') && sent?.text.startsWith('🟢') && relayed?.heading?.status === 'resolved'
    );
  });
  await until('the events', async () => eventsOf('Crossing').length >= 3);
  expect(standing()).toEqual([1, 1, 1]);
  expect(eventsOf('Crossing')).toEqual(['created', 'acknowledged', 'resolved']);
});

test('two Connections to one server post each once, and neither takes the message of the other for its own', async () => {
  await route('chat', 'same channel');
  await fire('Twice');
  await until('both posts', async () => posts('Twice').length === 2);
  const group = await until('the group', () => groupOf('Twice'));
  await api.post(`/alert-groups/${group.id}/acknowledge`);
  await until('both edits', async () => posts('Twice').every(({ message }) => message.startsWith('🟠')));
  const { items } = await api.get(`/alert-groups/${group.id}/deliveries`);
  expect(new Set(items.map(({ message_url: url }: Json) => url)).size).toBe(2);
  await fire('Twice', 'resolved');
  await until('both ends', async () => posts('Twice').every(({ message }) => message.startsWith('🟢')));
  expect(posts('Twice')).toHaveLength(2);
});

test('a Route that moves from one messenger to another ends the first message and begins the second', async () => {
  await route('chat');
  await fire('Moved');
  await until('the post', async () => posts('Moved').length === 1);
  await route('bot');
  await fire('Moved', 'firing', ['a', 'b']);
  await until('the message of the bot', async () => botPosts('Moved').length === 1);
  await fire('Moved', 'resolved', ['a', 'b']);
  await until('its end', async () => botPosts('Moved')[0]?.text.startsWith('🟢'));
  const group = (await api.get('/alert-groups?q=Moved&status=resolved')).items[0];
  const states = async () => {
    const { items } = await api.get(`/alert-groups/${group.id}/deliveries`);
    return Object.fromEntries(items.map(({ destination, state }: Json) => [destination.name, state]));
  };
  await until('the answer of the bot', async () => (await states()).bot === 'delivered');
  expect(await states()).toEqual({ bot: 'delivered', chat: 'retired' });
  expect(posts('Moved')).toHaveLength(1);
});

test('a Destination that is switched to another Connection goes on there, with a message of its own', async () => {
  await route('chat');
  await fire('Switched');
  const earlier = await until('the post', async () => posts('Switched')[0]);
  const group = await until('the group', () => groupOf('Switched'));
  await api.change(`/destinations/${destinations.chat}`, (saved) => ({
    ...{ type: saved.type, name: saved.name, mentions: saved.mentions, limiter: saved.limiter },
    ...{ ...chatPlace, connection_id: connections['same server'] },
  }));
  await api.post(`/alert-groups/${group.id}/acknowledge`);
  const newest = await until('a message that is acknowledged', async () =>
    posts('Switched').find(({ id, message }) => id !== earlier.id && message.startsWith('🟠')),
  );
  await fire('Switched', 'resolved');
  await until('its end', async () => newest.message.startsWith('🟢'));
  const items = await until('its answer', async () => {
    const found = (await api.get(`/alert-groups/${group.id}/deliveries`)).items;
    return found[0].state === 'delivered' ? found : null;
  });
  expect(items).toMatchObject([{ possible_duplicate: false }]);
  expect(posts('Switched')).toHaveLength(2);
  const [attachment] = posts('Switched')[0]?.props.attachments ?? [];
  expect(attachment?.text).toContain('Not kept up to date any more');
  expect(attachment?.actions).toEqual([]);
});
