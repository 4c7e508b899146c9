/** The HTTP listener in front of the inbox (`--push-listen`). */
import { createServer } from 'node:http';
import type { PushInbox } from './inbox.ts';

const LONGEST_BODY = 1024 * 1024;

export interface Listener {
  readonly port: number;
  close(): Promise<void>;
}

/** @param port 0 takes a free one @throws when the address cannot be listened on */
export async function listen(host: string, port: number, inbox: PushInbox): Promise<Listener> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('error', () => response.destroy());
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > LONGEST_BODY) request.destroy();
      else chunks.push(chunk);
    });
    request.on('end', async () => {
      const { method = '' } = request;
      const headers = Object.entries(request.headers).map(([name, value]) => [name, value?.toString()]);
      const raw = Buffer.concat(chunks).toString('utf8');
      const status = await inbox.take({ method, headers: Object.fromEntries(headers), raw });
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((listening, failed) => {
    server.once('error', failed);
    server.listen(port, host, listening);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}
