/**
 * A stand-in for the service, for looking at the UI while developing it: `node ui/dev/mock-server.ts [port]` serves
 * `ui/dist` under the production headers and answers the API from memory. Every answer has the shape of the API; a
 * request that breaks the contract (no CSRF token, no If-Match) is refused as the service would.
 */
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createMockApi, type MockAnswer } from './mock-api.ts';

/** Another build can be looked at while `ui/dist` is in use. */
const DIST = process.env.UI_DIST ?? fileURLToPath(new URL('../dist', import.meta.url));
const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webmanifest': 'application/manifest+json',
};
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'self'; img-src 'self' data:; style-src 'self'; script-src 'self'; connect-src 'self'; worker-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};

export function createMockServer() {
  const api = createMockApi();
  const streams = new Set<ServerResponse>();
  let hints = 0;
  let isRefusingStreams = false;
  const keepalive = setInterval(() => {
    for (const stream of streams) stream.write(': keepalive\n\n');
  }, 10_000);
  api.onHint((hint) => {
    hints += 1;
    for (const stream of streams)
      stream.write(`id: ${hints}\nevent: hint\ndata: ${JSON.stringify(hint)}\n\n`);
  });

  function openStream(response: ServerResponse): void {
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' });
    response.write('retry: 3000\n\n');
    streams.add(response);
    response.on('close', () => streams.delete(response));
  }

  async function serveFile(path: string, response: ServerResponse): Promise<void> {
    const safe = normalize(path).replace(/^(\.\.[/\\])+/, '');
    const file = extname(safe) === '' ? '/index.html' : safe;
    try {
      const body = await readFile(join(DIST, file));
      response.writeHead(200, {
        ...HEADERS,
        'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream',
      });
      response.end(body);
    } catch {
      response.writeHead(404, HEADERS).end('not found');
    }
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://mock');
    if (!url.pathname.startsWith('/api/')) return serveFile(url.pathname, response);
    const path = url.pathname.slice('/api/v1'.length);
    if (path === '/live-updates' && isRefusingStreams) {
      response.destroy();
      return;
    }
    if (path === '/live-updates' && api.signedIn()) return openStream(response);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    const answer: MockAnswer = api.answer({
      method: request.method ?? 'GET',
      path,
      query: url.searchParams,
      body: text === '' ? null : JSON.parse(text),
      csrf: (request.headers['x-csrf-token'] as string | undefined) ?? null,
      ifMatch: request.headers['if-match'] ?? null,
    });
    const problem = answer.status >= 400;
    response.writeHead(answer.status, {
      'Content-Type': problem ? 'application/problem+json' : 'application/json; charset=utf-8',
      'Cache-Control': 'no-store',
      ...(answer.etag === undefined ? {} : { ETag: answer.etag }),
    });
    response.end(answer.body === undefined ? undefined : JSON.stringify(answer.body));
  }

  const server = createServer((request, response) => void handle(request, response));
  return {
    api,
    listen: (port: number) =>
      new Promise<void>((resolve) => {
        server.listen(port, '127.0.0.1', () => resolve());
      }),
    /** Cuts every open live stream, as a network failure would, and lets none be opened for as long as it lasts. */
    refuseStreams: (isRefusing: boolean) => {
      isRefusingStreams = isRefusing;
      if (isRefusing) for (const stream of streams) stream.destroy();
    },
    close: () => {
      clearInterval(keepalive);
      for (const stream of streams) stream.destroy();
      server.closeAllConnections();
      server.close();
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const port = Number(process.argv[2] ?? 4173);
  await createMockServer().listen(port);
  process.stdout.write(`http://127.0.0.1:${port}\n`);
}
