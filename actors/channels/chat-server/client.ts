/** Calls chat servers with the bot's token (chat-server §2). */

import type { OutboundCaller } from '../../../runtime/outbound/caller.ts';
import { type Opener, openSecret } from '../../../runtime/secrets/keyring.ts';
import { connectionOwner } from '../../connection/messages.ts';
import type { ChatServerSettings } from '../../connection/ports.ts';
import { proxyRoute } from '../../proxy-config.ts';
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

export function createChatClient(caller: OutboundCaller): ChatClient {
  return {
    async call<Value>(access: ChatAccess, request: ChatRequest<Value>, options: ChatCallOptions) {
      if (request.path === null) return UNSENDABLE;
      const { operation, method, body, timeout } = request;
      const { outcome, verdict, status } = await callWithToken<ChatOutcome<Value>>(
        caller,
        access,
        {
          ...{ operation, method, body, timeout, answerLimit: ANSWER_LIMIT },
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

/** Where the chat server is, its token, and the way there; null when one of the secrets cannot be opened. */
export function openChatServer(opener: Opener, settings: ChatServerSettings): ChatAccess | null {
  const { id, serverUrl, access, proxyPassword } = settings;
  const token = settings.token && openSecret(opener, 'connection.bridge_token', id, settings.token);
  const password = openProxyPassword(opener, settings);
  if (token === null || (proxyPassword && password === null)) return null;
  return {
    ...{ connectionId: id, owner: connectionOwner(id), serverUrl, token, credentials: String(access) },
    proxy: proxyRoute(settings.proxy, password),
  };
}

/** The password of its proxy; null when it has none, or it cannot be opened. */
export function openProxyPassword(opener: Opener, { id, proxyPassword }: ChatServerSettings): string | null {
  return proxyPassword && openSecret(opener, 'connection.proxy_password', id, proxyPassword);
}
