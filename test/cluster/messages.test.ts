/**
 * Replicas die, stand still and are drained while messages go out through a bridge. Afterwards every Alert Group has one
 * Root message that shows it as it is, every event that is told in a Thread has one reply, what people pressed was
 * carried out once and answered once, and one replica listens to the bridge (delivery §3 rule 7 and §5, bridge §7).
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PEOPLE } from '../../runtime/cli/bridge-reference/messenger.ts';
import type { RecordedRequest } from '../../runtime/cli/bridge-reference/sim.ts';
import { type Channel, startChannel } from '../chaos/channel.ts';
import { channelFault, previewFault, readGroup } from '../chaos/message-checks.ts';
import type { Api, Json } from '../harness/api.ts';
import { attachChannel, requestsTo, rootsOf } from '../harness/bridge-channel.ts';
import type { Cluster } from '../harness/cluster.ts';
import { everythingProcessed } from '../harness/consistency.ts';
import { randomSource } from '../harness/random.ts';
import type { Replica } from '../harness/replica.ts';
import { Sender } from '../harness/sender.ts';
import { until } from '../harness/until.ts';
import { type Stage, seed, someReady, underLoad } from './scenario.ts';

const KILLS = 15;
/** One in so many messages is posted without that the service hears of it. */
const UNHEARD = 10;
const SLOWEST_MS = 300;
const PRESSES = 5;
/** What people do last, each of which every poller would fetch. */
const LAST_WORDS = 4;
/** A poll may end by itself meanwhile. */
const OTHER_POLLS = 2;
/** Nothing is batched, and no Storm holds anything back. */
const POLICY = { thread_batching_window_seconds: 0, storm_threshold: 100_000 };
/** Few enough that one bridge keeps up with it on a machine that does other things as well. */
const LOAD = { lanes: 4, groups: 8, postsPerSecond: 3, people: 2, commandsPerSecond: 2 };
const PATIENCE_S = 120;
const EVERY_STATUS = 'status=firing&status=acknowledged&status=snoozed&status=resolved';
/** Of a press whose Command took longer than people are kept waiting, the second one. */
const ANSWERS = ['Done: Resolve', 'No answer yet, look at the Alert Group'];

interface Pressable {
  readonly groupId: string;
  readonly messageId: string;
  readonly button: string;
}

const [alice] = PEOPLE.map(({ person }) => person);
let channel: Channel;
/** Every request that the bridge still knew of when somebody looked. */
const seen = new Set<RecordedRequest>();

beforeAll(async () => {
  channel = await startChannel('bridge', {}, { rate: 0, random: randomSource(seed) });
});
afterAll(() => channel.close());

const look = () => {
  for (const request of channel.bridge.requests) seen.add(request);
};

/** The Default route posts to the bridge, and Alice may press there. */
async function setUp(cluster: Cluster): Promise<void> {
  const api = cluster.api(cluster.replica('r1'));
  const { bridge, gateway } = channel;
  const access = { connection: { base_url: gateway.url }, policy: POLICY };
  const { connectionId, destinationId } = await attachChannel(api, bridge, access);
  channel.destinationId = destinationId;
  const asked = { connection_id: connectionId, method: 'token' };
  write((await api.post('/me/account-links/bridge', asked)).token);
  await until('the link', async () => (await api.get('/me/account-links')).items.length === 1);
}

function write(text: string): void {
  if (!alice) throw new Error('the reference bridge knows nobody');
  channel.bridge.acts.writeDirectly(0, text, alice);
}

/** Alert Groups that nothing happens to but a press. */
async function pressables(cluster: Cluster): Promise<Pressable[]> {
  const replica = cluster.replica('r1');
  const sender = new Sender(`${replica.url}/api/v1/ingest`, cluster.rows.token);
  const names = Array.from({ length: PRESSES }, (_, n) => `Pressed${n}`);
  for (const name of names) {
    const alerts = [{ labels: { alertname: name, severity: 'critical' } }];
    expect(await sender.post({ groupKey: name, alerts })).toBe(202);
  }
  const made = names.map(async (name) => {
    const message = await until(`the message about ${name}`, async () => rootsOf(channel.bridge, name)[0]);
    const { items } = await cluster.api(replica).get(`/alert-groups?q=${name}`);
    const button = message.buttons.find(({ text }) => text === 'Resolve');
    return { groupId: items[0].id, messageId: message.message_id, button: button?.data ?? '' };
  });
  return Promise.all(made);
}

/** Often whoever sends the messages at this moment. */
async function someVictim({ cluster, random }: Stage): Promise<Replica> {
  const sending = random() < 0.5 ? await cluster.ownerOf('destination', channel.destinationId) : null;
  if (sending?.isRunning) return sending;
  const running = cluster.replicas.filter(({ isRunning }) => isRunning);
  return running[Math.floor(random() * running.length)] ?? cluster.replica('r1');
}

/** Calls are under way when the next kill comes, and some of those that were carried out are never answered. */
function trouble({ random }: Stage): void {
  const slow = { delay_ms: Math.floor(random() * SLOWEST_MS), drop_answer: false };
  channel.bridge.setFaults([
    { operation: 'postMessage', times: 10, ...slow },
    { operation: 'replyInThread', times: 20, ...slow },
  ]);
  channel.gateway.trouble(({ method, target }) => {
    const isUnheard = method === 'POST' && target.startsWith('/v1/messages') && random() < 1 / UNHEARD;
    return isUnheard ? { does: 'drop', when: 'worked' } : null;
  });
}

