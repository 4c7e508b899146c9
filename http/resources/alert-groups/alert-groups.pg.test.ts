import { beforeEach, describe, expect, test } from 'vitest';
import type { AlertGroupMessage } from '../../../actors/alert-group/messages.ts';
import { HOUR, MINUTE } from '../../../runtime/clock.ts';
import { newPublicId, type PublicId } from '../../../runtime/public-id.ts';
import { createContextReader, createGroupReader } from '../../../storage/alert-groups/alert-groups.ts';
import {
  createGroupEngine,
  firingPart,
  resolvingPart,
  slotOf,
} from '../../../storage/alert-groups/engine.fixture.ts';
import { ensurePartitions } from '../../../storage/postgres/partitions.ts';
import { PARTITIONED_TABLES } from '../../../storage/postgres/retention.ts';
import {
  firstStart,
  linksWithoutRules,
  NOW,
  readDirectory,
  stoppedClock,
} from '../../../test/configuration.ts';
import { empty } from '../../../test/emptied.ts';
import { type OperationClient, operationClient } from '../../../test/operation-client.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { alertGroupOperations } from './alert-groups.ts';
import { contextOperations } from './context.ts';

const database = useDatabase();
const SENDER = 'NT000000000001' as PublicId;
const LABELS = { alertname: 'X', cluster: 'a' };

let api: OperationClient;
let viewer: OperationClient;
let engine: ReturnType<typeof createGroupEngine>;
let routeId: PublicId;
let logged: [string, unknown][];
/** Whether the links of more than two groups take too long. */
let fewLinks = false;

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql);
  await empty(sql, 'timeline_entries', 'notes', 'slots', 'feeds');
  await ensurePartitions(sql, NOW, PARTITIONED_TABLES);
  const directory = await readDirectory(sql);
  routeId = directory.current().routes.at(-1)?.id as PublicId;
  engine = createGroupEngine({ sql, directory, now: () => NOW });
  logged = [];
  fewLinks = false;
  const operations = alertGroupOperations({
    reader: createGroupReader(sql),
    links: {
      of: async (groups, at) => (await linksWithoutRules.of(groups, at)).slice(0, fewLinks ? 2 : 500),
    },
    system: { ask: (to, message) => engine.deliver(to.key as PublicId, message as AlertGroupMessage) },
    log: (event, fields) => logged.push([event, fields]),
  });
  const context = contextOperations({ reader: createGroupReader(sql), context: createContextReader(sql) });
  api = operationClient({ operations: [...operations, ...context], directory, clock: stoppedClock });
  viewer = api.as('viewer');
});

/** A group with its key in `name`, so that several are apart. */
async function fired(name = 'X1'): Promise<PublicId> {
  const id = newPublicId('AG');
  await engine.deliver(id, partOf(name));
  return id;
}

function partOf(name: string) {
  return firingPart(NOW, slotOf(routeId, { name }), SENDER, [[name, { ...LABELS, name }]]);
}

const outcome = ({ status, body }: { status: number; body: Record<string, unknown> }) => [
  status,
  body.outcome ?? body.code,
];

