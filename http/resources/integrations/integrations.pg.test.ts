import { beforeEach, describe, expect, it } from 'vitest';
import { tokenHash } from '../../../actors/integration/snippets.ts';
import { DAY, MINUTE, type Micros, SECOND } from '../../../runtime/clock.ts';
import { insertAlert, insertGroup, NOW } from '../../../test/configuration.ts';
import type { Answered, OperationClient } from '../../../test/operation-client.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { makeSnapshotPartitions } from '../../../test/snapshot-partitions.ts';
import {
  createdIn,
  errorsOf,
  INPUT,
  type IntegrationsStage,
  startIntegrations,
} from './integrations.fixture.ts';

const database = useDatabase();
let api: OperationClient;
let audit: IntegrationsStage['audit'];
let hints: IntegrationsStage['hints'];
let tokens: IntegrationsStage['tokens'];
let directory: IntegrationsStage['directory'];
let pokes: IntegrationsStage['pokes'];

beforeEach(async () => {
  ({ api, audit, hints, tokens, directory, pokes } = await startIntegrations(database.sql()));
});

const created = (changes: object = {}) => createdIn(api, changes);

async function builtin() {
  const { body } = await api.get('/integrations');
  return body.items[0];
}

function codeOf({ status, body }: Answered) {
  return [status, body.code];
}

describe('a new Integration', () => {
  it('is answered whole and starts with nothing', async () => {
    const answer = await api.post('/integrations', INPUT);
    expect(answer.headers).toMatchObject({ etag: '"1"', location: `/api/v1/integrations/${answer.body.id}` });
    expect(answer.body).toEqual({
      ...INPUT,
      id: expect.stringMatching(/^NT[0-9A-Z]{12}$/),
      description: '',
      heartbeat: {
        enabled: false,
        timeout_seconds: 300,
        state: 'not_configured',
        url: 'https://ingest.example.org/api/v1/heartbeat',
        last_signal_at: null,
        lost_since: null,
      },
      builtin: false,
      ingest_url: 'https://ingest.example.org/api/v1/ingest',
      last_snapshot_at: null,
      snapshot_count: 0,
      warnings: [{ kind: 'heartbeat_not_configured' }],
      open_alert_group_count: 0,
      created_at: '2026-09-21T14:13:20Z',
      etag: '"1"',
    });
    expect((await api.get(`/integrations/${answer.body.id}`)).body).toEqual(answer.body);
    expect(hints.sent).toEqual([{ type: 'integration', id: answer.body.id }]);
    expect(directory.current().integrationsById.get(answer.body.id)?.staticLabels).toEqual({ cluster: 'eu' });
    expect(audit.entries).toEqual([
      expect.objectContaining({ action: 'integration.create', resourceName: 'prod-eu' }),
    ]);
  });

  it('has a name of its own, the built-in one is taken', async () => {
    const { id } = await created();
    expect(codeOf(await api.post('/integrations', INPUT))).toEqual([409, 'name_taken']);
    expect(codeOf(await api.post('/integrations', { ...INPUT, name: 'Tocsin' }))).toEqual([
      409,
      'name_taken',
    ]);
    await api.delete(`/integrations/${id}`);
    await created();
  });

  it('lists everything that is malformed at once', async () => {
    const body = {
      name: '',
      description: 'x'.repeat(2_001),
      connection_mode: 'pull',
      static_labels: { a: '', b: 'x'.repeat(1_025), c: 1 },
      duplicate_window_seconds: 3_601,
      heartbeat: { timeout_seconds: 0 },
    };
    expect(errorsOf(await api.post('/integrations', body))).toEqual([
      400,
      'too_short /name',
      'too_long /description',
      'invalid_format /connection_mode',
      'too_short /static_labels/a',
      'too_long /static_labels/b',
      'invalid_format /static_labels/c',
      'out_of_range /duplicate_window_seconds',
      'required /heartbeat/enabled',
      'out_of_range /heartbeat/timeout_seconds',
    ]);
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`l${index}`, 'x']));
    expect(errorsOf(await api.post('/integrations', { ...INPUT, static_labels: many }))).toEqual([
      400,
      'too_long /static_labels',
    ]);
    expect(errorsOf(await api.post('/integrations', { ...INPUT, static_labels: [] }))).toEqual([
      400,
      'invalid_format /static_labels',
    ]);
    expect(errorsOf(await api.post('/integrations', {}))).toEqual([
      400,
      'required /name',
      'required /connection_mode',
      'required /static_labels',
      'required /duplicate_window_seconds',
      'required /heartbeat',
      'required /heartbeat/enabled',
    ]);
  });

  it('refuses names of labels that Prometheus does not have', async () => {
    const static_labels = { ok: 'x', 'a-b': 'x', '1a': 'x', 'a/b': 'x' };
    expect(errorsOf(await api.post('/integrations', { ...INPUT, name: ' ', static_labels }))).toEqual([
      422,
      'required /name',
      'invalid_format /static_labels/a-b',
      'invalid_format /static_labels/1a',
      'invalid_format /static_labels/a~1b',
    ]);
  });

  it('keeps label names that objects have of their own', async () => {
    expect((await created({ static_labels: { constructor: 'x' } })).static_labels).toEqual({
      constructor: 'x',
    });
  });
});

