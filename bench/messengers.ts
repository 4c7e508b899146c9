/**
 * A chat server and a channel bot, each the strict one of the tests: how close a burst of new groups comes to what the
 * limiter of a Destination allows, what a message costs with limits wide open, and how soon a press is answered.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { startBotApi } from '../test/fakes/channel-bot/http.ts';
import { startChatServer } from '../test/fakes/chat-server/http.ts';
import { postTo } from '../test/harness/bridge-channel.ts';
import { snapshotBody } from '../test/harness/sender.ts';
import { Loaded } from './installation.ts';
import { type Bench, millis, percentiles, perSecond, type Row } from './report.ts';

const WIDE = { limit: 1000, per_seconds: 1 };
/** Within the limits that both messengers state for one place, and short enough for a bench. */
const LIMITED = { limit: 5, per_seconds: 1 };
const LIMITED_GROUPS = 300;
const WIDE_GROUPS = 2_000;
const PRESSES = 200;

/** A messenger as this bench sees it. */
interface Messenger {
  readonly connection: object;
  readonly place: object;
  /** Root messages so far. */
  roots(): number;
  /** Presses Ack of the n-th root message and resolves once the person is answered. */
  press(n: number): Promise<void>;
  /** Links the account that presses to whoever is signed in. */
  link(tocsin: Loaded, connectionId: string): Promise<void>;
  close(): Promise<void>;
}

async function chatServer(): Promise<Messenger> {
  const { server, url, token, close } = await startChatServer();
  const person = server.addUser('alice');
  const posted = () =>
    server.posts.filter(({ rootId, channelId }) => rootId === '' && channelId === server.channel.id);
  return {
    connection: { type: 'chat_server', server_url: url, bot_token: token },
    place: { type: 'chat_server', team_id: server.team.id, channel_id: server.channel.id },
    roots: () => posted().length,
    async press(n) {
      const [answer] = await server.press(posted()[n]?.id ?? '', 'ack', person);
      if (answer?.status !== 200) throw new Error(`A press was answered ${answer?.status}`);
    },
    async link({ api }, connectionId) {
      const asked = { connection_id: connectionId, username: '@alice' };
      const started = await api.call('POST', '/me/account-links/chat-server', asked);
      const [code] = /[A-Z0-9]{4}-?[A-Z0-9]{4}/.exec(server.posts.at(-1)?.message ?? '') ?? [];
      const body = { request_id: started.body.request_id, code };
      await api.call('POST', '/me/account-links/chat-server/confirmation', body);
    },
    close,
  };
}

async function channelBot(): Promise<Messenger> {
  const { server, url, token, close } = await startBotApi();
  const { world, answers } = server;
  const person = world.addPerson(5001, 'alice');
  return {
    connection: { type: 'channel_bot', bot_api_base_url: url, bot_token: token },
    place: { type: 'channel_bot', channel_id: String(world.channel.id) },
    roots: () => world.channel.messages.length,
    async press(n) {
      const message = world.channel.messages[n];
      if (!message) throw new Error(`There is no message ${n}`);
      const query = server.press(message, 'Ack', person);
      while (!answers.some(({ queryId }) => queryId === query)) await pause(5);
    },
    async link({ api }, connectionId) {
      const started = await api.post('/me/account-links/channel-bot', { connection_id: connectionId });
      const [, text = ''] = /[?&]start=([\w-]+)/.exec(started.url) ?? [];
      const chat = world.addChat(person.id, 'private', 'Alice');
      server.write(chat, person, `/start ${text}`);
      while ((await api.get('/me/account-links')).items.length === 0) await pause(50);
    },
    close,
  };
}

async function post({ ready }: Loaded, name: string): Promise<void> {
  const alerts = [{ labels: { alertname: name, cluster: 'production-eu-1', severity: 'warning' } }];
  const response = await fetch(ready.ingest_endpoint, {
    method: 'POST',
    headers: { authorization: `Bearer ${ready.integration_token}`, 'content-type': 'application/json' },
    body: snapshotBody({ groupKey: name, alerts }),
  });
  if (response.status !== 202) throw new Error(`A Snapshot was answered ${response.status}`);
}