/** Stands still in the middle of whatever it does, until another one has taken its place. */
async function freeze({ cluster }: Stage): Promise<void> {
  const victim = await until('a replica that sends', async () => {
    const owner = await cluster.ownerOf('destination', channel.destinationId);
    return owner?.isRunning ? owner : null;
  });
  victim.freeze();
  await until('another one to send', async () => {
    const owner = await cluster.ownerOf('destination', channel.destinationId);
    return owner !== null && owner !== victim;
  });
  await pause(1_000);
  victim.thaw();
  await victim.becomesReady();
}

async function drain(stage: Stage): Promise<void> {
  await Promise.all(stage.cluster.replicas.map((replica) => replica.becomesReady()));
  const victim = await someVictim(stage);
  expect(await victim.terminate()).toBe(0);
  victim.launch();
}

/** Each press comes a moment before a kill. */
async function rage(stage: Stage, toPress: readonly Pressable[]): Promise<void> {
  const { cluster, random } = stage;
  const left = toPress.values();
  for (let kill = 0; kill < KILLS; kill++) {
    await pause(100 + random() * 700);
    await someReady(cluster);
    if (kill === 5) await freeze(stage);
    if (kill === 10) await drain(stage);
    await someReady(cluster);
    const next = kill % 3 === 1 ? left.next() : null;
    if (next && !next.done) press(next.value);
    await pause(random() * 150);
    trouble(stage);
    const victim = await someVictim(stage);
    await victim.kill();
    victim.launch();
    look();
  }
  await Promise.all(cluster.replicas.map((replica) => replica.becomesReady()));
}

function press({ messageId, button }: Pressable): void {
  if (alice) channel.bridge.acts.press(messageId, button, alice);
}

/** @throws with what is wrong about the message of an Alert Group, as long as something is */
async function standsRight(api: Api, id: string): Promise<true> {
  const fault = channelFault(channel, await readGroup(api, id), { isRough: false });
  if (fault !== null) throw new Error(fault);
  return true;
}

/** Alert Groups and their messages, one each. */
async function checkMessages(api: Api): Promise<string> {
  const { posts } = channel.bridge.messenger;
  const ids: string[] = (await api.all(`/alert-groups?${EVERY_STATUS}`)).map(({ id }) => id);
  for (const id of ids) await until(`the message about ${id}`, () => standsRight(api, id), PATIENCE_S);
  for (const id of ids) expect(await previewFault(api, channel, await readGroup(api, id))).toBeNull();
  const roots = posts.filter(({ kind }) => kind === 'root');
  const replies = posts.filter(({ kind, by }) => kind === 'reply' && by === null);
  const told = roots.flatMap(({ message_id: id }) => channel.repliesUnder(id));
  expect(roots).toHaveLength(ids.length);
  expect(replies).toHaveLength(told.length);
  return `${ids.length} Alert Groups, ${replies.length} replies`;
}

/** Carried out once, and answered once, whoever handled it. */
async function pressedOnce(api: Api, { groupId, messageId }: Pressable): Promise<void> {
  const { posts } = channel.bridge.messenger;
  const answers = () => posts.filter((post) => post.kind === 'answer' && post.root_id === messageId);
  await until(`the answer to the press about ${groupId}`, async () => answers().length > 0, PATIENCE_S);
  const done = async () => {
    const { items } = await api.get(`/audit-log?resource_id=${groupId}`);
    return items.filter(({ action }: Json) => action === 'alert_group.resolved').length;
  };
  await until(`what was pressed about ${groupId}`, async () => (await done()) > 0, PATIENCE_S);
  expect(answers().map(({ body }) => ANSWERS.includes(body))).toEqual([true]);
  expect(await done()).toBe(1);
}

/** Each further event is fetched by one poll, and one poll is under way afterwards. */
async function onePoller(): Promise<void> {
  const { bridge } = channel;
  const answered = () =>
    bridge.messenger.posts.filter(({ kind, root_id: root }) => kind === 'answer' && !root);
  const polls = () => requestsTo(bridge, 'pollEvents');
  const before = new Set(polls());
  const answeredBefore = answered().length;
  for (let word = 1; word <= LAST_WORDS; word++) {
    write(String(word).repeat(43));
    await until('an answer', async () => answered().length === answeredBefore + word);
  }
  await until('one poll to be under way', async () => {
    return polls().filter(({ status }) => status === null).length === 1;
  });
  const begun = polls().filter((poll) => !before.has(poll));
  expect(begun.length).toBeLessThanOrEqual(LAST_WORDS + OTHER_POLLS);
}

/** How often a key came again. */
function repeatedKeys(): number {
  look();
  const keys = [...seen].flatMap(({ idempotency_key: key }) => key ?? []);
  return keys.length - new Set(keys).size;
}

test(`${KILLS} kills, a freeze and a drain leave one message, one reply and one effect each (seed ${seed})`, {
  timeout: 600_000,
}, async () => {
  await underLoad({ destinations: 0, logLevel: 'warn', load: LOAD, setUp }, async (stage) => {
    const { cluster, traffic } = stage;
    const toPress = await pressables(cluster);
    await rage(stage, toPress);
    channel.bridge.setFaults([]);
    channel.gateway.trouble(null);
    await traffic.stop();
    await everythingProcessed(cluster.sql, PATIENCE_S);
    const api = cluster.api(cluster.replica('r2'));
    for (const pressed of toPress) await pressedOnce(api, pressed);
    const stands = await checkMessages(api);
    await onePoller();
    expect(channel.refusals).toEqual([]);
    const repeated = repeatedKeys();
    console.log(`${stands}; asked for again: ${repeated}`);
    expect(repeated).toBeGreaterThan(0);
  });
});
