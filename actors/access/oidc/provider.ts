/**
 * Speaks OpenID Connect to the one provider of the settings, by oauth4webapi (access §6.2). What it signs is checked in
 * full: signature, issuer, audience, times; the nonce is the caller's.
 */
import * as oauth from 'oauth4webapi';
import type { Clock } from '../../../runtime/clock.ts';
import type { OutboundCaller } from '../../../runtime/outbound/caller.ts';
import { errorLine } from '../../../runtime/outbound/verdict.ts';
import type { Opener } from '../../../runtime/secrets/keyring.ts';
import { createMask } from '../../../runtime/secrets/masking.ts';
import type { Claims } from './claims.ts';
import type { OidcSettingsStore } from './ports.ts';
import {
  createProviderMemory,
  knownSecrets,
  type Metadata,
  openProvider,
  type ProviderAccess,
  providerFetch,
  readMetadata,
  type Trip,
} from './provider-access.ts';
import {
  freshKeys,
  isInsecure,
  jsonOf,
  type Talk,
  talkOf,
  Unusable,
  verifiedClaims,
} from './provider-exchange.ts';
import type { StoredOidcSettings } from './settings.ts';

/** Client errors by which the provider refuses nothing: of a proxy, too slow, too many. */
const NO_REFUSAL = [407, 408, 429];

export type ProviderOutcome<Value> =
  | { readonly ok: true; readonly value: Value }
  | {
      readonly ok: false;
      /** Refused: the provider was asked about somebody and does not know them any more. */
      readonly failure: 'refused' | 'unavailable';
      /** For people; masked. */
      readonly error: string;
    };

