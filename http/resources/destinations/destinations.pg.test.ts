import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import type { ActorMessage } from '../../../runtime/actor/index.ts';
import { MINUTE } from '../../../runtime/clock.ts';
import { silentLog } from '../../../runtime/log.ts';
import type { OutboundPolicy } from '../../../runtime/outbound/address-policy.ts';
import { newPublicId, type PublicId } from '../../../runtime/public-id.ts';
import { createKeyring, masterKey } from '../../../runtime/secrets/keyring.ts';
import { createWebhookSettings } from '../../../storage/configuration/destination-rows.ts';
import { createDestinationStore } from '../../../storage/configuration/destinations.ts';
import { createDirectory } from '../../../storage/configuration/directory.ts';
import { createOutboundPolicyStore } from '../../../storage/configuration/organization.ts';
import { readGroupDeliveries } from '../../../storage/delivery/group-deliveries.ts';
import {
  firstStart,
  insertGroup,
  internalAlerts,
  NOW,
  recordedAudit,
  recordedHints,
  stoppedClock,
} from '../../../test/configuration.ts';
import { empty } from '../../../test/emptied.ts';
import { type Answered, type OperationClient, operationClient } from '../../../test/operation-client.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { deliveryOperations } from '../alert-groups/pages.ts';
import { outboundPolicyOperations } from '../organization/outbound-policy.ts';
import { destinationCheckOperations } from './checks.ts';
import { destinationOperations } from './destinations.ts';
import { destinationSecretOperations } from './secrets.ts';

const database = useDatabase();
const key = masterKey(randomBytes(32));
const keyring = createKeyring([key], key.id);
let api: OperationClient;
let audit: ReturnType<typeof recordedAudit>;
let hints: ReturnType<typeof recordedHints>;
let told: ActorMessage[];
let policies: OutboundPolicy[];
let settings: ReturnType<typeof createWebhookSettings>;

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql, key);
  await empty(sql, 'webhook_events');
  await sql`update organization_outbound_policy set version = 1, policy = 'standard', allowed = '[]', denied = '[]'`;
  audit = recordedAudit();
  hints = recordedHints();
  told = [];
  policies = [];
  const directory = createDirectory({ sql, clock: stoppedClock, log: silentLog });
  await directory.reload();
  const { appendAudit } = audit;
  settings = createWebhookSettings(sql, stoppedClock);
  const deps = {
    store: createDestinationStore({ sql, appendAudit, keyring, internalAlerts }),
    directory,
    hints,
    settings,
    interactive: {},
    system: { tell: (_to: unknown, message: ActorMessage) => void told.push(message), ask: neverAsked },
    client: { release: () => undefined, setPolicy: (policy: OutboundPolicy) => void policies.push(policy) },
  };
  const operations = [
    ...destinationOperations(deps),
    ...destinationCheckOperations(deps),
    ...destinationSecretOperations(deps),
    ...deliveryOperations({ deliveries: (groupId) => readGroupDeliveries(sql, groupId) }),
    ...outboundPolicyOperations({ ...deps, store: createOutboundPolicyStore(sql, appendAudit) }),
  ];
  api = operationClient({ operations, directory, clock: stoppedClock });
});

function neverAsked(): never {
  throw new Error('a webhook is told, never asked');
}

const input = {
  type: 'webhook',
  name: 'phone relay',
  mode: 'events',
  events: {
    url: 'https://relay.example.org/in',
    headers: [{ name: 'Authorization', value: 'Bearer {{ .Secrets.token }}' }],
  },
};

async function created(changes: object = {}) {
  const answer = await api.post('/destinations', { ...input, ...changes });
  expect(answer.status).toBe(201);
  return answer.body.destination;
}

function errorsOf({ status, body }: Answered) {
  const errors: { pointer: string; code: string }[] = body.errors ?? [];
  return [status, ...errors.map(({ pointer, code }) => `${code} ${pointer}`)];
}

const SETTINGS = ['new_alert_group', 'new_alerts', 'reopen', 'ack_timeout', 'snooze_ended', 'rise_to_urgent'];

