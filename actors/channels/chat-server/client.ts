/** Calls chat servers with the bot's token (chat-server §2). */
import type { OutboundCaller } from '../../../runtime/outbound/caller.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { Opener } from '../../../runtime/secrets/keyring.ts';
import type { ChatServerSettings } from '../../connection/ports.ts';
import { openAccess } from '../access.ts';
import { callWithToken, type TokenAccess, type TokenCallOptions } from '../calls.ts';
import { answerOutcome, type ChatOutcome, unansweredOutcome, verdictOf } from './answer.ts';
import type { ChatRequest } from './operations.ts';

/** The largest answer is a page of posts. */
const ANSWER_LIMIT = 16 * 1024 * 1024;

/** Where a chat server is, the way there, and the token that opens it; without one only `ping` can be called. */
export interface ChatAccess extends TokenAccess {
  /** Without a trailing slash; a path prefix is kept. */
  readonly serverUrl: string;
}

export type ChatCallOptions = TokenCallOptions;

export interface ChatClient {
  /** Makes one call. Never throws, follows no redirect, repeats nothing. */
  call<Value>(
    access: ChatAccess,
    request: ChatRequest<Value>,
    options: ChatCallOptions,
  ): Promise<ChatOutcome<Value>>;
}

/** What makes calls for Connections of the type. */
export interface ChatUse {
  readonly chat: ChatClient;
  readonly opener: Opener;
  settings(id: PublicId): Promise<ChatServerSettings | null>;
}

export function createChatClient(caller: OutboundCaller): ChatClient {
  return {
    async call<Value>(access: ChatAccess, request: ChatRequest<Value>, options: ChatCallOptions) {
      if (request.path === null) return UNSENDABLE;
      const { operation, method, body, timeout } = request;
      const { outcome, verdict, status } = await callWithToken<ChatOutcome<Value>>(
        caller,
        access,
        {
          ...{ operation, method, body, timeout, answerLimit: ANSWER_LIMIT, unreadable: 'transient' },
          url: new URL(access.serverUrl + request.path),
          headers: headersOf(access, request),
        },
        options,
        (answer, context) => {
          const judged = answerOutcome(answer, context, request);
          return { outcome: judged, verdict: verdictOf(judged) };
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

/** Null when one of the secrets cannot be opened. */
export function openChatServer(opener: Opener, settings: ChatServerSettings): ChatAccess | null {
  const opened = openAccess(opener, settings);
  return opened && { ...opened, serverUrl: settings.serverUrl };
}
