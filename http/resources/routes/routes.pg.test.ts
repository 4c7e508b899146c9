import { beforeEach, describe, expect, it } from 'vitest';
import { ON_CALL_POLICY } from '../../../actors/route/policy.ts';
import { SECOND } from '../../../runtime/clock.ts';
import { createRouteStore } from '../../../storage/configuration/routes.ts';
import {
  firstStart,
  insertDestination,
  insertGroup,
  internalAlerts,
  NOW,
  readDirectory,
  recordedAudit,
  recordedHints,
  stoppedClock,
} from '../../../test/configuration.ts';
import { empty } from '../../../test/emptied.ts';
import { type OperationClient, operationClient } from '../../../test/operation-client.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { routeOperations } from './routes.ts';

const database = useDatabase();
let api: OperationClient;
let audit: ReturnType<typeof recordedAudit>;
let hints: ReturnType<typeof recordedHints>;

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql);
  audit = recordedAudit();
  hints = recordedHints();
  const directory = await readDirectory(sql);
  const store = createRouteStore({ sql, appendAudit: audit.appendAudit, internalAlerts });
  const operations = routeOperations({
    store,
    directory,
    hints,
    poke: () => undefined,
    checkTemplates: async () => [],
  });
  api = operationClient({ operations, directory, clock: stoppedClock });
});

const input = {
  name: 'Web',
  matchers: [{ label: 'team', op: '=', value: 'web' }],
  urgent: false,
  group_key: ['alertname'],
  destination_ids: [] as string[],
  policy: ON_CALL_POLICY,
};

async function created(changes: object = {}) {
  const answer = await api.post('/routes', { ...input, ...changes });
  expect(answer.status).toBe(201);
  return answer.body;
}

async function names(): Promise<string[]> {
  const { body } = await api.get('/routes');
  return body.items.map((route: { name: string }) => route.name);
}

async function defaultRoute() {
  const { body } = await api.get('/routes');
  return body.items.at(-1);
}

function errorsOf({
  status,
  body,
}: {
  status: number;
  body: { errors?: { pointer: string; code: string }[] };
}) {
  return [status, ...(body.errors ?? []).map(({ pointer, code }) => `${code} ${pointer}`)];
}

function refusalOf({ status, body }: { status: number; body: { type: string; code?: string } }) {
  return [status, body.type.split('/').at(-1), body.code];
}

