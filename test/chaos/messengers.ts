/**
 * The chaos proof of delivery to a chat server and a channel bot, at one replica or several: replicas are killed and stand
 * still, PostgreSQL is killed, the messengers throttle, fail and lose answers. Afterwards every Alert Group has one message
 * in its last state and each reply once at both, or the delivery says that a copy may be there (delivery §5).
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type RunningBotApi, startBotApi } from '../fakes/channel-bot/http.ts';
import { type RunningChatServer, startChatServer } from '../fakes/chat-server/http.ts';
import type { Api, Json } from '../harness/api.ts';
import { postTo } from '../harness/bridge-channel.ts';
import { Cluster } from '../harness/cluster.ts';
import { randomSource } from '../harness/random.ts';
import { Sender } from '../harness/sender.ts';
import { until } from '../harness/until.ts';
import { inLanes, saveIfBroken } from './chaos.ts';

export interface MessengerChaosOptions {
  readonly groups: number;
  readonly replicas: number;
  readonly seed: number;
  /** Troubles while each of the three acts goes on. */
  readonly troubles: number;
  /** How long everything may take to settle, seconds. */
  readonly patience: number;
  readonly progress: (what: string) => void;
}

interface Standing {
  /** Texts of the messages about a group, and of what stands in their Threads. */
  readonly roots: readonly string[];
  readonly replies: readonly string[];
}

