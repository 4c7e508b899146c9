/**
 * A chat server and a channel bot, each the strict one of the tests: how close a burst of new groups comes to what the
 * limiter of a Destination allows, what a message costs with limits wide open, and how soon a press is answered.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { startBotApi } from '../test/fakes/channel-bot/http.ts';
import type { FakePerson } from '../test/fakes/channel-bot/world.ts';
import { startChatServer } from '../test/fakes/chat-server/http.ts';
import type { FakeUser } from '../test/fakes/chat-server/server.ts';
import type { Api } from '../test/harness/api.ts';
import { postTo } from '../test/harness/bridge-channel.ts';
import { signUp } from '../test/harness/seeded.ts';
import { snapshotBody } from '../test/harness/sender.ts';
import { Loaded } from './installation.ts';
import { startLoop } from './limit/start.ts';
import { type Bench, millis, percentiles, perSecond, type Row } from './report.ts';

const WIDE = { limit: 1000, per_seconds: 1 };
/** The servers' own limits are off: the limiter here is the one that bounds a burst. */
const LIMITED = { limit: 25, per_seconds: 1 };
const GROUPS = 2_000;
const PRESSES = 200;
/** Presses of one person are handled one after the other. */
const PEOPLE = 20;
const SETTLING_MS = 2_000;

/** A messenger as this bench sees it. */
interface Messenger {
  readonly connection: object;
  readonly place: object;
  /** Where a message is posted, and with what credentials; empty: those of the address. */
  readonly postsTo: { readonly url: string; readonly authorization: string };
  /** Root messages so far. */
  roots(): number;
  /** One of them presses Ack of the n-th root message; resolves once that person is answered. */
  press(n: number): Promise<void>;
  /** Gives the person who is signed in an account, linked. */
  link(api: Api, connectionId: string, login: string): Promise<void>;
  close(): Promise<void>;
}

function turnOf<One>(people: readonly One[], n: number): One {
  const one = people[n % people.length];
  if (!one) throw new Error('Nobody presses');
  return one;
}

async function chatServer(): Promise<Messenger> {
  const { server, url, token, close } = await startChatServer();
  const people: FakeUser[] = [];
  const posted = () =>
    server.posts.filter(({ rootId, channelId }) => rootId === '' && channelId === server.channel.id);
  return {
    connection: { type: 'chat_server', server_url: url, bot_token: token },
    place: { type: 'chat_server', team_id: server.team.id, channel_id: server.channel.id },
    postsTo: { url: `${url}/api/v4/posts`, authorization: `Bearer ${token}` },
    roots: () => posted().length,
    async press(n) {
      const [answer] = await server.press(posted()[n]?.id ?? '', 'ack', turnOf(people, n));
      if (answer?.status !== 200) throw new Error(`A press was answered ${answer?.status}`);
    },
    async link(api, connectionId, login) {
      people.push(server.addUser(login));
      const asked = { connection_id: connectionId, username: `@${login}` };
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
  server.settings.limits = false;
  const people: FakePerson[] = [];
  return {
    connection: { type: 'channel_bot', bot_api_base_url: url, bot_token: token },
    place: { type: 'channel_bot', channel_id: String(world.channel.id) },
    postsTo: { url: `${url}/bot${token}/sendMessage`, authorization: '' },
    roots: () => world.channel.messages.length,
    async press(n) {
      const message = world.channel.messages[n];
      if (!message) throw new Error(`There is no message ${n}`);
      const query = server.press(message, 'Ack', turnOf(people, n));
      while (!answers.some(({ queryId }) => queryId === query)) await pause(5);
    },
    async link(api, connectionId, login) {
      const person = world.addPerson(5001 + people.length, login);
      people.push(person);
      const started = await api.post('/me/account-links/channel-bot', { connection_id: connectionId });
      const token = new URL(started.deep_link).searchParams.get('start');
      const chat = world.addChat(person.id, 'private', login);
      server.write(chat, person, `/start ${token}`);
      while ((await api.get('/me/account-links')).items.length === 0) await pause(50);
    },
    close,
  };
}

/** Where Snapshots are posted. */
interface Endpoint {
  readonly url: string;
  readonly token: string | null;
}

async function post({ url, token }: Endpoint, name: string): Promise<void> {
  const alerts = [{ labels: { alertname: name, cluster: 'production-eu-1', severity: 'warning' } }];
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: snapshotBody({ groupKey: name, alerts }),
  });
  if (response.status !== 202) throw new Error(`A Snapshot was answered ${response.status}`);
}

/** Posts new groups and waits until each has its message. @returns seconds from the first post */
async function burst(to: Endpoint, messenger: Messenger, groups: number, name: string): Promise<number> {
  const wanted = messenger.roots() + groups;
  const from = performance.now();
  const names = Array.from({ length: groups }, (_, n) => `${name}${n}x`);
  const lanes = Array.from({ length: 16 }, async () => {
    for (let next = names.pop(); next !== undefined; next = names.pop()) await post(to, next);
  });
  await Promise.all(lanes);
  while (messenger.roots() < wanted) await pause(20);
  if (messenger.roots() > wanted) throw new Error('A message was posted twice');
  return (performance.now() - from) / 1000;
}

/** What spends: processor seconds and transactions so far. */
interface Meters {
  cpuSeconds(): number;
  postgresCpuSeconds(): number;
  transactions(): Promise<number>;
}

