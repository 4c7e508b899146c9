/**
 * The chaos proof of delivery: the real service with two bridges and a receiver of events that do everything wrong while
 * Alert Groups live, and the comparison once they behave again (delivery §3 to §8, webhooks §3).
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type ChaosGateway, startChaosGateway } from '../fakes/chaos-gateway.ts';
import { startWebhookReceiver } from '../fakes/webhook-receiver.ts';
import { Api } from '../harness/api.ts';
import { postTo } from '../harness/bridge-channel.ts';
import { type LifecycleEvent, webhookFaults } from '../harness/consistency.ts';
import { randomSource } from '../harness/random.ts';
import { Sender } from '../harness/sender.ts';
import { Installation } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';
import { type Channel, startChannel } from './channel.ts';
import { channelFault, eventsOf, previewFault, readGroup } from './message-checks.ts';
import { actOnce, addAlert, endAlerts, type Story } from './stories.ts';
import { createTroubles, ROUGH, STEADY, type Troubles, UNSTEADY_RECEIVER } from './troubles.ts';

export interface ChaosOptions {
  readonly groups: number;
  readonly seed: number;
  /** How many things happen to each group while the chaos rages, and how long it rages at least, seconds. */
  readonly acts: number;
  readonly rage: number;
  /** How long everything may take to settle, seconds. */
  readonly patience: number;
  readonly progress: (what: string) => void;
}

export interface ChaosReport {
  readonly figures: Readonly<Record<string, unknown>>;
  /** One sentence each; empty when all is as it should be. */
  readonly faults: readonly string[];
}

const WIDE = { limit: 1000, per_seconds: 1 };
const LANES = 8;
const TROUBLE_RATE = 0.3;
/** Previews that are compared word by word. */
const MOST_PREVIEWS = 500;
const EVERY_STATUS = 'status=firing&status=acknowledged&status=snoozed&status=resolved';
const POLICY = {
  thread_batching_window_seconds: 0,
  storm_threshold: 100_000,
  reopen_window_seconds: 86_400,
};

export async function chaos(options: ChaosOptions): Promise<ChaosReport> {
  const random = randomSource(options.seed);
  const chance = { rate: TROUBLE_RATE, random };
  const tocsin = new Installation();
  const receiver = await startWebhookReceiver();
  const hooks = await startChaosGateway(new URL(receiver.url).origin, () => undefined);
  const hookTroubles = createTroubles(UNSTEADY_RECEIVER, { ...chance, remove: () => false });
  const channels = [await startChannel('steady', STEADY, chance), await startChannel('rough', ROUGH, chance)];
  const gateways = [...channels.map(({ gateway }) => gateway), hooks];
  try {
    const ready = await tocsin.start();
    const api = await Api.signIn(ready);
    await api.change('/organization/outbound-policy', (policy) => ({ ...policy, allowed: ['127.0.0.0/8'] }));
    for (const channel of channels) await attach(api, channel);
    const created = await api.post('/destinations', {
      ...{ type: 'webhook', name: 'events', mode: 'events', limiter: WIDE },
      events: { url: `${hooks.url}/in`, headers: [] },
    });
    receiver.trust(created.signing_secret);
    const destinationIds = [...channels.map((one) => one.destinationId), created.destination.id];
    await postTo(api, destinationIds, POLICY);
    const sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
    const stories = Array.from({ length: options.groups }, (_, n): Story => {
      return { name: `Chaos${n}`, sender, random, id: null, next: 0, firing: [] };
    });

    const began = performance.now();
    const troubled = [...channels.map(({ troubles }) => troubles), hookTroubles];
    for (const [place, gateway] of gateways.entries()) gateway.trouble(choose(troubled[place]));
    const weather = startWeather({ api, gateways, destinationIds, random });
    await inLanes(stories, (story) => addAlert(story, api));
    await until('every group', () => found(api, stories), options.patience);
    options.progress(`${stories.length} groups are there`);
    for (let act = 0; act < options.acts; act++) {
      const turn = pause((options.rage * 1000) / options.acts);
      await inLanes(stories, (story) => actOnce(story, api));
      await turn;
      options.progress(`${act + 1} of ${options.acts} acts`);
    }
    const restarts = await weather.end();
    const chaosSeconds = seconds(began);
    options.progress(`calm after ${chaosSeconds} s`);

    await mend(api, destinationIds, options.patience);
    await inLanes(stories, (story) => (random() < 0.5 ? addAlert(story, api) : endAlerts(story, api)));
    await until('every Snapshot to be processed', () => isProcessed(api), options.patience);
    const faults = await checkMessages(api, channels, options);
    const events = await allEvents(api);
    await until('every event', async () => receiver.received.length >= events.length, options.patience);
    const orders = await until(
      'the events in their order',
      async () => {
        const wrong = webhookFaults(receiver.received, events);
        return wrong.some((fault) => fault.endsWith('never came')) ? null : { wrong };
      },
      options.patience,
    );
    const health = await unhealthy(api, destinationIds);
    const settledSeconds = seconds(began) - chaosSeconds;
    return {
      faults: [
        ...faults,
        ...orders.wrong.map((fault) => `events: ${fault}`),
        ...receiver.faults.map((fault) => `events: ${fault}`),
        ...health,
        ...channels.flatMap(({ name, refusals }) => refusals.map((one) => `${name} was sent ${one}`)),
      ],
      figures: {
        ...{ stories: stories.length, events: events.length, chaosSeconds, settledSeconds, restarts },
        ...Object.fromEntries(channels.map((channel) => [channel.name, figuresOf(channel)])),
        webhooks: { requests: receiver.received.length, troubles: hookTroubles.given },
      },
    };
  } finally {
    await tocsin.remove();
    for (const channel of channels) await channel.close();
    await hooks.close();
    await receiver.close();
  }
}

