/** Calls chat servers with the bot's token (chat-server §2). */
import type { OutboundCaller } from '../../../runtime/outbound/caller.ts';
import type { RequestClass } from '../../../runtime/outbound/client.ts';
import type { ProxyRoute } from '../../../runtime/outbound/proxy.ts';
import type { RequestCheck, RequestRecord } from '../../../runtime/outbound/request-log/record.ts';
import type { AnswerMapping } from '../../../runtime/outbound/verdict.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { type Opener, openSecret } from '../../../runtime/secrets/sealed-fields.ts';
import { connectionOwner } from '../../connection/messages.ts';
import type { ChatServerSettings } from '../../connection/ports.ts';
import { proxyRoute } from '../../proxy-config.ts';
import { answerOutcome, type ChatOutcome, unansweredOutcome, verdictOf } from './answer.ts';
import type { ChatRequest } from './operations.ts';

/** The largest answer is a page of posts. */
const ANSWER_LIMIT = 16 * 1024 * 1024;

/** Where a chat server is, the way there, and the token that opens it. */
export interface ChatAccess {
  /** Null: a check of something that is not saved. */
  readonly connectionId: PublicId | null;
  /** Whose sockets are used. */
  readonly owner: string;
  /** Without a trailing slash; a path prefix is kept. */
  readonly serverUrl: string;
  /** Sent to this address and nowhere else; null: only `ping` can be called. */
  readonly token: string | null;
  readonly proxy: ProxyRoute | null;
  /** Texts of one call that nobody else may read, such as a code. */
  readonly otherSecrets?: readonly string[];
  /** Changes with the address and the token. */
  readonly credentials: string;
}

export interface ChatCallOptions {
  readonly class: Exclude<RequestClass, 'heartbeat'>;
  /** 1 for the first request of this event or step. */
  readonly attempt?: number;
  /** The check, test or probe that it is part of; only a probe has no run. */
  readonly check?: { readonly as: RequestCheck; readonly run: PublicId | null };
  /** The Destination that it is made for, and the Alert Group. */
  readonly destinationId?: PublicId | null;
  readonly alertGroupId?: PublicId | null;
  /** Shown what was sent and answered, masked, when there was anything. */
  readonly observe?: (record: RequestRecord) => void;
  /** Asked right before the first byte is sent. */
  readonly mayBegin?: () => boolean;
}

export interface ChatClient {
  /** Makes one call. Never throws, follows no redirect, repeats nothing. */
  call<Value>(
    access: ChatAccess,
    request: ChatRequest<Value>,
    options: ChatCallOptions,
  ): Promise<ChatOutcome<Value>>;
}

export function createChatClient(caller: OutboundCaller): ChatClient {
  return {
    async call<Value>(access: ChatAccess, request: ChatRequest<Value>, options: ChatCallOptions) {
      if (request.path === null) return UNSENDABLE;
      let answered: ChatOutcome<Value> | null = null;
      const mapping: AnswerMapping = {
        status: () => 'unknown',
        answer(answer, context) {
          const outcome = answerOutcome(answer, context, request);
          answered = outcome;
          return verdictOf(outcome);
        },
      };
      const { owner, credentials, proxy } = access;
      const { result, verdict } = await caller.call({
        request: {
          ...{ owner, credentials, proxy, class: options.class, method: request.method },
          url: new URL(access.serverUrl + request.path),
          headers: headersOf(access, request),
          body: request.body === null ? null : Buffer.from(JSON.stringify(request.body), 'utf8'),
          timeout: request.timeout,
          answerLimit: ANSWER_LIMIT,
          ...(options.mayBegin ? { mayBegin: options.mayBegin } : {}),
        },
        secrets: [access.token, proxy?.password, ...(access.otherSecrets ?? [])].filter(
          (secret) => typeof secret === 'string',
        ),
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
  id: null,
  error: 'this id cannot be part of an address',
} as const;

function headersOf(
  { token }: ChatAccess,
  { operation, body }: ChatRequest<unknown>,
): readonly (readonly [string, string])[] {
  const isAuthorized = token !== null && operation !== 'ping';
  return [
    ['Accept', 'application/json'],
    ...(isAuthorized ? [['Authorization', `Bearer ${token}`] as const] : []),
    ...(body === null ? [] : [['Content-Type', 'application/json'] as const]),
  ];
}

/** Where the chat server is, its token, and the way there; null when one of the secrets cannot be opened. */
export function openChatServer(opener: Opener, settings: ChatServerSettings): ChatAccess | null {
  const { id, serverUrl, access, proxyPassword } = settings;
  const token = settings.token && openSecret(opener, 'connection.bridge_token', id, settings.token);
  const password = proxyPassword && openSecret(opener, 'connection.proxy_password', id, proxyPassword);
  if (token === null || (proxyPassword && password === null)) return null;
  return {
    ...{ connectionId: id, owner: connectionOwner(id), serverUrl, token, credentials: String(access) },
    proxy: proxyRoute(settings.proxy, password),
  };
}