const WIDE = { limit: 1000, per_seconds: 1 };
const POLICY = { thread_batching_window_seconds: 0, storm_threshold: 100_000 };
const EVERY_STATUS = 'status=firing&status=acknowledged&status=snoozed&status=resolved';
const THROTTLED_BOT = {
  ...{ status: 429, headers: { 'content-type': 'application/json' } },
  body: JSON.stringify({
    ...{ ok: false, error_code: 429, description: 'Too Many Requests: retry after 1' },
    parameters: { retry_after: 1 },
  }),
};
const DOWN = { status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad Gateway</h1>' };

/** @returns figures, and one sentence for each thing that is not as it should be */
export async function messengerChaos(options: MessengerChaosOptions) {
  const { groups, seed, progress, patience } = options;
  const random = randomSource(seed);
  const [chat, bot] = await Promise.all([startChatServer(), startBotApi()]);
  bot.server.settings.limits = false;
  const cluster = await Cluster.start({ replicas: options.replicas, destinations: 1 });
  const given: Record<string, number> = {};
  try {
    const ids = await attach(cluster, chat, bot);
    const names = Array.from({ length: groups }, (_, n) => `Chaos${n}x`);
    const weather = createWeather(cluster, chat, bot, random, given);
    const fire = (status: 'firing' | 'resolved', pods: readonly string[]) =>
      inLanes(names, (name) => post(cluster, name, status, pods));
    for (const [act, status, pods] of ACTS) {
      const posting = fire(status, pods);
      for (let n = 0; n < options.troubles; n++) {
        await weather();
        for (const id of ids) await saveIfBroken(anApi(cluster), id).catch(() => true);
      }
      await posting;
      await settled(cluster, names, pods.length, status, patience);
      if (status === 'firing') {
        await until(
          `both messengers to tell of "${act}"`,
          async () => {
            for (const id of ids) await saveIfBroken(anApi(cluster), id);
            // Both messengers run in this process, and the look is long.
            await pause(1_000);
            const both = [chatStanding(chat), botStanding(bot)];
            return names.every((name) => both.every((standing) => tells(standing.get(name), pods.length)));
          },
          patience,
        );
      }
      progress(`${act}: ${JSON.stringify(given)}`);
    }
    for (const id of ids) {
      await until(`${id} to be healthy`, async () => !(await saveIfBroken(anApi(cluster), id)), patience);
    }
    const wrong = await compared(cluster, names, { chat, bot }, patience);
    return {
      figures: { groups, replicas: options.replicas, troubles: given, ...wrong.figures },
      faults: [...wrong.faults, ...chat.server.violations, ...bot.server.violations],
    };
  } finally {
    await cluster.remove();
    await Promise.all([chat.close(), bot.close()]);
  }
}

const ACTS = [
  ['created', 'firing', ['a']],
  ['alerts added', 'firing', ['a', 'b']],
  ['resolved', 'resolved', ['a', 'b']],
] as const;

async function attach(cluster: Cluster, chat: RunningChatServer, bot: RunningBotApi): Promise<string[]> {
  const api = anApi(cluster);
  await api.change('/organization/outbound-policy', (policy) => ({ ...policy, allowed: ['127.0.0.0/8'] }));
  const ways = [
    {
      connection: { type: 'chat_server', server_url: chat.url, bot_token: chat.token },
      place: { type: 'chat_server', team_id: chat.server.team.id, channel_id: chat.server.channel.id },
    },
    {
      connection: { type: 'channel_bot', bot_api_base_url: bot.url, bot_token: bot.token },
      place: { type: 'channel_bot', channel_id: String(bot.server.world.channel.id) },
    },
  ];
  const ids: string[] = [];
  for (const { connection, place } of ways) {
    const common = { name: connection.type, limiter: WIDE };
    const made = await api.post('/connections', { ...common, proxy: { enabled: false }, ...connection });
    const saved = await api.post('/destinations', { ...common, ...place, connection_id: made.id });
    ids.push(saved.destination.id);
  }
  await postTo(api, ids, POLICY);
  return ids;
}

/** Of a replica that runs. */
function anApi(cluster: Cluster): Api {
  const running = cluster.replicas.find(({ isRunning, isFrozen }) => isRunning && !isFrozen);
  return cluster.api(running ?? cluster.replica('r1'));
}

/** Posts until some replica has taken it. */
async function post(
  cluster: Cluster,
  name: string,
  status: 'firing' | 'resolved',
  pods: readonly string[],
): Promise<void> {
  const alerts = pods.map((shard) => ({ status, labels: { alertname: name, shard, severity: 'critical' } }));
  for (;;) {
    for (const replica of cluster.replicas) {
      const sender = new Sender(`${replica.url}/api/v1/ingest`, cluster.rows.token);
      if ((await sender.post({ groupKey: name, alerts }).catch(() => 0)) === 202) return;
    }
    await pause(200);
  }
}

/** One trouble after the other, each over when the promise is. */
function createWeather(
  cluster: Cluster,
  chat: RunningChatServer,
  bot: RunningBotApi,
  random: () => number,
  given: Record<string, number>,
): () => Promise<void> {
  const some = () =>
    cluster.replicas[Math.floor(random() * cluster.replicas.length)] ?? cluster.replica('r1');
  const troubles: Readonly<Record<string, () => Promise<void>>> = {
    async killed() {
      const victim = some();
      await victim.kill();
      await victim.start();
    },
    async frozen() {
      const victim = some();
      victim.freeze();
      await pause(1_000 + random() * 5_000);
      victim.thaw();
      await until(`${victim.id} to run`, async () => !victim.isRunning || victim.isReady(), 60);
      if (!victim.isRunning) await victim.start();
    },
    async postgresKilled() {
      await cluster.killPostgres();
      await cluster.startPostgres();
    },
    async throttled() {
      chat.server.limit(true);
      bot.server.settings.instead = THROTTLED_BOT;
      await pause(500 + random() * 1_500);
    },
    async down() {
      chat.server.settings.instead = DOWN;
      bot.server.settings.instead = DOWN;
      await pause(500 + random() * 1_500);
    },
    async answersLost() {
      chat.loseAnswers(3);
      bot.loseAnswers(3, 'sendMessage');
      await pause(500);
    },
  };
  let left: string[] = [];
  return async () => {
    // Each of them once before any comes again.
    if (left.length === 0) left = Object.keys(troubles);
    const [name = 'killed'] = left.splice(Math.floor(random() * left.length), 1);
    given[name] = (given[name] ?? 0) + 1;
    await troubles[name]?.();
    chat.server.limit(false);
    bot.server.settings.instead = null;
  };
}

/** Every Snapshot is processed: the groups are as they were posted. */
async function settled(
  cluster: Cluster,
  names: readonly string[],
  alerts: number,
  status: 'firing' | 'resolved',
  patience: number,
): Promise<void> {
  await until(
    'every Alert Group as posted',
    async () => {
      const all = await anApi(cluster).all(`/alert-groups?${EVERY_STATUS}`);
      const count = (group: Json) => group.firing_alert_count + group.resolved_alert_count;
      const done = all.filter((group) => (group.status === 'resolved') === (status === 'resolved'));
      return (
        done.filter((group) => names.includes(group.title) && count(group) === alerts).length >= names.length
      );
    },
    patience,
  );
}

async function compared(
  cluster: Cluster,
  names: readonly string[],
  { chat, bot }: { readonly chat: RunningChatServer; readonly bot: RunningBotApi },
  patience: number,
) {
  const api = anApi(cluster);
  const all = await api.all(`/alert-groups?${EVERY_STATUS}`);
  const wrong = new Map(names.map((name) => [name, 'was not looked at']));
  const copies: Record<string, number> = { chat_server: 0, channel_bot: 0 };
  const deadline = performance.now() + patience * 1000;
  while (wrong.size > 0 && performance.now() < deadline) {
    const standing = { chat_server: chatStanding(chat), channel_bot: botStanding(bot) };
    await inLanes([...wrong.keys()], async (name) => {
      const group = all.find(({ title }) => title === name);
      if (!group) return;
      const { items } = await api.get(`/alert-groups/${group.id}/deliveries`);
      const faults = items.map((item: Json) => {
        const type = item.destination.type as 'chat_server' | 'channel_bot';
        const fault = faultOf(standing[type].get(name), item);
        return fault && `${name} in ${type}: ${fault}`;
      });
      const fault = items.length === 2 ? faults.find((one: string | null) => one !== null) : 'is not at both';
      if (fault) wrong.set(name, fault);
      else wrong.delete(name);
    });
    if (wrong.size > 0) await pause(500);
  }
  for (const [type, standing] of [
    ['chat_server', chatStanding(chat)],
    ['channel_bot', botStanding(bot)],
  ] as const) {
    for (const { roots, replies } of standing.values()) {
      copies[type] = (copies[type] ?? 0) + roots.length - 1 + added(replies) - 1;
    }
  }
  return { faults: [...wrong.values()], figures: { namedCopies: copies } };
}

/** Of the second Alert a reply tells, when it came after the message. */
function tells(standing: Standing | undefined, alerts: number): boolean {
  return standing !== undefined && standing.roots.length > 0 && (alerts === 1 || added(standing.replies) > 0);
}

const added = (replies: readonly string[]) => replies.filter((text) => /shard:? b\b/.test(text)).length;

/** What is wrong with one Alert Group in one messenger: it has ended, and one Alert was added on the way. */
function faultOf(standing: Standing | undefined, delivery: Json): string | null {
  if (delivery.state !== 'delivered') return `is ${delivery.state}: ${delivery.error}`;
  if (!standing || standing.roots.length === 0) return 'has no message';
  const { roots, replies } = standing;
  const mayBeTwice: boolean = delivery.possible_duplicate;
  if (!roots.at(-1)?.startsWith('🟢')) return `shows ${roots.at(-1)?.slice(0, 40)}`;
  if (roots.length > 1 && !mayBeTwice) return `has ${roots.length} messages, and nobody says so`;
  if (added(replies) === 0) return `has no reply about the Alert that was added: ${replies.join(' / ')}`;
  if (added(replies) > 1 && !mayBeTwice) return `has that reply ${added(replies)} times, and nobody says so`;
  return null;
}

function chatStanding({ server }: RunningChatServer): Map<string, Standing> {
  const standing = new Map<string, { roots: string[]; replies: string[] }>();
  const nameOf = new Map<string, string>();
  for (const { id, rootId, message, deleteAt } of server.posts) {
    if (deleteAt !== 0) continue;
    const name = rootId === '' ? /Chaos\d+x/.exec(message)?.[0] : nameOf.get(rootId);
    if (name === undefined) continue;
    nameOf.set(id, name);
    const at = standing.get(name) ?? { roots: [], replies: [] };
    standing.set(name, at);
    (rootId === '' ? at.roots : at.replies).push(message);
  }
  return standing;
}

/** A Thread is what replies to the copies of a post in the discussion group. */
function botStanding({ server: { world } }: RunningBotApi): Map<string, Standing> {
  const standing = new Map<string, { roots: string[]; replies: string[] }>();
  const nameOf = new Map<string, string>();
  for (const { messageId, text, isDeleted } of world.channel.messages) {
    const name = /Chaos\d+x/.exec(text)?.[0];
    if (isDeleted || name === undefined) continue;
    nameOf.set(`post ${messageId}`, name);
    const at = standing.get(name) ?? { roots: [], replies: [] };
    standing.set(name, at);
    at.roots.push(text);
  }
  for (const { messageId, copyOf, replyTo, text } of world.group.messages) {
    const name = copyOf ? nameOf.get(`post ${copyOf.messageId}`) : nameOf.get(`copy ${replyTo}`);
    if (name === undefined) continue;
    if (copyOf) nameOf.set(`copy ${messageId}`, name);
    else standing.get(name)?.replies.push(text);
  }
  return standing;
}