describe('a new Route', () => {
  it('stands directly before the Default route and is answered whole', async () => {
    await created({ name: 'First' });
    const answer = await api.post('/routes', { ...input, description: 'Web team' });
    expect(answer.headers).toMatchObject({ etag: '"1"', location: `/api/v1/routes/${answer.body.id}` });
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^RT[0-9A-Z]{12}$/),
      ...input,
      description: 'Web team',
      position: 1,
      is_default: false,
      destinations: [],
      template_error: null,
      storm_active: false,
      storm: null,
      open_alert_group_count: 0,
      created_at: '2026-09-21T14:13:20Z',
      etag: '"1"',
    });
    expect(await names()).toEqual(['First', 'Web', 'Default']);
    expect((await api.get(`/routes/${answer.body.id.toLowerCase()}`)).body).toEqual(answer.body);
    expect(hints.sent.at(-1)).toEqual({ type: 'route', id: answer.body.id });
  });

  it('is in the Audit log with what it was created with', async () => {
    const route = await created();
    expect(audit.entries).toEqual([
      expect.objectContaining({
        action: 'route.created',
        resourceType: 'route',
        resourceId: route.id,
        resourceName: 'Web',
        address: '192.0.2.7',
        actor: expect.objectContaining({ login: 'admin' }),
      }),
    ]);
    expect(audit.entries[0]?.diff).toContainEqual({ pointer: '/matchers', after: input.matchers });
  });

  it('has a name of its own; the name of a deleted Route is free', async () => {
    const route = await created();
    expect(refusalOf(await api.post('/routes', input))).toEqual([409, 'conflict', 'name_taken']);
    expect((await api.post('/routes', { ...input, name: 'web' })).status).toBe(201);
    await api.delete(`/routes/${route.id}`);
    expect((await api.post('/routes', input)).status).toBe(201);
  });

  it('keeps its name without white space around it', async () => {
    expect((await created({ name: '  Web\t' })).name).toBe('Web');
  });

  it.each([
    ['', [400, 'too_short /name']],
    ['   ', [422, 'required /name']],
    ['x'.repeat(201), [422, 'too_long /name']],
    [7, [400, 'invalid_format /name']],
    [undefined, [400, 'required /name']],
  ])('refuses the name %j', async (name, errors) => {
    expect(errorsOf(await api.post('/routes', { ...input, name }))).toEqual(errors);
  });

  it('lists everything that is malformed at once', async () => {
    const body = {
      name: 'x',
      description: 'x'.repeat(2_001),
      matchers: [
        { label: '', op: '==', value: 'x'.repeat(1_001) },
        { label: 'a\u007f', op: '=' },
      ],
      urgent: 'no',
      group_key: ['x'.repeat(257)],
      destination_ids: ['nonsense'],
      policy: { ...ON_CALL_POLICY, storm_threshold: 0, language: 'de', reminders: undefined },
    };
    expect(errorsOf(await api.post('/routes', body))).toEqual([
      400,
      'too_long /description',
      'required /matchers/0/label',
      'invalid_format /matchers/0/op',
      'too_long /matchers/0/value',
      'invalid_format /matchers/1/label',
      'required /matchers/1/value',
      'invalid_format /urgent',
      'too_long /group_key/0',
      'invalid_format /destination_ids/0',
      'out_of_range /policy/storm_threshold',
      'invalid_format /policy/language',
      'required /policy/reminders',
      'required /policy/reminders/enabled',
      'required /policy/reminders/first_interval_seconds',
      'required /policy/reminders/cap_seconds',
    ]);
  });

  it('lists everything that makes no sense at once', async () => {
    const destination = await insertDestination(database.sql(), 'Hook');
    const body = {
      ...input,
      matchers: [
        { label: 'pod', op: '=~', value: 'api-(' },
        { label: 'pod', op: '!~', value: '(?=a)' },
        { label: 'pod', op: '=', value: '(' },
        { label: 'pod', op: '=~', value: '(a)\\1' },
      ],
      group_key: ['a', 'b', 'a'],
      destination_ids: ['DS000000000000', 'RT000000000000', destination],
      policy: {
        ...ON_CALL_POLICY,
        snooze_durations_seconds: [60, 60],
        templates: { line: 'x'.repeat(20_001) },
        reminders: { enabled: true, first_interval_seconds: 14_400, cap_seconds: 3_600 },
      },
    };
    expect(errorsOf(await api.post('/routes', body))).toEqual([
      422,
      'invalid_regex /matchers/0/value',
      'invalid_regex /matchers/1/value',
      'invalid_regex /matchers/3/value',
      'duplicate /group_key/2',
      'unknown_id /destination_ids/0',
      'unknown_id /destination_ids/1',
      'unknown_id /destination_ids/2',
      'duplicate /policy/snooze_durations_seconds/1',
      'too_long /policy/templates/line',
      'out_of_range /policy/reminders/cap_seconds',
    ]);
    expect(audit.entries).toEqual([]);
  });

  it.each([
    ['matchers', Array.from({ length: 51 }, () => input.matchers[0])],
    ['group_key', Array.from({ length: 21 }, (_, index) => `l${index}`)],
    ['destination_ids', Array.from({ length: 51 }, () => 'DS000000000000')],
  ])('refuses too many %s', async (field, value) => {
    expect(errorsOf(await api.post('/routes', { ...input, [field]: value }))).toEqual([
      400,
      `too_long /${field}`,
    ]);
  });

  it('takes null templates, empty ones and none', async () => {
    for (const templates of [{}, { root_message: null }, { root_message: '' }]) {
      const name = JSON.stringify(templates);
      const route = await created({ name, policy: { ...ON_CALL_POLICY, templates } });
      expect(route.policy.templates).toEqual({ root_message: null, line: null, ack_timeout_notice: null });
    }
  });
});

