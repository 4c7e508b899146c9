import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Hint } from '../../../actors/effects.ts';
import { DAY } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { createKeyring, masterKey } from '../../../runtime/secrets/keyring.ts';
import { createOrganizationStore } from '../../../storage/configuration/organization.ts';
import {
  firstStart,
  insertAlert,
  insertDestination,
  insertGroup,
  NOW,
  readDirectory,
  recordedAudit,
  recordedHints,
  stoppedClock,
} from '../../../test/configuration.ts';
import { type OperationClient, operationClient } from '../../../test/operation-client.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { organizationOperations } from './organization.ts';

const database = useDatabase();
const key = masterKey(randomBytes(32));
const keyring = createKeyring([key], key.id);
const PATH = '/organization';
const URL_SECRET = 'https://beats.example.org/ping/0b7c9f52-hidden?key=also-hidden';

let api: OperationClient;
let audit: ReturnType<typeof recordedAudit>;
let hints: { readonly sent: Hint[] };
let pokes = 0;

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql, key);
  audit = recordedAudit();
  const told = recordedHints();
  hints = told;
  pokes = 0;
  const directory = await readDirectory(sql);
  const store = createOrganizationStore({ sql, appendAudit: audit.appendAudit, keyring });
  const poke = () => void pokes++;
  const operations = organizationOperations({ store, directory, hints: told, poke });
  api = operationClient({ operations, directory, clock: stoppedClock });
});

/** The settings as they are, with some changed. */
async function body(change: object = {}): Promise<Record<string, unknown>> {
  return { ...(await api.get(PATH)).body, ...change };
}

/** Saves on the present ETag. */
async function save(change: object) {
  const current = await api.get(PATH);
  return api.put(PATH, { ...current.body, ...change }, current.body.etag);
}

const PROXY = { enabled: false };

test('everybody reads the settings that a new installation starts with', async () => {
  for (const role of ['admin', 'responder', 'viewer'] as const) {
    const answer = await api.as(role).get(PATH);
    expect(answer).toMatchObject({ status: 200, headers: { etag: '"1"' } });
    expect(answer.body).toMatchObject({
      ...{ name: 'Tocsin', time_zone: 'UTC', workday_start: '09:00', week_start: 'monday' },
      retention: {
        ...{ stored_snapshots_days: 14, alert_details_days: 90 },
        ...{ alert_group_summaries_days: 730, audit_log_days: 365 },
      },
      ...{ totp_required: 'nobody', oidc_token_grace_seconds: 604_800 },
      outgoing_heartbeat: {
        url_status: { set: false, updated_at: null },
        proxy: { enabled: false, username: null, password_status: { set: false, updated_at: null } },
      },
    });
  }
});

test('a save needs the Permission, If-Match and the present version, in this order', async () => {
  const sent = await body({ name: '' });
  expect((await api.as('responder').put(PATH, sent)).status).toBe(403);
  expect((await api.as('responder').put(PATH, sent, '"1"')).status).toBe(403);
  expect((await api.put(PATH, sent)).status).toBe(428);
  expect((await api.put(PATH, { ...sent, workday_start: '9:00' }, '"7"')).status).toBe(400);
  expect((await api.put(PATH, sent, '"7"')).status).toBe(412);
  expect((await api.put(PATH, sent, '"1"')).status).toBe(422);
  expect((await api.put(PATH, { ...sent, name: 'Ops' }, 'W/"1"')).headers.etag).toBe('"2"');
  expect(audit.actions()).toEqual(['organization.updated']);
});

test('what is read is saved back without a change, a trace or a hint', async () => {
  const answer = await api.put(PATH, await body(), '"1"');
  expect(answer).toMatchObject({ status: 200, headers: { etag: '"1"' } });
  expect([audit.entries, hints.sent]).toEqual([[], []]);
});

test('a change is audited pointer by pointer, told to browsers, and in force at once', async () => {
  const saved = await save({
    name: '  Night shift ',
    severity_label: 'priority',
    retention: {
      stored_snapshots_days: 7,
      alert_details_days: 90,
      alert_group_summaries_days: 90,
      audit_log_days: 30,
    },
  });
  expect(saved).toMatchObject({ status: 200, body: { name: 'Night shift', etag: '"2"' } });
  expect(audit.entries[0]).toMatchObject({
    ...{ action: 'organization.updated', resourceType: 'organization', resourceName: 'Night shift' },
    diff: [
      { pointer: '/name', before: 'Tocsin', after: 'Night shift' },
      { pointer: '/retention/alert_group_summaries_days', before: 730, after: 90 },
      { pointer: '/retention/audit_log_days', before: 365, after: 30 },
      { pointer: '/retention/stored_snapshots_days', before: 14, after: 7 },
      { pointer: '/severity_label', before: 'severity', after: 'priority' },
    ],
  });
  expect(hints.sent).toEqual([{ type: 'organization', id: null }]);
  expect((await readDirectory(database.sql())).current().organization).toMatchObject({
    ...{ name: 'Night shift', severityLabel: 'priority' },
  });
});