describe('reading', () => {
  test('an Alert Group is answered whole', async () => {
    const id = await fired();
    const { status, body } = await viewer.get(`/alert-groups/${id}?label_columns=cluster&label_columns=team`);
    expect(status).toBe(200);
    expect(body).toEqual({
      id,
      number: 1,
      title: 'X',
      summary: 'about X1',
      status: 'firing',
      owner: null,
      snooze_until: null,
      snoozed_by: null,
      severity_level: 'warning',
      urgent: false,
      route: { id: routeId, name: 'Default' },
      integrations: [{ id: SENDER, name: SENDER }],
      started_at: '2026-09-21T14:13:20Z',
      alerts_started_at: '2026-09-21T14:13:20Z',
      resolved_at: null,
      last_changed_at: '2026-09-21T14:13:20Z',
      reopen_count: 0,
      firing_alert_count: 1,
      resolved_alert_count: 0,
      resolution: null,
      unclaimed: false,
      next_notice: null,
      delivery_problem: false,
      details_removed: false,
      group_labels: { name: 'X1' },
      common_labels: { ...LABELS, name: 'X1' },
      common_annotations: { summary: 'about X1', runbook_url: 'https://wiki.example/rb' },
      label_values: { cluster: 'a' },
      notices: [],
      links: [
        { kind: 'runbook', name: 'Runbook', url: 'https://wiki.example/rb', link_rule_id: null },
        { kind: 'source', name: 'Source', url: 'https://prom.example/g', link_rule_id: null },
      ],
      allowed_commands: [],
    });
  });

  test('the labels of the key stand in the order of the Group key', async () => {
    const key = { alertname: 'X', severity: '', cluster: 'a' };
    const id = newPublicId('AG');
    await engine.deliver(id, firingPart(NOW, slotOf(routeId, key), SENDER, [['X1', LABELS]]));
    const { body } = await viewer.get(`/alert-groups/${id}`);
    expect(Object.entries(body.group_labels)).toEqual(Object.entries(key));
  });

  test('one that is not there, or the id of something else, is 404', async () => {
    expect((await api.get(`/alert-groups/${newPublicId('AG')}`)).status).toBe(404);
    expect((await api.get(`/alert-groups/${routeId}/timeline`)).status).toBe(404);
    expect((await api.get(`/alert-groups/${newPublicId('AG')}/alerts`)).status).toBe(404);
  });

  test('the list pages by cursor, bound to its filters', async () => {
    for (const name of ['a', 'b', 'c']) await fired(name);
    const first = await api.get('/alert-groups?limit=2');
    expect(first.body.items.map((group: { number: number }) => group.number)).toEqual([3, 2]);
    const next = await api.get(`/alert-groups?limit=2&cursor=${first.body.next_cursor}`);
    expect(next.body.items.map((group: { number: number }) => group.number)).toEqual([1]);
    expect(next.body.next_cursor).toBeNull();
    const other = await api.get(`/alert-groups?urgent=true&cursor=${first.body.next_cursor}`);
    expect([other.status, other.body.errors[0].code]).toEqual([400, 'invalid_cursor']);
  });

  test.each(['started_at', '-started_at', 'last_changed_at', '-last_changed_at'])(
    'a page by %s ends where the links of further ones are too much, and the next one goes on',
    async (sort) => {
      fewLinks = true;
      for (const name of ['a', 'b', 'c', 'd', 'e']) await fired(name);
      const found: number[][] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const { body } = await api.get(`/alert-groups?sort=${sort}&limit=3&cursor=${cursor}`);
        found.push(body.items.map((group: { number: number }) => group.number));
        cursor = body.next_cursor;
      }
      expect(found).toEqual(sort.startsWith('-') ? [[5, 4], [3, 2], [1]] : [[1, 2], [3, 4], [5]]);
    },
  );

  test.each([
    ['q=%23 2', []],
    ['q=%232', [2]],
    ['number=1', [1]],
    ['number=1&status=resolved', []],
    ['label=name%3D"b"', [2]],
    ['label=name%3D~"b|c"&label=name!%3D"c"', [2]],
    ['q=ABOUT B', [2]],
    ['status=resolved', []],
    ['owner=me', []],
    [`route=rt${'0'.repeat(12)}`, []],
    ['from=2026-09-22T00:00:00Z', [3, 2, 1]],
    ['to=2026-09-21T00:00:00Z', []],
  ])('list?%s', async (query, numbers) => {
    for (const name of ['a', 'b', 'c']) await fired(name);
    const { status, body } = await api.get(`/alert-groups?${query.replaceAll(' ', '+')}`);
    expect(status).toBe(200);
    expect(body.items.map((group: { number: number }) => group.number)).toEqual(numbers);
  });

  test.each([
    ['status=open', 400, 'invalid_format', '/query/status/0'],
    ['limit=0', 400, 'out_of_range', '/query/limit'],
    ['number=0', 400, 'out_of_range', '/query/number'],
    ['label=name%3Db', 400, 'invalid_format', '/query/label/0'],
    ['label=name%3D"b"&label=name%3D~"("', 400, 'invalid_regex', '/query/label/1'],
    ['owner=nobody', 400, 'invalid_format', '/query/owner'],
    [`q=${'x'.repeat(201)}`, 400, 'too_long', '/query/q'],
    ['from=yesterday', 400, 'invalid_format', '/query/from'],
    ['urgent=yes', 400, 'invalid_format', '/query/urgent'],
    ['from=2026-01-02T00:00:00Z&to=2026-01-02T00:00:00Z', 422, 'out_of_range', '/query/to'],
    ['resolved_by=user&resolve_reason=gone', 422, 'unsupported', '/query/resolve_reason'],
  ])('list?%s is refused', async (query, status, code, pointer) => {
    const answer = await api.get(`/alert-groups?${query}`);
    expect([answer.status, answer.body.errors[0].code, answer.body.errors[0].pointer]).toEqual([
      status,
      code,
      pointer,
    ]);
  });

  test('counts', async () => {
    const id = await fired('a');
    await fired('b');
    await api.post(`/alert-groups/${id}/acknowledge`);
    const { body } = await viewer.get('/alert-group-counts');
    expect(body).toEqual({ firing: 1, acknowledged: 1, snoozed: 0, resolved: 0, all: 2 });
  });

  test('folds by a label', async () => {
    const id = await fired('a');
    await fired('b');
    await api.post(`/alert-groups/${id}/acknowledge`);
    const { body } = await viewer.get('/alert-group-folds?by=alertname&distinct=alertname&distinct=node');
    expect(body).toMatchObject({ fold_count: 1, alert_group_count: 2, truncated: false });
    expect(body.items).toMatchObject([
      { alert_group_count: 2, firing_count: 1, distinct: { alertname: 1, node: 0 } },
    ]);
    const acknowledged = await viewer.get('/alert-group-folds?by=alertname&status=acknowledged');
    expect(acknowledged.body.items).toMatchObject([{ alert_group_count: 1, firing_count: 0 }]);
    for (const wrong of ['?by=', '?by=a&distinct=1&distinct=2&distinct=3&distinct=4&distinct=5&distinct=6'])
      expect((await viewer.get(`/alert-group-folds${wrong}`)).status, wrong).toBe(400);
  });

  test('folds by the names of labels', async () => {
    const id = await fired('a');
    await fired('b');
    await api.post(`/alert-groups/${id}/acknowledge`);
    const { body } = await viewer.get('/alert-group-folds');
    expect(body).toMatchObject({ fold_count: 3, alert_group_count: 2, truncated: false });
    expect(body.items).toMatchObject(
      ['alertname', 'cluster', 'name'].map((value) => ({ value, alert_group_count: 2, firing_count: 1 })),
    );
    const others = await viewer.get(`/alert-group-folds?label=${encodeURIComponent('name="b"')}`);
    expect(others.body).toMatchObject({ fold_count: 3, alert_group_count: 1 });
    const refused = await viewer.get('/alert-group-folds?distinct=name&owner=me');
    expect([refused.status, refused.body.errors]).toMatchObject([
      422,
      [{ pointer: '/query/distinct', code: 'unsupported' }],
    ]);
  });

  test('Alerts, Timeline and Notes', async () => {
    const id = await fired();
    const note = await api.post(`/alert-groups/${id}/notes`, { body: ' why? ' });
    expect(note.status).toBe(201);
    expect(note.body).toMatchObject({
      body: ' why? ',
      author: { kind: 'user', name: 'admin', deactivated: false },
      transport: 'ui',
    });
    const notes = await viewer.get(`/alert-groups/${id}/notes`);
    expect(notes.body.items).toEqual([note.body]);
    const alerts = await viewer.get(`/alert-groups/${id}/alerts?state=firing`);
    expect(alerts.body.items).toEqual([
      {
        fingerprint: 'X1',
        integration: { id: SENDER, name: SENDER },
        labels: { ...LABELS, name: 'X1' },
        annotations: { summary: 'about X1', runbook_url: 'https://wiki.example/rb' },
        state: 'firing',
        resolve_reason: null,
        resolve_reason_text: null,
        starts_at: '2026-09-21T14:13:20Z',
        resolved_at: null,
        last_seen_at: '2026-09-21T14:13:20Z',
        alertmanager_groups: ['{}:{alertname="X"}'],
        source_url: 'https://prom.example/g',
      },
    ]);
    const timeline = await viewer.get(`/alert-groups/${id}/timeline?order=asc`);
    expect(timeline.body.items).toMatchObject([
      {
        kind: 'status',
        event: 'created',
        loudness: 'loud',
        mentions: ['new_alert_group'],
        sequence: 1,
        actor: { kind: 'system', reason: 'alert' },
        from_status: null,
        to_status: 'firing',
        fingerprints: ['X1'],
      },
      { id: note.body.id, kind: 'notes', event: 'note_added', note: note.body, actor: { transport: 'ui' } },
    ]);
  });

  test('a group without its details says so, and keeps its Notes', async () => {
    const id = await fired();
    await api.post(`/alert-groups/${id}/notes`, { body: 'kept' });
    await database.sql()`update alert_groups set details_removed = true`;
    const { body } = await viewer.get(`/alert-groups/${id}`);
    expect(body.details_removed).toBe(true);
    expect(body.notices).toEqual([{ kind: 'details_removed', retention_days: 90 }]);
    expect((await viewer.get(`/alert-groups/${id}/alerts`)).body.items).toEqual([]);
    const timeline = await viewer.get(`/alert-groups/${id}/timeline`);
    expect(timeline.body.items.map(({ kind }: { kind: string }) => kind)).toEqual(['notes']);
  });

  test('earlier groups of the same key', async () => {
    const part = partOf('X1');
    const first = await fired();
    await engine.deliver(first, resolvingPart(NOW + MINUTE, part, ['X1']));
    const later = firingPart(NOW + HOUR, slotOf(routeId, { name: 'X1' }), SENDER, [['X1', LABELS]]);
    await database.sql()`
      insert into slots (route_id, key_hash, group_id)
      select original_route_id, key_hash, id from alert_groups`;
    await engine.deliver(first, later);
    const { body: list } = await api.get('/alert-groups');
    const { body } = await viewer.get(`/alert-groups/${list.items[0].id}/related`);
    expect(body.items).toMatchObject([
      { id: first, number: 1, status: 'resolved', resolution: { by: 'system', reason: 'resolved' } },
    ]);
  });

  test('what fires around it, and what was before with the same key', async () => {
    const raised = async (key: string, labels: Record<string, string>, at = NOW) => {
      const id = newPublicId('AG');
      const part = firingPart(at, slotOf(routeId, { key }), SENDER, [[key, labels]]);
      await engine.deliver(id, part);
      return { id, part };
    };
    const here = { alertname: 'X', namespace: 'shop', cluster: 'a' };
    const first = await raised('one', here);
    await api.post(`/alert-groups/${first.id}/acknowledge`);
    await api.post(`/alert-groups/${first.id}/notes`, { body: 'restarted the pod' });
    await engine.deliver(first.id, resolvingPart(NOW + 10 * MINUTE, first.part, ['one']));
    const other = await raised('two', { ...here, alertname: 'Y' });
    const { id } = await raised('one', here, NOW + 20 * MINUTE);
    const { status, body } = await viewer.get(`/alert-groups/${id}/context`);
    expect(status).toBe(200);
    expect(body.nearby).toEqual({
      count: 1,
      truncated: false,
      items: [
        {
          ...{
            id: other.id,
            number: 2,
            title: 'Y',
            status: 'firing',
            severity_level: 'warning',
            urgent: false,
          },
          ...{ owner: null, started_at: '2026-09-21T14:13:20Z' },
          shared_labels: { namespace: 'shop', cluster: 'a' },
        },
      ],
    });
    expect(body.past).toMatchObject({
      ...{ alert_group_count: 1, truncated: false, median_duration_seconds: 0 },
      acknowledged_by: [{ alert_group_count: 1 }],
      notes: [{ alert_group: { id: first.id, number: 1 }, note: { body: 'restarted the pod' } }],
    });
    expect((await viewer.get(`/alert-groups/${newPublicId('AG')}/context`)).status).toBe(404);
  });
});