describe('an update', () => {
  it('needs the present ETag', async () => {
    const { id } = await created();
    const path = `/routes/${id}`;
    expect((await api.put(path, input)).status).toBe(428);
    expect((await api.put(path, { ...input, name: 'A' }, '"1"')).body.etag).toBe('"2"');
    expect((await api.put(path, { ...input, name: 'B' }, '"1"')).status).toBe(412);
    expect((await api.put(path, { ...input, name: 'B' }, 'abc')).status).toBe(412);
    expect((await api.put(path, { ...input, name: 'B' }, 'W/"2"')).body.etag).toBe('"3"');
    expect((await api.put(path, { ...input, name: 'C' }, '*')).body.etag).toBe('"4"');
    expect((await api.put('/routes/RT000000000000', input, '*')).status).toBe(404);
  });

  it('is judged in order: shape, existence, ETag, meaning, name', async () => {
    await created({ name: 'Other' });
    const { id } = await created();
    const senseless = { ...input, name: 'Other', group_key: ['a', 'a'] };
    expect((await api.put('/routes/RT000000000000', {}, '"9"')).status).toBe(400);
    expect((await api.put(`/routes/${id}`, senseless, '"9"')).status).toBe(412);
    expect((await api.put(`/routes/${id}`, senseless, '"1"')).status).toBe(422);
    expect(refusalOf(await api.put(`/routes/${id}`, { ...input, name: 'Other' }, '"1"'))).toEqual([
      409,
      'conflict',
      'name_taken',
    ]);
  });

  it('records what it changed', async () => {
    const { id } = await created();
    const matchers = [{ label: 'team', op: '=~', value: 'web|api' }];
    const policy = { ...ON_CALL_POLICY, reopen_window_seconds: 0 };
    await api.put(`/routes/${id}`, { ...input, matchers, policy }, '"1"');
    expect(audit.entries.at(-1)).toMatchObject({
      action: 'route.updated',
      resourceId: id,
      diff: [
        { pointer: '/matchers', before: input.matchers, after: matchers },
        { pointer: '/policy/reopen_window_seconds', before: 900, after: 0 },
      ],
    });
  });

  it('with the body of a read changes nothing: same ETag, no Audit entry, no hint', async () => {
    const destination = await insertDestination(database.sql(), 'Hook');
    await created({ name: 'Reload' });
    const { id } = await created({ description: 'kept', destination_ids: [destination] });
    const [entries, sent] = [audit.entries.length, hints.sent.length];
    const read = await api.get(`/routes/${id}`);
    const answer = await api.put(`/routes/${id}`, read.body, read.body.etag);
    expect([answer.status, answer.headers.etag]).toEqual([200, '"1"']);
    expect(answer.body).toEqual(read.body);
    expect([audit.entries.length, hints.sent.length]).toEqual([entries, sent]);
  });

  it('keeps a description that is left out and clears one that is null', async () => {
    const { id } = await created({ description: 'kept' });
    expect((await api.put(`/routes/${id}`, { ...input, urgent: true }, '*')).body.description).toBe('kept');
    expect((await api.put(`/routes/${id}`, { ...input, description: null }, '*')).body.description).toBe('');
  });

  it('leaves the ETag of the list alone', async () => {
    const { id } = await created();
    const { headers } = await api.get('/routes');
    await api.put(`/routes/${id}`, { ...input, urgent: true }, '*');
    expect((await api.get('/routes')).headers.etag).toBe(headers.etag);
  });

  it.each([
    ['what is Urgent', { urgent: true }],
    ['its language', { policy: { ...ON_CALL_POLICY, language: 'ru' } }],
    ['its Snooze durations', { policy: { ...ON_CALL_POLICY, snooze_durations_seconds: [60] } }],
  ])('of %s renders its open messages again, each time it changes', async (_, change) => {
    const sql = database.sql();
    const destination = await insertDestination(sql, 'Ops');
    await created({ name: 'Reload' });
    const { id } = await created({ destination_ids: [destination] });
    await sql`delete from inbox`;
    for (const changes of [change, { ...change, description: 'x' }, {}]) {
      const body = { ...input, destination_ids: [destination], ...changes };
      const { headers } = await api.get(`/routes/${id}`);
      const saved = await api.put(`/routes/${id}`, body, String(headers.etag));
      expect(saved.status).toBe(200);
    }
    const told = await sql`select receiver_key as to, message from inbox where receiver_kind = 'destination'`;
    const again = { to: destination, message: { type: 'rerender', routeId: id } };
    expect(told.map((row) => ({ ...row }))).toEqual([again, again]);
  });

  it('answers with the Destinations as they are now, and forgets a deleted one without a new ETag', async () => {
    const sql = database.sql();
    const [hook, gone] = [await insertDestination(sql, 'Hook'), await insertDestination(sql, 'Gone')];
    await created({ name: 'Reload' });
    const { id } = await created({ destination_ids: [gone, hook] });
    await sql`
      update destinations set broken_since = ${NOW + SECOND}, broken_reason = 'HTTP 401' where id = ${hook}`;
    await sql`update destinations set deleted_at = ${NOW} where id = ${gone}`;
    const { body } = await api.get(`/routes/${id}`);
    expect(body).toMatchObject({ destination_ids: [hook], etag: '"1"' });
    expect(body.destinations).toEqual([
      {
        id: hook,
        name: 'Hook',
        type: 'webhook',
        health: { state: 'broken', since: '2026-09-21T14:13:21Z', reason: 'HTTP 401' },
      },
    ]);
    expect((await api.put(`/routes/${id}`, body, '"1"')).body.etag).toBe('"1"');
  });
});

