import { beforeEach, expect, test } from 'vitest';
import { type Address, shardOf, type Told, UnavailableError } from '../../../runtime/actor/index.ts';
import { MINUTE, SECOND } from '../../../runtime/clock.ts';
import { createActorStateReader } from '../../../storage/engine/actor-states.ts';
import { firstStart, NOW, readDirectory, stoppedClock } from '../../../test/configuration.ts';
import { empty } from '../../../test/emptied.ts';
import { type OperationClient, operationClient } from '../../../test/operation-client.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { actorOperations } from './system.ts';

const database = useDatabase();
const FEED: Address = { kind: 'feed', key: 'NT0/{}:{alertname="x"}' };
const PATH = `/actors/feed/${encodeURIComponent(FEED.key)}`;

let api: OperationClient;
let recent: Told['messages'] | Error;
let inMemory: number | null;
let asked: Address[];

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql);
  await empty(sql, 'actors', 'actor_states', 'inbox');
  await sql`update shards set owner = null, taken_at = null`;
  recent = [];
  inMemory = 0;
  asked = [];
  const directory = await readDirectory(sql);
  const operations = actorOperations({
    states: createActorStateReader(sql),
    system: {
      recent: async (actor) => {
        asked.push(actor);
        if (recent instanceof Error) throw recent;
        return { messages: recent, waiting: inMemory };
      },
    },
  });
  api = operationClient({ operations, directory, clock: stoppedClock });
});

async function store(actor: Address, snapshot: object, wakeAt: number | null = null) {
  await database.sql()`
    insert into actors (kind, key, shard, version, schema, snapshot, wake_at, updated_at)
    values (
      ${actor.kind}, ${actor.key}, ${shardOf(actor)}, 7, 3, ${JSON.stringify(snapshot)}::text::jsonb, ${wakeAt}, ${NOW}
    )`;
}

test('an actor is shown as it is committed, without its context, with the messages its owner remembers', async () => {
  await store(FEED, { status: 'active', value: { open: 'steady' }, context: { secret: 1 } }, NOW + MINUTE);
  await database.sql()`update shards set owner = 'eu-1/beef', taken_at = ${NOW} where shard = ${shardOf(FEED)}`;
  const transition = { from: 'open', to: null, event: 'snapshot', guard: 'isRepeat', actions: ['extend'] };
  const effect = { kind: 'send', type: 'seen', to: 'alert_group', count: 3 } as const;
  inMemory = 7;
  recent = [
    {
      ...{ at: NOW, committedAt: null, type: 'snapshot', from: null, state: { open: 'steady' } },
      ...{ events: ['snapshot'], transitions: [transition], effects: [effect] },
    },
    {
      ...{ at: NOW - MINUTE, committedAt: NOW, type: 'configured', from: 'integration', state: 'unknown' },
      ...{ events: [], transitions: [], effects: [] },
    },
  ];
  const answer = await api.get(PATH);
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({
    ...FEED,
    replica: 'eu-1',
    shard: shardOf(FEED),
    state: { open: 'steady' },
    schema: 3,
    version: 7,
    wake_at: '2026-09-21T14:14:20Z',
    waiting: 0,
    waiting_in_memory: 7,
    inbox: [],
    messages: [
      {
        ...{ at: '2026-09-21T14:13:20Z', committed_at: null, type: 'snapshot', from: null },
        ...{ state: { open: 'steady' }, events: ['snapshot'], transitions: [transition], effects: [effect] },
      },
      {
        ...{ at: '2026-09-21T14:12:20Z', committed_at: '2026-09-21T14:13:20Z', type: 'configured' },
        ...{ from: 'integration', state: 'unknown', events: [], transitions: [], effects: [] },
      },
    ],
  });
  expect(asked).toEqual([FEED]);
});

/** Stores messages to an actor in the inbox, in order, a second apart. */
async function wait(actor: Address, types: readonly string[]) {
  for (const [index, type] of types.entries()) {
    const message = JSON.stringify({ type, alerts: ['secret'] });
    await database.sql()`
      insert into inbox (shard, receiver_kind, receiver_key, message, created_at)
      values (${shardOf(FEED)}, ${actor.kind}, ${actor.key}, ${message}::text::jsonb, ${NOW + index * SECOND})`;
  }
}

