/** Calls bridges, and maps the outcomes (bridge §1.1, §2). */

import type { Log } from '../../../runtime/log.ts';
import type { OutboundCaller } from '../../../runtime/outbound/caller.ts';
import type { RequestClass } from '../../../runtime/outbound/client.ts';
import type { ProxyRoute } from '../../../runtime/outbound/proxy.ts';
import type { RequestCheck, RequestRecord } from '../../../runtime/outbound/request-log/record.ts';
import type { AnswerMapping } from '../../../runtime/outbound/verdict.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { Keyring, Sealed } from '../../../runtime/secrets/keyring.ts';
import type { SealedFieldName } from '../../../runtime/secrets/sealed-fields.ts';
import { connectionOwner } from '../../connection/messages.ts';
import type { BridgeSettings } from '../../connection/ports.ts';
import { proxyRoute } from '../../proxy-config.ts';
import { answerOutcome, type BridgeOutcome, unansweredOutcome, verdictOf } from './answer.ts';
import type { BridgeRequest } from './operations.ts';

const ANSWER_LIMIT = 4 * 1024 * 1024;

/** Where a bridge is, the way there, and what opens it. */
export interface BridgeAccess {
  /** Null: a check of something that is not saved. */
  readonly connectionId: PublicId | null;
  /** Whose sockets are used. */
  readonly owner: string;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  /** Sent to this base URL and nowhere else; null: a request without a token. */
  readonly token: string | null;
  readonly proxy: ProxyRoute | null;
  /** Secrets of its owner that no call needs; masked, since an answer of the bridge may contain them. */
  readonly otherSecrets?: readonly string[];
  /** Changes with the address and the token. */
  readonly credentials: string;
}

export interface CallOptions {
  readonly class: Exclude<RequestClass, 'heartbeat'>;
  /** 1 for the first request of this event, poll or step. */
  readonly attempt?: number;
  /** The check, test or probe that it is part of; only a probe has no run. */
  readonly check?: { readonly as: RequestCheck; readonly run: PublicId | null };
  /** The Destination that it is made for, and the Alert Group. */
  readonly destinationId?: PublicId | null;
  readonly alertGroupId?: PublicId | null;
  /** Shown what was sent and answered, masked, when there was anything. */
  readonly observe?: (record: RequestRecord) => void;
  /** Sent without the token, which is hidden in the answer all the same. */
  readonly isTokenless?: boolean;
  /** Asked right before the first byte is sent. */
  readonly mayBegin?: () => boolean;
}

export interface BridgeClient {
  /** Makes one call. Never throws, follows no redirect, repeats nothing. */
  call<Value>(
    access: BridgeAccess,
    request: BridgeRequest<Value>,
    options: CallOptions,
  ): Promise<BridgeOutcome<Value>>;
}

export function createBridgeClient(caller: OutboundCaller): BridgeClient {
  return {
    async call<Value>(access: BridgeAccess, request: BridgeRequest<Value>, options: CallOptions) {
      if (request.path === null) return UNSENDABLE;
      const { owner, credentials, proxy } = access;
      let answered: BridgeOutcome<Value> | null = null;
      const mapping: AnswerMapping = {
        status: () => 'unknown',
        answer(answer, context) {
          const outcome = answerOutcome(answer, context, request.read);
          answered = outcome;
          const isEmptyPoll = outcome.class === 'ok' && request.isEmpty?.(outcome.value);
          return isEmptyPoll ? { class: 'ok', isEmptyPoll } : verdictOf(outcome);
        },
      };
      const { result, verdict } = await caller.call({
        request: {
          ...{ owner, credentials, proxy, class: options.class, method: request.method },
          url: new URL(access.baseUrl + request.path),
          headers: headersOf(options.isTokenless ? null : access.token, request),
          body: request.body === null ? null : Buffer.from(JSON.stringify(request.body), 'utf8'),
          timeout: request.timeout,
          answerLimit: ANSWER_LIMIT,
          ...(options.mayBegin ? { mayBegin: options.mayBegin } : {}),
        },
        secrets: secretsOf(access),
        mapping,
        about: {
          operation: request.operation,
          attempt: options.attempt ?? 1,
          connectionId: access.connectionId,
          destinationId: options.destinationId ?? null,
          alertGroupId: options.alertGroupId ?? null,
          check: options.check?.as ?? null,
          checkRun: options.check?.run ?? null,
        },
        ...(options.observe ? { observe: options.observe } : {}),
      });
      return answered ?? unansweredOutcome(verdict, result.kind === 'answer' ? result.status : null);
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

/** Of the owner, whether or not the request holds them. */
function secretsOf({ token, proxy, otherSecrets = [] }: BridgeAccess): readonly string[] {
  return [token, proxy?.password, ...otherSecrets].filter((secret) => typeof secret === 'string');
}

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

/** Opens what a bridge Connection has sealed, for one call (secrets §3.4). */
export interface Opener {
  readonly keyring: Pick<Keyring, 'open'>;
  readonly log: Log;
}

/** Where the bridge is, its token, and the way there; null when one of the secrets cannot be opened. */
export function openBridge(opener: Opener, settings: BridgeSettings): BridgeAccess | null {
  const { id, baseUrl, access } = settings;
  const token = openSecret(opener, 'connection.bridge_token', id, settings.token);
  const password = openProxyPassword(opener, settings);
  if (token === null || password === 'unreadable') return null;
  const pushSecret = openPushSecret(opener, settings);
  return {
    ...{ connectionId: id, owner: connectionOwner(id), baseUrl, token, credentials: String(access) },
    proxy: proxyRoute(settings.proxy, password),
    otherSecrets: pushSecret === null ? [] : [pushSecret],
  };
}

/** The secret that signs pushed events; null when there is none, or it cannot be opened. */
export function openPushSecret(opener: Opener, { id, pushSecret }: BridgeSettings): string | null {
  return pushSecret && openSecret(opener, 'connection.bridge_push_secret', id, pushSecret);
}

/** The password of its proxy; null when it has none. */
export function openProxyPassword(
  opener: Opener,
  { id, proxyPassword }: BridgeSettings,
): string | null | 'unreadable' {
  if (!proxyPassword) return null;
  return openSecret(opener, 'connection.proxy_password', id, proxyPassword) ?? 'unreadable';
}

function openSecret(
  { keyring, log }: Opener,
  field: SealedFieldName,
  owner: string,
  sealed: Sealed | null,
): string | null {
  if (!sealed) return null;
  const opened = keyring.open(field, owner, sealed);
  if (opened.ok) return opened.value;
  log('secret_unreadable', { field, owner, key_id: opened.keyId });
  return null;
}
