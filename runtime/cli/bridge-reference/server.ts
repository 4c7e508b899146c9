/** Puts the reference bridge on the network: loopback only, because its page and `/_sim/` ask nobody who they are. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Bridge, createBridge } from './bridge.ts';
import type { Settings } from './shapes.ts';
import { type BridgeAnswer, type Ports, problem, Refusal } from './wire.ts';

const HOST = '127.0.0.1';
const LONGEST_BODY = 1024 * 1024;

export interface RunningBridge extends Bridge {
  /** Base URL of the protocol and address of the page. */
  readonly url: string;
  close(): Promise<void>;
}

export const systemPorts: Ports = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  async deliver(url, headers, body, gone) {
    const answer = await fetch(url, { method: 'POST', headers, body, signal: gone, redirect: 'manual' });
    await answer.body?.cancel();
    return answer.status;
  },
};

/** @param port 0 takes a free one */
export async function startBridge(
  settings: Omit<Settings, 'pageUrl'>,
  port: number,
  ports: Ports = systemPorts,
): Promise<RunningBridge> {
  const server = createServer();
  await new Promise<void>((listening, failed) => {
    server.once('error', failed);
    server.listen(port, HOST, listening);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server listens on no port.');
  const url = `http://${HOST}:${address.port}`;
  const bridge = createBridge({ ...settings, pageUrl: url }, ports);
  server.on('request', (request, response) => void serve(bridge, request, response));
  return {
    ...bridge,
    url,
    close: () =>
      new Promise((closed) => {
        bridge.close();
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

async function serve(bridge: Bridge, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  try {
    const body = await bodyOf(request);
    const { method = 'GET', url: target = '/' } = request;
    const answer =
      body === null
        ? problem(new Refusal(413, 'the body is longer than 1 MiB', { class: 'invalid' }))
        : await bridge.answer({ method, target, headers: headersOf(request), body, gone: gone.signal });
    send(response, answer);
  } catch (error) {
    if (request.errored) return;
    console.error(error);
    send(response, problem(new Refusal(503, 'the bridge has a defect', { class: 'transient' })));
  }
}

function send(response: ServerResponse, { status, headers, body, isLost }: BridgeAnswer): void {
  if (isLost) response.destroy();
  else response.writeHead(status, headers).end(body);
}

function headersOf({ headers }: IncomingMessage): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value?.toString()]));
}

/** null: too long; the rest of it is read and thrown away, so that the caller hears the answer. */
async function bodyOf(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length <= LONGEST_BODY) chunks.push(chunk);
  }
  return length > LONGEST_BODY ? null : Buffer.concat(chunks).toString('utf8');
}
