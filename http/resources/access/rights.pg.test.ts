/** A caller with few Permissions attempts every operation that can give more (access §9.1). */
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { apiTokenHash, newApiToken } from '../../../actors/access/api-tokens.ts';
import { silentLog } from '../../../runtime/log.ts';
import { newPublicId, type PublicId } from '../../../runtime/public-id.ts';
import { createKeyring, masterKey } from '../../../runtime/secrets/keyring.ts';
import { createAccessStore } from '../../../storage/access/access.ts';
import { createApiTokens, createPersonalTokens } from '../../../storage/access/api-tokens.ts';
import { createOidcSettingsStore } from '../../../storage/access/oidc-settings.ts';
import { createServiceAccountStore } from '../../../storage/access/service-accounts.ts';
import { createPeople, createUserStore } from '../../../storage/access/users.ts';
import { createConnectionStore } from '../../../storage/configuration/connections.ts';
import { ABOUT_ALERTS, GIVES_NO_RIGHTS, GIVES_RIGHTS } from '../../../test/access-matrix.ts';
import { firstStart, internalAlerts, recordedAudit, recordedHints } from '../../../test/configuration.ts';
import { otherOperations } from '../../../test/every-operation.ts';
import { type SendOptions, startHttp } from '../../../test/http-server.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { storedSession, storedUser } from '../../../test/signed-in.ts';
import { PERMISSIONS, type Permission } from '../../permissions.ts';
import { connectionOperations } from '../connections/connections.ts';
import { personalTokenOperations } from './api-tokens.ts';
import { oidcSettingsOperations } from './oidc-settings.ts';
import { serviceAccountOperations } from './service-accounts.ts';
import { userAccessOperations } from './user-access.ts';
import { userAccountOperations } from './user-accounts.ts';

const database = useDatabase();
const ISSUER = 'https://idp.example';
const SECRET = `whsec_${randomBytes(24).toString('base64')}`;
const OTHER_PROXY = { enabled: true, type: 'http', address: '127.0.0.1:9' };
const ADMINS = { group: 'root', role: 'admin' };

type Attack = readonly [name: string, operation: string, by: Permission, make: (lab: Lab) => Try];

interface Try extends Pick<SendOptions, 'body'> {
  readonly method: 'POST' | 'PUT';
  readonly path: string;
  readonly etag?: string;
  /** Where the refusal points; null: a token is refused whatever it holds. */
  readonly pointer: string | null;
  /** By a session of a Responder, as no token gets this far. */
  readonly session?: true;
}

const user = (id: string, verb: string): Try => ({
  method: 'POST',
  path: `/users/${id}/${verb}`,
  pointer: '/path/user_id',
});
const oidc = (lab: Lab, pointer: string, changes: object): Try => ({
  method: 'PUT',
  path: '/oidc-settings',
  etag: lab.oidcEtag,
  pointer,
  body: { ...lab.oidcBody, ...changes },
});
const connection = (lab: Lab, pointer: string, changes: object): Try => ({
  method: 'PUT',
  path: `/connections/${lab.connection}`,
  etag: '"1"',
  pointer,
  body: {
    type: 'bridge',
    name: 'Zulip',
    base_url: 'http://bridge.example',
    proxy: { enabled: false },
    ...changes,
  },
});

const CHAT_SERVER = {
  ...{ type: 'chat_server', name: 'Chat', server_url: 'https://chat.example', bot_token: 't' },
  proxy: { enabled: false },
};
const BOT = { type: 'channel_bot', name: 'Bot 2', bot_token: '123456:secret', proxy: { enabled: false } };

