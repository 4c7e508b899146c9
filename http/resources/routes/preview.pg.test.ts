import { beforeEach, describe, expect, test } from 'vitest';
import type { DirectorySource } from '../../../actors/directory.ts';
import { ON_CALL_POLICY } from '../../../actors/route/policy.ts';
import type { PreviewBodies } from '../../../actors/route/ports.ts';
import { DAY, HOUR, MINUTE, type Micros, SECOND } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { createRouteStore } from '../../../storage/configuration/routes.ts';
import { createPreviewBodies } from '../../../storage/snapshots/preview-bodies.ts';
import { newSnapshot } from '../../../storage/snapshots/snapshots.fixture.ts';
import {
  firstStart,
  internalAlerts,
  NOW,
  readDirectory,
  recordedAudit,
  recordedHints,
  stoppedClock,
} from '../../../test/configuration.ts';
import { empty } from '../../../test/emptied.ts';
import type { Json } from '../../../test/harness/api.ts';
import { type OperationClient, operationClient } from '../../../test/operation-client.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { makeSnapshotPartitions } from '../../../test/snapshot-partitions.ts';
import { previewOperations } from './preview.ts';
import { routeOperations } from './routes.ts';

const database = useDatabase();
const LAB = 'NT000000000001' as PublicId;
const GONE = 'NT000000000002' as PublicId;

let directory: DirectorySource;
let api: OperationClient;
let builtin: PublicId;
let seq = 0;

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql);
  await makeSnapshotPartitions(sql, NOW - 3 * DAY, NOW);
  await empty(sql, 'stored_snapshots', 'snapshot_queue', 'snapshot_bodies');
  await insertIntegration(LAB, 'lab', { env: 'lab' }, null);
  await insertIntegration(GONE, 'gone', {}, NOW);
  directory = await readDirectory(sql);
  const found = [...directory.current().integrationsById.values()].find((one) => one.builtin);
  builtin = found?.id as PublicId;
  const { appendAudit } = recordedAudit();
  const store = createRouteStore({ sql, appendAudit, internalAlerts });
  api = operationClient({
    operations: [
      ...routeOperations({
        store,
        directory,
        hints: recordedHints(),
        poke: () => undefined,
        checkTemplates: async () => [],
      }),
      ...previewOperations({ bodies: createPreviewBodies(sql) }),
    ],
    directory,
    clock: stoppedClock,
  });
});

async function insertIntegration(id: PublicId, name: string, labels: object, deletedAt: Micros | null) {
  await database.sql()`
    insert into integrations (
      id, version, builtin, name, description, static_labels, duplicate_window_seconds, heartbeat_enabled,
      heartbeat_timeout_seconds, created_at, deleted_at
    )
    values (
      ${id}, 1, false, ${name}, '', ${JSON.stringify(labels)}::text::jsonb, 45, false, 300, ${NOW}, ${deletedAt}
    )`;
}

type Alert = readonly [labels: Record<string, string>, status?: 'firing' | 'resolved'];

/** Fingerprints are the label `n`. */
function bodyOf(alerts: readonly Alert[]): Buffer {
  const told = alerts.map(([labels, status = 'firing']) => ({
    status,
    labels,
    annotations: {},
    startsAt: '2026-09-21T00:00:00Z',
    fingerprint: labels.n,
  }));
  return Buffer.from(JSON.stringify({ groupKey: 'G', status: 'firing', truncatedAlerts: 0, alerts: told }));
}

interface Received {
  readonly at?: Micros;
  readonly by?: PublicId;
  readonly error?: string;
  readonly waiting?: true;
}

async function received(body: Buffer, { at = NOW - MINUTE, by = LAB, error, waiting }: Received = {}) {
  const sql = database.sql();
  const { id, bodyHash } = newSnapshot({ body });
  const row = {
    seq: ++seq,
    id,
    integration_id: by,
    received_at: at,
    body_hash: Buffer.from(bodyHash, 'hex'),
    size_bytes: body.length,
    content_type: 'application/json',
  };
  await sql`
    insert into snapshot_bodies (day, hash, body) values (${Math.floor(at / DAY)}, ${row.body_hash}, ${body})
    on conflict do nothing`;
  if (waiting) await sql`insert into snapshot_queue ${sql(row)}`;
  else {
    const settled = { ...row, processed_at: at, processing_error: error ?? null };
    await sql`insert into stored_snapshots ${sql(settled)}`;
  }
}