export interface AuthorizationRequest {
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** What the provider says of somebody who has just signed in. */
export interface Vouched {
  readonly issuer: string;
  readonly subject: string;
  readonly claims: Claims;
  readonly accessToken: string;
  /** A refresh token that outlives the session; null when it gave none. */
  readonly offlineToken: string | null;
}

/** What it says of somebody who is not there. */
export interface Refreshed {
  readonly issuer: string;
  /** Of a new ID token; null when there was none. */
  readonly claims: Claims | null;
  /** In place of the one that was used; null: it goes on working. */
  readonly offlineToken: string | null;
}

export interface Provider {
  /** Where its endpoints are, as remembered for an hour. */
  discover(access: ProviderAccess, trip: Trip): Promise<ProviderOutcome<Metadata>>;
  /** Asks anew for its endpoints and its keys. */
  check(access: ProviderAccess): Promise<ProviderOutcome<Metadata>>;
  authorizationUrl(access: ProviderAccess, request: AuthorizationRequest): Promise<ProviderOutcome<URL>>;
  /** @param returned what the browser brought back: code, and issuer where it is given */
  exchange(
    access: ProviderAccess,
    returned: { readonly code: string; readonly iss: string | null },
    request: Pick<AuthorizationRequest, 'redirectUri' | 'verifier'>,
  ): Promise<ProviderOutcome<Vouched>>;
  /** Further claims; none when the provider has no endpoint for them. */
  userInfo(access: ProviderAccess, vouched: Vouched): Promise<ProviderOutcome<Claims>>;
  /** @param of whose identity the token is: it is shown to no other issuer */
  refresh(
    access: ProviderAccess,
    offlineToken: string,
    of: { readonly issuer: string; readonly subject: string },
    signal: AbortSignal,
  ): Promise<ProviderOutcome<Refreshed> | 'other_issuer'>;
}

export interface ProviderDeps {
  readonly caller: OutboundCaller;
  readonly clock: Pick<Clock, 'now'>;
}

export function createProvider(deps: ProviderDeps): Provider {
  const memory = createProviderMemory(deps.clock);
  const { caller } = deps;

  /** Discovery, then `run`; whatever either of them throws is an outcome. */
  async function atProvider<Value>(
    access: ProviderAccess,
    trip: Trip,
    run: (talk: Talk) => Promise<Value>,
  ): Promise<ProviderOutcome<Value>> {
    try {
      const metadata = memory.metadata(access) ?? (await discoverOnce(access, trip));
      return { ok: true, value: await run(talkOf(caller, access, trip, metadata)) };
    } catch (error) {
      const text = errorLine(errorText(error), createMask(knownSecrets(access, trip)));
      return { ok: false, failure: error instanceof Refused ? 'refused' : 'unavailable', error: text };
    }
  }

  let asking: { readonly version: number; readonly answer: Promise<Metadata> } | null = null;

  /** Anybody may begin a sign-in: all who do while the provider is asked wait for one answer. */
  function discoverOnce(access: ProviderAccess, trip: Trip): Promise<Metadata> {
    if (trip.signal) return discoverNow(access, trip);
    if (asking?.version === access.version) return asking.answer;
    const answer = discoverNow(access, trip).finally(() => {
      if (asking?.answer === answer) asking = null;
    });
    asking = { version: access.version, answer };
    return answer;
  }

  async function discoverNow(access: ProviderAccess, trip: Trip): Promise<Metadata> {
    const { issuerUrl } = access;
    const response = await oauth.discoveryRequest(new URL(issuerUrl), {
      [oauth.customFetch]: providerFetch(caller, access, trip),
      [oauth.allowInsecureRequests]: isInsecure(access),
    });
    if (response.status !== 200) throw new Unusable(`discovery answered ${response.status}`);
    const metadata = readMetadata(await jsonOf(response), issuerUrl);
    if (typeof metadata === 'string') throw new Unusable(metadata);
    memory.remember(access, metadata);
    return metadata;
  }

  return {
    discover: (access, trip) => atProvider(access, trip, async ({ metadata }) => metadata),

    async check(access) {
      const trip: Trip = { class: 'interactive', secrets: [] };
      return atProvider(access, trip, async () => {
        const metadata = await discoverNow(access, trip);
        await freshKeys(memory, access, talkOf(caller, access, trip, metadata));
        return metadata;
      });
    },

    authorizationUrl: (access, request) =>
      atProvider(access, { class: 'interactive', secrets: [] }, ({ metadata }) =>
        authorizationUrl(access, metadata, request),
      ),

    exchange(access, { code, iss }, { redirectUri, verifier }) {
      const trip: Trip = { class: 'interactive', secrets: [code, verifier] };
      return atProvider(access, trip, async (talk) => {
        const { server, client, auth, options } = talk;
        const returned = new URLSearchParams({ code, ...(iss === null ? {} : { iss }) });
        const parameters = oauth.validateAuthResponse(server, client, returned, oauth.skipStateCheck);
        const response = await oauth.authorizationCodeGrantRequest(
          server,
          client,
          auth,
          parameters,
          redirectUri,
          verifier,
          options,
        );
        const tokens = await oauth.processGenericTokenEndpointResponse(server, client, response);
        const claims = await verifiedClaims(memory, access, talk, response, tokens);
        if (claims === null) throw new Unusable('the answer holds no ID token');
        const { iss: issuer, sub: subject } = claims;
        return { issuer, subject, claims, accessToken: tokens.access_token, offlineToken: kept(tokens) };
      });
    },

    userInfo(access, { accessToken, subject }) {
      const trip: Trip = { class: 'interactive', secrets: [accessToken] };
      return atProvider(access, trip, async ({ metadata, server, client, options }) => {
        if (metadata.userinfo_endpoint === undefined) return {};
        const response = await oauth.userInfoRequest(server, client, accessToken, options);
        if (response.headers.get('content-type')?.startsWith('application/jwt')) {
          throw new Unusable('the userinfo endpoint answers with a token, not with JSON');
        }
        return oauth.processUserInfoResponse(server, client, subject, response);
      });
    },

    async refresh(access, offlineToken, of, signal) {
      const trip: Trip = { class: 'background', secrets: [offlineToken], signal };
      const found = await atProvider(access, trip, async ({ metadata }) => metadata);
      if (!found.ok) return found;
      if (found.value.issuer !== of.issuer) return 'other_issuer';
      return atProvider(access, trip, async (talk) => {
        const { server, client, auth, options } = talk;
        const response = await oauth.refreshTokenGrantRequest(server, client, auth, offlineToken, options);
        const tokens = await refreshedTokens(talk, response);
        const claims = await verifiedClaims(memory, access, talk, response, tokens);
        if (claims !== null && claims.sub !== of.subject)
          throw new Unusable('the ID token is of somebody else');
        return { issuer: of.issuer, claims, offlineToken: tokens.refresh_token ?? null };
      });
    },
  };
}

/** It does not know the person any more, or does not let us ask. */
class Refused extends Error {}

async function authorizationUrl(
  access: ProviderAccess,
  metadata: Metadata,
  { redirectUri, state, nonce, verifier }: AuthorizationRequest,
): Promise<URL> {
  const url = new URL(metadata.authorization_endpoint);
  oauth.checkProtocol(url, !isInsecure(access));
  const parameters = {
    response_type: 'code',
    client_id: access.clientId,
    redirect_uri: redirectUri,
    scope: access.scope,
    state,
    nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url;
}

/** @throws {Refused} */
async function refreshedTokens(
  { server, client }: Talk,
  response: Response,
): Promise<oauth.TokenEndpointResponse> {
  const { status } = response;
  const isClientError = status >= 400 && status < 500 && !NO_REFUSAL.includes(status);
  try {
    return await oauth.processRefreshTokenResponse(server, client, response);
  } catch (error) {
    const isInvalid = error instanceof oauth.ResponseBodyError && error.error === 'invalid_grant';
    throw isClientError || isInvalid ? new Refused(errorText(error)) : error;
  }
}

/** A refresh token counts when offline access was granted, or the answer does not say what was. */
function kept({ refresh_token, scope }: oauth.TokenEndpointResponse): string | null {
  if (refresh_token === undefined) return null;
  return scope === undefined || scope.split(' ').includes('offline_access') ? refresh_token : null;
}

/** With what the provider itself says; not masked. */
function errorText(error: unknown): string {
  if (error instanceof oauth.ResponseBodyError) {
    const { error: code, error_description: description, status } = error;
    return `answered ${status}: ${description === undefined ? code : `${code}: ${description}`}`;
  }
  return error instanceof Error ? error.message : String(error);
}

/** Whether the provider of the settings can be reached and says what is needed (access §6.1). */
const MICROS_PER_MILLISECOND = 1_000;

export interface CheckDeps {
  readonly settings: Pick<OidcSettingsStore, 'sawGroups'>;
  readonly provider: Pick<Provider, 'check'>;
  readonly opener: Opener;
  readonly clock: Pick<Clock, 'now'>;
}

export interface OidcCheck {
  readonly via: 'direct' | 'proxy';
  /** Null when nothing was sent. */
  readonly latencyMs: number | null;
  /** What the provider says of itself, its keys read, too; null when something of that failed. */
  readonly found: Metadata | null;
  /** For people; masked. */
  readonly error: string | null;
}

export async function checkProvider(deps: CheckDeps, settings: StoredOidcSettings): Promise<OidcCheck> {
  const { fields, version } = settings;
  const via = fields.proxy.enabled ? 'proxy' : 'direct';
  const unsent = { via, latencyMs: null, found: null } as const;
  if (fields.issuer_url === '') return { ...unsent, error: 'no identity provider is configured' };
  const access = openProvider(deps.opener, settings);
  if (access === null) return { ...unsent, error: 'secret_unreadable' };
  const began = deps.clock.now();
  const checked = await deps.provider.check(access);
  const latencyMs = Math.round((deps.clock.now() - began) / MICROS_PER_MILLISECOND);
  if (!checked.ok) return { via, latencyMs, found: null, error: checked.error };
  const { claims_supported: claims } = checked.value;
  if (claims) await deps.settings.sawGroups(version, !claims.includes(fields.groups_claim));
  return { via, latencyMs, found: checked.value, error: null };
}
