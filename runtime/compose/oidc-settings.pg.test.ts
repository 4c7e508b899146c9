import { beforeEach, describe, expect, test } from 'vitest';
import { ensurePartitions } from '../../storage/postgres/partitions.ts';
import { PARTITIONED_TABLES } from '../../storage/postgres/retention.ts';
import { empty } from '../../test/emptied.ts';
import { useDatabase } from '../../test/postgres.ts';
import { DAY } from '../clock.ts';
import { startWithProvider } from './oidc.fixture.ts';

const database = useDatabase();
let lab: Awaited<ReturnType<typeof startWithProvider>>;

beforeEach(async () => {
  lab = await startWithProvider(database.sql());
  await empty(lab.sql, 'internal_alerts', 'snapshot_queue');
});

const read = () => lab.send('GET', '/api/v1/oidc-settings', { as: lab.admin });
const inDays = (days: number) => new Date((lab.clock.now() + days * DAY) / 1_000).toISOString().slice(0, 10);

test('before the first save nothing is configured', async () => {
  const { json, headers } = await read();
  expect(headers.etag).toBe('"0"');
  expect(json).toEqual({
    ...{
      enabled: false,
      issuer_url: '',
      client_id: '',
      scopes: ['profile', 'email'],
      groups_claim: 'groups',
    },
    ...{ group_mappings: [], unmatched_role: 'none', sync_role: true, skip_totp_with_idp_mfa: false },
    ...{ client_secret_status: { set: false, updated_at: null }, client_secret_expires_on: null },
    proxy: { enabled: false, username: null, password_status: { set: false, updated_at: null } },
    warnings: [{ kind: 'nobody_can_sign_in' }],
    ...{ updated_at: null, etag: '"0"' },
  });
});

describe('saving', () => {
  test.each([
    ['/display_name', 'too_long', { display_name: 'x'.repeat(101) }],
    ['/issuer_url', 'invalid_format', { issuer_url: 'https://id.example/?realm=1' }],
    ['/issuer_url', 'invalid_format', { issuer_url: 'https://ann:secret@id.example' }],
    ['/issuer_url', 'invalid_format', { issuer_url: 'ftp://id.example' }],
    ['/issuer_url', 'invalid_format', { issuer_url: `https://id.example/${'x'.repeat(2_000)}` }],
    ['/client_id', 'required', { client_id: ' ' }],
    ['/client_id', 'too_long', { client_id: 'x'.repeat(201) }],
    ['/client_secret', 'required', { client_secret: null }],
    ['/client_secret', 'too_short', { client_secret: '' }],
    ['/client_secret', 'too_long', { client_secret: 'x'.repeat(2_001) }],
    ['/scopes/1', 'invalid_format', { scopes: ['email', 'a b'] }],
    ['/groups_claim', 'required', { groups_claim: '' }],
    ['/group_mappings/0/group', 'required', { group_mappings: [{ group: ' ', role: 'viewer' }] }],
    ['/group_mappings', 'too_long', { group_mappings: Array(501).fill({ group: 'g', role: 'viewer' }) }],
    ['/proxy/address', 'required', { proxy: { enabled: true, type: 'http' } }],
  ])('%s is refused as %s', async (pointer, code, changes) => {
    const { status, json } = await lab.settings(changes);
    expect([
      status,
      (json.errors as { pointer: string; code: string }[]).map((error) => [error.pointer, error.code]),
    ]).toEqual([422, [[pointer, code]]]);
    expect((await read()).headers.etag).toBe('"0"');
  });

  test.each([
    ['/unmatched_role', { unmatched_role: 'admin' }],
    ['/group_mappings/0/role', { group_mappings: [{ group: 'g', role: 'owner' }] }],
    ['/client_secret_expires_on', { client_secret_expires_on: '2026-02-30' }],
  ])('%s of another form is a mistake of the request', async (pointer, changes) => {
    const { status, json } = await lab.settings(changes);
    expect([status, (json.errors as { pointer: string }[])[0]?.pointer]).toEqual([400, pointer]);
  });

  test('what was read changes nothing when it is sent back; the secret is kept, and never shown', async () => {
    const saved = await lab.settings({ display_name: 'Acme', scopes: ['groups', 'openid', 'groups'] });
    expect(saved.json).toMatchObject({ display_name: 'Acme', scopes: ['groups'], etag: '"1"' });
    const headers = { 'if-match': '"1"' };
    const again = await lab.send('PUT', '/api/v1/oidc-settings', {
      as: lab.admin,
      headers,
      body: saved.json,
    });
    expect(again.json).toEqual(saved.json);
    expect(again.json.client_secret_status).toMatchObject({ set: true });
    expect(saved.text).not.toContain(lab.provider.clientSecret);
    const [entry] = await lab.sql`
      select diff from audit_log where action = 'oidc_settings.updated' and at >= ${lab.clock.now()}`;
    expect(JSON.stringify(entry?.diff)).not.toContain(lab.provider.clientSecret);
    expect(entry?.diff).toContainEqual({ pointer: '/client_secret', secret_changed: true });
  });

  test('a stale version is told before what is wrong with the values, and a missing one first of all', async () => {
    const body = { ...(await read()).json, client_id: '' };
    const put = (headers: Record<string, string>) =>
      lab.send('PUT', '/api/v1/oidc-settings', { as: lab.admin, headers, body });
    expect((await put({})).status).toBe(428);
    expect((await put({ 'if-match': '"7"' })).status).toBe(412);
    expect((await put({ 'if-match': '"0"' })).status).toBe(422);
  });
});