describe('creating', () => {
  test('answers the Destination with its defaults, and the signing secret once', async () => {
    const answer = await api.post('/destinations', input);
    expect(answer.status).toBe(201);
    const { destination, signing_secret: secret } = answer.body;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(answer.headers.location).toBe(`/api/v1/destinations/${destination.id}`);
    expect(answer.headers.etag).toBe('"1"');
    expect(destination).toMatchObject({
      type: 'webhook',
      name: 'phone relay',
      mode: 'events',
      events: input.events,
      template: null,
      proxy: { enabled: false, username: null, password_status: { set: false, updated_at: null } },
      limiter: { limit: 5, per_seconds: 1 },
      mentions: { reopen: { everyone: 'none', user_ids: [], groups: [] } },
      signing_secret_status: { set: true, previous_active_since: null },
      health: { state: 'healthy', since: null, reason: null },
      failing: null,
      waiting: 0,
      template_error: null,
      warnings: [],
      routes: [],
      etag: '"1"',
    });
    expect(JSON.stringify((await api.get(`/destinations/${destination.id}`)).body)).not.toContain(secret);
    expect(audit.actions()).toEqual(['destination.created']);
    expect(JSON.stringify(audit.entries)).not.toContain(secret);
    expect(hints.sent).toEqual([{ type: 'destination', id: destination.id }]);
  });

  test('shows since when every call has failed, the last error and how many wait', async () => {
    const { id } = await created();
    const sql = database.sql();
    await sql`
      update destinations set failing_since = ${NOW - 8 * MINUTE}, failing_error = 'answered 503' where id = ${id}`;
    await sql`
      insert into webhook_events (id, destination_id, group_id, sequence, event, urgent, occurred_at, body, state,
        calls, attempts, exact, updated_at)
      values ('one', ${id}, 'AG1', 1, 'created', false, ${NOW}, '{}', 'waiting', 1, 1, false, ${NOW})`;
    const failing = { since: '2026-09-21T14:05:20Z', error: 'answered 503' };
    const shown = { health: { state: 'healthy' }, failing, waiting: 1 };
    expect((await api.get(`/destinations/${id}`)).body).toMatchObject(shown);
    expect((await api.get('/destinations')).body.items).toMatchObject([shown]);
  });

  test('the secrets lie sealed in the database', async () => {
    const { body } = await api.post('/destinations', input);
    await api.put(`/destinations/${body.destination.id}/secrets/token`, { value: 'hunter2-secret' });
    const dump = JSON.stringify([
      await database.sql()`select * from destinations`,
      await database.sql()`select * from destination_secrets`,
    ]);
    expect(dump).not.toContain('hunter2-secret');
    expect(dump).not.toContain(body.signing_secret.slice(6));
  });

  test.each<[object, (string | number)[]]>([
    [{ type: undefined }, [400, 'required /type']],
    [{ mode: undefined }, [400, 'required /mode']],
    [{ mode: 'other' }, [400, 'invalid_format /mode']],
    [{ name: '' }, [400, 'too_short /name']],
    [{ name: '  ' }, [422, 'required /name']],
    [{ name: 'x'.repeat(201) }, [422, 'too_long /name']],
    [{ type: 'pigeon' }, [400, 'invalid_format /type']],
    [{ mode: 'template', template: {} }, [422, 'required /template/create', 'required /template/update']],
    [{ mode: 'template' }, [422, 'required /template']],
    [{ events: undefined }, [422, 'required /events']],
    [{ events: { url: 'nowhere', headers: [] } }, [422, 'invalid_format /events/url']],
    [
      { events: { url: 'https://h/', headers: [{ name: 'Host', value: 'x' }] } },
      [422, 'reserved /events/headers/0/name'],
    ],
    [{ proxy: { enabled: true } }, [422, 'required /proxy/type', 'required /proxy/address']],
    [{ limiter: { limit: 0, per_seconds: 1 } }, [422, 'out_of_range /limiter/limit']],
    [
      { limiter: { limit: 1.5, per_seconds: 3601 } },
      [422, 'out_of_range /limiter/limit', 'out_of_range /limiter/per_seconds'],
    ],
    [
      { mentions: {} },
      [
        400,
        ...SETTINGS.map((setting) => `required /mentions/${setting}`),
        ...SETTINGS.flatMap((setting) =>
          ['everyone', 'user_ids', 'groups'].map((field) => `required /mentions/${setting}/${field}`),
        ),
      ],
    ],
  ])('%j is refused', async (changes, expected) => {
    expect(errorsOf(await api.post('/destinations', { ...input, ...changes }))).toEqual(expected);
  });

  test('template mode is stored as written, judged as a whole, and warned about line by line', async () => {
    const template = {
      create: {
        request: 'POST https://h/?key=abc\r\n\r\n{{ toJson .AlertGroup.Title }}',
        extract: [{ name: 'id', path: ' $.id ' }],
      },
      update: { request: 'PUT https://h/{{ .Response.id }}' },
    };
    const changes = { name: 'chat', mode: 'template', events: undefined, template };
    const { body } = await api.post('/destinations', { ...input, ...changes });
    const { destination } = body;
    expect(destination).toMatchObject({
      mode: 'template',
      events: null,
      template: {
        create: { request: template.create.request, extract: [{ name: 'id', path: '$.id' }] },
        update: { request: template.update.request },
        open_thread: null,
        reply_in_thread: null,
      },
      warnings: [{ kind: 'literal_credential', field: '/template/create/request', line: 1, since: null }],
    });
    const path = `/destinations/${destination.id}`;
    const wrong = { ...template, update: { request: 'PUT https://h/\n\n{{ .Response.other }}' } };
    const refused = await api.put(path, { ...input, ...changes, template: wrong }, '"1"');
    expect(refused.body.errors).toMatchObject([
      { pointer: '/template/update/request', code: 'invalid_format', line: 3, column: 4 },
    ]);
    const back = { ...input, name: 'chat' };
    const changed = await api.put(path, back, '"1"');
    expect(changed.body).toMatchObject({ mode: 'events', template: { update: template.update } });
    const again = { ...back, mode: 'template', events: null };
    expect((await api.put(path, again, '"2"')).body).toMatchObject({
      mode: 'template',
      events: null,
      template: { update: template.update },
    });
  });

  test('Mentions of unknown users are refused at their place', async () => {
    const nobody = { everyone: 'none', user_ids: [], groups: [] };
    const mentions = {
      new_alert_group: { everyone: 'here', user_ids: [newPublicId('SR')], groups: ['oncall', 'oncall'] },
      new_alerts: nobody,
      reopen: nobody,
      ack_timeout: nobody,
      snooze_ended: nobody,
      rise_to_urgent: nobody,
    };
    expect(errorsOf(await api.post('/destinations', { ...input, mentions }))).toEqual([
      422,
      'unknown_id /mentions/new_alert_group/user_ids/0',
      'duplicate /mentions/new_alert_group/groups/1',
    ]);
  });

  test('a template error carries line and column', async () => {
    const events = { url: 'https://h/{{ nope }}', headers: [] };
    const { body } = await api.post('/destinations', { ...input, events });
    expect(body.errors[0]).toMatchObject({ code: 'unknown_function', line: 1, column: 14 });
  });

  test('a name is unique among live Destinations', async () => {
    const first = await created();
    const second = await api.post('/destinations', input);
    expect([second.status, second.body.code]).toEqual([409, 'name_taken']);
    await api.delete(`/destinations/${first.id}`);
    await created();
  });

  test('needs destinations:write', async () => {
    expect((await api.as('viewer').post('/destinations', input)).status).toBe(403);
    expect((await api.as('viewer').get('/destinations')).status).toBe(200);
  });
});