describe('the list', () => {
  it('has the built-in Integration first, then the others by name, in pages', async () => {
    for (const name of ['b', 'a', 'C']) await created({ name });
    const seen: string[] = [];
    let cursor = '';
    do {
      const { body } = await api.get(`/integrations?limit=1&cursor=${cursor}`);
      seen.push(...body.items.map((item: { name: string }) => item.name));
      cursor = body.next_cursor ?? '';
    } while (cursor);
    expect(seen).toEqual(['Tocsin', 'C', 'a', 'b']);
  });

  it('refuses limits and cursors that are none of its own', async () => {
    expect(errorsOf(await api.get('/integrations?limit=0'))).toEqual([400, 'out_of_range /query/limit']);
    expect(errorsOf(await api.get('/integrations?limit=501'))).toEqual([400, 'out_of_range /query/limit']);
    expect(errorsOf(await api.get('/integrations?cursor=abc'))).toEqual([
      400,
      'invalid_cursor /query/cursor',
    ]);
  });
});

describe('an update', () => {
  it('changes what was sent, keeps what was left out and records the difference', async () => {
    const { id } = await created({ description: 'kept', heartbeat: { enabled: true, timeout_seconds: 60 } });
    const change = { ...INPUT, static_labels: { cluster: 'us', env: 'x' }, heartbeat: { enabled: true } };
    expect((await api.put(`/integrations/${id}`, change)).status).toBe(428);
    expect((await api.put(`/integrations/${id}`, change, '"7"')).status).toBe(412);
    const { body } = await api.put(`/integrations/${id}`, change, '"1"');
    expect(body).toMatchObject({
      description: 'kept',
      heartbeat: { timeout_seconds: 60, state: 'waiting' },
      warnings: [{ kind: 'heartbeat_waiting' }],
      etag: '"2"',
    });
    expect(audit.entries.at(-1)).toMatchObject({
      action: 'integration.update',
      diff: [{ pointer: '/static_labels', before: { cluster: 'eu' }, after: { cluster: 'us', env: 'x' } }],
    });
    expect(directory.current().integrationsById.get(id)?.staticLabels.env).toBe('x');
  });

  it('with the body of a read changes nothing: same ETag, no Audit entry, no hint', async () => {
    const { id } = await created({ static_labels: { b: '1', a: '2' }, heartbeat: { enabled: true } });
    const [entries, sent] = [audit.entries.length, hints.sent.length];
    const { body } = await api.get(`/integrations/${id}`);
    const answer = await api.put(`/integrations/${id}`, body, body.etag);
    expect([answer.status, answer.body]).toEqual([200, body]);
    expect([audit.entries.length, hints.sent.length]).toEqual([entries, sent]);
  });

  it('shows a Heartbeat as live after a signal and forgets the signal when it is switched off', async () => {
    const sql = database.sql();
    const { id } = await created({ heartbeat: { enabled: true } });
    await sql`update integrations set last_signal_at = ${NOW + SECOND} where id = ${id}`;
    const live = (await api.get(`/integrations/${id}`)).body;
    expect(live).toMatchObject({
      heartbeat: { state: 'live', last_signal_at: '2026-09-21T14:13:21Z' },
      warnings: [],
      etag: '"1"',
    });
    const off = await api.put(`/integrations/${id}`, INPUT, '*');
    expect(off.body.heartbeat).toMatchObject({ state: 'not_configured', last_signal_at: null });
    const on = await api.put(`/integrations/${id}`, { ...INPUT, heartbeat: { enabled: true } }, '*');
    expect(on.body.heartbeat).toMatchObject({ state: 'waiting', timeout_seconds: 300 });
  });
});