describe('the Default route', () => {
  it('exists from the first start with the On-call values', async () => {
    expect(await defaultRoute()).toMatchObject({
      name: 'Default',
      position: 0,
      is_default: true,
      matchers: [],
      urgent: false,
      group_key: ['alertname', 'severity', 'cluster'],
      destination_ids: [],
      policy: ON_CALL_POLICY,
    });
  });

  it('can be edited in everything but Matchers', async () => {
    const { id } = await defaultRoute();
    const edited = await api.put(`/routes/${id}`, { ...input, name: 'Rest', matchers: [] }, '*');
    expect(edited.body).toMatchObject({ name: 'Rest', is_default: true });
    expect(errorsOf(await api.put(`/routes/${id}`, input, '*'))).toEqual([422, 'unsupported /matchers']);
  });

  it('cannot be deleted, whatever the ETag', async () => {
    const { id } = await defaultRoute();
    for (const ifMatch of [undefined, '"1"', '"99"']) {
      expect(refusalOf(await api.delete(`/routes/${id}`, ifMatch))).toEqual([
        409,
        'default-route-immutable',
        'default-route-immutable',
      ]);
    }
  });
});

describe('a deletion', () => {
  it('takes the Route off the list, records it and leaves the rest in order', async () => {
    const { id } = await created();
    await created({ name: 'Api' });
    const before = (await api.get('/routes')).headers.etag;
    expect((await api.delete(`/routes/${id}`, '"2"')).status).toBe(412);
    expect((await api.delete(`/routes/${id}`, '"1"')).status).toBe(204);
    expect((await api.get(`/routes/${id}`)).status).toBe(404);
    expect((await api.delete(`/routes/${id}`)).status).toBe(404);
    const { body, headers } = await api.get('/routes');
    expect(body.items.map((route: { position: number }) => route.position)).toEqual([0, 1]);
    expect(headers.etag).not.toBe(before);
    expect(audit.entries.at(-1)).toMatchObject({ action: 'route.deleted', resourceName: 'Web', diff: [] });
    expect(hints.sent.at(-1)).toEqual({ type: 'route', id });
  });

  it('is refused while Alert Groups of the Route are open, with their number', async () => {
    const sql = database.sql();
    const { id } = await created();
    for (const status of ['acknowledged', 'snoozed', 'resolved'] as const)
      await insertGroup(sql, { routeId: id, status });
    const answer = await api.delete(`/routes/${id}`);
    expect(refusalOf(answer)).toEqual([409, 'route-has-open-alert-groups', 'route-has-open-alert-groups']);
    expect(answer.body.open_alert_group_count).toBe(2);
    expect((await api.get(`/routes/${id}`)).body.open_alert_group_count).toBe(2);
    await empty(sql, 'alert_groups');
    expect((await api.delete(`/routes/${id}`)).status).toBe(204);
  });

  it('waits for an Alert Group that is being created and counts it', async () => {
    const sql = database.sql();
    const { id } = await created();
    let deletion: ReturnType<OperationClient['delete']> | null = null;
    await sql.begin(async (tx) => {
      await tx`select 1 from routes where id = ${id} and deleted_at is null for share`;
      deletion = api.delete(`/routes/${id}`);
      await someoneWaitsForALock();
      await insertGroup(tx as unknown as typeof sql, { routeId: id });
    });
    expect((await deletion)!).toMatchObject({ status: 409, body: { open_alert_group_count: 1 } });
  });
});

