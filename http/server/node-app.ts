/**
 * The part of uWebSockets.js that the server uses, on `node:http`: for platforms and versions of Node.js that it has no
 * build for, and with SVC_HTTP_ENGINE=node. A front stands before it (front.ts), so what it sees is framed clearly; the
 * answers to what is not, and how a connection ends, are those of uWebSockets.js.
 */

import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { HEADER_LIMIT, HEADERS_LIMIT } from './front.ts';

/** A connection on which nothing is under way, ms. */
const IDLE_MS = 12_000;
/** The front adds a line to each head. */
const HEAD_BYTES = HEADER_LIMIT + 256;

type Handle = (res: HttpResponse, req: HttpRequest) => void;

interface Route {
  /** Null: any. */
  readonly method: string | null;
  /** @returns the path's parameter, or an empty text; null when it is another path */
  match(path: string): string | null;
  readonly handle: Handle;
}

/** What {@link createServer} of server.ts takes from the module `uWebSockets.js`. */
export interface HttpEngine {
  /** @param failed told what goes wrong with the socket once it listens */
  App(failed: (error: Error) => void): TemplatedApp;
  us_socket_local_port(socket: us_listen_socket): number;
  us_listen_socket_close(socket: us_listen_socket): void;
}

export const nodeEngine: HttpEngine = {
  App: createApp,
  us_socket_local_port: (socket) => ((socket as unknown as Server).address() as AddressInfo).port,
  us_listen_socket_close: (socket) => void (socket as unknown as Server).close(),
};

function createApp(failed: (error: Error) => void): TemplatedApp {
  const routes: Route[] = [];
  const busy = new WeakSet<Socket>();
  const server = createServer({ maxHeaderSize: HEAD_BYTES, requireHostHeader: false }, (incoming, answer) => {
    const { socket } = incoming;
    // An answer is pending: whoever does not wait for it gets neither.
    if (busy.has(socket)) return void socket.destroy();
    busy.add(socket);
    socket.setTimeout(0);
    answer.once('close', () => {
      busy.delete(socket);
      socket.setTimeout(IDLE_MS);
    });
    const refusal = refusalOf(incoming);
    if (refusal !== null) return endWith(answer, refusal);
    const [path = '', query] = partsOf(incoming.url ?? '');
    for (const { method, match, handle } of routes) {
      const parameter = method === null || method === incoming.method ? match(path) : null;
      if (parameter === null) continue;
      handle(responseOf(incoming, answer), requestOf(incoming, path, query, parameter));
      return;
    }
  });
  Object.assign(server, { maxHeadersCount: 0, requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 0 });
  server.on('connection', (socket) => {
    socket.setTimeout(IDLE_MS);
    socket.on('timeout', () => socket.destroy());
  });
  for (const expects of ['checkContinue', 'checkExpectation']) {
    server.on(expects, (incoming, answer) => void server.emit('request', incoming, answer));
  }
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable) return;
    const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`);
  });
  const add = (method: string | null) => (path: string, handle: Handle) => {
    routes.push({ method, match: matching(path), handle });
    return app;
  };
  const app = {
    any: add(null),
    get: add('GET'),
    post: add('POST'),
    listen(...given: readonly unknown[]) {
      const host = typeof given[0] === 'string' ? given[0] : undefined;
      const port = Number(given.find((value) => typeof value === 'number'));
      const bound = given.at(-1) as (socket: us_listen_socket | false) => void;
      server.on('error', (error) => (server.listening ? failed(error) : bound(false)));
      server.listen({ port, ...(host !== undefined && { host }), exclusive: true }, () =>
        bound(server as unknown as us_listen_socket),
      );
      return app;
    },
    close() {
      server.close();
      server.closeAllConnections();
      return app;
    },
  } as unknown as TemplatedApp;
  return app;
}

/** What uWebSockets.js answers itself. */
function refusalOf({ httpVersion, rawHeaders }: IncomingMessage): 431 | 505 | null {
  if (httpVersion !== '1.1') return 505;
  // The front's own line is one of them.
  return rawHeaders.length / 2 > HEADERS_LIMIT + 1 ? 431 : null;
}

function endWith(answer: ServerResponse, status: number): void {
  answer.writeHead(status, { Connection: 'close' }).end();
}

/** Query: what follows the question mark; undefined without one. */
function partsOf(target: string): readonly [path: string, query: string | undefined] {
  const at = target.indexOf('?');
  return at < 0 ? [target, undefined] : [target.slice(0, at), target.slice(at + 1)];
}

/** `/a`, `/a/:name` or `/a/*`. */
function matching(pattern: string): Route['match'] {
  if (pattern.endsWith('/*')) {
    const prefix = pattern.slice(0, -1);
    return (path) => (path.startsWith(prefix) ? '' : null);
  }
  const at = pattern.indexOf('/:');
  if (at < 0) return (path) => (path === pattern ? '' : null);
  const prefix = pattern.slice(0, at + 1);
  return (path) => {
    const rest = path.startsWith(prefix) ? path.slice(prefix.length) : '';
    return rest === '' || rest.includes('/') ? null : rest;
  };
}

