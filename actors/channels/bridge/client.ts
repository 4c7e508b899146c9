/** Calls bridges, and maps the outcomes (bridge §1.1, §2). */
import type { OutboundCaller } from '../../../runtime/outbound/caller.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { type Opener, openSecret } from '../../../runtime/secrets/keyring.ts';
import type { BridgeSettings } from '../../connection/ports.ts';
import { openAccess } from '../access.ts';
import { callWithToken, type TokenAccess, type TokenCallOptions } from '../calls.ts';
import { answerOutcome, type BridgeOutcome, unansweredOutcome, verdictOf } from './answer.ts';
import type { BridgeRequest } from './operations.ts';

const ANSWER_LIMIT = 4 * 1024 * 1024;

/** Where a bridge is, the way there, and what opens it. */
export interface BridgeAccess extends TokenAccess {
  /** Without a trailing slash. */
  readonly baseUrl: string;
}

export interface CallOptions extends TokenCallOptions {
  /** Sent without the token, which is hidden in the answer all the same. */
  readonly isTokenless?: boolean;
}

export interface BridgeClient {
  /** Makes one call. Never throws, follows no redirect, repeats nothing. */
  call<Value>(
    access: BridgeAccess,
    request: BridgeRequest<Value>,
    options: CallOptions,
  ): Promise<BridgeOutcome<Value>>;
}

/** What makes calls for Connections of the type. */
export interface BridgeUse {
  readonly bridge: BridgeClient;
  readonly opener: Opener;
  settings(id: PublicId): Promise<BridgeSettings | null>;
}

export function createBridgeClient(caller: OutboundCaller): BridgeClient {
  return {
    async call<Value>(access: BridgeAccess, request: BridgeRequest<Value>, options: CallOptions) {
      if (request.path === null) return UNSENDABLE;
      const { operation, method, body, timeout } = request;
      const { outcome, verdict, status } = await callWithToken<BridgeOutcome<Value>>(
        caller,
        access,
        {
          ...{ operation, method, body, timeout, answerLimit: ANSWER_LIMIT, unreadable: 'unknown' },
          url: new URL(access.baseUrl + request.path),
          headers: headersOf(options.isTokenless ? null : access.token, request),
        },
        options,
        (answer, context) => {
          const judged = answerOutcome(answer, context, request.read);
          const isEmptyPoll = judged.class === 'ok' && request.isEmpty?.(judged.value);
          return { outcome: judged, verdict: isEmptyPoll ? { class: 'ok', isEmptyPoll } : verdictOf(judged) };
        },
      );
      return outcome ?? unansweredOutcome(verdict, status);
    },
  };
}

/** An id that cannot be written into a path: nothing is sent. */
const UNSENDABLE = {
  class: 'unknown',
  code: 'body_invalid',
  status: null,
  error: 'this id cannot be part of an address',
  detail: null,
} as const;

function headersOf(
  token: string | null,
  { body, idempotencyKey }: BridgeRequest<unknown>,
): readonly (readonly [string, string])[] {
  return [
    ['Accept', 'application/json'],
    ...(token === null ? [] : [['Authorization', `Bearer ${token}`] as const]),
    ...(idempotencyKey === null ? [] : [['Idempotency-Key', idempotencyKey] as const]),
    ...(body === null ? [] : [['Content-Type', 'application/json'] as const]),
  ];
}

/** Where the bridge is, its token, and the way there; null when one of the secrets cannot be opened. */
export function openBridge(opener: Opener, settings: BridgeSettings): BridgeAccess | null {
  const opened = openAccess(opener, settings);
  if (!opened) return null;
  const pushSecret = openPushSecret(opener, settings);
  return { ...opened, baseUrl: settings.baseUrl, otherSecrets: pushSecret === null ? [] : [pushSecret] };
}

/** The secret that signs pushed events; null when there is none, or it cannot be opened. */
export function openPushSecret(opener: Opener, { id, pushSecret }: BridgeSettings): string | null {
  return pushSecret && openSecret(opener, 'connection.bridge_push_secret', id, pushSecret);
}