describe('checking', () => {
  const check = async () => (await lab.send('POST', '/api/v1/oidc-settings/checks', { as: lab.admin })).json;

  test('says where the endpoints are, and that the claim is not among those that the provider knows', async () => {
    await lab.settings({ groups_claim: 'roles' });
    expect(await check()).toMatchObject({
      ...{ ok: true, via: 'direct', issuer: lab.provider.issuer, error: null },
      token_endpoint: `${lab.provider.issuer}/token`,
      jwks_uri: `${lab.provider.issuer}/jwks`,
      warnings: [{ kind: 'groups_claim_missing' }],
    });
    await lab.settings({ groups_claim: 'groups' });
    expect((await check()).warnings).toEqual([]);
  });

  test.each([
    ['nothing is configured', async () => undefined, /no identity provider/],
    ['the provider is away', async () => (lab.provider.broken = ['/.well-known']), /503/],
    ['its keys cannot be read', async () => (lab.provider.broken = ['/jwks']), /503/],
    [
      'its document is of another issuer',
      async () => (lab.provider.discovery = { issuer: 'https://x.example' }),
      /another issuer/,
    ],
  ])('fails in words when %s', async (reason, prepare, error) => {
    if (reason !== 'nothing is configured') await lab.settings();
    await prepare();
    expect(await check()).toMatchObject({ ok: false, issuer: null, error: expect.stringMatching(error) });
  });

  test('an address that the outbound policy refuses is not asked', async () => {
    await lab.settings({ issuer_url: 'http://169.254.169.254' });
    expect(await check()).toMatchObject({
      ok: false,
      error: expect.stringContaining('refused by the outbound policy'),
    });
  });
});

describe('SvcOIDCSecretExpiring', () => {
  const raised = async () => {
    const [row] = await lab.sql`select raised from internal_alerts where name = 'SvcOIDCSecretExpiring'`;
    return row?.raised ?? false;
  };

  test('is raised by a save with a date less than two weeks ahead, and resolved by another date', async () => {
    await lab.settings({ client_secret_expires_on: inDays(10) });
    expect(await raised()).toBe(true);
    expect((await read()).json.warnings).toEqual([{ kind: 'secret_expiring', expires_on: inDays(10) }]);
    await lab.settings({ client_secret_expires_on: inDays(30) });
    expect(await raised()).toBe(false);
  });

  test('is raised by the time that passes, stays after the date, and ends with single sign-on', async () => {
    await lab.settings({ client_secret_expires_on: inDays(20) });
    await lab.oidc.secretExpiry.run(() => true);
    expect(await raised()).toBe(false);
    lab.clock.advance(7 * DAY);
    await lab.oidc.secretExpiry.run(() => true);
    expect(await raised()).toBe(true);
    lab.clock.advance(14 * DAY);
    await ensurePartitions(lab.sql, lab.clock.now(), PARTITIONED_TABLES);
    await lab.oidc.secretExpiry.run(() => true);
    expect(await raised()).toBe(true);
    expect(lab.logged.filter(({ event }) => event === 'oidc_secret_expiring')).toHaveLength(1);
    await lab.sql`update sessions set last_used_at = ${lab.clock.now()}`;
    await lab.settings({ enabled: false });
    expect(await raised()).toBe(false);
  });
});