test('of two saves with one ETag one wins', async () => {
  const sent = await body();
  const answers = await Promise.all(['Ann', 'Bob'].map((name) => api.put(PATH, { ...sent, name }, '"1"')));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
  expect(audit.entries).toHaveLength(1);
});

const STYLES = [
  { level: 'info', emoji: 'i', color: '#00FF00' },
  { level: 'critical', emoji: 'c', color: '#ff0000' },
  { level: 'warning', emoji: 'w', color: '#ffff00' },
];
const retention = (change: object) => ({
  retention: {
    ...{ stored_snapshots_days: 14, alert_details_days: 90, alert_group_summaries_days: 730 },
    ...{ audit_log_days: 365, ...change },
  },
});
const style = (index: number, change: object) => ({
  severity_styles: STYLES.map((one, at) => (at === index ? { ...one, ...change } : one)),
});
const values = (...names: string[]) => ({
  severity_mapping: names.map((value) => ({ value, level: 'info' })),
});
const heartbeat = (change: object) => ({ outgoing_heartbeat: { proxy: PROXY, ...change } });
const many = (count: number) => Array.from({ length: count }, (_, index) => `v${index}`);

describe('refused', () => {
  test.each<[string, object, number, string, string]>([
    ['no name', { name: undefined }, 400, '/name', 'required'],
    ['a name that is null', { name: null }, 400, '/name', 'invalid_format'],
    ['a workday without a leading zero', { workday_start: '9:00' }, 400, '/workday_start', 'invalid_format'],
    ['a workday that is null', { workday_start: null }, 400, '/workday_start', 'invalid_format'],
    ['a day that is none', { week_start: 'sun' }, 400, '/week_start', 'invalid_format'],
    [
      'a level that is none',
      { severity_mapping: [{ value: 'a', level: 'bad' }] },
      400,
      '/severity_mapping/0/level',
      'invalid_format',
    ],
    [
      '36,501 days',
      retention({ alert_details_days: 36_501 }),
      400,
      '/retention/alert_details_days',
      'out_of_range',
    ],
    ['half a day', retention({ audit_log_days: 0.5 }), 400, '/retention/audit_log_days', 'invalid_format'],
    ['a policy that is none', { totp_required: 'some' }, 400, '/totp_required', 'invalid_format'],
    [
      'a century of grace',
      { oidc_token_grace_seconds: 3_153_600_001 },
      400,
      '/oidc_token_grace_seconds',
      'out_of_range',
    ],
    ['no proxy', { outgoing_heartbeat: {} }, 400, '/outgoing_heartbeat/proxy', 'required'],

    ['a blank name', { name: ' ' }, 422, '/name', 'required'],
    ['an empty name', { name: '' }, 422, '/name', 'required'],
    ['a long name', { name: 'n'.repeat(201) }, 422, '/name', 'too_long'],
    ['the zone Local', { time_zone: 'Local' }, 422, '/time_zone', 'invalid_format'],
    ['a zone of nowhere', { time_zone: 'Mars/Olympus' }, 422, '/time_zone', 'invalid_format'],
    ['an empty label', { severity_label: '' }, 422, '/severity_label', 'required'],
    ['a label with a dash', { severity_label: 'se-verity' }, 422, '/severity_label', 'invalid_format'],
    ['a long label', { severity_label: 'l'.repeat(201) }, 422, '/severity_label', 'too_long'],
    ['a blank value', values('a', ' '), 422, '/severity_mapping/1/value', 'required'],
    ['a long value', values('v'.repeat(201)), 422, '/severity_mapping/0/value', 'too_long'],
    ['a value twice', values('a', 'A', 'a'), 422, '/severity_mapping/2/value', 'duplicate'],
    ['201 values', values(...many(201)), 422, '/severity_mapping', 'too_long'],
    ['a colour by name', style(1, { color: 'red' }), 422, '/severity_styles/1/color', 'invalid_format'],
    ['no emoji', style(2, { emoji: '' }), 422, '/severity_styles/2/emoji', 'required'],
    ['a long emoji', style(0, { emoji: 'x'.repeat(9) }), 422, '/severity_styles/0/emoji', 'too_long'],
    ['a level without a style', { severity_styles: STYLES.slice(1) }, 422, '/severity_styles', 'required'],
    [
      'a level styled twice',
      { severity_styles: [...STYLES, STYLES[0]] },
      422,
      '/severity_styles/3/level',
      'duplicate',
    ],
    [
      'an instance label that is none',
      { instance_labels: ['pod', '1st'] },
      422,
      '/instance_labels/1',
      'invalid_format',
    ],
    ['an instance label twice', { instance_labels: ['pod', 'pod'] }, 422, '/instance_labels/1', 'duplicate'],
    ['51 instance labels', { instance_labels: many(51) }, 422, '/instance_labels', 'too_long'],
    ['no day', retention({ alert_details_days: 0 }), 422, '/retention/alert_details_days', 'out_of_range'],
    [
      'summaries before details',
      retention({ alert_group_summaries_days: 89 }),
      422,
      '/retention/alert_group_summaries_days',
      'retention_order',
    ],
    ['no grace', { oidc_token_grace_seconds: 0 }, 422, '/oidc_token_grace_seconds', 'out_of_range'],
    ['an empty URL', heartbeat({ url: '' }), 422, '/outgoing_heartbeat/url', 'too_short'],
    ['a path for a URL', heartbeat({ url: '/ping' }), 422, '/outgoing_heartbeat/url', 'invalid_format'],
    [
      'another scheme',
      heartbeat({ url: 'ftp://a.example' }),
      422,
      '/outgoing_heartbeat/url',
      'invalid_format',
    ],
    [
      'a URL with a user',
      heartbeat({ url: 'https://u:p@a.example/' }),
      422,
      '/outgoing_heartbeat/url',
      'invalid_format',
    ],
    [
      'a long URL',
      heartbeat({ url: `https://a.example/${'x'.repeat(2000)}` }),
      422,
      '/outgoing_heartbeat/url',
      'too_long',
    ],
    [
      'a proxy without an address',
      heartbeat({ proxy: { enabled: true, type: 'http' } }),
      422,
      '/outgoing_heartbeat/proxy/address',
      'required',
    ],
  ])('%s', async (_name, change, status, pointer, code) => {
    const answer = await api.put(PATH, await body(change), '"1"');
    expect([answer.status, answer.body.errors?.[0]]).toMatchObject([status, { pointer, code }]);
    expect(audit.entries).toEqual([]);
  });

  test('all mistakes of one kind together, in the order of the fields', async () => {
    const change = { name: '', ...style(1, { color: 'red' }), ...values('a', 'a') };
    const answer = await api.put(PATH, await body(change), '"1"');
    expect(answer.body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      '/name',
      '/severity_mapping/1/value',
      '/severity_styles/1/color',
    ]);
  });
});

