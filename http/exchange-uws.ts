/** A uWebSockets.js request and response as an exchange. Copies what must outlive the callback. */

import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import type { BodyBudget } from './body-budget.ts';
import { APP_BODY_LIMIT, type Body, isSafe, type Reply, type Request } from './exchange.ts';
import type { OutputStream } from './operation.ts';

export interface Exchange {
  readonly request: Request;
  /** Sends the answer unless the client is gone. */
  send(reply: Reply, options: { readonly close: boolean }): void;
}

/**
 * Takes an exchange over; must be called inside uWebSockets.js's callback.
 * @param budget what all bodies that are held share; a body is let go with its answer
 * @param settled called once, when the answer is out, has become a stream, or the client is gone
 */
export function openExchange(
  res: HttpResponse,
  req: HttpRequest,
  budget: BodyBudget,
  settled: () => void,
): Exchange {
  const method = req.getCaseSensitiveMethod().toUpperCase();
  const headers = new Map<string, string>();
  req.forEach((name, value) => {
    const known = headers.get(name);
    headers.set(name, known === undefined ? value : `${known}, ${value}`);
  });
  const letGo: (() => void)[] = [];
  const connection = watch(res, () => {
    for (const release of letGo) release();
    settled();
  });
  const length = Number(headers.get('content-length') ?? 0);

  return {
    request: {
      method,
      path: req.getUrl(),
      query: req.getQuery(),
      socketAddress: Buffer.from(res.getRemoteAddressAsText()).toString(),
      header: (name) => headers.get(name) ?? null,
      body: isSafe(method) ? noBody : bodyReader(res, connection, length, budget, letGo),
    },
    send: (reply, { close }) => connection.send(reply, method === 'HEAD', close),
  };
}

interface Connection {
  readonly onGone: (listener: () => void) => void;
  send(reply: Reply, headOnly: boolean, close: boolean): void;
}

function watch(res: HttpResponse, settled: () => void): Connection {
  let state: 'waiting' | 'streaming' | 'done' = 'waiting';
  const listeners: (() => void)[] = [];

  res.onAborted(() => {
    const before = state;
    state = 'done';
    for (const listener of listeners) listener();
    if (before === 'waiting') settled();
  });

  return {
    onGone: (listener) => void listeners.push(listener),
    send(reply, headOnly, close) {
      if (state !== 'waiting') return;
      state = 'stream' in reply ? 'streaming' : 'done';
      res.cork(() => {
        res.writeStatus(`${reply.status} ${STATUS_CODES[reply.status] ?? ''}`);
        for (const [name, value] of reply.headers) res.writeHeader(name, value);
        if (!('stream' in reply)) endWith(res, reply, headOnly, close);
      });
      settled();
      if ('stream' in reply) reply.stream(outputOf(res, listeners));
    },
  };
}

/** HEAD and 304 tell the length of what they do not send. */
function endWith(
  res: HttpResponse,
  { status, content }: Extract<Reply, { content: unknown }>,
  headOnly: boolean,
  close: boolean,
): void {
  if (headOnly || status === 304) endWithLength(res, Buffer.byteLength(content ?? ''), close);
  else res.end(content ?? '', close);
}

/**
 * uWebSockets.js goes on waiting for a body whose length was reported to it, and so closes the connection under the
 * client's next request. Only where it is to be closed anyway may it know the length.
 */
function endWithLength(res: HttpResponse, length: number, close: boolean): void {
  if (close) res.endWithoutBody(length, true);
  else res.writeHeader('Content-Length', String(length)).endWithoutBody();
}

function outputOf(res: HttpResponse, gone: (() => void)[]): OutputStream {
  let open = true;
  const closed: (() => void)[] = [];
  const finish = () => {
    open = false;
    for (const listener of closed) listener();
  };
  gone.push(() => open && finish());

  return {
    write(text) {
      if (!open) return false;
      let kept = true;
      res.cork(() => {
        kept = res.write(text);
      });
      return kept;
    },
    onDrained(listener) {
      res.onWritable(() => {
        if (open) listener();
        return true;
      });
    },
    onClosed: (listener) => void closed.push(listener),
    close() {
      if (!open) return;
      finish();
      res.cork(() => {
        res.end('', true);
      });
    },
  };
}

const noBody = async (): Promise<Body> => ({ kind: 'bytes', bytes: Buffer.alloc(0) });

/** Starts to collect at once: the data events begin as soon as the callback returns. */
function bodyReader(
  res: HttpResponse,
  connection: Connection,
  announced: number,
  budget: BodyBudget,
  letGo: (() => void)[],
): () => Promise<Body> {
  const body = new Promise<Body>((resolve) => {
    connection.onGone(() => resolve({ kind: 'aborted' }));
    // The server discards what nobody collects.
    if (announced > APP_BODY_LIMIT) resolve({ kind: 'too_large' });
    else letGo.push(collect(res, budget, resolve));
  });
  return () => body;
}

/** @returns how to end it: nothing is kept from then on */
function collect(res: HttpResponse, budget: BodyBudget, resolve: (body: Body) => void): () => void {
  let chunks: Buffer[] = [];
  let size = 0;
  let isOver = false;
  const end = () => {
    if (isOver) return;
    isOver = true;
    budget.give(size);
    chunks = [];
  };
  const refuse = (kind: 'too_large' | 'no_room') => {
    end();
    resolve({ kind });
  };

  res.onData((chunk, last) => {
    if (isOver) return;
    if (size + chunk.byteLength > APP_BODY_LIMIT) return refuse('too_large');
    if (!budget.take(chunk.byteLength)) return refuse('no_room');
    size += chunk.byteLength;
    // The chunk's memory is taken back when this callback returns.
    chunks.push(Buffer.from(chunk.slice(0)));
    if (!last) return;
    resolve({ kind: 'bytes', bytes: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks) });
    chunks = [];
  });
  return end;
}