describe('what a read tells of the running service', () => {
  it('is the number of Snapshots and the open Alert Groups that are its alone', async () => {
    const sql = database.sql();
    const [own, other] = [await created(), await created({ name: 'other' })];
    const both = [own.id, other.id];
    await insertGroup(sql, { routeId: 'RT', integrationIds: [own.id] });
    const alone = await insertGroup(sql, { routeId: 'RT', integrationIds: both });
    const shared = await insertGroup(sql, { routeId: 'RT', integrationIds: both });
    const over = await insertGroup(sql, { routeId: 'RT', status: 'resolved', integrationIds: [own.id] });
    const alert = (groupId: string, integrationId: string, fingerprint: string, state?: 'resolved') =>
      insertAlert(sql, { groupId, integrationId, fingerprint, ...(state ? { state } : {}) });
    await alert(alone, own.id, 'a1');
    await alert(alone, own.id, 'a2');
    await alert(alone, other.id, 'a1', 'resolved');
    await alert(shared, own.id, 'a3');
    await alert(shared, other.id, 'a3');
    await alert(over, own.id, 'a4');
    await sql`insert into integration_counters values (${own.id}, 12, ${NOW + SECOND})`;
    expect((await api.get(`/integrations/${own.id}`)).body).toMatchObject({
      open_alert_group_count: 2,
      snapshot_count: 12,
      last_snapshot_at: '2026-09-21T14:13:21Z',
      etag: '"1"',
    });
    expect((await api.get(`/integrations/${other.id}`)).body.open_alert_group_count).toBe(0);
  });
});