const DISK = [{ label: 'alertname', op: '=', value: 'Disk' }];
const disk = (n: string, cluster?: string): Alert => [
  { alertname: 'Disk', n, ...(cluster ? { cluster } : {}) },
];
const preview = (body: object) => api.post('/group-key-previews', body);
const unsaved = (key: readonly string[], more: object = {}) =>
  preview({ matchers: DISK, proposed_group_key: key, ...more });
const proposed = async (key: readonly string[], more: object = {}) => {
  const { status, body } = await unsaved(key, more);
  expect(status).toBe(200);
  return [
    body.proposed.alert_group_count,
    body.proposed.examples.map(({ alert_count: n }: { alert_count: number }) => n),
  ];
};
const errorsOf = ({
  status,
  body,
}: {
  status: number;
  body: { errors?: { pointer: string; code: string }[] };
}) => [status, ...(body.errors ?? []).map(({ pointer, code }) => `${code} ${pointer}`)];

async function created(name: string, groupKey: readonly string[], matchers: readonly object[] = DISK) {
  const { body } = await api.post('/routes', {
    name,
    matchers,
    urgent: false,
    group_key: groupKey,
    destination_ids: [],
    policy: ON_CALL_POLICY,
  });
  return body.id as PublicId;
}

describe('a preview', () => {
  const FOUR = [disk('1', 'a'), disk('2', 'a'), disk('3'), disk('4')];

  test('of unsaved Matchers counts the Alert Groups of the proposed key', async () => {
    await received(bodyOf([...FOUR, [{ alertname: 'Other', n: '5' }]]));
    const { samples, change, ...body } = (await unsaved(['alertname', 'cluster'])).body;
    expect(samples).toHaveLength(4);
    expect(change.proposed).toEqual({ alert_count: 4, alert_group_count: 2 });
    expect(body).toEqual({
      taken_earlier: [],
      period_seconds: 86_400,
      truncated: false,
      alerts_looked_at: 5,
      current: null,
      proposed: {
        alert_group_count: 2,
        examples: [
          { group_key_values: { alertname: 'Disk', cluster: '' }, alert_count: 2 },
          { group_key_values: { alertname: 'Disk', cluster: 'a' }, alert_count: 2 },
        ],
      },
    });
  });

  test('of a saved Route shows its present key, too, with its own Matchers or others', async () => {
    const id = await created('Disks', ['alertname']);
    await received(bodyOf(FOUR));
    const { body } = await preview({ route_id: id, proposed_group_key: ['alertname', 'cluster'] });
    expect([body.current.alert_group_count, body.proposed.alert_group_count]).toEqual([1, 2]);
    const matchers = [{ label: 'cluster', op: '=', value: 'a' }];
    const other = await preview({ route_id: id, matchers, proposed_group_key: ['n'] });
    expect([other.body.current.alert_group_count, other.body.proposed.alert_group_count]).toEqual([1, 2]);
  });

  test('leaves out what another Route takes first', async () => {
    await created('Disks', []);
    await received(bodyOf(FOUR));
    expect(await proposed([])).toEqual([0, []]);
    const { body } = await api.get('/routes');
    const fallback = body.items.at(-1).id;
    const answer = await preview({ route_id: fallback, proposed_group_key: [] });
    expect(answer.body.current.alert_group_count).toBe(0);
  });

  test('names for every sample the Route that takes it, and by which Matchers', async () => {
    const ofA = [{ label: 'cluster', op: '=', value: 'a' }];
    const id = await created('Disks of a', ['alertname'], ofA);
    await received(bodyOf([disk('1', 'a'), disk('2', 'b'), [{ alertname: 'Other', n: '3' }]]));
    const earlier = { id, name: 'Disks of a', matchers: ofA };
    const { body } = await unsaved([]);
    expect(body.samples).toEqual([
      {
        labels: { alertname: 'Disk', n: '1', cluster: 'a', env: 'lab' },
        taken_by: earlier,
        comes_here: false,
      },
      {
        labels: { alertname: 'Disk', n: '2', cluster: 'b', env: 'lab' },
        taken_by: { id: null, name: null, matchers: DISK },
        comes_here: true,
      },
    ]);
    expect(body.taken_earlier).toEqual([{ route: earlier, alert_count: 1 }]);
    expect(body.proposed.alert_group_count).toBe(1);
    const own = await preview({ route_id: id, proposed_group_key: [] });
    expect(own.body.samples).toMatchObject([{ taken_by: earlier, comes_here: true }]);
  });

  test('shows at most twenty samples, and counts every Alert that an earlier Route takes', async () => {
    await created('Disks', []);
    await received(bodyOf(Array.from({ length: 30 }, (_, index) => disk(`${index}`))));
    const { body } = await unsaved([]);
    expect(body.samples).toHaveLength(20);
    expect(body.taken_earlier).toMatchObject([{ route: { name: 'Disks' }, alert_count: 30 }]);
  });

  test('knows the Static labels, and gives each Alert the labels of the newest Snapshot', async () => {
    await received(bodyOf([disk('1', 'old')]), { at: NOW - HOUR });
    await received(bodyOf([disk('1', 'new')]));
    const { body } = await unsaved(['env', 'cluster']);
    expect(body.proposed.examples).toEqual([
      { group_key_values: { env: 'lab', cluster: 'new' }, alert_count: 1 },
    ]);
  });

  test('of an Alert that matches no more is empty, though it did', async () => {
    await received(bodyOf([disk('1')]), { at: NOW - HOUR });
    await received(bodyOf([[{ alertname: 'Other', n: '1' }]]));
    expect(await proposed([])).toEqual([0, []]);
  });

  test('looks at firing Alerts of what was received in the period and understood', async () => {
    await received(bodyOf([disk('1'), [{ alertname: 'Disk', n: '2' }, 'resolved']]));
    await received(bodyOf([disk('3')]), { at: NOW - DAY });
    await received(bodyOf([disk('4')]), { at: NOW - DAY + 1 });
    await received(bodyOf([disk('5')]), { at: NOW, waiting: true });
    await received(bodyOf([disk('6')]), { error: 'refused' });
    await received(Buffer.from('not JSON'));
    await received(bodyOf([disk('7')]), { by: GONE });
    await received(bodyOf([disk('8')]), { by: builtin });
    const { body } = await unsaved(['n']);
    const found = body.proposed.examples.map(
      ({ group_key_values: { n } }: { group_key_values: { n: string } }) => n,
    );
    expect([found, body.truncated]).toEqual([['1', '4', '5'], false]);
  });

  test('shows the five largest, equal ones by their values', async () => {
    const counts = { f: 1, e: 1, d: 2, c: 1, b: 3, a: 1 };
    const alerts = Object.entries(counts).flatMap(([cluster, count]) =>
      Array.from({ length: count }, (_, index) => disk(`${cluster}${index}`, cluster)),
    );
    await received(bodyOf(alerts));
    const { body } = await unsaved(['cluster']);
    expect(body.proposed.alert_group_count).toBe(6);
    expect(
      body.proposed.examples.map(
        (example: { group_key_values: { cluster: string } }) => example.group_key_values.cluster,
      ),
    ).toEqual(['b', 'd', 'a', 'c', 'e']);
  });
});

