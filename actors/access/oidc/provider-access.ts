/** The way to the provider, and what is known of it: endpoints and keys (access §6.2, outbound-http §1). */
import type { CustomFetchOptions } from 'oauth4webapi';
import * as v from 'valibot';
import { type Clock, HOUR, type Micros, SECOND } from '../../../runtime/clock.ts';
import { isModest } from '../../../runtime/outbound/answer-json.ts';
import type { OutboundCaller } from '../../../runtime/outbound/caller.ts';
import type { OutboundAnswer } from '../../../runtime/outbound/client.ts';
import type { ProxyRoute } from '../../../runtime/outbound/proxy.ts';
import { DEFAULT_MAPPING, isRedirect } from '../../../runtime/outbound/verdict.ts';
import { type Opener, openSecret } from '../../../runtime/secrets/keyring.ts';
import { proxyRoute } from '../../proxy-config.ts';
import { OIDC_OWNER, requestedScope, type StoredOidcSettings } from './settings.ts';

const KNOWN_FOR: Micros = HOUR;
/** An unknown key is looked for at most this often. */
const KEYS_EVERY: Micros = 30 * SECOND;

const url = v.pipe(v.string(), v.url(), v.regex(/^https?:/i));

const Discovered = v.object({
  issuer: v.string(),
  authorization_endpoint: url,
  token_endpoint: url,
  jwks_uri: url,
  userinfo_endpoint: v.optional(url),
  token_endpoint_auth_methods_supported: v.optional(v.array(v.string())),
  claims_supported: v.optional(v.array(v.string())),
  authorization_response_iss_parameter_supported: v.optional(v.boolean()),
});
export type Metadata = v.InferOutput<typeof Discovered>;

const ENDPOINTS = ['authorization_endpoint', 'token_endpoint', 'jwks_uri', 'userinfo_endpoint'] as const;

/** A discovery document; in words, why it is of no use. */
export function readMetadata(document: unknown, issuerUrl: string): Metadata | string {
  const parsed = v.safeParse(Discovered, document);
  if (!parsed.success) {
    const [issue] = parsed.issues;
    return `the discovery document lacks a usable ${v.getDotPath(issue) ?? 'body'}`;
  }
  const metadata = parsed.output;
  if (withoutSlash(metadata.issuer) !== withoutSlash(issuerUrl)) {
    return `the discovery document is of another issuer: ${metadata.issuer}`;
  }
  const clear = isInClear(issuerUrl) ? undefined : ENDPOINTS.find((name) => isInClear(metadata[name]));
  return clear === undefined ? metadata : `the discovery document names a ${clear} without https`;
}

/** Plain http is the choice of whoever wrote the issuer down; an issuer with https stays with it. */
export function isInClear(address: string | undefined): boolean {
  return address !== undefined && new URL(address).protocol === 'http:';
}

/** One slash at the end makes no other issuer. */
function withoutSlash(issuer: string): string {
  return issuer.endsWith('/') ? issuer.slice(0, -1) : issuer;
}

interface Remembered {
  readonly version: number;
  readonly metadata: Metadata;
  readonly at: Micros;
  keys: { readonly document: string; readonly at: Micros } | null;
  /** When they were last asked for, whatever came of it. */
  keysTriedAt: Micros;
}

export interface ProviderMemory {
  /** Null when it is unknown, too old, or of settings before. */
  metadata(access: ProviderAccess): Metadata | null;
  remember(access: ProviderAccess, metadata: Metadata): void;
  /** The last good key set, as JSON; one that is not fresh is worth asking again. */
  keys(access: ProviderAccess): { readonly document: string; readonly isFresh: boolean } | null;
  /** Whether the keys may be fetched again for one that is not among them. */
  mayAskForKeys(access: ProviderAccess): boolean;
  askingForKeys(access: ProviderAccess): void;
  rememberKeys(access: ProviderAccess, document: string): void;
}

export function createProviderMemory(clock: Pick<Clock, 'now'>): ProviderMemory {
  let remembered: Remembered | null = null;
  const current = ({ version }: ProviderAccess) =>
    remembered !== null && remembered.version === version ? remembered : null;

  return {
    metadata(access) {
      const known = current(access);
      return known !== null && clock.now() - known.at < KNOWN_FOR ? known.metadata : null;
    },
    remember(access, metadata) {
      const { keys = null, keysTriedAt = 0 } = current(access) ?? {};
      remembered = { version: access.version, metadata, at: clock.now(), keys, keysTriedAt };
    },
    keys(access) {
      const keys = current(access)?.keys;
      return keys ? { document: keys.document, isFresh: clock.now() - keys.at < KNOWN_FOR } : null;
    },
    mayAskForKeys: (access) => clock.now() - (current(access)?.keysTriedAt ?? 0) >= KEYS_EVERY,
    askingForKeys(access) {
      const known = current(access);
      if (known) known.keysTriedAt = clock.now();
    },
    rememberKeys(access, document) {
      const known = current(access);
      if (known) known.keys = { document, at: clock.now() };
    },
  };
}