describe('Commands', () => {
  test('answer with the state after them and what the caller may do next', async () => {
    const id = await fired();
    const answer = await api.post(`/alert-groups/${id}/acknowledge`);
    expect(outcome(answer)).toEqual([200, 'done']);
    expect(answer.body.alert_group).toMatchObject({
      status: 'acknowledged',
      owner: { id: 'SRADM0N0000000' },
      allowed_commands: ['unacknowledge', 'resolve', 'snooze', 'add_note'],
    });
    expect(outcome(await api.post(`/alert-groups/${id}/acknowledge`))).toEqual([200, 'unchanged']);
    expect(outcome(await api.post(`/alert-groups/${id}/unacknowledge`))).toEqual([200, 'done']);
    expect(outcome(await api.post(`/alert-groups/${id}/unacknowledge`))).toEqual([409, 'not_acknowledged']);
    expect(logged.map(([event]) => event)).toEqual([
      'command_executed',
      'command_executed',
      'command_executed',
      'command_refused',
    ]);
  });

  test('a viewer may not', async () => {
    const id = await fired();
    for (const command of ['acknowledge', 'resolve', 'unresolve', 'unsnooze']) {
      expect((await viewer.post(`/alert-groups/${id}/${command}`)).status).toBe(403);
    }
    expect((await viewer.post(`/alert-groups/${id}/snooze`, { no_end: true })).status).toBe(403);
  });

  test('the shape is judged before the Permission', async () => {
    const id = await fired();
    expect((await viewer.post(`/alert-groups/${id}/snooze`, { preset: 'never' })).status).toBe(400);
  });

  test('resolve with a Note, and open it again', async () => {
    const id = await fired();
    const answer = await api.post(`/alert-groups/${id}/resolve`, { note: 'noise' });
    expect(answer.body.alert_group).toMatchObject({
      status: 'resolved',
      resolution: { by: 'user', actor: { name: 'admin' }, reason: null },
      notices: [{ kind: 'alerts_still_firing', count: 1 }],
      allowed_commands: ['unresolve', 'add_note'],
    });
    expect(outcome(await api.post(`/alert-groups/${id}/resolve`))).toEqual([409, 'already_resolved']);
    expect(outcome(await api.post(`/alert-groups/${id}/unresolve`))).toEqual([200, 'done']);
  });

  test('Unresolve names the newer Alert Group', async () => {
    const id = await fired();
    await database.sql()`
      insert into slots (route_id, key_hash, group_id)
      select original_route_id, key_hash, id from alert_groups`;
    await api.post(`/alert-groups/${id}/resolve`);
    await engine.deliver(id, {
      ...partOf('X2'),
      firing: partOf('X2').firing.map((entry) => ({ ...entry, slot: slotOf(routeId, { name: 'X1' }) })),
    });
    const answer = await api.post(`/alert-groups/${id}/unresolve`);
    expect(outcome(answer)).toEqual([409, 'newer_alert_group_exists']);
    expect(answer.body.related_alert_group).toMatchObject({ number: 2 });
  });

  test.each<[object, number, string, string]>([
    [{}, 422, 'one_of_required', ''],
    [{ until: '2026-09-21T14:13:20Z' }, 422, 'out_of_range', '/until'],
    [{ until: '2036-09-19T14:13:21Z' }, 422, 'out_of_range', '/until'],
    [{ until: '2026-09-22T00:00:00Z', no_end: true }, 422, 'one_of_required', ''],
    [{ no_end: false }, 400, 'invalid_format', '/no_end'],
    [{ preset: 'never' }, 400, 'invalid_format', '/preset'],
    [{ no_end: true, time_zone: 'UTC' }, 422, 'unsupported', '/time_zone'],
    [{ preset: 'tomorrow', time_zone: 'Mars/Base' }, 422, 'invalid_format', '/time_zone'],
  ])('snooze %j is refused', async (body, status, code, pointer) => {
    const answer = await api.post(`/alert-groups/${await fired()}/snooze`, body);
    expect([answer.status, answer.body.errors[0].code, answer.body.errors[0].pointer]).toEqual([
      status,
      code,
      pointer,
    ]);
  });

  test('a preset Snooze ends at the instant that the presets tell', async () => {
    const id = await fired();
    const presets = await api.get('/snooze-presets?time_zone=Europe/Berlin');
    expect(presets.body).toEqual({
      time_zone: 'Europe/Berlin',
      workday_start: '09:00',
      week_start: 'monday',
      items: [
        { preset: 'tomorrow', until: '2026-09-22T07:00:00Z' },
        { preset: 'week_start', until: '2026-09-28T07:00:00Z' },
      ],
    });
    const wanted = { preset: 'tomorrow', time_zone: 'Europe/Berlin' };
    const { body } = await api.post(`/alert-groups/${id}/snooze`, wanted);
    expect(body.alert_group.snooze_until).toBe('2026-09-22T07:00:00Z');
    expect(outcome(await api.post(`/alert-groups/${id}/snooze`, wanted))).toEqual([200, 'unchanged']);
    expect((await api.get('/snooze-presets?time_zone=Mars/Base')).status).toBe(422);
  });

  test.each<[object, number, string]>([
    [{}, 400, 'required'],
    [{ body: '' }, 400, 'too_short'],
    [{ body: 'x'.repeat(4001) }, 400, 'too_long'],
    [{ body: ' \n' }, 422, 'required'],
  ])('a Note %j is refused', async (body, status, code) => {
    const answer = await api.post(`/alert-groups/${await fired()}/notes`, body);
    expect([answer.status, answer.body.errors[0]]).toMatchObject([status, { code, pointer: '/body' }]);
  });

  test('on an unknown Alert Group is 404, before anything that is 422', async () => {
    const id = newPublicId('AG');
    expect((await api.post(`/alert-groups/${id}/acknowledge`)).status).toBe(404);
    expect((await api.post(`/alert-groups/${id}/snooze`, {})).status).toBe(404);
    expect((await api.post(`/alert-groups/${id}/notes`, { body: ' ' })).status).toBe(404);
    expect((await api.post(`/alert-groups/${id}/notes`, { body: 'x' })).status).toBe(404);
  });
});