describe('a change of a Route', () => {
  const from = (values: string) => [{ label: 'n', op: '=~', value: values }];
  const change = async (body: object) => {
    const { body: answer, status } = await preview(body);
    expect(status).toBe(200);
    const named = ({ route, alert_count: count }: Json) => `${count} ${route.name}`;
    const { present, proposed, gained, lost } = answer.change;
    return {
      present: [present.alert_count, present.alert_group_count],
      proposed: [proposed.alert_count, proposed.alert_group_count],
      gained: [gained.alert_count, ...gained.from.map(named)],
      lost: [lost.alert_count, ...lost.to.map(named)],
    };
  };

  test('gains Alerts from later Routes, and not those that an earlier Route keeps', async () => {
    await created('Earlier', [], from('1'));
    const id = await created('Wanted', ['n'], from('2'));
    await created('Later', [], from('[1-5]'));
    await received(bodyOf(['1', '2', '3', '4', '5', '6', '7'].map((n) => disk(n))));
    expect(
      await change({ route_id: id, matchers: from('[1-4]|7'), proposed_group_key: ['alertname'] }),
    ).toEqual({
      present: [1, 1],
      proposed: [4, 1],
      gained: [3, '2 Later', '1 Default'],
      lost: [0],
    });
  });

  test('loses Alerts to later Routes; both sides are grouped by their own key', async () => {
    const id = await created('Wanted', ['alertname'], from('[1-4]'));
    await created('Later', [], from('[1-2]'));
    await received(bodyOf(['1', '2', '3', '4'].map((n) => disk(n))));
    expect(await change({ route_id: id, matchers: from('[4-5]'), proposed_group_key: ['n'] })).toEqual({
      present: [4, 1],
      proposed: [1, 1],
      gained: [0],
      lost: [3, '2 Later', '1 Default'],
    });
    expect(await change({ route_id: id, proposed_group_key: ['n'] })).toEqual({
      present: [4, 1],
      proposed: [4, 4],
      gained: [0],
      lost: [0],
    });
  });

  test('of its place takes from the Routes it passes', async () => {
    await created('First', [], from('[1-2]'));
    await created('Second', [], from('[2-3]'));
    const third = await created('Third', [], from('[1-4]'));
    await received(bodyOf(['1', '2', '3', '4'].map((n) => disk(n))));
    expect(await change({ route_id: third, position: 1, proposed_group_key: [] })).toEqual({
      present: [1, 1],
      proposed: [2, 1],
      gained: [1, '1 Second'],
      lost: [0],
    });
    expect(await change({ route_id: third, position: 0, proposed_group_key: [] })).toMatchObject({
      proposed: [4, 1],
      gained: [3, '2 First', '1 Second'],
    });
    const { body } = await api.get('/routes');
    const [first] = body.items;
    expect(await change({ route_id: first.id, position: 2, proposed_group_key: [] })).toMatchObject({
      lost: [2, '1 Second', '1 Third'],
    });
  });

  test('that makes a new Route has nothing at present', async () => {
    await created('Earlier', [], from('1'));
    await received(bodyOf([disk('1'), disk('2')]));
    expect(await change({ matchers: DISK, proposed_group_key: [] })).toEqual({
      present: [0, 0],
      proposed: [1, 1],
      gained: [1, '1 Default'],
      lost: [0],
    });
  });

  test('says that there was nothing to try it on', async () => {
    const id = await created('Wanted', []);
    await received(bodyOf([disk('1')]), { at: NOW - DAY });
    const { body } = await preview({ route_id: id, matchers: [], proposed_group_key: [] });
    expect([body.alerts_looked_at, body.truncated, body.change.present.alert_count]).toEqual([0, false, 0]);
  });

  test('counts at most 10,000 Alerts that it loses', async () => {
    const id = await created('Wanted', []);
    await received(bodyOf(Array.from({ length: 10_000 }, (_, index) => disk(`m${index}`))));
    await received(bodyOf([disk('one more')]), { at: NOW - HOUR });
    const { body } = await preview({ route_id: id, matchers: from('none'), proposed_group_key: [] });
    expect([body.truncated, body.alerts_looked_at, body.change.lost.alert_count]).toEqual([
      true,
      10_000,
      10_000,
    ]);
  });

  test('has a place among the Routes before the Default route', async () => {
    const id = await created('Wanted', []);
    const { body } = await api.get('/routes');
    const refused = async (more: object) => errorsOf(await preview({ proposed_group_key: [], ...more }));
    expect(await refused({ route_id: id, position: 1 })).toEqual([422, 'out_of_range /position']);
    expect(await refused({ matchers: DISK, position: 0 })).toEqual([422, 'unsupported /position']);
    expect(await refused({ route_id: body.items.at(-1).id, position: 0 })).toEqual([
      422,
      'unsupported /position',
    ]);
    expect(await refused({ route_id: id, position: -1 })).toEqual([400, 'out_of_range /position']);
  });
});

