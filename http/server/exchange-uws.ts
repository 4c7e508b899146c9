/** A uWebSockets.js request and response as an exchange. Copies what must outlive the callback. */
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import type { OutputStream } from '../operation.ts';
import { addPiece, type BodyHold } from './body-budget.ts';
import { type Body, isSafe, type Reply, type Request } from './exchange.ts';
import { type Admitted, type BodyPace, type Inflow, openInflow } from './inflow.ts';

export interface Exchange {
  readonly request: Request;
  /** Sends the answer unless the client is gone. The connection ends with it when it must, whatever the options say. */
  send(reply: Reply, options: { readonly close: boolean }): void;
}

/**
 * Takes an exchange over; must be called inside uWebSockets.js's callback.
 * @param settled called once, when the answer is out, has become a stream, or the client is gone
 */
export function openExchange(
  res: HttpResponse,
  req: HttpRequest,
  { framing, peer, ending }: Admitted,
  pace: BodyPace,
  settled: () => void,
): Exchange {
  const method = req.getCaseSensitiveMethod();
  const headers = new Map<string, string>();
  req.forEach((name, value) => {
    const known = headers.get(name);
    headers.set(name, known === undefined ? value : `${known}, ${value}`);
  });
  const letGo: (() => void)[] = [];
  const inflow = openInflow(res, framing, pace);
  const connection = watch(res, inflow, ending, () => {
    for (const release of letGo) release();
    settled();
  });

  return {
    request: {
      method,
      path: req.getUrl(),
      // Undefined without a question mark, whatever its type says.
      query: req.getQuery() ?? '',
      socketAddress: peer(),
      bodyLength: framing.length,
      header: (name) => headers.get(name) ?? null,
      body(limit, hold) {
        if (isSafe(method)) return Promise.resolve({ kind: 'bytes', bytes: Buffer.alloc(0) });
        letGo.push(() => hold.release());
        return readBody(connection, inflow, limit, hold);
      },
    },
    send: (reply, { close }) => connection.send(reply, method === 'HEAD', close),
  };
}

interface Connection {
  readonly onGone: (listener: () => void) => void;
  send(reply: Reply, headOnly: boolean, close: boolean): void;
}

function watch(res: HttpResponse, inflow: Inflow, ending: () => void, settled: () => void): Connection {
  let state: 'waiting' | 'answering' | 'streaming' | 'done' = 'waiting';
  const listeners: (() => void)[] = [];

  res.onAborted(() => {
    const before = state;
    state = 'done';
    inflow.gone();
    for (const listener of listeners) listener();
    if (before === 'waiting' || before === 'answering') settled();
  });

  return {
    onGone: (listener) => void listeners.push(listener),
    send(reply, headOnly, close) {
      if (state !== 'waiting') return;
      state = 'answering';
      inflow.answer((mustClose) => {
        state = 'stream' in reply ? 'streaming' : 'done';
        if (close || mustClose) ending();
        res.cork(() => {
          res.writeStatus(`${reply.status} ${STATUS_CODES[reply.status] ?? ''}`);
          for (const [name, value] of reply.headers) res.writeHeader(name, value);
          if (!('stream' in reply)) endWith(res, reply, headOnly, close || mustClose);
        });
        settled();
        if ('stream' in reply) reply.stream(outputOf(res, listeners));
      });
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

/** Starts to collect at once: the data events begin as soon as the callback returns. */
function readBody(connection: Connection, inflow: Inflow, limit: number, hold: BodyHold): Promise<Body> {
  return new Promise<Body>((resolve) => {
    let pieces: Buffer[] = [];
    let size = 0;
    let isOver = false;
    const end = (body: Body) => {
      isOver = true;
      pieces = [];
      if (body.kind !== 'bytes') hold.release();
      resolve(body);
    };

    connection.onGone(() => end({ kind: 'aborted' }));
    inflow.collect((piece, isLast) => {
      if (isOver) return;
      size += piece.byteLength;
      if (size > limit) end({ kind: 'too_large' });
      else if (!hold.take(piece.byteLength, isLast)) end({ kind: 'no_room' });
      else {
        // The piece's memory is taken back when this callback returns.
        addPiece(pieces, Buffer.from(piece.slice(0)));
        if (isLast) end({ kind: 'bytes', bytes: Buffer.concat(pieces) });
      }
    });
  });
}
