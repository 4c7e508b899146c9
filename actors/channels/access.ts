/** What opens the way to the other side of a Connection, and how a person's calls take limiter tokens for it. */
import type { PublicId } from '../../runtime/public-id.ts';
import { type Opener, openSecret, type Sealed } from '../../runtime/secrets/keyring.ts';
import { connectionOwner } from '../connection/messages.ts';
import type { InteractiveTokens, TokenOwners } from '../connection/tokens.ts';
import { type ProxyFields, proxyRoute } from '../proxy-config.ts';
import type { TokenAccess } from './calls.ts';
import type { Busy } from './interactive.ts';

/** What is stored of it, secrets sealed. */
export interface SealedAccess {
  readonly id: PublicId;
  /** Number of the address and token. */
  readonly access: number;
  readonly token: Sealed | null;
  readonly proxy: ProxyFields;
  readonly proxyPassword: Sealed | null;
}

/** Null when one of the secrets cannot be opened. */
export function openAccess(opener: Opener, settings: SealedAccess): TokenAccess | null {
  const { id, access, proxyPassword } = settings;
  const token = settings.token && openSecret(opener, 'connection.bridge_token', id, settings.token);
  const password = openProxyPassword(opener, settings);
  if (token === null || (proxyPassword !== null && password === null)) return null;
  const proxy = proxyRoute(settings.proxy, password);
  return { connectionId: id, owner: connectionOwner(id), token, proxy, credentials: String(access) };
}

/** The password of its proxy; null when it has none, or it cannot be opened. */
export function openProxyPassword(
  opener: Opener,
  { id, proxyPassword }: Pick<SealedAccess, 'id' | 'proxyPassword'>,
): string | null {
  return proxyPassword && openSecret(opener, 'connection.proxy_password', id, proxyPassword);
}

export const GONE_CONNECTION = 'the Connection was deleted';
export const UNREADABLE = 'a secret of this Connection cannot be opened any more; enter it again';

export type Asked<Outcome> =
  | { readonly is: 'answered'; readonly outcome: Outcome }
  /** No limiter token within the time that a person waits. */
  | { readonly is: 'busy'; readonly wait: Busy };

/** One step of a check: what was answered, or why the check ends with it. */
export type Step<Name, Value, Failed> =
  | { readonly is: 'ok'; readonly value: Value }
  | { readonly is: 'busy'; readonly step: Name; readonly wait: Busy }
  | { readonly is: 'failed'; readonly step: Name; readonly message: string; readonly outcome: Failed };

export function stepOf<
  Name extends string,
  Value,
  Failed extends { readonly class: 'not_sent' } | { readonly class: string; readonly error: string },
>(
  step: Name,
  asked: Asked<{ readonly class: 'ok'; readonly value: Value } | Failed>,
): Step<Name, Value, Failed> {
  if (asked.is === 'busy') return { is: 'busy', step, wait: asked.wait };
  const { outcome } = asked;
  if ('value' in outcome) return { is: 'ok', value: outcome.value };
  const message = 'error' in outcome ? outcome.error : 'the service is stopping';
  return { is: 'failed', step, message, outcome };
}

/** Makes one call that a person waits for. A wait that the answer asks for is kept by everybody. */
export async function askedWithToken<Outcome extends { readonly class: string }>(
  tokens: InteractiveTokens,
  owners: TokenOwners & { readonly connectionId: PublicId },
  call: () => Promise<Outcome>,
): Promise<Asked<Outcome>> {
  const grant = await tokens.take(owners);
  if (grant !== 'granted') return { is: 'busy', wait: grant };
  const outcome = await call();
  keepWait(tokens, owners.connectionId, outcome);
  return { is: 'answered', outcome };
}

/** All calls of one token wait together. */
export function keepWait(
  tokens: InteractiveTokens,
  connectionId: PublicId,
  outcome: { readonly class: string; readonly until?: number },
): void {
  if (outcome.class !== 'retry_after' || outcome.until === undefined) return;
  tokens.spent(connectionId, { class: 'retry_after', until: outcome.until, scope: 'bot' });
}