describe('a long period', () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => disk(`m${index}`));

  test('is counted over 10,000 Alerts; with exactly as many nothing is left out', async () => {
    await received(bodyOf(many(10_000)));
    await received(bodyOf(many(10_000)), { at: NOW - HOUR });
    expect(await unsaved([])).toMatchObject({ body: { truncated: false } });
    await received(bodyOf([disk('one more')]), { at: NOW - 2 * HOUR });
    const { body } = await unsaved([]);
    expect([body.truncated, body.proposed.examples[0].alert_count]).toEqual([true, 10_000]);
  });

  test('is truncated by an Alert too many within one Snapshot', async () => {
    await received(bodyOf([disk('another')]));
    await received(bodyOf(many(10_000)), { at: NOW - HOUR });
    const { body } = await unsaved([]);
    expect([body.truncated, body.proposed.examples[0].alert_count]).toEqual([true, 10_000]);
  });

  test('may be as long as Stored Snapshots are kept', async () => {
    await received(bodyOf([disk('1')]), { at: NOW - 3 * DAY + 1 });
    expect(await proposed([], { period_seconds: 3 * 86_400 })).toEqual([1, [1]]);
    const { settings } = (
      await database.sql()<{ settings: { retention: { stored_snapshots_days: number } } }[]>`
        select settings from organization`
    )[0] as { settings: { retention: { stored_snapshots_days: number } } };
    const longest = settings.retention.stored_snapshots_days * 86_400;
    expect((await unsaved([], { period_seconds: longest })).status).toBe(200);
    expect(errorsOf(await unsaved([], { period_seconds: longest + 1 }))).toEqual([
      422,
      'out_of_range /period_seconds',
    ]);
  });
});

