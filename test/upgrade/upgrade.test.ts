/**
 * The present version on a database that the version before filled and left by SIGKILL: what was under way is finished
 * once, in order, under the ids that it had (delivery §5, §7, §12, webhooks §3).
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Post } from '../../runtime/cli/bridge-reference/messenger.ts';
import { SECOND } from '../../runtime/clock.ts';
import { type ChaosGateway, type Passing, startChaosGateway, type Trouble } from '../fakes/chaos-gateway.ts';
import { type ReferenceBridge, startReferenceBridge } from '../fakes/reference-bridge.ts';
import { startTemplateReceiver, type TemplateReceiver } from '../fakes/template-receiver.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../fakes/webhook-receiver.ts';
import { Api, type Json } from '../harness/api.ts';
import { repliesTo } from '../harness/bridge-channel.ts';
import { Sender } from '../harness/sender.ts';
import type { Installation, Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';
import { ADA } from './filled.ts';
import { filled, rememberedKeys, restored } from './restored.ts';

/** From the restore to the end of the Storm. The kill was some five minutes before that. */
const STORM_LASTS = 58 * SECOND;
const PATIENCE = 60;
const { destinations, groups } = filled;
const steadyGroups = groups.filter(({ title }) => !/^Bank[3-5]$/.test(title));

let tocsin: Installation;
let ready: Ready;
let api: Api;
let sender: Sender;
let bridge: ReferenceBridge;
let receiver: WebhookReceiver;
let chat: TemplateReceiver;
let shift: number;
/** Answers of the bridge by Idempotency-Key, from before the upgrade. */
let before: ReadonlyMap<string, string>;
const gateways: Record<string, ChaosGateway> = {};
/** Message ids by Idempotency-Key, those of the version before included. */
const posted = new Map<string, string>();

beforeAll(async () => {
  bridge = await startReferenceBridge({ tokens: [filled.bridgeToken] });
  for (const post of filled.posts) bridge.messenger.post(post);
  shift = Math.floor((Date.now() * 1000 + STORM_LASTS - filled.stormEnds) / SECOND) * SECOND;
  before = rememberedKeys(shift);
  for (const [key, body] of before) posted.set(key, JSON.parse(body).message_id);
  for (const name of ['steady', 'former', 'failing', 'broken']) gateways[name] = await gatewayTo(bridge);
  gateways.failing?.trouble(refusing(503, 'transient'));
  gateways.broken?.trouble(refusing(403, 'forbidden'));
  receiver = await startWebhookReceiver();
  receiver.trust(...filled.signingSecrets);
  receiver.answerAll(({ path }) => ({ status: path === '/gone' ? 410 : 204 }));
  chat = await startTemplateReceiver();
  const fakes = { ...gateways, receiver, chat };
  const origins = Object.entries(fakes).map(([name, { url }]) => [name, new URL(url).origin]);
  tocsin = await restored(Object.fromEntries(origins), shift);
  ready = await tocsin.start();
  api = await Api.signIn({ ...ready, login: filled.login, password: filled.password });
  sender = new Sender(
    ready.ingest_endpoint.replace('https://tocsin.example', ready.ingest_url),
    filled.integrationToken,
  );
}, 120_000);

afterAll(async () => {
  await tocsin?.remove();
  for (const gateway of Object.values(gateways)) await gateway.close();
  await Promise.all([bridge.close(), receiver.close(), chat.close()]);
});

/** It remembers the keys that the bridge answered before the upgrade, as the bridge does. */
async function gatewayTo({ url }: ReferenceBridge): Promise<ChaosGateway> {
  const gateway = await startChaosGateway(url, ({ headers }, { status, body }) => {
    const key = headers['idempotency-key'];
    if (key !== undefined && status === 201) posted.set(key, JSON.parse(body).message_id);
  });
  gateway.trouble(remembered);
  return gateway;
}

function remembered({ headers }: Passing): Trouble | null {
  const answer = before.get(headers['idempotency-key'] ?? '');
  if (answer === undefined) return null;
  return { does: 'answer', worked: false, answer: json(200, { ...JSON.parse(answer), replayed: true }) };
}

function refusing(status: number, kind: string) {
  const answer = json(status, { type: 'about:blank', title: 'No', status, detail: 'not now', class: kind });
  return ({ method }: Passing): Trouble | null =>
    method === 'GET' && status !== 403 ? null : { does: 'answer', answer, worked: false };
}

function json(status: number, body: object) {
  const type = status < 300 ? 'application/json' : 'application/problem+json';
  return { status, headers: { 'content-type': type }, body: JSON.stringify(body) };
}

/** Root messages of a group at a Destination, those of the version before included. */
function rootsAt(destination: string, groupId: string): readonly Post[] {
  const start = `root-${destinations[destination]}-${groupId}-`;
  const ids = [...posted].filter(([key]) => key.startsWith(start)).map(([, id]) => id);
  return ids.flatMap((id) => bridge.messenger.find(id) ?? []);
}