describe('updating', () => {
  test('keeps what is left out, resets what is null, and tells the Destination', async () => {
    const limiter = { limit: 100, per_seconds: 1 };
    const { id } = await created({ limiter });
    const path = `/destinations/${id}`;
    const kept = await api.put(path, { type: 'webhook', name: 'relay', mode: 'events' }, '"1"');
    expect([kept.status, kept.headers.etag, kept.body.limiter, kept.body.events]).toEqual([
      200,
      '"2"',
      limiter,
      input.events,
    ]);
    const reset = await api.put(path, { ...input, limiter: null }, '"2"');
    expect(reset.body.limiter).toEqual({ limit: 5, per_seconds: 1 });
    expect(told).toEqual([{ type: 'saved' }, { type: 'saved' }]);
    expect(audit.actions()).toEqual(['destination.created', 'destination.updated', 'destination.updated']);
  });

  test('saving what is there already changes nothing, and still makes a probe due', async () => {
    const destination = await created();
    const same = await api.put(`/destinations/${destination.id}`, destination, '"1"');
    expect([same.status, same.headers.etag]).toEqual([200, '"1"']);
    expect(told).toEqual([{ type: 'saved' }]);
    expect(audit.actions()).toEqual(['destination.created']);
  });

  test.each<[string, string | undefined, object, (string | number)[]]>([
    ['without If-Match', undefined, {}, [428]],
    ['with a stale If-Match', '"7"', { events: { url: '', headers: [] } }, [412]],
    [
      'of the type',
      '"1"',
      { type: 'bridge', connection_id: newPublicId('CN'), channel_id: 'alerts' },
      [422, 'invalid_format /type'],
    ],
    ['to an empty URL', '"1"', { events: { url: ' ', headers: [] } }, [422, 'required /events/url']],
  ])('%s', async (_name, ifMatch, changes, expected) => {
    const { id } = await created();
    expect(errorsOf(await api.put(`/destinations/${id}`, { ...input, ...changes }, ifMatch))).toEqual(
      expected,
    );
  });

  test('of an unknown one is 404', async () => {
    expect((await api.put(`/destinations/${newPublicId('DS')}`, input, '*')).status).toBe(404);
  });
});