const ATTACKS: readonly Attack[] = [
  [
    'makes an Admin',
    'createUser',
    'users:write',
    () => ({
      method: 'POST',
      path: '/users',
      pointer: '/role',
      body: { name: 'Eve', login: 'eve', role: 'admin' },
    }),
  ],
  [
    'makes a user an Admin',
    'updateUser',
    'users:write',
    ({ viewer }) => ({
      method: 'PUT',
      path: `/users/${viewer}`,
      etag: '"1"',
      pointer: '/role',
      body: { name: 'Eve', role: 'admin' },
    }),
  ],
  ['lets a disabled Admin in again', 'enableUser', 'users:write', ({ disabled }) => user(disabled, 'enable')],
  [
    "resets an Admin's second factor",
    'resetUserTotp',
    'users:write',
    ({ admin }) => user(admin, 'reset-totp'),
  ],
  [
    'sets the password of an Admin',
    'createPasswordSetupLink',
    'users:write',
    ({ admin }) => user(admin, 'password-setup-links'),
  ],
  [
    'takes an Admin away from the provider',
    'convertUserToLocal',
    'users:write',
    ({ linked }) => user(linked, 'convert-to-local'),
  ],
  [
    'makes a Service account that is an Admin',
    'createServiceAccount',
    'service-accounts:write',
    () => ({
      method: 'POST',
      path: '/service-accounts',
      pointer: '/role',
      body: { name: 'eve', role: 'admin' },
    }),
  ],
  [
    'makes a Service account an Admin',
    'updateServiceAccount',
    'service-accounts:write',
    ({ account }) => ({
      method: 'PUT',
      path: `/service-accounts/${account}`,
      etag: '"1"',
      pointer: '/role',
      body: { name: 'ci', role: 'admin' },
    }),
  ],
  [
    'lets the tokens of an Admin work again',
    'enableServiceAccount',
    'service-accounts:write',
    ({ account }) => ({
      method: 'POST',
      path: `/service-accounts/${account}/enable`,
      pointer: '/path/service_account_id',
    }),
  ],
  [
    'makes a token of a Service account',
    'createServiceAccountToken',
    'service-accounts:write',
    ({ account }) => ({
      method: 'POST',
      path: `/service-accounts/${account}/tokens`,
      pointer: null,
      body: { name: 'eve' },
    }),
  ],
  [
    'makes a Personal access token',
    'createPersonalAccessToken',
    'users:write',
    () => ({
      method: 'POST',
      path: '/me/personal-access-tokens',
      pointer: '/permissions/1',
      body: { name: 'eve', permissions: ['alerts:read', 'users:write'] },
      session: true,
    }),
  ],
  [
    'maps a group of its own to Admin',
    'updateOidcSettings',
    'oidc:write',
    (lab) =>
      oidc(lab, '/group_mappings/1/role', { group_mappings: [...lab.oidcBody.group_mappings, ADMINS] }),
  ],
  [
    'makes everybody a Responder',
    'updateOidcSettings',
    'oidc:write',
    (lab) => oidc(lab, '/unmatched_role', { unmatched_role: 'responder' }),
  ],
  [
    'lets a provider of its own fill the group that is mapped to Admin',
    'updateOidcSettings',
    'oidc:write',
    (lab) => oidc(lab, '/group_mappings/0/role', { issuer_url: 'https://eve.example' }),
  ],
  [
    'takes Admins from a claim of its own',
    'updateOidcSettings',
    'oidc:write',
    (lab) => oidc(lab, '/group_mappings/0/role', { groups_claim: 'nickname' }),
  ],
  [
    'puts a proxy between Tocsin and the provider of Admins',
    'updateOidcSettings',
    'oidc:write',
    (lab) => oidc(lab, '/proxy', { group_mappings: [], proxy: OTHER_PROXY }),
  ],
  [
    'signs events of a bridge as people who are linked through it',
    'updateConnection',
    'connections:write',
    (lab) => connection(lab, '/push_secret', { push_secret: SECRET }),
  ],
  [
    'puts a proxy before a bridge through which people are linked',
    'updateConnection',
    'connections:write',
    (lab) => connection(lab, '/proxy', { proxy: OTHER_PROXY }),
  ],
  [
    'answers as a chat server through which people are linked, at another place of its host',
    'updateConnection',
    'connections:write',
    ({ chatServer }) => ({
      method: 'PUT',
      path: `/connections/${chatServer}`,
      etag: '"1"',
      pointer: '/server_url',
      body: { ...CHAT_SERVER, server_url: 'http://chat.example/own' },
    }),
  ],
  [
    'answers as the messenger of a bot',
    'createConnection',
    'connections:write',
    () => ({
      method: 'POST',
      path: '/connections',
      pointer: '/bot_api_base_url',
      body: { ...BOT, bot_api_base_url: 'https://bots.example' },
    }),
  ],
  [
    'answers as the messenger of a bot that is there',
    'updateConnection',
    'connections:write',
    ({ bot }) => ({
      method: 'PUT',
      path: `/connections/${bot}`,
      etag: '"1"',
      pointer: '/bot_api_base_url',
      body: { ...BOT, bot_api_base_url: 'https://bots.example' },
    }),
  ],
];

