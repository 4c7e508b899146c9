/** A fake messenger on a port of its own. Its answers may get lost after it did what was asked. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface WireRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Names in small letters. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * @param answer does what is asked
 * @param port of 127.0.0.1; 0: any that is free
 */
export async function startListener(answer: (request: WireRequest) => Promise<WireAnswer>, port = 0) {
  const lost = { count: 0, isMeant: (_request: WireRequest): boolean => false };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', async () => {
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      );
      const { method = 'GET', url: target = '/' } = request;
      const asked = { method, target, headers, body: Buffer.concat(parts).toString() };
      const answered = await answer(asked);
      if (lost.count > 0 && lost.isMeant(asked)) {
        lost.count--;
        request.socket.destroy();
        return;
      }
      if (!response.destroyed) response.writeHead(answered.status, answered.headers).end(answered.body);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The next requests that are meant are carried out and never answered, as on a connection that is lost. */
    lose(count: number, isMeant: (request: WireRequest) => boolean): void {
      Object.assign(lost, { count, isMeant });
    },
    /** How many of those are still to come. */
    leftToLose: () => lost.count,
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