describe('reading', () => {
  test('warnings name literal credentials and a previous signing secret', async () => {
    const headers = [{ name: 'Authorization', value: 'Bearer abc' }];
    const { id } = await created({ events: { url: 'https://h/?key=abc', headers } });
    await api.post(`/destinations/${id}/signing-secret`);
    const { body } = await api.get(`/destinations/${id}`);
    expect(
      body.warnings.map((warning: { kind: string; field: string }) => `${warning.kind} ${warning.field}`),
    ).toEqual([
      'previous_signing_secret_active null',
      'literal_credential /events/url',
      'literal_credential /events/headers/0/value',
    ]);
  });

  test('lists in pages, by type, health and Route', async () => {
    const [a, b, c] = [
      await created({ name: 'a' }),
      await created({ name: 'b' }),
      await created({ name: 'c' }),
    ];
    const ordered = [a.id, b.id, c.id].sort();
    const first = await api.get('/destinations?limit=2');
    expect(first.body.items.map(({ id }: { id: string }) => id)).toEqual(ordered.slice(0, 2));
    const rest = await api.get(`/destinations?limit=2&cursor=${first.body.next_cursor}`);
    expect([rest.body.items.length, rest.body.next_cursor]).toEqual([1, null]);
    await database.sql()`update destinations set broken_since = ${NOW}, broken_reason = 'x' where id = ${b.id}`;
    const broken = await api.get('/destinations?health=broken&type=webhook');
    expect(broken.body.items).toMatchObject([{ id: b.id, health: { state: 'broken', reason: 'x' } }]);
    expect((await api.get('/destinations?type=bridge')).body.items).toEqual([]);
    expect((await api.get(`/destinations?route=${newPublicId('RT')}`)).body.items).toEqual([]);
    expect((await api.get('/destinations?cursor=nonsense')).status).toBe(400);
  });

  test('a webhook has no check', async () => {
    const { id } = await created();
    expect(errorsOf(await api.post(`/destinations/${id}/checks`))).toEqual([
      422,
      'check_not_supported /path/destination_id',
    ]);
  });
});