describe('what its actor found out', () => {
  async function state(id: string, found: { lostSince?: number; truncated?: number }): Promise<void> {
    await database.sql()`
      insert into integration_states values (${id}, 1, ${found.lostSince ?? null}, ${NOW}, ${found.truncated ?? 0})`;
  }
  async function learned(id: string, path: string, seconds: number): Promise<void> {
    await database.sql()`
      insert into learned_repeats values (${id}, ${path}, ${path}, '{}', ${seconds * SECOND}, ${NOW})`;
  }

  it('is a lost Heartbeat, until the next signal is stored', async () => {
    const sql = database.sql();
    const { id } = await created({ heartbeat: { enabled: true } });
    await sql`update integrations set last_signal_at = ${NOW + SECOND} where id = ${id}`;
    await state(id, { lostSince: NOW + SECOND });
    const since = '2026-09-21T14:13:21Z';
    expect((await api.get(`/integrations/${id}`)).body).toMatchObject({
      heartbeat: { state: 'lost', last_signal_at: since, lost_since: since },
      warnings: [{ kind: 'heartbeat_lost', since }],
      etag: '"1"',
    });
    await sql`update integrations set last_signal_at = ${NOW + 2 * SECOND} where id = ${id}`;
    expect((await api.get(`/integrations/${id}`)).body).toMatchObject({
      heartbeat: { state: 'live', lost_since: null },
      warnings: [],
    });
  });

  it('are bodies that were no Snapshots: how many, and the newest with its reason', async () => {
    const { id } = await created();
    const sql = database.sql();
    await makeSnapshotPartitions(sql, NOW - 2 * DAY, NOW);
    let seq = 0;
    const settledAt = (receivedAt: Micros, error: string | null) =>
      sql`
        insert into stored_snapshots (seq, id, integration_id, received_at, body_hash, size_bytes, processed_at, processing_error)
        values (${++seq}, ${`SS00000000000${seq}`}, ${id}, ${receivedAt}, '', 1, ${receivedAt}, ${error})`;
    await sql`insert into integration_counters values (${id}, 4, ${NOW})`;
    await settledAt(NOW - DAY, 'long ago');
    await settledAt(NOW - MINUTE, 'body: not JSON');
    await settledAt(NOW - SECOND, 'alerts[3].startsAt: not an RFC 3339 time');
    await settledAt(NOW, null);
    expect((await api.get(`/integrations/${id}`)).body.warnings).toEqual([
      { kind: 'heartbeat_not_configured' },
      {
        kind: 'snapshot_failed',
        since: '2026-09-21T14:13:19Z',
        failed_count: 2,
        stored_snapshot_id: 'SS000000000003',
        error: 'alerts[3].startsAt: not an RFC 3339 time',
      },
    ]);
  });

  it('are cut lists and route paths that repeat themselves seldom, in their order', async () => {
    const { id } = await created();
    await state(id, { truncated: 2 });
    await learned(id, '{}/{b="c"}', 7_200);
    await learned(id, '{}', 3_601);
    await learned(id, '{}/{a="b"}', 3_600);
    expect((await api.get(`/integrations/${id}`)).body.warnings).toEqual([
      { kind: 'heartbeat_not_configured' },
      { kind: 'snapshot_truncated', truncated_group_count: 2 },
      { kind: 'long_repeat_interval', route_path: '{}', repeat_interval_seconds: 3_601 },
      { kind: 'long_repeat_interval', route_path: '{}/{b="c"}', repeat_interval_seconds: 7_200 },
    ]);
  });

  it('are the routes of the sender: learned, cut, or only known', async () => {
    const sql = database.sql();
    const { id } = await created();
    await learned(id, '{}/{b="c"}', 7_200.4);
    await learned(id, '{}/{a="b"}', 300);
    await sql`
      insert into truncated_feeds
      values (${id}, 'f1', '{}/{a="b"}', 1), (${id}, 'f2', '{}/{z="z"}', 1), (${id}, 'f3', null, 1)`;
    await sql`
      insert into feeds (key, integration_id, group_key, route_path, last_received_at)
      values (${`${id}.1`}, ${id}, '{}:{}', '{}', 1), (${`${id}.2`}, ${id}, 'x', null, 1)`;
    const item = (route_path: string, given: object) => ({
      route_path,
      learned_repeat_interval_seconds: null,
      resolve_by_absence_after_seconds: 90_000,
      truncated_group_count: 0,
      long_interval_warning: false,
      recommended_snippet: null,
      ...given,
    });
    const { body } = await api.get(`/integrations/${id}/alertmanager-routes`);
    expect(body).toEqual({
      items: [
        item('{}', {}),
        item('{}/{a="b"}', {
          learned_repeat_interval_seconds: 300,
          resolve_by_absence_after_seconds: 900,
          truncated_group_count: 1,
        }),
        item('{}/{b="c"}', {
          learned_repeat_interval_seconds: 7_200,
          resolve_by_absence_after_seconds: 21_601,
          long_interval_warning: true,
          recommended_snippet: expect.stringContaining('repeat_interval: 10m'),
        }),
        item('{}/{z="z"}', { truncated_group_count: 1 }),
      ],
    });
    const { id: own } = await builtin();
    expect((await api.get(`/integrations/${own}/alertmanager-routes`)).body).toEqual({ items: [] });
    await api.delete(`/integrations/${id}`);
    expect((await api.get(`/integrations/${id}/alertmanager-routes`)).status).toBe(404);
  });
});

