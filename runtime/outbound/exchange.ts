/** One request on one connection: what goes on the wire, and what of the answer is read (outbound-http §1.3). */
import type { Dispatcher } from 'undici';
import type { OutboundAnswer, OutboundRequest } from './client.ts';
import { isAbsoluteForm } from './connect.ts';
import { OutboundFailure } from './failure.ts';
import { proxyRefusedLogin } from './http-tunnel.ts';
import { type ProxyRoute, proxyAuthorization } from './proxy.ts';
import type { Lease, SocketPool } from './socket-pool.ts';

export type HeaderList = readonly (readonly [name: string, value: string])[];

/** How far an exchange came. */
export interface Progress {
  /** Headers of the answer as they came; null before. */
  answerHeaders: HeaderList | null;
  isUnverified: boolean;
}

/**
 * Makes the request. The lease goes back when the answer was read to its end.
 * @throws {OutboundFailure} proxy_auth_failed when the proxy answers itself that it takes no such login
 */
export async function exchange(
  pool: SocketPool,
  lease: Lease,
  request: OutboundRequest,
  progress: Progress,
  signal: AbortSignal,
): Promise<OutboundAnswer> {
  let whole = false;
  const { url, proxy = null } = request;
  const direct = proxy === null || !isAbsoluteForm(url, proxy);
  try {
    const answer = await lease.client.compose(watching(request.mayBegin, progress)).request({
      method: request.method as Dispatcher.HttpMethod,
      path: direct ? url.pathname + url.search : url.origin + url.pathname + url.search,
      headers: [...request.headers, ...(direct ? [] : proxyHeaders(proxy))].flat(),
      body: request.body,
      signal,
    });
    const { body, tooLarge } = await readUpTo(answer.body, request.answerLimit);
    whole = !tooLarge;
    if (!direct && answer.statusCode === 407) throw proxyRefusedLogin();
    return { kind: 'answer', status: answer.statusCode, headers: flatten(answer.headers), body, tooLarge };
  } finally {
    progress.isUnverified = lease.isUnverified();
    pool.give(lease, !whole);
  }
}

function proxyHeaders(proxy: ProxyRoute): HeaderList {
  const authorization = proxyAuthorization(proxy);
  return authorization === null ? [] : [['Proxy-Authorization', authorization]];
}

/** Asks the caller once more right before the first byte, and notes the headers of the answer. */
function watching(
  mayBegin: OutboundRequest['mayBegin'],
  progress: Progress,
): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) =>
    dispatch(options, {
      onRequestStart(controller, context) {
        if (mayBegin?.() ?? true) handler.onRequestStart?.(controller, context);
        else
          controller.abort(new OutboundFailure('withheld', 'not begun: the caller did not want it any more'));
      },
      onRequestUpgrade: (...args) => handler.onRequestUpgrade?.(...args),
      onResponseStart(controller, status, headers, text) {
        progress.answerHeaders = pairs(controller.rawHeaders ?? []);
        handler.onResponseStart?.(controller, status, headers, text);
      },
      onResponseData: (...args) => handler.onResponseData?.(...args),
      onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
      onResponseError: (...args) => handler.onResponseError?.(...args),
    });
}

/** Names and values come one after the other. */
function pairs(raw: readonly (Buffer | string)[] | NodeJS.Dict<string | string[]>): HeaderList {
  if (!Array.isArray(raw)) return [];
  const texts = raw.map((part: Buffer | string) => part.toString('latin1'));
  return Array.from({ length: texts.length / 2 }, (_, index) => [
    texts[2 * index] ?? '',
    texts[2 * index + 1] ?? '',
  ]);
}

async function readUpTo(
  stream: AsyncIterable<Buffer>,
  limit: number,
): Promise<{ body: Buffer; tooLarge: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > limit) return { body: Buffer.concat(chunks).subarray(0, limit), tooLarge: true };
  }
  return { body: Buffer.concat(chunks), tooLarge: false };
}

function flatten(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}
