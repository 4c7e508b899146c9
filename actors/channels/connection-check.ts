/** The part of the port that tries a Connection, saved or not, and lists its channels (outbound-http §5, api §14). */
import type { Clock } from '../../runtime/clock.ts';
import type { ErrorCode } from '../../runtime/outbound/verdict.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { cutToBytes } from '../../runtime/secrets/masking.ts';
import type { InfoRead } from '../connection/messages.ts';
import type { StoredConnection } from '../connection/ports.ts';
import type { TokenGrant } from '../connection/tokens.ts';
import type { ProxyFields } from '../proxy-config.ts';
import { noToken } from './access.ts';
import type { TokenAccess } from './calls.ts';
import type { Busy } from './interactive.ts';

export interface ConnectionCheck {
  /** What a saved Connection of the type calls with; null: there is none. */
  saved(id: PublicId): Promise<SavedAccess | null>;
  /** Posts nothing, whatever the other side answers. */
  run(asked: AskedConnectionCheck): Promise<CheckedConnection | Busy>;
}

export interface SavedAccess {
  readonly id: PublicId;
  /** Number of the address and token. */
  readonly access: number;
  readonly address: string;
  /** How what happens there arrives, where the type has several ways. */
  readonly mode: 'poll' | 'push' | null;
  readonly proxy: ProxyFields;
  /** Null: none, or it cannot be opened. */
  readonly proxyPassword: string | null;
  /** Null when a secret cannot be opened. */
  readonly opened: TokenAccess | null;
}

export interface AskedConnectionCheck {
  readonly address: string;
  readonly access: TokenAccess;
  /** Shared by the records of its requests. */
  readonly run: PublicId;
  /** A limiter token for one request. */
  take(): Promise<TokenGrant>;
}

export interface ConnectionStep {
  readonly name: string;
  readonly ok: boolean;
  readonly skipped: boolean;
  readonly latencyMs: number | null;
  /** For people; masked. */
  readonly message: string | null;
}

export interface CheckedConnection {
  readonly ok: boolean;
  readonly steps: readonly ConnectionStep[];
  /** What the other side said of itself; null when it was not asked with a token, or refused it. */
  readonly info: StoredConnection['info'];
  /** Pointer to what is wrong in it. */
  readonly wrong: string | null;
  /** The other side takes requests without a token. */
  readonly tokenless: boolean;
  /** What a saved Connection is told of it; null when there is nothing to learn. */
  readonly learned: InfoRead['read'] | null;
  /** Of a channel bot: whether updates are posted somewhere, and how many wait; null when it was not asked. */
  readonly updates?: { readonly webhookSet: boolean; readonly pending: number } | null;
}

/** A channel to choose. */
export interface ListedChannel {
  readonly id: string;
  readonly name: string;
  readonly display_name: string;
  readonly team_id: string;
  readonly team_name: string;
  readonly type: 'open' | 'private';
}

/** A team, and a part of a name in any case; null: all. */
export type WantedChannels = { readonly teamId: string | null; readonly q: string | null };

export type Listed =
  | { readonly is: 'listed'; readonly channels: readonly ListedChannel[] }
  /** For people; masked. */
  | { readonly is: 'failed'; readonly error: string }
  | { readonly is: 'busy'; readonly wait: Busy };

/** Lists the channels that the bot of a saved Connection is a member of. */
export type ChannelLister = (id: PublicId, wanted: WantedChannels) => Promise<Listed>;

/** One request of a check: what is wrong, for people and masked, or null. */
export interface CheckedRequest {
  readonly name: string;
  /** Why it is not made; null: it is. */
  readonly skip: string | null;
  make(): Promise<string | null>;
}

/** Why the other side could not be reached, for people; null when that is not what is wrong. */
export function unreachable(
  { code, error }: { readonly code: ErrorCode; readonly error: string },
  host: string,
) {
  switch (code) {
    case 'dns_failed':
      return `DNS: ${host} not found`;
    case 'tls_failed':
      return `TLS: ${error}`;
    case 'proxy_auth_failed':
      return 'the proxy refused the login (407)';
    default:
      return null;
  }
}

/** Bytes of a message. */
const LONGEST_MESSAGE = 500;
export const NO_TOKEN = 'no token for this address';

/**
 * Makes requests in order, each with a limiter token of its own; those after a failed one are skipped.
 * @returns how it went, or when to come again where not even the first request could be made
 */
export async function checkInSteps(
  { take, clock }: { take(): Promise<TokenGrant>; readonly clock: Pick<Clock, 'now'> },
  requests: readonly CheckedRequest[],
): Promise<Pick<CheckedConnection, 'ok' | 'steps'> | Busy> {
  const steps: ConnectionStep[] = [];
  let ok = true;
  for (const { name, skip, make } of requests) {
    if (!ok || skip !== null) {
      steps.push({ name, ok: false, skipped: true, latencyMs: null, message: ok ? skip : null });
      continue;
    }
    const grant = await take();
    if (grant !== 'granted' && steps.length === 0) return grant;
    const begun = clock.now();
    const message = grant === 'granted' ? await make() : noToken(grant);
    const latencyMs = grant === 'granted' ? Math.round((clock.now() - begun) / 1000) : null;
    ok = message === null;
    steps.push({
      name,
      ok,
      skipped: false,
      latencyMs,
      message: message && cutToBytes(message, LONGEST_MESSAGE),
    });
  }
  return { ok, steps };
}