describe('the built-in Integration', () => {
  it('exists from the first start and shows no addresses', async () => {
    expect(await builtin()).toEqual({
      id: expect.any(String),
      name: 'Tocsin',
      description: '',
      connection_mode: 'webhook_only',
      static_labels: {},
      duplicate_window_seconds: 45,
      heartbeat: {
        enabled: false,
        timeout_seconds: 300,
        state: 'not_configured',
        last_signal_at: null,
        lost_since: null,
      },
      builtin: true,
      last_snapshot_at: null,
      snapshot_count: 0,
      warnings: [],
      open_alert_group_count: 0,
      created_at: '2026-09-21T14:13:20Z',
      etag: '"1"',
    });
  });

  it('cannot be changed, deleted or given tokens', async () => {
    const { id } = await builtin();
    expect(codeOf(await api.put(`/integrations/${id}`, INPUT, '"1"'))).toEqual([409, 'builtin_immutable']);
    expect((await api.put(`/integrations/${id}`, INPUT, '"9"')).status).toBe(412);
    expect(codeOf(await api.delete(`/integrations/${id}`))).toEqual([409, 'builtin_immutable']);
    expect(codeOf(await api.post(`/integrations/${id}/tokens`))).toEqual([409, 'builtin_immutable']);
    expect((await api.get(`/integrations/${id}/tokens`)).body).toEqual({ items: [] });
  });
});

describe('a deletion', () => {
  it('stops the tokens, tells the actor, which ends what fires, and frees the name', async () => {
    const sql = database.sql();
    const [own] = [await created(), await created({ name: 'other' })];
    const { value } = (await api.post(`/integrations/${own.id}/tokens`)).body;
    await tokens.find(tokenHash(value));

    expect((await api.delete(`/integrations/${own.id}`, '"2"')).status).toBe(412);
    expect((await api.delete(`/integrations/${own.id}`, '"1"')).status).toBe(204);

    expect((await api.get(`/integrations/${own.id}`)).status).toBe(404);
    expect((await api.get(`/integrations/${own.id}/tokens`)).status).toBe(404);
    expect(await tokens.find(tokenHash(value))).toBeNull();
    expect(directory.current().integrationsById.get(own.id)).toMatchObject({ deleted: true });
    const inbox = await sql`
      select receiver_kind, message from inbox where receiver_key = ${own.id} order by seq`;
    expect(inbox.map((row) => ({ ...row }))).toEqual([
      { receiver_kind: 'integration', message: expect.objectContaining({ type: 'configured', version: 1 }) },
      { receiver_kind: 'integration', message: { type: 'deleted', version: 2, name: 'prod-eu', at: NOW } },
    ]);
    expect(pokes()).toBe(3);
    expect(audit.entries.at(-1)).toMatchObject({
      action: 'integration.delete',
      resourceName: 'prod-eu',
      diff: [],
    });
    expect(hints.sent.at(-1)).toEqual({ type: 'integration', id: own.id });
    await created();
  });
});

describe('access', () => {
  it('reads for everybody, changes for Admins', async () => {
    const { id } = await created();
    const viewer = api.as('viewer');
    expect((await viewer.get('/integrations')).status).toBe(200);
    expect((await viewer.get(`/integrations/${id}/tokens`)).status).toBe(200);
    expect((await viewer.post('/integrations', INPUT)).status).toBe(403);
    expect((await viewer.post(`/integrations/${id}/tokens`)).status).toBe(403);
    expect((await viewer.delete(`/integrations/${id}`)).status).toBe(403);
  });
});