function choose(troubles: Troubles | undefined): Troubles['choose'] | null {
  return troubles ? (asked) => troubles.choose(asked) : null;
}

async function attach(api: Api, channel: Channel): Promise<void> {
  const connection = await api.post('/connections', {
    ...{ type: 'bridge', name: channel.name, base_url: channel.gateway.url },
    ...{ bot_token: channel.bridge.token, event_mode: 'poll', proxy: { enabled: false }, limiter: WIDE },
  });
  const { destination } = await api.post('/destinations', {
    ...{ type: 'bridge', name: channel.name, connection_id: connection.id },
    ...{ channel_id: 'alerts/prod', limiter: WIDE },
  });
  channel.destinationId = destination.id;
}

interface Weather {
  readonly api: Api;
  readonly gateways: readonly ChaosGateway[];
  readonly destinationIds: readonly string[];
  readonly random: () => number;
}

/** Gateways go away and come back, and somebody saves what became Broken, until it ends. */
function startWeather({ api, gateways, destinationIds, random }: Weather) {
  const over = new AbortController();
  let restarts = 0;
  const rest = (ms: number) => pause(ms, undefined, { signal: over.signal }).catch(() => undefined);

  const restarting = gateways.map(async (gateway) => {
    while (!over.signal.aborted) {
      await rest(1_500 + random() * 4_000);
      if (over.signal.aborted) return;
      await gateway.goAway();
      await rest(100 + random() * 900);
      await gateway.comeBack();
      restarts++;
    }
  });
  const mending = (async () => {
    while (!over.signal.aborted) {
      await rest(500);
      for (const id of destinationIds) await saveIfBroken(api, id);
    }
  })();
  return {
    async end(): Promise<number> {
      over.abort();
      await Promise.all([...restarting, mending]);
      for (const gateway of gateways) {
        gateway.trouble(null);
        gateway.release();
      }
      return restarts;
    },
  };
}

/** A save probes at once. @returns whether it was Broken, or may have been */
export async function saveIfBroken(api: Api, id: string): Promise<boolean> {
  const read = await api.call('GET', `/destinations/${id}`);
  // A service that is full says so; it is asked again.
  if (read.status !== 200) return true;
  if (read.body.health.state !== 'broken') return false;
  // The messenger may refuse the check that comes with it: somebody tries again.
  await api.call('PUT', `/destinations/${id}`, read.body, { 'if-match': read.headers.get('etag') ?? '' });
  return true;
}