/** What the work took, divided by how many pieces it has; behind it, 2 s in which edits and replies follow. */
async function spent<Result>(tocsin: Meters, pieces: number, work: () => Promise<Result>) {
  const [service, postgres] = [tocsin.cpuSeconds(), tocsin.postgresCpuSeconds()];
  const transactions = await tocsin.transactions();
  const result = await work();
  await pause(SETTLING_MS);
  return {
    result,
    serviceMillis: ((tocsin.cpuSeconds() - service) * 1000) / pieces,
    postgresMillis: ((tocsin.postgresCpuSeconds() - postgres) * 1000) / pieces,
    transactions: ((await tocsin.transactions()) - transactions) / pieces,
  };
}

async function measure(start: () => Promise<Messenger>, progress: (what: string) => void) {
  const messenger = await start();
  const tocsin = await Loaded.start();
  const { api, ready } = tocsin;
  const endpoint = { url: ready.ingest_endpoint, token: ready.integration_token };
  try {
    await api.change('/organization/outbound-policy', (policy) => ({ ...policy, allowed: ['127.0.0.0/8'] }));
    const common = { name: 'bench', proxy: { enabled: false }, limiter: WIDE };
    const connection = await api.post('/connections', { ...common, ...messenger.connection });
    const place = { ...messenger.place, name: 'bench', connection_id: connection.id };
    const { destination } = await api.post('/destinations', { ...place, limiter: LIMITED });
    await postTo(api, [destination.id], { storm_threshold: 100_000 });
    for (let n = 0; n < PEOPLE; n++) {
      const login = `responder${n}`;
      await messenger.link(await signUp(api, tocsin.ready, login, login), connection.id, login);
    }
    progress(`${GROUPS} groups within the limiter`);
    const limited = await burst(endpoint, messenger, GROUPS, 'Limited');
    await api.change(`/destinations/${destination.id}`, () => ({ ...place, limiter: WIDE }));
    await burst(endpoint, messenger, 50, 'Warm');
    progress(`${GROUPS} groups with limits wide open`);
    const from = messenger.roots();
    const wide = await spent(tocsin, GROUPS, () => burst(endpoint, messenger, GROUPS, 'Wide'));
    progress(`${PRESSES} presses in a second`);
    const press = async (n: number) => {
      const due = performance.now() + (n / PRESSES) * 1000;
      await pause(due - performance.now());
      await messenger.press(from + n);
      return performance.now() - due;
    };
    const pressed = await spent(tocsin, PRESSES, () =>
      Promise.all(Array.from({ length: PRESSES }, (_, n) => press(n))),
    );
    const limit = await bareLoop(tocsin, messenger);
    return { limited, wide, limit, pressed: { ...pressed, ...percentiles(pressed.result) } };
  } finally {
    await tocsin.remove();
    await messenger.close();
  }
}

/** The bare loop, on the installation that Tocsin filled and left. */
async function bareLoop(tocsin: Loaded, messenger: Messenger) {
  while (await tocsin.isBusy()) await pause(20);
  await pause(3_000);
  await tocsin.sql.end();
  await tocsin.installation.stop();
  const loop = await startLoop(tocsin.installation.dataDir, messenger.postsTo, 'Wide7x');
  const endpoint = { url: loop.url, token: null };
  try {
    await burst(endpoint, messenger, 50, 'WarmLoop');
    return await spent(loop, GROUPS, () => burst(endpoint, messenger, GROUPS, 'Loop'));
  } finally {
    await loop.stop();
  }
}

/** What the limiter allows: one limit at once, the rest at its pace. */
const LEAST_SECONDS = ((GROUPS - LIMITED.limit) / LIMITED.limit) * LIMITED.per_seconds;

function spentOf(
  what: string,
  used: { serviceMillis: number; postgresMillis: number; transactions: number },
): Row {
  const { serviceMillis, postgresMillis, transactions } = used;
  const value = `service ${millis(serviceMillis)}, PostgreSQL ${millis(postgresMillis)}`;
  return { what, value: `${value}, ${transactions.toFixed(1)} transactions` };
}

function rowsOf(what: string, { limited, wide, limit, pressed }: Awaited<ReturnType<typeof measure>>): Row[] {
  return [
    {
      what: `${what}: ${GROUPS} groups, time ÷ what the limiter of ${LIMITED.limit}/s allows`,
      value: (limited / LEAST_SECONDS).toFixed(2),
      goal: 'at most 1.1',
      met: limited / LEAST_SECONDS <= 1.1,
    },
    { what: `${what}: ${GROUPS} groups, limits wide open`, value: perSecond(GROUPS / wide.result) },
    spentOf(`${what}: spent on each`, wide),
    { what: `${what}: the bare loop`, value: perSecond(GROUPS / limit.result) },
    spentOf(`${what}: the bare loop, spent on each`, limit),
    { what: `${what}: ÷ the bare loop`, value: (limit.result / wide.result).toFixed(2) },
    {
      what: `${what}: ${PRESSES} presses in a second, answered`,
      value: `p50 ${millis(pressed.p50)}, p99 ${millis(pressed.p99)}`,
      goal: 'p99 under 500 ms',
      met: pressed.p99 < 500,
    },
    spentOf(`${what}: spent on each press, with its edit and its reply`, pressed),
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