describe('deleting', () => {
  test('ends what waits, wipes secrets, leaves its Routes and is told', async () => {
    const { id } = await created();
    const sql = database.sql();
    await api.put(`/destinations/${id}/secrets/token`, { value: 'hunter2-secret' });
    const [route] = await sql<{ id: string }[]>`
      update routes set destination_ids = ${JSON.stringify([id])}::text::jsonb returning id`;
    const groupId = await insertGroup(sql, { routeId: route?.id ?? '' });
    await sql`
      insert into webhook_events (
        id, destination_id, group_id, sequence, event, urgent, occurred_at, body, state, attempts, exact, updated_at
      )
      values ('msg_1', ${id}, ${groupId}, 1, 'created', false, ${NOW}, '{}', 'waiting', 0, false, ${NOW})`;
    await api.put(`/destinations/${id}`, { ...input, name: 'renamed' }, '*');
    told.length = 0;
    hints.sent.length = 0;
    expect((await api.delete(`/destinations/${id}`, '"7"')).status).toBe(412);
    expect((await api.delete(`/destinations/${id}`)).status).toBe(204);
    expect((await api.get(`/destinations/${id}`)).status).toBe(404);
    expect(await sql`select * from destination_secrets`).toHaveLength(0);
    expect(await sql`select 1 from destinations where signing_secret is not null`).toHaveLength(0);
    const deliveries = await api.get(`/alert-groups/${groupId}/deliveries`);
    expect(deliveries.body.items).toMatchObject([
      { destination: { id, name: 'renamed' }, state: 'not_delivered', error: 'the Destination was deleted' },
    ]);
    expect(told).toEqual([{ type: 'deleted' }]);
    expect(hints.sent).toEqual([
      { type: 'destination', id },
      { type: 'route', id: route?.id },
    ]);
    expect(await settings.events(id)).toBeNull();
  });

  test('deliveries of an unknown Alert Group are 404', async () => {
    expect((await api.get(`/alert-groups/${newPublicId('AG')}/deliveries`)).status).toBe(404);
  });
});

describe('Secrets', () => {
  test('are set, listed by name without values, replaced and deleted, with an ETag of their own', async () => {
    const { id } = await created();
    const path = `/destinations/${id}/secrets`;
    const first = await api.put(`${path}/token`, { value: 'hunter2-secret' });
    expect([first.status, first.headers.etag]).toEqual([200, '"2"']);
    await api.put(`${path}/other`, { value: 'x' });
    expect((await api.put(`${path}/token`, { value: 'y' }, '"2"')).status).toBe(412);
    const listed = await api.get(path);
    expect(listed.headers.etag).toBe('"3"');
    expect(listed.body.items.map(({ name, set }: { name: string; set: boolean }) => [name, set])).toEqual([
      ['other', true],
      ['token', true],
    ]);
    expect((await api.delete(`${path}/other`, '"3"')).status).toBe(204);
    expect((await api.delete(`${path}/other`)).status).toBe(404);
    expect((await api.get(`/destinations/${id}`)).headers.etag).toBe('"1"');
    expect(audit.entries.slice(1).map(({ action, diff }) => [action, diff])).toContainEqual([
      'destination.updated',
      [{ pointer: '/secrets/token', secret_changed: true }],
    ]);
    expect(JSON.stringify(audit.entries)).not.toContain('hunter2-secret');
    expect(told.every((message) => message.type === 'saved')).toBe(true);
  });

  test('a Secret opens in its own place, for the next request', async () => {
    const { id } = await created();
    expect((await settings.events(id))?.secrets.size).toBe(0);
    await api.put(`/destinations/${id}/secrets/token`, { value: 'hunter2-secret' });
    const sealed = (await settings.events(id))?.secrets.get('token');
    expect(sealed && keyring.open('destination.secret', `${id}/token`, sealed)).toEqual({
      ok: true,
      value: 'hunter2-secret',
    });
  });

  test.each([
    ['1st', 'x', [422, 'invalid_format /path/name']],
    ['a-b', 'x', [422, 'invalid_format /path/name']],
    ['a'.repeat(65), 'x', [422, 'invalid_format /path/name']],
    ['token', '', [422, 'too_short /value']],
    ['token', 'x'.repeat(8193), [422, 'too_long /value']],
  ])('%s with a value of its kind is refused', async (name, value, expected) => {
    const { id } = await created();
    expect(errorsOf(await api.put(`/destinations/${id}/secrets/${name}`, { value }))).toEqual(expected);
  });

  test('a 101st is refused, replacing one is not', async () => {
    const { id } = await created();
    for (let index = 0; index < 100; index++) {
      await api.put(`/destinations/${id}/secrets/s${index}`, { value: 'x' });
    }
    expect(errorsOf(await api.put(`/destinations/${id}/secrets/more`, { value: 'x' }))).toEqual([
      422,
      'out_of_range /path/name',
    ]);
    expect((await api.put(`/destinations/${id}/secrets/s7`, { value: 'y' })).status).toBe(200);
  });
});