async function someoneWaitsForALock(): Promise<void> {
  const sql = database.sql();
  for (;;) {
    const [row] = await sql<{ waiting: number }[]>`
      select count(*)::int as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    if (row && row.waiting > 0) return;
  }
}

describe('a new order', () => {
  it('moves all Routes together and leaves the Default last', async () => {
    const [a, b, c] = [
      await created({ name: 'A' }),
      await created({ name: 'B' }),
      await created({ name: 'C' }),
    ];
    const { headers } = await api.get('/routes');
    const answer = await api.put('/route-order', { route_ids: [c.id, a.id, b.id] }, headers.etag);
    expect(answer.body.items.map((route: { name: string }) => route.name)).toEqual([
      'C',
      'A',
      'B',
      'Default',
    ]);
    expect(answer.headers.etag).not.toBe(headers.etag);
    expect(answer.body.items[0].etag).toBe('"1"');
    expect(audit.entries.at(-1)).toMatchObject({
      action: 'route.reordered',
      resourceType: 'route',
      resourceId: null,
      diff: [{ pointer: '/route_ids', before: [a.id, b.id, c.id], after: [c.id, a.id, b.id] }],
    });
    expect(hints.sent.at(-1)).toEqual({ type: 'route', id: null });
  });

  it('that is the present one changes nothing', async () => {
    const [a, b] = [await created({ name: 'A' }), await created({ name: 'B' })];
    const { headers } = await api.get('/routes');
    const [entries, sent] = [audit.entries.length, hints.sent.length];
    const answer = await api.put('/route-order', { route_ids: [a.id, b.id] }, headers.etag);
    expect([answer.status, answer.headers.etag]).toEqual([200, headers.etag]);
    expect([audit.entries.length, hints.sent.length]).toEqual([entries, sent]);
  });

  it('is judged in order: shape, Default route, ETag, set', async () => {
    const [a, b] = [await created({ name: 'A' }), await created({ name: 'B' })];
    const { id: fallback } = await defaultRoute();
    const order = (ids: unknown[], ifMatch?: string) => api.put('/route-order', { route_ids: ids }, ifMatch);
    expect((await order([a.id])).status).toBe(428);
    expect(errorsOf(await order([a.id, 'x'], '"0"'))).toEqual([400, 'invalid_format /route_ids/1']);
    expect((await order([a.id, fallback], '"0"')).body.code).toBe('default-route-immutable');
    expect((await order([a.id], '"0"')).status).toBe(412);
    for (const ids of [[a.id], [a.id, b.id, a.id], [a.id, 'RT000000000000'], []]) {
      expect(errorsOf(await order(ids, '*'))).toEqual([422, 'route_set_mismatch /route_ids']);
    }
  });
});

describe('an id in a path', () => {
  it('is read in any case and with the letters that look like digits', async () => {
    const { id } = await created();
    await database.sql()`update routes set id = 'RT9X2QF4H7NJC0' where id = ${id}`;
    expect((await api.get('/routes/rt9x2qf4h7njco')).body.id).toBe('RT9X2QF4H7NJC0');
    expect((await api.get('/routes/AGK7M3QX9P2RTA')).status).toBe(404);
    expect(errorsOf(await api.get('/routes/x'))).toEqual([400, 'invalid_format /path/route_id']);
  });
});

describe('access', () => {
  it('reads for everybody, changes for Admins', async () => {
    const responder = api.as('responder');
    expect((await responder.get('/routes')).status).toBe(200);
    expect((await responder.get('/route-profiles')).body.items).toHaveLength(2);
    expect((await responder.post('/routes', input)).status).toBe(403);
    expect((await responder.put('/route-order', {})).status).toBe(403);
    expect((await responder.delete('/routes/RT000000000000')).status).toBe(403);
  });
});