function requestOf(
  incoming: IncomingMessage,
  path: string,
  query: string | undefined,
  parameter: string,
): HttpRequest {
  const { method = '', rawHeaders } = incoming;
  const forEach = (each: (name: string, value: string) => void) => {
    for (let n = 0; n < rawHeaders.length; n += 2) {
      each((rawHeaders[n] ?? '').toLowerCase(), rawHeaders[n + 1] ?? '');
    }
  };
  return {
    getCaseSensitiveMethod: () => method,
    getUrl: () => path,
    getQuery: () => query,
    getParameter: () => parameter,
    getHeader(wanted: string) {
      let found: string | null = null;
      forEach((name, value) => {
        if (name === wanted) found ??= value;
      });
      return found ?? '';
    },
    forEach,
  } as unknown as HttpRequest;
}

function responseOf(incoming: IncomingMessage, answer: ServerResponse): HttpResponse {
  const { socket } = incoming;
  let writable: (() => boolean) | null = null;
  const end = (body: Buffer | string = '', closes = false, length = Buffer.byteLength(body)) => {
    const isStream = answer.headersSent;
    if (!isStream) {
      if (closes) answer.setHeader('Connection', 'close');
      const isEmpty = answer.statusCode === 204 || answer.statusCode < 200;
      if (!isEmpty && !answer.hasHeader('content-length')) answer.setHeader('Content-Length', length);
    }
    answer.end(body, () => {
      if (closes && isStream) socket.end();
    });
    // What is not read of a body would keep the connection from its next request.
    if (!incoming.complete) incoming.resume();
  };
  answer.on('drain', () => writable?.());
  const res = {
    cork(write: () => void) {
      // Corked, a stream would not tell that its client is behind.
      if (answer.headersSent) write();
      else {
        answer.cork();
        write();
        answer.uncork();
        if (!answer.writableEnded) answer.flushHeaders();
      }
      return res;
    },
    writeStatus(status: string) {
      answer.statusCode = Number(status.slice(0, 3));
      return res;
    },
    writeHeader(name: string, value: string) {
      answer.appendHeader(name, value);
      return res;
    },
    write: (text: string) => answer.write(text),
    end: (body?: Buffer | string, closes?: boolean) => end(body, closes),
    endWithoutBody: (length?: number, closes?: boolean) => end('', closes, length),
    onWritable(listener: () => boolean) {
      writable = listener;
      return res;
    },
    onData(listener: (piece: ArrayBuffer, isLast: boolean) => void) {
      const announced = incoming.headers['content-length'];
      let left = announced === undefined ? Number.POSITIVE_INFINITY : Number(announced);
      incoming.on('data', ({ buffer, byteOffset, length }: Buffer) => {
        left -= length;
        listener(buffer.slice(byteOffset, byteOffset + length) as ArrayBuffer, left === 0);
      });
      incoming.on('end', () => left > 0 && listener(new ArrayBuffer(0), true));
      return res;
    },
    onAborted(listener: () => void) {
      answer.once('close', () => {
        if (!answer.writableFinished) listener();
      });
      return res;
    },
    close: () => void socket.destroy(),
    getRemoteAddressAsText: () => Buffer.from(socket.remoteAddress ?? ''),
  };
  return res as unknown as HttpResponse;
}
