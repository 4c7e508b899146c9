/** Tocsin with single sign-on on a real database, a real identity provider, and a browser that goes between them. */
import { randomBytes } from 'node:crypto';
import { Registry } from 'prom-client';
import { onTestFinished } from 'vitest';
import { apiTokenHash, newApiToken } from '../../actors/access/api-tokens.ts';
import type { RoleName } from '../../actors/access/user.ts';
import { PERMISSIONS } from '../../http/permissions.ts';
import { oidcSettingsOperations } from '../../http/resources/access/oidc-settings.ts';
import { createAccessStore } from '../../storage/access/access.ts';
import { createApiTokens } from '../../storage/access/api-tokens.ts';
import { appendAudit } from '../../storage/access/audit.ts';
import { createPeople } from '../../storage/access/users.ts';
import { ensurePartitions } from '../../storage/postgres/partitions.ts';
import type { Sql } from '../../storage/postgres/records.ts';
import { PARTITIONED_TABLES } from '../../storage/postgres/retention.ts';
import { firstStart, internalAlerts } from '../../test/configuration.ts';
import { empty } from '../../test/emptied.ts';
import { createManualClock } from '../../test/fakes/manual-clock.ts';
import { type IdentityProvider, startIdentityProvider } from '../../test/harness/identity-provider.ts';
import { type Received, type SignedIn, startHttp } from '../../test/http-server.ts';
import { storedSession, storedUser } from '../../test/signed-in.ts';
import { HOUR } from '../clock.ts';
import type { Log } from '../log.ts';
import { createOutboundCaller } from '../outbound/caller.ts';
import { createOutboundClient } from '../outbound/client.ts';
import { createOutboundMetrics } from '../outbound/metrics.ts';
import { newPublicId, type PublicId } from '../public-id.ts';
import { createKeyring, masterKey } from '../secrets/keyring.ts';
import { createOidc } from './oidc.ts';

const PUBLIC_URL = 'https://tocsin.test';
const CALLBACK = `${PUBLIC_URL}/api/v1/sessions/oidc/callback`;

const FIRST_HOUR = Date.UTC(2026, 9, 3) * 1_000;
let hours = 0;

/** What the browser has in the end. */
export interface Landed {
  readonly status: number;
  /** Where it is sent. */
  readonly location: string;
  /** `svc_session=…`; null without a session. */
  readonly cookie: string | null;
  readonly setCookies: readonly string[];
}

