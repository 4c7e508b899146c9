/**
 * A receiver that tells everything it was sent: in its body raw, escaped and decoded, and in its headers. The first
 * segment of a path is the status it answers with; `echo` is 200, `away` sends elsewhere with everything in the address.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface EchoReceiver {
  readonly url: string;
  readonly port: number;
  /** Everything it was sent, each request as one text. */
  readonly received: readonly string[];
  close(): Promise<void>;
}

export async function startEchoReceiver(): Promise<EchoReceiver> {
  const received: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const seen = JSON.stringify({ url: request.url, headers: request.headers, body });
      received.push(`${seen}\n${body}`);
      answer(request, body, response);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    received,
    close: () =>
      new Promise((closed) => {
        server.closeAllConnections();
        server.close(() => closed());
      }),
  };
}

function answer({ url = '/', headers }: IncomingMessage, body: string, response: ServerResponse): void {
  const { pathname } = new URL(url, 'http://echo.example');
  const segment = pathname.split('/').find((part) => /^(echo|away|\d{3})$/.test(part)) ?? '400';
  const said = saidOf(url, headers, body);
  response.setHeader('content-type', body.length % 2 === 0 ? 'text/plain' : 'application/json');
  response.setHeader('set-cookie', `seen=${encodeURIComponent(headers.authorization ?? '')}`);
  response.setHeader('x-echo', `${headers.authorization} ${headers['x-custom']}`);
  if (segment === 'away') {
    const place = encodeURIComponent(headers.authorization ?? '');
    response.writeHead(302, { location: `/elsewhere/${place}${url}` }).end(said);
    return;
  }
  const status = segment === 'echo' ? 200 : Number(segment);
  response.writeHead(status, status === 503 ? { 'retry-after': '1' } : {}).end(said);
}

function saidOf(url: string, headers: IncomingMessage['headers'], body: string): string {
  const values = Object.entries(headers).flatMap(([name, value]) => [`${name}: ${value}`, String(value)]);
  const bare = [...values, ...values.map((value) => value.replace(/^\w+ /, ''))];
  const raw = [url, decoded(url), body, ...bare];
  const told = JSON.stringify({ url, said: raw, again: JSON.stringify({ url, body }), headers: bare });
  return [
    told,
    ...raw,
    encodeURIComponent([url, ...bare].join(' ')),
    ...bare.map(base64),
    ...raw.map(html),
  ].join('\n');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');

const html = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;');
