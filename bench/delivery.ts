/** How long a post takes to reach a bridge as a message at 50 new groups a second, and how many messages go out a second in a burst. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Json } from '../test/harness/api.ts';
import { snapshotBody } from '../test/harness/sender.ts';
import { Loaded } from './installation.ts';
import { startLoop } from './limit/start.ts';
import { type Bench, type BenchOptions, millis, percentiles, perSecond, type Row } from './report.ts';

const SLOW_RATE = 50;
const BURST = 2_000;
const CHANNELS = 4;
/** Of what a loop without rules, fencing and retries does on the same machine in the same run. */
const SHARE_OF_LIMIT = 0.4;
const WIDE = { limit: 1000, per_seconds: 1 };

const INFO = {
  protocol_version: '1',
  bridge: { name: 'bench', version: '1' },
  messenger: { name: 'Nowhere' },
  capabilities: { buttons: true, quiet_messages: true, native_mentions: true },
  limits: { max_body_length: 4000 },
  user_lookup: 'none',
  event_delivery: ['poll'],
};

/** A bridge that takes everything at once, and keeps when each message came first. */
async function startBridge() {
  const firstAt = new Map<string, number>();
  let posts = 0;
  const server = createServer(async (request, response) => {
    const at = performance.now();
    const body = await bodyOf(request);
    const { method, url = '' } = request;
    const answer = (value: unknown) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (url === '/v1/info') return answer(INFO);
    if (url.startsWith('/v1/channels/')) {
      const id = decodeURIComponent(url.slice('/v1/channels/'.length));
      return answer({ channel_id: id, name: id });
    }
    if (url.startsWith('/v1/events')) {
      await pause(20_000, undefined, { ref: false });
      return answer({ events: [], next_cursor: 'c' });
    }
    if (method === 'PUT') return answer({ truncated: false });
    posts++;
    const title = (JSON.parse(body) as { title?: string }).title ?? '';
    const name = title.slice(title.indexOf(' ') + 1);
    if (!firstAt.has(name)) firstAt.set(name, at);
    answer({ message_id: `m-${posts}`, thread_ref: null, truncated: false, replayed: false });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    firstAt,
    posts: () => posts,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** A Tocsin whose Default route posts to some channels of a bridge, each through a Connection of its own. */
async function started(channels: number) {
  const tocsin = await Loaded.start();
  const bridge = await startBridge();
  const { api } = tocsin;
  await api.change('/organization/outbound-policy', (policy) => ({ ...policy, allowed: ['127.0.0.0/8'] }));
  const destinations: string[] = [];
  for (let n = 0; n < channels; n++) {
    const connection = await api.post('/connections', {
      ...{ type: 'bridge', name: `bridge ${n}`, base_url: bridge.url, bot_token: 'bench' },
      ...{ event_mode: 'poll', proxy: { enabled: false }, limiter: WIDE },
    });
    const { destination } = await api.post('/destinations', {
      ...{ type: 'bridge', name: `channel ${n}`, connection_id: connection.id, channel_id: `c${n}` },
      limiter: WIDE,
    });
    destinations.push(destination.id);
  }
  const { items } = await api.get('/routes');
  const fallback = items.find((route: Json) => route.is_default);
  await api.change(`/routes/${fallback.id}`, (route) => ({
    ...route,
    destination_ids: destinations,
    policy: { ...route.policy, storm_threshold: 100_000 },
  }));
  const remove = async () => {
    bridge.close();
    await tocsin.remove();
  };
  return { tocsin, bridge, remove };
}

interface Endpoint {
  readonly url: string;
  readonly token: string;
}

async function postOne({ url, token }: Endpoint, name: string): Promise<void> {
  const alerts = [{ labels: { alertname: name, cluster: 'production-eu-1', severity: 'warning' } }];
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
    },
    body: snapshotBody({ groupKey: name, alerts }),
  });
  if (response.status !== 202) throw new Error(`A Snapshot was answered ${response.status}`);
}

/** New groups at a fixed rate: from the moment each was to be posted to the call of the bridge. */
async function atFixedRate(options: BenchOptions) {
  const { tocsin, bridge, remove } = await started(1);
  try {
    const due = new Map<string, number>();
    const endpoint = endpointOf(tocsin);
    const total = SLOW_RATE * (options.seconds + options.warmupSeconds);
    const begun = performance.now();
    const answers: Promise<void>[] = [];
    for (let n = 0; n < total; n++) {
      const at = begun + (n / SLOW_RATE) * 1000;
      const wait = at - performance.now();
      if (wait > 0) await pause(wait);
      if (n >= SLOW_RATE * options.warmupSeconds) due.set(`Told${n}`, at);
      answers.push(postOne(endpoint, `Told${n}`));
    }
    await Promise.all(answers);
    while (bridge.firstAt.size < total) await pause(20);
    return percentiles([...due].map(([name, at]) => (bridge.firstAt.get(name) ?? Number.NaN) - at));
  } finally {
    await remove();
  }
}

/** What many groups at once come to, each told to so many places. */
interface Burst {
  /** Messages a second, from the first post to the last message. */
  readonly rate: number;
  /** Processor time a message, everything that a new group costs included, ms. */
  readonly serviceMillis: number;
  readonly postgresMillis: number;
  /** Transactions a message, those of the service's own upkeep included. */
  readonly transactions: number;
  readonly repeated: number;
}

