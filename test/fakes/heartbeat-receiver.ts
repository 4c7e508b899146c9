/** Where the outgoing heartbeat goes: records each request and answers with the status that a test sets. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HeartbeatReceiver {
  readonly url: string;
  /** `GET /beat Tocsin/1.4.2`, in order of arrival. */
  readonly requests: readonly string[];
  /** 200 until a test says otherwise; 302 points to `https://elsewhere.example/`. */
  answerWith(status: number): void;
  close(): Promise<void>;
}

export async function startHeartbeatReceiver(): Promise<HeartbeatReceiver> {
  const requests: string[] = [];
  let status = 200;
  const server = createServer(({ method, url, headers }, response) => {
    requests.push(`${method} ${url} ${headers['user-agent']}`);
    response.writeHead(status, status === 302 ? { location: 'https://elsewhere.example/' } : {}).end();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/beat`,
    requests,
    answerWith: (next) => {
      status = next;
    },
    close: () =>
      new Promise((closed) => {
        server.closeAllConnections();
        server.close(() => closed());
      }),
  };
}