describe('a preview that takes long', () => {
  const slowly = (bodies: PreviewBodies, monotonic?: () => Micros) =>
    operationClient({
      operations: previewOperations({ bodies, ...(monotonic ? { monotonic } : {}) }),
      directory,
      clock: stoppedClock,
    });
  const asked = { matchers: DISK, proposed_group_key: [] };

  test('ends after 10 s of work, between two Alerts if need be', async () => {
    await received(bodyOf(Array.from({ length: 100 }, (_, index) => disk(`m${index}`))));
    let now = 0;
    // Every look at the clock takes a tenth of a second.
    const client = slowly(createPreviewBodies(database.sql()), () => (now += SECOND / 10));
    const { body } = await client.post('/group-key-previews', asked);
    expect(body.truncated).toBe(true);
    expect(body.proposed.examples[0].alert_count).toBeGreaterThan(10);
    expect(body.proposed.examples[0].alert_count).toBeLessThan(100);
  });

  test('ends after 20,000 bodies, though none of them is a Snapshot', async () => {
    let read = 0;
    const client = slowly({
      retentionDays: async () => 30,
      async *newestFirst() {
        for (;;) {
          read += 1;
          yield { integrationId: LAB, body: Buffer.from('not JSON') };
        }
      },
    });
    const { body } = await client.post('/group-key-previews', asked);
    expect([body.truncated, read]).toEqual([true, 20_001]);
  });

  test('lets eight others wait, and no more', async () => {
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const client = slowly({
      retentionDays: async () => 30,
      async *newestFirst() {
        await gate;
        yield { integrationId: LAB, body: bodyOf([]) };
      },
    });
    const answers = Array.from({ length: 11 }, () => client.post('/group-key-previews', asked));
    const refused = await Promise.race(answers);
    expect([refused.status, refused.body.code, refused.headers['retry-after']]).toEqual([
      503,
      undefined,
      '5',
    ]);
    open();
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(9);
  });
});

describe('what is refused', () => {
  test.each<[string, object, unknown[]]>([
    ['neither Route nor Matchers', { proposed_group_key: [] }, [422, 'one_of_required ']],
    [
      'a Route of null and no Matchers',
      { route_id: null, proposed_group_key: [] },
      [422, 'one_of_required '],
    ],
    ['no key', { matchers: [] }, [400, 'required /proposed_group_key']],
    [
      'no period',
      { matchers: [], proposed_group_key: [], period_seconds: 0 },
      [400, 'out_of_range /period_seconds'],
    ],
    ['an unknown Route', { route_id: 'RT000000000000', proposed_group_key: [] }, [404]],
    [
      'everything that has no meaning, at once',
      {
        matchers: [{ label: 'a', op: '=~', value: '(' }],
        proposed_group_key: ['a', 'b', 'a'],
        period_seconds: 1e9,
      },
      [
        422,
        'out_of_range /period_seconds',
        'invalid_regex /matchers/0/value',
        'duplicate /proposed_group_key/2',
      ],
    ],
  ])('%s', async (_, body, expected) => {
    expect(errorsOf(await preview(body))).toEqual(expected);
  });

  test('a deleted Route, and Matchers of the Default route', async () => {
    const id = await created('Disks', []);
    await api.delete(`/routes/${id}`);
    expect(errorsOf(await preview({ route_id: id, proposed_group_key: [] }))).toEqual([404]);
    const { body } = await api.get('/routes');
    const fallback = { route_id: body.items.at(-1).id, matchers: DISK, proposed_group_key: [] };
    expect(errorsOf(await preview(fallback))).toEqual([422, 'unsupported /matchers']);
  });

  test('who may not change Routes', async () => {
    expect((await api.as('responder').post('/group-key-previews', {})).status).toBe(403);
  });
});