const endpointOf = ({ ready }: Loaded): Endpoint => ({
  url: ready.ingest_endpoint,
  token: ready.integration_token ?? '',
});

/** What spends: processor seconds and transactions so far. */
interface Meters {
  cpuSeconds(): number;
  postgresCpuSeconds(): number;
  transactions(): Promise<number>;
}

async function burst(
  meters: Meters,
  endpoint: Endpoint,
  places: number,
  arrived: () => number,
): Promise<Burst> {
  const before = arrived();
  for (let n = 0; n < 50; n++) await postOne(endpoint, `Warm${n}`);
  while (arrived() - before < 50 * places) await pause(20);
  const transactions = await meters.transactions();
  const [service, postgres] = [meters.cpuSeconds(), meters.postgresCpuSeconds()];
  const from = performance.now();
  const names = Array.from({ length: BURST }, (_, n) => `Burst${n}`);
  const lanes = Array.from({ length: 16 }, async () => {
    for (let name = names.pop(); name !== undefined; name = names.pop()) await postOne(endpoint, name);
  });
  await Promise.all(lanes);
  const wanted = before + (BURST + 50) * places;
  while (arrived() < wanted) await pause(20);
  const seconds = (performance.now() - from) / 1000;
  const messages = BURST * places;
  return {
    rate: messages / seconds,
    serviceMillis: ((meters.cpuSeconds() - service) * 1000) / messages,
    postgresMillis: ((meters.postgresCpuSeconds() - postgres) * 1000) / messages,
    transactions: ((await meters.transactions()) - transactions) / messages,
    repeated: arrived() - wanted,
  };
}

async function burstOfMessages(channels: number): Promise<Burst> {
  const { tocsin, bridge, remove } = await started(channels);
  try {
    return await burst(tocsin, endpointOf(tocsin), channels, bridge.posts);
  } finally {
    await remove();
  }
}

/** One channel, and then the bare loop on the installation that Tocsin filled and left. */
async function burstBesideLoop(): Promise<{ product: Burst; limit: Burst }> {
  const { tocsin, bridge, remove } = await started(1);
  try {
    const product = await burst(tocsin, endpointOf(tocsin), 1, bridge.posts);
    while (await tocsin.isBusy()) await pause(20);
    await pause(3_000);
    await tocsin.sql.end();
    await tocsin.installation.stop();
    const loop = await startLoop(
      tocsin.installation.dataDir,
      { url: `${bridge.url}/v1/messages`, authorization: 'Bearer bench' },
      'Burst7',
    );
    const limit = await burst(loop, { url: loop.url, token: '' }, 1, bridge.posts).finally(loop.stop);
    return { product, limit };
  } finally {
    await remove();
  }
}

async function burstOfEvents(): Promise<Burst> {
  const tocsin = await Loaded.start();
  let events = 0;
  const receiver = createServer(async (request, response) => {
    await bodyOf(request);
    events++;
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  try {
    await tocsin.attachWebhook(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`);
    return await burst(tocsin, endpointOf(tocsin), 1, () => events);
  } finally {
    receiver.closeAllConnections();
    receiver.close();
    await tocsin.remove();
  }
}

function burstRows(what: string, { rate, serviceMillis, postgresMillis, transactions }: Burst): Row[] {
  const spent = `service ${millis(serviceMillis)}, PostgreSQL ${millis(postgresMillis)}, ${transactions.toFixed(1)} transactions`;
  return [
    { what, value: perSecond(rate) },
    { what: `${what}: spent on each`, value: spent },
  ];
}

export const delivery: Bench = {
  name: 'delivery',
  title: 'From post to message: a bridge and a webhook on this machine, limiters wide open',
  async run(options) {
    options.progress(`${SLOW_RATE} new groups a second`);
    const slow = await atFixedRate(options);
    options.progress(`${BURST} groups at once, one channel`);
    const { product: one, limit } = await burstBesideLoop();
    options.progress(`${BURST} groups at once, ${CHANNELS} channels`);
    const many = await burstOfMessages(CHANNELS);
    options.progress(`${BURST} groups at once, a webhook of events`);
    const events = await burstOfEvents();
    const rows: Row[] = [
      {
        what: `post to bridge call, at ${SLOW_RATE}/s`,
        value: `p50 ${millis(slow.p50)}, p95 ${millis(slow.p95)}, p99 ${millis(slow.p99)}`,
        goal: 'p95 under 100 ms',
        met: slow.p95 < 100,
      },
      ...burstRows('messages, one channel', one),
      ...burstRows('the bare loop', limit),
      {
        what: 'messages, one channel ÷ the bare loop',
        value: (one.rate / limit.rate).toFixed(2),
        goal: `at least ${SHARE_OF_LIMIT}`,
        met: one.rate / limit.rate >= SHARE_OF_LIMIT,
        compared: { product: one.rate, limit: limit.rate },
      },
      {
        what: 'transactions a message, one channel',
        value: one.transactions.toFixed(1),
        goal: 'at most 1',
        met: one.transactions <= 1,
      },
      ...burstRows(`messages, ${CHANNELS} channels`, many),
      ...burstRows('events, one webhook', events),
    ];
    return { rows, raw: { slow, one, limit, many, events } };
  },
};
