/** What is known of the provider: where its endpoints are and which keys it signs with (access §6.2). */
import * as v from 'valibot';
import { type Clock, HOUR, type Micros, SECOND } from '../../../runtime/clock.ts';
import type { ProviderAccess } from './provider-fetch.ts';

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