function groupNamed(title: string) {
  const group = groups.find((one) => one.title === title);
  if (!group) throw new Error(`the fixture has no ${title}`);
  return group;
}

async function stateAt(destination: string, groupId: string): Promise<string | undefined> {
  const { items } = await api.get(`/alert-groups/${groupId}/deliveries`);
  const delivery = items.find((one: Json) => one.destination.id === destinations[destination]);
  expect(delivery?.possible_duplicate ?? false).toBe(false);
  return delivery?.state;
}

/** The one Root message of a group shows it as it is. */
async function expectOneRoot(
  destination: string,
  { id, number, title }: { id: string; number: number; title: string },
) {
  const { status } = await api.get(`/alert-groups/${id}`);
  const shown = rootsAt(destination, id).map(({ heading }) => `${heading?.status} ${heading?.title}`);
  expect(shown, `${title} at ${destination}`).toEqual([`${status} #${number} ${title}`]);
}

async function send(name: string, status: 'firing' | 'resolved', more: object = {}): Promise<void> {
  const alerts = [{ status, labels: { alertname: name, n: 'a', severity: 'warning', ...more } }];
  expect(await sender.post({ groupKey: `{}:{alertname="${name}"}`, alerts })).toBe(202);
}

function numbered(title: string): Promise<Json> {
  return until(`the Alert Group ${title}`, async () => (await api.get(`/alert-groups?q=${title}`)).items[0]);
}

test('a Storm goes on: new Alert Groups are held', async () => {
  await send('Bank6', 'firing', { team: 'payments' });
  const { id } = await numbered('Bank6');
  const { items } = await api.get('/routes');
  const route = items.find(({ name }: Json) => name === 'Payments');
  expect(route).toMatchObject({ storm_active: true, storm: { alert_group_count: 4 } });
  await until('the summary', async () => summary().body.includes('New Alert Groups: 4'));
  for (const held of [...['Bank3', 'Bank4', 'Bank5'].map((name) => groupNamed(name).id), id]) {
    expect(rootsAt('steady', held)).toEqual([]);
    expect(await stateAt('steady', held)).toBe('pending');
  }
});

function summary(): Post {
  const [found, ...more] = bridge.messenger.posts.filter(({ kind }) => kind === 'storm_summary');
  expect(more).toEqual([]);
  if (!found) throw new Error('there is no Storm summary');
  return found;
}

test('people sign in and tokens count as before', async () => {
  const ada = await Api.signIn({ app_url: ready.app_url, ...ADA });
  expect((await ada.get('/me')).user).toMatchObject({ login: ADA.login, name: ADA.name, role: 'responder' });
  const answer = await fetch(`${ready.app_url}/api/v1/alert-groups`, {
    headers: { authorization: `Bearer ${filled.token}` },
  });
  expect(answer.status).toBe(200);
  const wrong = { app_url: ready.app_url, login: ADA.login, password: `${ADA.password}!` };
  await expect(Api.signIn(wrong)).rejects.toThrow('401');
});

test('what was half delivered is finished: one Root message each, in its last state', async () => {
  for (const { id, title } of steadyGroups) {
    await until(
      `${title} to be delivered`,
      async () => (await stateAt('steady', id)) === 'delivered',
      PATIENCE,
    );
  }
  for (const group of steadyGroups) await expectOneRoot('steady', group);
});

test('a reply that waited for its batch, and one whose answer was lost, stand there once', async () => {
  const repliesOf = (title: string) => {
    const [root] = rootsAt('steady', groupNamed(title).id);
    return repliesTo(bridge, root?.message_id ?? '');
  };
  await until('the batch', async () => repliesOf('Batched').length === 2);
  expect(repliesOf('Replied')).toHaveLength(1);
  await pause(2_000);
  expect(repliesOf('Batched')).toHaveLength(2);
  expect(repliesOf('Replied')).toHaveLength(1);
});

/** Ids that came to a path, by Alert Group, in order of arrival. */
function arrived(path: string): Map<string, string[]> {
  const ids = new Map<string, string[]>();
  for (const { path: where, id, body, answered } of receiver.received) {
    if (where !== path || answered >= 300) continue;
    ids.set(body.alert_group.id, [...(ids.get(body.alert_group.id) ?? []), id]);
  }
  return ids;
}

async function expectEvents(destination: string): Promise<void> {
  const waiting = filled.events.filter(({ destination_id: id }) => id === destinations[destination]);
  expect(waiting.length).toBeGreaterThan(3);
  await until(
    `the events of ${destination}`,
    async () => waiting.every(({ id, group_id }) => arrived(`/${destination}`).get(group_id)?.includes(id)),
    PATIENCE,
  );
  for (const groupId of new Set(waiting.map(({ group_id }) => group_id))) {
    const kept = waiting.filter(({ group_id }) => group_id === groupId).map(({ id }) => id);
    expect(arrived(`/${destination}`).get(groupId)?.slice(0, kept.length)).toEqual(kept);
  }
  const all = [...arrived(`/${destination}`).values()].flat();
  expect(new Set(all).size).toBe(all.length);
}

