/** Requests whose length can be read in two ways: what one server takes for a body, another takes for a request. */
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';

/** Whether `Content-Length` is repeated with another value, or is no plain decimal number. */
export function hasBrokenLength(req: Pick<HttpRequest, 'forEach'>): boolean {
  let first: string | null = null;
  let isBroken = false;
  req.forEach((name, value) => {
    if (name !== 'content-length') return;
    first ??= value;
    if (value !== first || !/^\d+$/.test(value)) isBroken = true;
  });
  return isBroken;
}

/**
 * Answers 400 without a body and closes the connection, as uWebSockets.js does with broken requests itself. The answer
 * waits until what has arrived is parsed: a request that follows in the same packet would be served behind an answer,
 * but ends the connection while one is pending.
 */
export function refuseFraming(res: HttpResponse): void {
  let isGone = false;
  res.onAborted(() => {
    isGone = true;
  });
  setImmediate(() => {
    if (isGone) return;
    res.cork(() => {
      res.writeStatus('400 Bad Request');
      res.end('', true);
    });
  });
}
