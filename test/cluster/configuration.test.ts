/** What is saved at one replica counts at every other from the answer on, whatever becomes of Redis. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api, type Json } from '../harness/api.ts';
import { Cluster } from '../harness/cluster.ts';
import { evenlySpread } from '../harness/cluster-facts.ts';
import { LiveClient } from '../harness/live-client.ts';
import type { Replica } from '../harness/replica.ts';
import { Sender } from '../harness/sender.ts';
import { until } from '../harness/until.ts';

/** Saves at one replica, each followed at once by what must know of it at another. */
const ROUNDS = 12;
/** A revoked token may be taken for as long as the word of it travels, or the look that does without. */
const REVOKED_WITHIN_S = 3;

let cluster: Cluster;
let nextTeam = 0;

beforeAll(async () => {
  cluster = await Cluster.start();
  await evenlySpread(cluster);
}, 120_000);
afterAll(() => cluster.remove());

/** The next replica to save at, and another one. */
function pair(round: number): readonly [saver: Replica, other: Replica] {
  const { replicas } = cluster;
  return [replicas[round % 3]!, replicas[(round + 1) % 3]!];
}

const sender = (replica: Replica, token = cluster.rows.token) =>
  new Sender(`${replica.url}/api/v1/ingest`, token);

function routeInput(fallback: Json, changes: object): object {
  const { urgent, group_key, policy, destination_ids } = fallback;
  return { urgent, group_key, policy, destination_ids, ...changes };
}

async function defaultRoute(api: Api): Promise<Json> {
  const { items } = await api.get('/routes');
  return items.find((route: Json) => route.is_default);
}

/** A Route made at one replica takes the Snapshot that comes to another right after. */
async function routesAreFollowed(): Promise<void> {
  const fallback = await defaultRoute(cluster.api(cluster.replicas[0]!));
  for (let round = 0; round < ROUNDS; round++) {
    const [saver, other] = pair(round);
    const team = `team-${nextTeam++}`;
    const matchers = [{ label: 'team', op: '=', value: team }];
    const route = await cluster.api(saver).post('/routes', routeInput(fallback, { name: team, matchers }));
    const alerts = [{ labels: { alertname: 'Down', team } }];
    expect(await sender(other).post({ groupKey: `{}:{team="${team}"}`, alerts })).toBe(202);
    await until(`the group of ${team}, saved at ${saver.id}, posted at ${other.id}`, async () => {
      const groups: Json[] = await cluster.api(other).all(`/alert-groups?route=${route.id}`);
      return groups.length === 1;
    });
  }
}

/** What was made at one replica can be named at another, and is shown there by its name. */
async function referencesAreKnown(): Promise<void> {
  const { id: defaultId } = await defaultRoute(cluster.api(cluster.replicas[0]!));
  for (let round = 0; round < ROUNDS; round++) {
    const [saver, other] = pair(round);
    const name = `pager ${nextTeam++}`;
    const { destination } = await cluster.api(saver).post('/destinations', {
      type: 'webhook',
      name,
      mode: 'events',
      events: { url: `${cluster.receiver.url}/0`, headers: [] },
    });
    const destination_ids = [...cluster.rows.destinationIds, destination.id];
    const route = await cluster
      .api(other)
      .change(`/routes/${defaultId}`, (present) => ({ ...present, destination_ids }));
    expect(route.destinations.map((one: Json) => one.name)).toContain(name);
    expect((await cluster.api(saver).get(`/destinations/${destination.id}`)).routes).toMatchObject([
      { id: defaultId },
    ]);
    await cluster.api(saver).change(`/routes/${defaultId}`, (present) => ({
      ...present,
      destination_ids: cluster.rows.destinationIds,
    }));
  }
}

async function tokensAreRefused(): Promise<void> {
  const [saver, other] = pair(0);
  const path = `/integrations/${cluster.rows.integrationId}/tokens`;
  const { token, value } = await cluster.api(saver).post(path, {});
  const alerts = [{ labels: { alertname: 'Token' }, status: 'resolved' as const }];
  const post = (): Promise<number> => sender(other, value).post({ alerts });
  expect(await post()).toBe(202);
  expect((await cluster.api(saver).call('DELETE', `${path}/${token.id}`)).status).toBe(204);
  await until('the token to be refused', async () => (await post()) === 401, REVOKED_WITHIN_S);
}

const CIRCUMSTANCES: readonly (readonly [name: string, begin: () => Promise<void>])[] = [
  ['with Redis', async () => undefined],
  ['without Redis', () => cluster.redis!.kill()],
];

describe.each(CIRCUMSTANCES)('%s', (_name, begin) => {
  beforeAll(begin);

  test('a Snapshot is routed by the Routes that were answered before it came', routesAreFollowed, 120_000);
  test('new Destinations can be named everywhere, and are shown by name', referencesAreKnown, 120_000);
  test('a token that was revoked elsewhere is refused', tokensAreRefused, 60_000);

  test('a page open at one replica hears of what happens at another', async () => {
    const [saver, other] = pair(1);
    const page = new LiveClient(other, cluster.api(other));
    try {
      await until('the stream to open', async () => page.streams > 0);
      const before = page.hints;
      await cluster
        .api(saver)
        .post(`/integrations/${cluster.rows.integrationId}/tokens`, { name: `hint ${nextTeam++}` });
      await until('a hint', async () => page.hints > before, 10);
    } finally {
      await page.close();
    }
  }, 60_000);
});

test('who signs out at one replica is signed out at all, and is slowed down at all', async () => {
  const [first, second] = pair(2);
  const person = { app_url: first.url, login: 'admin@example.org', password: 'correct horse battery' };
  const session = await Api.signIn(person);
  expect((await session.at(second.url).call('GET', '/me')).status).toBe(200);
  expect((await session.call('DELETE', '/sessions/current')).status).toBe(204);
  expect((await session.at(second.url).call('GET', '/me')).status).toBe(401);

  const wrong = { login: 'nobody@example.org', password: 'wrong' };
  const statuses: number[] = [];
  for (let round = 0; round < 6; round++) {
    const api = new Api(pair(round)[0].url);
    statuses.push((await api.call('POST', '/sessions', wrong)).status);
  }
  expect(statuses).toContain(429);
}, 60_000);