describe('taken', () => {
  test.each<[string, object]>([
    ['summaries as long as details', retention({ alert_group_summaries_days: 90 })],
    ['no mapping and no instance labels', { severity_mapping: [], instance_labels: [] }],
    ['an alias of a zone', { time_zone: 'Europe/Kiev' }],
    ['what nobody knows, ignored', { unknown: 1, id: 'RG0000000000ZZ', etag: '"9"' }],
  ])('%s', async (_name, change) => {
    expect((await save(change)).status).toBe(200);
  });

  test('styles in any order, answered by level and with small letters', async () => {
    const { body: saved } = await save({ severity_styles: STYLES });
    expect(saved.severity_styles).toEqual([STYLES[1], STYLES[2], { ...STYLES[0], color: '#00ff00' }]);
  });

  test('what may be left out keeps its value', async () => {
    await save({ workday_start: '08:30', week_start: 'sunday' });
    const { body: saved } = await save({ name: 'x', workday_start: undefined, week_start: undefined });
    expect(saved).toMatchObject({ workday_start: '08:30', week_start: 'sunday' });
  });
});

describe('the URL of the outgoing heartbeat', () => {
  test('is set, kept, set again and cleared, and shown to nobody', async () => {
    const status = (answer: { body: { outgoing_heartbeat: { url_status: unknown } } }) =>
      answer.body.outgoing_heartbeat.url_status;
    const at = '2026-09-21T14:13:20Z';
    expect(status(await save(heartbeat({ url: URL_SECRET })))).toEqual({ set: true, updated_at: at });
    expect(status(await save({ name: 'x', ...heartbeat({}) }))).toEqual({ set: true, updated_at: at });
    expect((await save(heartbeat({ url: URL_SECRET }))).body.etag).toBe('"4"');
    expect(status(await save(heartbeat({ url: null })))).toEqual({ set: false, updated_at: at });
    expect((await save(heartbeat({ url: null }))).body.etag).toBe('"5"');
    expect(audit.entries[0]?.diff).toEqual([{ pointer: '/outgoing_heartbeat/url', secret_changed: true }]);
    expect(JSON.stringify(audit.entries)).not.toContain('hidden');
    expect(hints.sent.filter(({ type }) => type === 'system-status')).toHaveLength(3);
  });

  test('is stored sealed, and opens nowhere else', async () => {
    await save(
      heartbeat({ url: URL_SECRET, proxy: { ...PROXY, type: 'http', address: 'p:1', password: 'pw-123' } }),
    );
    const [row] = await database.sql()`
      select id, heartbeat_url, heartbeat_proxy_password, settings from organization`;
    expect(JSON.stringify(row)).not.toMatch(/hidden|pw-123/);
    const id = row?.id as PublicId;
    expect(keyring.open('organization.heartbeat_url', id, row?.heartbeat_url)).toMatchObject({
      value: URL_SECRET,
    });
    expect(keyring.open('organization.heartbeat_proxy_password', id, row?.heartbeat_url).ok).toBe(false);
  });
});