/** Posts new groups and waits until each has its message. @returns seconds from the first post */
async function burst(tocsin: Loaded, messenger: Messenger, groups: number, name: string): Promise<number> {
  const wanted = messenger.roots() + groups;
  const from = performance.now();
  const names = Array.from({ length: groups }, (_, n) => `${name}${n}x`);
  const lanes = Array.from({ length: 16 }, async () => {
    for (let next = names.pop(); next !== undefined; next = names.pop()) await post(tocsin, next);
  });
  await Promise.all(lanes);
  while (messenger.roots() < wanted) await pause(20);
  if (messenger.roots() > wanted) throw new Error('A message was posted twice');
  return (performance.now() - from) / 1000;
}

async function measure(start: () => Promise<Messenger>, progress: (what: string) => void) {
  const messenger = await start();
  const tocsin = await Loaded.start();
  const { api } = tocsin;
  try {
    await api.change('/organization/outbound-policy', (policy) => ({ ...policy, allowed: ['127.0.0.0/8'] }));
    const common = { name: 'bench', proxy: { enabled: false }, limiter: WIDE };
    const connection = await api.post('/connections', { ...common, ...messenger.connection });
    const place = { ...messenger.place, name: 'bench', connection_id: connection.id };
    const { destination } = await api.post('/destinations', { ...place, limiter: LIMITED });
    await postTo(api, [destination.id], { storm_threshold: 100_000 });
    await messenger.link(tocsin, connection.id);
    progress(`${LIMITED_GROUPS} groups within the limiter`);
    const limited = await burst(tocsin, messenger, LIMITED_GROUPS, 'Limited');
    await api.change(`/destinations/${destination.id}`, () => ({ ...place, limiter: WIDE }));
    await burst(tocsin, messenger, 50, 'Warm');
    progress(`${WIDE_GROUPS} groups with limits wide open`);
    const [service, postgres] = [tocsin.cpuSeconds(), tocsin.postgresCpuSeconds()];
    const transactions = await tocsin.transactions();
    const from = messenger.roots();
    const seconds = await burst(tocsin, messenger, WIDE_GROUPS, 'Wide');
    const each = (used: number) => (used * 1000) / WIDE_GROUPS;
    const wide = {
      rate: WIDE_GROUPS / seconds,
      serviceMillis: each(tocsin.cpuSeconds() - service),
      postgresMillis: each(tocsin.postgresCpuSeconds() - postgres),
      transactions: ((await tocsin.transactions()) - transactions) / WIDE_GROUPS,
    };
    progress(`${PRESSES} presses in a second`);
    const begun = performance.now();
    const presses = Array.from({ length: PRESSES }, async (_, n) => {
      const due = begun + (n / PRESSES) * 1000;
      await pause(Math.max(0, due - performance.now()));
      await messenger.press(from + n);
      return performance.now() - due;
    });
    return { limited, wide, pressed: percentiles(await Promise.all(presses)) };
  } finally {
    await tocsin.remove();
    await messenger.close();
  }
}

/** What the limiter allows: one limit at once, the rest at its pace. */
const LEAST_SECONDS = ((LIMITED_GROUPS - LIMITED.limit) / LIMITED.limit) * LIMITED.per_seconds;

function rowsOf(what: string, { limited, wide, pressed }: Awaited<ReturnType<typeof measure>>): Row[] {
  const spent = `service ${millis(wide.serviceMillis)}, PostgreSQL ${millis(wide.postgresMillis)}`;
  return [
    {
      what: `${what}: ${LIMITED_GROUPS} groups, time ÷ what the limiter of ${LIMITED.limit}/s allows`,
      value: (limited / LEAST_SECONDS).toFixed(2),
      goal: 'at most 1.1',
      met: limited / LEAST_SECONDS <= 1.1,
    },
    { what: `${what}: ${WIDE_GROUPS} groups, limits wide open`, value: perSecond(wide.rate) },
    { what: `${what}: spent on each`, value: `${spent}, ${wide.transactions.toFixed(1)} transactions` },
    {
      what: `${what}: ${PRESSES} presses in a second, answered`,
      value: `p50 ${millis(pressed.p50)}, p99 ${millis(pressed.p99)}`,
      goal: 'p99 under 500 ms',
      met: pressed.p99 < 500,
    },
  ];
}

export const messengers: Bench = {
  name: 'messengers',
  title: 'A chat server and a channel bot on this machine, the strict ones of the tests',
  async run(options) {
    const chat = await measure(chatServer, (what) => options.progress(`chat server: ${what}`));
    const bot = await measure(channelBot, (what) => options.progress(`channel bot: ${what}`));
    return { rows: [...rowsOf('chat server', chat), ...rowsOf('channel bot', bot)], raw: { chat, bot } };
  },
};