type Lab = Awaited<ReturnType<typeof start>>;

async function start() {
  const sql = database.sql();
  const key = masterKey(randomBytes(32));
  await firstStart(sql, key);
  const { appendAudit, actions } = recordedAudit();
  const keyring = createKeyring([key], key.id);
  const stored = { sql, appendAudit, keyring, log: silentLog };
  const unused = () => expect.fail('no attack gets here');
  const directory = { current: unused, reload: async () => undefined };
  const hints = recordedHints();
  const server = await startHttp({
    access: createAccessStore(stored),
    people: createPeople(stored),
    tokens: createApiTokens(stored),
    operations: [
      userAccountOperations(forUsers()),
      userAccessOperations(forUsers()),
      personalTokenOperations(createPersonalTokens(sql, appendAudit)),
      serviceAccountOperations(createServiceAccountStore(sql, appendAudit)),
      oidcSettingsOperations({
        settings: createOidcSettingsStore({ ...stored, internalAlerts }),
        client: { release: () => undefined },
        provider: { check: unused },
        opener: stored,
        clock: { now: () => server.clock.now() },
      }),
      connectionOperations({
        ...{
          store: createConnectionStore(stored),
          directory,
          hints,
          channels: {},
          ...{ ingestUrl: 'https://ingest.example', publicUrl: 'https://oncall.example' },
        },
        messageWaits: () => undefined,
        client: { release: () => undefined },
      }),
    ],
  });
  const now = server.clock.now();
  const [owner, admin, disabled, linked] = await Promise.all(
    Array.from({ length: 4 }, () => storedUser(sql, 'admin', now)),
  );
  const viewer = await storedUser(sql, 'viewer', now);
  const responder = await storedUser(sql, 'responder', now);
  await sql`update users set status = 'disabled' where id = ${disabled ?? ''}`;
  await sql`
    update users set source = 'oidc', oidc_issuer = ${ISSUER}, oidc_subject = 'linked', oidc_signed_in_at = 1
    where id = ${linked ?? ''}`;
  const account = newPublicId('SA');
  await sql`
    insert into service_accounts (id, version, name, role, status, created_at)
    values (${account}, 1, 'ci', 'admin', 'disabled', ${now})`;
  if (!owner || !admin || !disabled || !linked) throw new Error('four Admins were made');

  /** The value of a Personal access token of an Admin. */
  const tokenOf = async (permissions: readonly Permission[]) => {
    const value = newApiToken('personal', randomBytes);
    await sql`
      insert into api_tokens (id, user_id, name, permissions, hash, created_at)
      values (${newPublicId('PT')}, ${owner}, 'ci', ${[...permissions]}, ${apiTokenHash(value)}, ${now})`;
    return value;
  };
  const full = { authorization: `Bearer ${await tokenOf(PERMISSIONS)}` };
  const oidcBody = {
    enabled: true,
    issuer_url: ISSUER,
    client_id: 'tocsin',
    groups_claim: 'groups',
    group_mappings: [ADMINS],
    unmatched_role: 'none',
    sync_role: true,
    skip_totp_with_idp_mfa: false,
    proxy: { enabled: false },
  };
  const saved = await server.send('PUT', '/api/v1/oidc-settings', {
    ...{ body: oidcBody, headers: { ...full, 'if-match': '*' } },
  });
  expect(saved.status).toBe(200);
  const oidcEtag = String(saved.headers.etag);
  const made = await server.send('POST', '/api/v1/connections', {
    headers: full,
    body: {
      ...{ type: 'bridge', name: 'Zulip', base_url: 'http://bridge.example', bot_token: 't' },
      proxy: { enabled: false },
    },
  });
  const connection = String(made.json.id);
  const alsoMade = async (body: object) =>
    String((await server.send('POST', '/api/v1/connections', { headers: full, body })).json.id);
  const chatServer = await alsoMade(CHAT_SERVER);
  const bot = await alsoMade({ ...BOT, name: 'Bot' });
  await sql`
    insert into account_links (id, messenger, space, external_id, user_id, connection_id, created_at)
    values
      ('AK0000000000AA', 'bridge', ${connection}, '18', ${responder}, ${connection}, 1),
      ('AK0000000000AB', 'chat_server', ${chatServer}, '18', ${responder}, ${chatServer}, 1)`;

  /** Everything that says who may do what. */
  const rights = async () => {
    const [row] = await sql`
      select
        (select json_agg(u order by id) from users u) as users,
        (select json_agg(a order by id) from service_accounts a) as accounts,
        (select json_agg(o) from oidc_settings o) as oidc,
        (select json_agg(c order by id) from connections c) as connections,
        (select count(*) from password_setup_links) as links`;
    return row;
  };
  const run = async (attack: Try, permissions: readonly Permission[], as: PublicId) => {
    const headers = attack.etag ? { 'if-match': attack.etag } : {};
    const session = attack.session ? { as: await storedSession(sql, as, server) } : {};
    const bearer = attack.session ? {} : { authorization: `Bearer ${await tokenOf(permissions)}` };
    const target = `/api/v1${attack.path}`;
    return server.send(attack.method, target, {
      ...session,
      body: attack.body,
      headers: { ...headers, ...bearer },
    });
  };
  return {
    run,
    rights,
    actions,
    oidcBody,
    oidcEtag,
    owner,
    admin,
    disabled,
    linked,
    viewer,
    responder,
    account,
    ...{ connection, chatServer, bot },
  };

  function forUsers() {
    return {
      store: createUserStore(sql, appendAudit),
      ...{ directory, hints, publicUrl: 'https://tocsin.test', random: randomBytes },
      poke: () => undefined,
    };
  }
}