async function waiting(kind: 'route' | 'destination') {
  const rows = await database.sql()<{ message: object }[]>`
    delete from inbox where receiver_kind = ${kind} returning message`;
  return rows.map(({ message }) => message);
}

test('messages are rendered again when critical ones become Urgent or are it no more, and only then', async () => {
  await insertDestination(database.sql(), 'Ops');
  const rerender = [{ type: 'rerender', routeId: null }];
  for (const critical_is_urgent of [false, true]) {
    await save({ critical_is_urgent });
    expect(await waiting('destination')).toEqual(rerender);
  }
  expect(pokes).toBe(2);
  await save(values('page'));
  expect(await waiting('destination')).toEqual([]);
});

test('groups that a Storm holds are looked at again when critical ones become Urgent, and only then', async () => {
  await save({ critical_is_urgent: false });
  expect(await waiting('route')).toEqual([]);
  await save({ critical_is_urgent: true });
  expect(await waiting('route')).toEqual([{ type: 'urgency_edited' }]);
  await save(values('page'));
  expect(await waiting('route')).toEqual([]);
});

test('severity values: each Alert of two weeks once, by its last value, with the level it has now', async () => {
  const sql = database.sql();
  const group = await insertGroup(sql, { routeId: 'RT0000000000AA' });
  const earlier = await insertGroup(sql, { routeId: 'RT0000000000AA', status: 'resolved' });
  const alert = async (groupId: string, fingerprint: string, labels: object, at: number) => {
    const state = groupId === group ? 'firing' : 'resolved';
    await insertAlert(sql, { groupId, integrationId: 'NT0000000000AA', fingerprint, state });
    await sql`
      update group_alerts set labels = ${JSON.stringify(labels)}::text::jsonb, last_seen_at = ${at}
      where group_id = ${groupId} and fingerprint = ${fingerprint}`;
  };
  for (const fingerprint of ['a', 'b', 'c']) await alert(group, fingerprint, { severity: 'page' }, NOW);
  await alert(earlier, 'a', { severity: 'critical' }, NOW - DAY);
  await alert(group, 'd', { severity: 'critical' }, NOW);
  await alert(group, 'e', { severity: 'old' }, NOW - 15 * DAY);
  await alert(group, 'f', { other: 'x', priority: 'p1' }, NOW);
  await alert(group, 'g', { severity: '' }, NOW);
  await alert(group, 'h', { severity: 'x'.repeat(300) }, NOW);
  expect((await api.get(`${PATH}/severity-values`)).body).toEqual({
    window_days: 14,
    items: [
      { value: 'page', count: 3, level: 'warning', mapped: false },
      { value: 'critical', count: 1, level: 'critical', mapped: true },
      { value: `${'x'.repeat(200)}…`, count: 1, level: 'warning', mapped: false },
    ],
  });
  await save({ severity_label: 'priority' });
  expect((await api.get(`${PATH}/severity-values`)).body.items).toMatchObject([{ value: 'p1', count: 1 }]);
  expect((await api.as('viewer').get(`${PATH}/severity-values`)).status).toBe(403);
});