export async function startWithProvider(sql: Sql) {
  const key = masterKey(randomBytes(32));
  const keyring = createKeyring([key], key.id);
  // The Audit log cannot be emptied: every test has an hour of its own.
  const start = FIRST_HOUR + hours++ * HOUR;
  const clock = createManualClock(start);
  const logged: { event: string; fields: unknown }[] = [];
  const log: Log = (event, fields) => void logged.push({ event, fields });
  const registry = new Registry();
  await firstStart(sql, key);
  await ensurePartitions(sql, clock.now(), PARTITIONED_TABLES);
  await resetSettings(sql);
  await empty(sql, 'login_throttles', 'oidc_requests');

  const provider = await startIdentityProvider(CALLBACK);
  const metrics = createOutboundMetrics(registry);
  const client = createOutboundClient({
    clock,
    policy: { policy: 'standard', allowed: ['127.0.0.0/8'], denied: [] },
  });
  const recorder = { record: () => undefined };
  const caller = createOutboundCaller({ client, recorder, metrics, clock, log, userAgent: 'Tocsin/test' });
  const access = createAccessStore({ sql, appendAudit, keyring, log });
  const oidc = createOidc({
    publicUrl: PUBLIC_URL,
    database: { main: sql, keyring: Object.assign(keyring, { activate: () => true }) },
    ...{ access, internalAlerts, caller, registry, clock, log },
  });
  const server = await startHttp({
    ...{ access, clock, log, registry, trustedProxies: ['127.0.0.0/8'] },
    people: createPeople({ sql, appendAudit, keyring, log }),
    tokens: createApiTokens({ sql, log }),
    singleSignOn: oidc.singleSignOn,
    operations: [oidcSettingsOperations({ ...oidc.forSettings, client })],
  });
  onTestFinished(async () => {
    client.close();
    await provider.stop();
  });
  const { send } = server;

  const person = async (role: RoleName): Promise<SignedIn> =>
    storedSession(sql, await storedUser(sql, role, clock.now()), { send, clock });
  const admin = await person('admin');

  /** Another session of somebody. */
  const another = (as: SignedIn): Promise<SignedIn> => storedSession(sql, as.userId, { send, clock });

  /** A Personal access token that may do everything. @returns its value */
  const storedToken = async (userId: PublicId): Promise<string> => {
    const value = newApiToken('personal', randomBytes);
    await sql`
      insert into api_tokens (id, user_id, name, permissions, hash, created_at)
      values (${newPublicId('PT')}, ${userId}, 'ci', ${[...PERMISSIONS]}, ${apiTokenHash(value)}, ${clock.now()})`;
    return value;
  };

  const anotherProvider = async (): Promise<IdentityProvider> => {
    const other = await startIdentityProvider(CALLBACK);
    onTestFinished(() => other.stop());
    return other;
  };

  const settings = async (changes: Readonly<Record<string, unknown>> = {}): Promise<Received> => {
    const read = await send('GET', '/api/v1/oidc-settings', { as: admin });
    const body = {
      ...read.json,
      enabled: true,
      issuer_url: provider.issuer,
      client_id: provider.clientId,
      client_secret: provider.clientSecret,
      group_mappings: [
        { group: 'ops', role: 'responder' },
        { group: 'root', role: 'admin' },
      ],
      ...changes,
    };
    const headers = { 'if-match': String(read.headers.etag) };
    return send('PUT', '/api/v1/oidc-settings', { as: admin, headers, body });
  };

  /** Goes to the provider. @returns what it sends the browser back with */
  const atProvider = async (url: string): Promise<URL> => {
    const jar = new Map<string, string>();
    let next = url;
    for (let hops = 0; hops < 12; hops++) {
      if (next.startsWith(CALLBACK)) return new URL(next);
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
      const answer = await fetch(next, { redirect: 'manual', headers: { cookie } });
      for (const set of answer.headers.getSetCookie()) {
        const [pair = ''] = set.split(';', 1);
        jar.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
      }
      const location = answer.headers.get('location');
      if (location === null)
        throw new Error(`the provider answered ${answer.status}: ${await answer.text()}`);
      next = new URL(location, next).href;
    }
    throw new Error('the provider sends the browser in a circle');
  };

  const land = async (callback: URL, cookies: readonly string[]): Promise<Landed> => {
    const path = callback.pathname + callback.search;
    const { status, headers } = await send('GET', path, { headers: { cookie: cookies.join('; ') } });
    const setCookies = headers['set-cookie'] ?? [];
    const session = setCookies.find((cookie) => /^svc_session=[^;]/.test(cookie));
    return { status, location: String(headers.location), cookie: session?.split(';')[0] ?? null, setCookies };
  };

  const begin = async (returnTo?: string, from = '192.0.2.1') => {
    const query = returnTo === undefined ? '' : `?return_to=${encodeURIComponent(returnTo)}`;
    const { status, headers } = await send('GET', `/api/v1/sessions/oidc/start${query}`, {
      headers: { 'x-forwarded-for': from },
    });
    const [state = ''] = (headers['set-cookie']?.[0] ?? '').split(';', 1);
    return { status, url: String(headers.location), state, setCookie: headers['set-cookie']?.[0] ?? '' };
  };

  /** From the button to the page behind it. */
  const signIn = async (
    options: {
      readonly returnTo?: string;
      readonly alter?: (url: URL) => void;
      readonly cookie?: string;
    } = {},
  ): Promise<Landed> => {
    const { url, state } = await begin(options.returnTo);
    const going = new URL(url);
    options.alter?.(going);
    const callback = await atProvider(going.href);
    return land(callback, [state, ...(options.cookie ? [options.cookie] : [])]);
  };

  const link = async (as: SignedIn, inSession: string = as.cookie): Promise<Landed> => {
    const answer = await send('POST', '/api/v1/me/oidc-identity', { as });
    if (answer.status !== 201) throw new Error(`linking answered ${answer.status}: ${answer.text}`);
    const [state = ''] = (answer.headers['set-cookie']?.[0] ?? '').split(';', 1);
    return land(await atProvider(String(answer.json.authorization_url)), [state, inSession]);
  };

  const sessionOf = async (cookie: string | null) =>
    JSON.parse(
      (await send('GET', '/api/v1/sessions/current', { headers: { cookie: cookie ?? '' } })).text,
    ) as Session;

  /** Actions of the Audit log about single sign-on, oldest first. */
  const audited = async () => {
    const rows = await sql<{ action: string; details: Record<string, unknown>; actor_kind: string }[]>`
      select action, details, actor_kind from audit_log where at >= ${start} order by at, ctid`;
    return rows.filter(({ action }) => action !== 'oidc_settings.updated');
  };

  const endings = async (userId: PublicId) => {
    const rows = await sql<{ end_reason: string | null }[]>`
      select end_reason from sessions where user_id = ${userId} order by created_at, id`;
    return rows.map((row) => row.end_reason);
  };

  return {
    ...server,
    sealer: keyring.sealer(key.id),
    ...{ sql, clock, logged, provider, oidc, admin, person, settings },
    ...{ another, storedToken, anotherProvider },
    ...{ begin, atProvider, land, signIn, link, sessionOf, audited, endings },
    visit(sub: string, claims: Readonly<Record<string, unknown>> = {}, amr?: readonly string[]) {
      provider.visitor = { sub, claims, ...(amr ? { amr } : {}) };
    },
  };
}

export interface Session {
  readonly user: {
    readonly id: PublicId;
    readonly role: string;
    readonly login: string;
    readonly name: string;
  } & Readonly<Record<string, unknown>>;
  readonly state: string;
  readonly method: string;
  readonly expires_at: string;
  readonly csrf_token: string;
  readonly code?: string;
}

/** As a new installation has them. */
async function resetSettings(sql: Sql): Promise<void> {
  const settings = {
    enabled: false,
    display_name: '',
    issuer_url: '',
    client_id: '',
    client_secret_expires_on: null,
    scopes: ['profile', 'email'],
    groups_claim: 'groups',
    group_mappings: [],
    unmatched_role: 'none',
    sync_role: true,
    skip_totp_with_idp_mfa: false,
  };
  await sql`
    update oidc_settings set
      version = 0,
      settings = ${JSON.stringify(settings)}::text::jsonb,
      client_secret = null,
      client_secret_at = null,
      groups_claim_missing = false,
      updated_at = null`;
}