test('what waits in its inbox is counted and listed, the oldest first, without what it says', async () => {
  await store(FEED, { status: 'active', value: 'steady', context: {} });
  await wait({ kind: 'feed', key: 'other' }, ['snapshot']);
  await wait({ kind: 'route', key: FEED.key }, ['created']);
  await wait(FEED, ['ended', 'configured']);
  const { body } = await api.get(PATH);
  expect(body.waiting).toBe(2);
  expect(body.inbox).toEqual([
    { type: 'ended', since: '2026-09-21T14:13:20Z' },
    { type: 'configured', since: '2026-09-21T14:13:21Z' },
  ]);
});

test('how many wait in memory is not known of a replica of an earlier release', async () => {
  await store(FEED, { status: 'active', value: 'steady', context: {} });
  inMemory = null;
  expect((await api.get(PATH)).body.waiting_in_memory).toBeNull();
});

test('of many that wait the oldest twenty are listed', async () => {
  await store(FEED, { status: 'active', value: 'steady', context: {} });
  const types = Array.from({ length: 25 }, (_, index) => `message-${index}`);
  await wait(FEED, types);
  const { body } = await api.get(PATH);
  expect(body.waiting).toBe(25);
  expect(body.inbox.map(({ type }: { readonly type: string }) => type)).toEqual(types.slice(0, 20));
});

test.each([
  [
    { stage: 'started', number: 3, snapshot: { status: 'active', value: { firing: 'waiting' } } },
    { firing: 'waiting' },
  ],
  [{ stage: 'unstarted' }, null],
])('of %j the state is %j', async (stored, state) => {
  await store({ kind: 'alert_group', key: 'AG1' }, stored);
  expect((await api.get('/actors/alert_group/AG1')).body.state).toEqual(state);
});

test('what sleeps and has no owner is shown, too', async () => {
  await store({ kind: 'destination', key: 'DN1' }, { status: 'active', value: 'healthy', context: {} });
  const answer = await api.get('/actors/destination/DN1');
  expect(answer.body).toMatchObject({ replica: null, state: 'healthy', wake_at: null, messages: [] });
});

test.each(['/actors/feed/unknown', '/actors/no_such_kind/x'])(
  '%s was never stored: 404, and no owner is asked',
  async (path) => {
    expect((await api.get(path)).status).toBe(404);
    expect(asked).toEqual([]);
  },
);

test('an owner that does not answer is 503', async () => {
  await store(FEED, { status: 'active', value: 'steady', context: {} });
  recent = new UnavailableError('no answer in time');
  const answer = await api.get(PATH);
  expect(answer.status).toBe(503);
  expect(answer.body.type).toContain('coordination-unavailable');
});

test('actors are counted by state, and those of a state are listed page by page', async () => {
  const { sql } = database;
  await sql()`insert into actor_states (kind, state, change) values ('feed', '"steady"', 3), ('feed', '"steady"', -1)`;
  for (const key of ['a', 'b', 'c']) {
    await store({ kind: 'feed', key }, { value: key === 'b' ? 'moving' : { steady: 'deep' } }, NOW + MINUTE);
  }
  expect((await api.get('/actor-counts')).body).toEqual({
    items: [{ kind: 'feed', state: 'steady', count: 2 }],
  });
  const first = await api.get('/actors?kind=feed&state=steady&limit=1');
  const state = { steady: 'deep' };
  const [wake_at, changed_at] = ['2026-09-21T14:14:20Z', '2026-09-21T14:13:20Z'];
  expect(first.body.items).toEqual([{ key: 'a', state, version: 7, wake_at, changed_at }]);
  const { next_cursor } = first.body;
  const second = await api.get(`/actors?kind=feed&state=steady&limit=1&cursor=${next_cursor}`);
  expect([second.body.items[0].key, second.body.next_cursor]).toEqual(['c', null]);
  expect((await api.get(`/actors?kind=feed&state=moving&cursor=${next_cursor}`)).status).toBe(400);
  expect((await api.get('/actors?kind=feed')).status).toBe(400);
});

test.each(['/actor-counts', '/actors?kind=feed&state=steady', PATH])(
  '%s is for who may read the System status',
  async (path) => {
    await store(FEED, { status: 'active', value: 'steady', context: {} });
    expect((await api.as('responder').get(path)).status).toBe(403);
  },
);