describe('the operation table', () => {
  test('says of every change whether it can give rights, and every one that can is attacked', async () => {
    const { http } = await startHttp({ operations: otherOperations() });
    const about = http.operations.filter(
      ({ method, needs }) => method !== 'GET' && !ABOUT_ALERTS.includes(needs),
    );
    expect(about.map(({ id }) => id).sort()).toEqual(
      [...GIVES_RIGHTS, ...Object.values(GIVES_NO_RIGHTS).flat()].sort(),
    );
    expect([...new Set(ATTACKS.map(([, operation]) => operation))].sort()).toEqual(GIVES_RIGHTS);
  });
});

describe.each(ATTACKS)('who %s (%s) with %s alone', (_name, _operation, permission, make) => {
  test('is refused, and nobody can do more than before', async () => {
    const lab = await start();
    const before = await lab.rights();
    const told = lab.actions().length;
    const attack = make(lab);
    const { status, json } = await lab.run(attack, [permission], lab.responder);
    if (attack.pointer === null) expect([status, json.code]).toEqual([403, 'session_required']);
    else {
      expect(json.errors).toContainEqual(
        expect.objectContaining({ pointer: attack.pointer, code: 'permission_not_held' }),
      );
      expect(status).toBe(422);
    }
    expect(await lab.rights()).toEqual(before);
    expect(lab.actions().length).toBe(told);
  });

  test('is let through when it holds what it gives', async () => {
    const lab = await start();
    const attack = make(lab);
    if (attack.pointer === null) return;
    const { status, text } = await lab.run(attack, PERMISSIONS, lab.owner);
    expect([status < 300, text]).toEqual([true, text]);
  });
});
