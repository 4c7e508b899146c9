/** Receives what the pair sends, refuses a little of it, and keeps the rest with the time of its receipt. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { randomSource } from '../harness/random.ts';

/** A share of the posts that is answered 503, as while a database is away. */
const REFUSED = 0.02;

export interface Received {
  readonly path: 'ingest' | 'heartbeat';
  readonly from: number;
  /** µs since the epoch. */
  readonly at: number;
  readonly body: string;
}

export interface Receiver {
  readonly server: Server;
  readonly port: number;
  readonly received: readonly Received[];
  /** How many were answered 503. */
  refused(): number;
}

export const nowMicros = (): number => Math.round((performance.timeOrigin + performance.now()) * 1000);

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const random = randomSource(1);
  let refused = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const at = nowMicros();
      const [, from, path] = (request.url ?? '').split('/');
      if (random() < REFUSED) {
        refused++;
        return void response.writeHead(503).end();
      }
      const body = Buffer.concat(chunks).toString('utf8');
      received.push({ path: path === 'heartbeat' ? path : 'ingest', from: Number(from), at, body });
      response.writeHead(202).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { server, port, received, refused: () => refused };
}