async function mend(api: Api, ids: readonly string[], patience: number): Promise<void> {
  for (const id of ids)
    await until(`${id} to be healthy`, async () => !(await saveIfBroken(api, id)), patience);
}

async function unhealthy(api: Api, ids: readonly string[]): Promise<string[]> {
  const faults: string[] = [];
  for (const id of ids) {
    const { name, health } = await api.get(`/destinations/${id}`);
    if (health.state !== 'healthy') faults.push(`${name} is Broken: ${health.reason}`);
  }
  return faults;
}

export async function inLanes<One>(all: readonly One[], act: (one: One) => Promise<void>): Promise<void> {
  const left = all.values();
  const lanes = Array.from({ length: LANES }, async () => {
    for (const one of left) await act(one);
  });
  await Promise.all(lanes);
}

async function found(api: Api, stories: readonly Story[]): Promise<boolean> {
  const byName = new Map((await api.all('/alert-groups?status=firing')).map(({ title, id }) => [title, id]));
  for (const story of stories) story.id ??= byName.get(story.name) ?? null;
  return stories.every(({ id }) => id !== null);
}

async function isProcessed(api: Api): Promise<boolean> {
  const { snapshots, inbox } = (await api.get('/system-status')).coordination.queues;
  return snapshots.waiting === 0 && inbox.waiting === 0;
}

/** What stands wrong in the end: each Alert Group is looked at until it stands right, or patience ends. */
async function checkMessages(
  api: Api,
  channels: readonly Channel[],
  { patience, progress }: ChaosOptions,
): Promise<string[]> {
  const ids = await everyGroup(api);
  const wrong = new Map<string, string>(ids.map((id) => [id, 'was not looked at']));
  const deadline = performance.now() + patience * 1000;
  while (wrong.size > 0 && performance.now() < deadline) {
    const before = wrong.size;
    await inLanes([...wrong.keys()], async (id) => {
      const fault = await groupFault(api, channels, id);
      if (fault === null) wrong.delete(id);
      else wrong.set(id, fault);
    });
    await pause(Math.max(250, wrong.size));
    if (before !== wrong.size) progress(`${wrong.size} groups do not stand right yet`);
  }
  const texts = [...wrong].map(([id, fault]) => `${id} ${fault}`);
  const some = ids.filter((_, place) => place % Math.ceil(ids.length / MOST_PREVIEWS) === 0);
  await inLanes(some, async (id) => {
    const read = await readGroup(api, id);
    for (const channel of channels) {
      const fault = await previewFault(api, channel, read);
      if (fault !== null) texts.push(`${channel.name}, ${id}: ${fault}`);
    }
  });
  return texts;
}

async function groupFault(api: Api, channels: readonly Channel[], id: string): Promise<string | null> {
  const read = await readGroup(api, id);
  for (const channel of channels) {
    const fault = channelFault(channel, read, { isRough: channel.name === 'rough' });
    if (fault !== null) return `in ${channel.name}: ${fault}`;
  }
  return null;
}

/** Those about Broken Destinations included; what a person resolved goes on as another Alert Group. */
async function everyGroup(api: Api): Promise<string[]> {
  return (await api.all(`/alert-groups?${EVERY_STATUS}`)).map(({ id }) => id);
}

async function allEvents(api: Api): Promise<LifecycleEvent[]> {
  const events: LifecycleEvent[] = [];
  await inLanes(await everyGroup(api), async (id) => void events.push(...eventsOf(await readGroup(api, id))));
  return events;
}

function figuresOf({ calls, troubles, bridge }: Channel) {
  const count = (kind: string) => bridge.messenger.posts.filter((post) => post.kind === kind).length;
  const messages = { roots: count('root'), replies: count('reply') };
  const edits = bridge.messenger.posts.reduce((sum, post) => sum + post.edits, 0);
  return { ...messages, edits, calls, troubles: troubles.given };
}

function seconds(since: number): number {
  return Math.round((performance.now() - since) / 100) / 10;
}