/** The way to the provider: what oauth4webapi fetches goes through the one outbound client (outbound-http §1). */
const TIMEOUT: Micros = 10 * SECOND;
const ANSWER_LIMIT = 8 * 1024 * 1024;
/** Of which the standard does not let a body be given. */
const WITHOUT_BODY = [204, 205, 304];
/** What the library looks at. */
const READ_HEADERS = ['content-type', 'www-authenticate'];

/** The settings with their secrets opened, for one operation. */
export interface ProviderAccess {
  /** Of the settings: what is remembered of a provider is remembered for one version. */
  readonly version: number;
  readonly issuerUrl: string;
  readonly clientId: string;
  /** Null for a public client. */
  readonly clientSecret: string | null;
  readonly scope: string;
  readonly proxy: ProxyRoute | null;
}

export interface Trip {
  readonly class: 'interactive' | 'background';
  /** Ends the requests that are under way. */
  readonly signal?: AbortSignal;
  /** Codes and tokens that travel, and are shown nowhere. */
  readonly secrets: readonly string[];
}

/** No answer that could be read; the message is for people, and masked. */
class ProviderUnreachable extends Error {
  override readonly name = 'ProviderUnreachable';
}

type Fetch = (
  url: string,
  options: Pick<CustomFetchOptions<string, unknown>, 'method' | 'headers' | 'body'>,
) => Promise<Response>;

/** Answers of every status, redirects aside: nobody is followed. @throws {ProviderUnreachable} */
export function providerFetch(caller: OutboundCaller, access: ProviderAccess, trip: Trip): Fetch {
  return async (url, { method, headers, body }) => {
    const { result, verdict } = await caller.call({
      request: {
        owner: OIDC_OWNER,
        class: trip.class,
        proxy: access.proxy,
        credentials: String(access.version),
        method,
        url: new URL(url),
        headers: Object.entries(headers),
        body: body === undefined || body === null ? null : Buffer.from(String(body), 'utf8'),
        timeout: TIMEOUT,
        answerLimit: ANSWER_LIMIT,
        ...(trip.signal ? { signal: trip.signal } : {}),
      },
      secrets: knownSecrets(access, trip),
      mapping: DEFAULT_MAPPING,
      about: null,
    });
    if (result.kind !== 'answer' || result.tooLarge || isRedirect(result.status)) {
      throw new ProviderUnreachable(verdict.class === 'ok' ? 'no answer' : verdict.error);
    }
    if (!isModest(result.body)) throw new ProviderUnreachable('the answer has too many parts');
    return responseOf(result);
  };
}

/** Everything that must not show in what is told of a trip. */
export function knownSecrets(access: ProviderAccess, { secrets }: Trip): readonly string[] {
  const own = [access.clientSecret, access.proxy?.password].filter((secret) => typeof secret === 'string');
  return [...own, ...secrets];
}

function responseOf({ status, headers, body }: OutboundAnswer): Response {
  const read = READ_HEADERS.flatMap((name): [string, string][] => {
    const value = headers[name];
    return value === undefined ? [] : [[name, value]];
  });
  return new Response(WITHOUT_BODY.includes(status) ? null : new Uint8Array(body), { status, headers: read });
}

/** Null when one of the secrets cannot be opened. */
export function openProvider(opener: Opener, settings: StoredOidcSettings): ProviderAccess | null {
  const { fields, clientSecret, proxyPassword, version } = settings;
  const secret = clientSecret && openSecret(opener, 'oidc.client_secret', OIDC_OWNER, clientSecret);
  const password = proxyPassword && openSecret(opener, 'oidc.proxy_password', OIDC_OWNER, proxyPassword);
  if ((clientSecret && secret === null) || (proxyPassword && password === null)) return null;
  return {
    version,
    issuerUrl: fields.issuer_url,
    clientId: fields.client_id,
    clientSecret: secret,
    scope: requestedScope(fields),
    proxy: proxyRoute(fields.proxy, password),
  };
}