test('events of a webhook that was down arrive in order, once, with their ids', () => expectEvents('relay'));

test('a message of a template whose create was refused is created once, and others are updated under their ids', async () => {
  await until('the ticket', async () => chat.of('create', 'Ticketed').length > 0, PATIENCE);
  await until(
    'its delivery',
    async () => (await stateAt('tickets', groupNamed('Ticketed').id)) === 'delivered',
  );
  expect(chat.of('create', 'Ticketed')).toHaveLength(1);
  await send('Firing', 'resolved');
  await until('the update', async () => chat.of('update', 'Firing resolved').length === 1, PATIENCE);
  expect(chat.of('create', 'Firing')).toEqual([]);
});

test('a Snapshot that was taken and not processed makes its Alert Group, and numbers have no gap', async () => {
  await numbered('NotYetProcessed');
  await send('AfterTheUpgrade', 'firing');
  await numbered('AfterTheUpgrade');
  const every = 'status=firing&status=acknowledged&status=snoozed&status=resolved';
  const numbers = (await api.all(`/alert-groups?${every}`)).map(({ number }) => number).sort((a, b) => a - b);
  expect(numbers).toEqual(numbers.map((_, place) => place + 1));
  expect(numbers.length).toBeGreaterThanOrEqual(groups.length + 3);
});

const left = ['EndedAlone', 'EndedByHand', 'Firing'];

test('a Destination that failed goes on failing, and posts each group once when it works again', async () => {
  const path = `/destinations/${destinations.failing}`;
  await until('a failed call', async () => (await api.get(path)).failing !== null, PATIENCE);
  expect((await api.get(path)).health.state).toBe('healthy');
  gateways.failing?.trouble(remembered);
  const route = groupNamed('Firing').route;
  // Attempts wait up to five minutes by now: a check that passes does not shorten that, a save does not either.
  const due = groups.filter((group) => group.route === route);
  for (const { id, title } of due)
    await until(`${title} there`, async () => (await stateAt('failing', id)) === 'delivered', 300);
  for (const group of due) await expectOneRoot('failing', group);
}, 320_000);

test('Broken Destinations stay so since then; once saved they work, and what ended meanwhile is withheld', async () => {
  for (const name of ['broken', 'gone']) {
    const { health } = await api.get(`/destinations/${destinations[name]}`);
    expect(health.state).toBe('broken');
    expect(Date.parse(health.since) * 1000).toBeLessThan(filled.filledAt + shift);
  }
  gateways.broken?.trouble(remembered);
  receiver.answerAll(null);
  for (const name of ['broken', 'gone'])
    await api.change(`/destinations/${destinations[name]}`, (one) => one);
  for (const group of groups.filter(({ route }) => route === groupNamed('Firing').route)) {
    const wanted = left.includes(group.title) ? 'withheld' : 'delivered';
    await until(
      `${group.title} to be ${wanted}`,
      async () => group.title.startsWith('Svc') || (await stateAt('broken', group.id)) === wanted,
      PATIENCE,
    );
    if (wanted === 'delivered' && !group.title.startsWith('Svc')) await expectOneRoot('broken', group);
    if (wanted === 'withheld') expect(rootsAt('broken', group.id)).toEqual([]);
  }
  await expectEvents('gone');
}, 120_000);

test('messages of a Destination that was deleted get their last edit and stay', async () => {
  expect((await api.call('GET', `/destinations/${destinations.former}`)).status).toBe(404);
  for (const { id, title } of groups) {
    const [root, ...more] = rootsAt('former', id);
    expect(more).toEqual([]);
    if (!root) continue;
    const kept = filled.posts.find(({ message_id: one }) => one === root.message_id);
    if (left.includes(title) && title !== 'Firing') continue;
    await until(`the last edit of ${title}`, async () => root.edits === (kept?.edits ?? 0) + 1, PATIENCE);
  }
});

test('a Storm ends: held Alert Groups are posted Quiet and once', async () => {
  const bank6 = await numbered('Bank6');
  const held = [...['Bank3', 'Bank4', 'Bank5'].map(groupNamed), bank6];
  for (const { id, title } of held)
    await until(`${title} to be delivered`, async () => (await stateAt('steady', id)) === 'delivered', 120);
  for (const group of held) await expectOneRoot('steady', group);
  const roots = held.flatMap(({ id }) => rootsAt('steady', id));
  expect(roots.map(({ notify }) => notify)).toEqual([false, false, false, false]);
  await until('the last ticket of the Storm', async () => chat.of('update', 'Storm 4, over').length === 1);
  expect(chat.of('create', 'Storm')).toEqual([]);
  expect(summary().edits).toBeGreaterThan(0);
}, 180_000);

test('nothing was sent that the fakes do not allow', () => {
  expect(bridge.refusals()).toEqual([]);
  expect(receiver.faults).toEqual([]);
  expect(chat.faults).toEqual([]);
});