describe('the signing secret', () => {
  test('rotates: the current one becomes the previous, which is retired on request', async () => {
    const { body } = await api.post('/destinations', input);
    const id = body.destination.id as PublicId;
    const path = `/destinations/${id}/signing-secret`;
    const generated = await api.post(path);
    expect(generated.status).toBe(201);
    expect(generated.body.status.previous_active_since).not.toBeNull();
    const stored = await settings.events(id);
    const previous = stored?.previousSigningSecret;
    expect(previous && keyring.open('destination.signing_secret_previous', id, previous)).toEqual({
      ok: true,
      value: body.signing_secret,
    });
    expect((await api.delete(`${path}/previous`)).status).toBe(204);
    expect((await api.delete(`${path}/previous`)).status).toBe(204);
    expect((await api.get(path)).body).toMatchObject({ set: true, previous_active_since: null });
    expect(audit.actions()).toEqual([
      'destination.created',
      'destination.signing_secret_generated',
      'destination.signing_secret_retired',
    ]);
  });
});

describe('the outbound policy', () => {
  const path = '/organization/outbound-policy';

  test('is read, changed with normalised entries, and in force at once', async () => {
    const before = await api.get(path);
    expect(before.body).toMatchObject({ policy: 'standard', allowed: [], denied: [], etag: '"1"' });
    expect(before.body.always_blocked).toHaveLength(4);
    const change = {
      policy: 'strict',
      allowed: ['10.20.30.40/16', 'Chat.Corp.Example.'],
      denied: ['*.test.example'],
    };
    const saved = await api.put(path, change, '"1"');
    expect(saved.body).toMatchObject({
      policy: 'strict',
      allowed: ['10.20.0.0/16', 'chat.corp.example'],
      etag: '"2"',
    });
    expect(policies).toHaveLength(1);
    expect(hints.sent).toEqual([{ type: 'organization', id: null }]);
    expect(audit.actions()).toEqual(['outbound_policy.updated']);
    expect((await api.put(path, saved.body, '"2"')).headers.etag).toBe('"2"');
    expect(audit.actions()).toHaveLength(1);
  });

  test('tells every Destination that it changed: what it refused may go through now', async () => {
    const kept = await created({ name: 'kept' });
    const gone = await created({ name: 'gone' });
    await api.delete(`/destinations/${gone.id}`);
    const sql = database.sql();
    await sql`delete from inbox`;
    await api.put(path, { policy: 'strict', allowed: [], denied: [] }, '"1"');
    expect(await sql`select receiver_key, message from inbox where receiver_kind = 'destination'`).toEqual([
      { receiver_key: kept.id, message: { type: 'saved' } },
    ]);
  });

  test.each<[object, string | undefined, (string | number)[]]>([
    [{ policy: 'standard', allowed: [], denied: [] }, undefined, [428]],
    [{ policy: 'standard', allowed: ['nonsense entry'], denied: [] }, '"9"', [412]],
    [{ policy: 'lax', allowed: [] }, '"1"', [400, 'invalid_format /policy', 'required /denied']],
    [
      { policy: 'standard', allowed: ['ok.example', 'a b'], denied: ['*'] },
      '"1"',
      [422, 'invalid_format /allowed/1', 'invalid_format /denied/0'],
    ],
    [
      { policy: 'standard', allowed: ['::1', '[::1]'], denied: ['::1'] },
      '"1"',
      [422, 'duplicate /allowed/1'],
    ],
    [
      { policy: 'standard', allowed: [], denied: Array.from({ length: 201 }, (_, i) => `h${i}.example`) },
      '"1"',
      [422, 'too_long /denied'],
    ],
  ])('refuses %#', async (body, ifMatch, expected) => {
    expect(errorsOf(await api.put(path, body, ifMatch))).toEqual(expected);
  });

  test('is for Admins', async () => {
    expect((await api.as('responder').get(path)).status).toBe(403);
  });
});
