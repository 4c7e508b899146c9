/**
 * A bridge that answers what a test scripts and keeps every request. It is strict about what the service sends: a token
 * where none is expected, a missing header, a body that is no JSON and a request that nothing was scripted for are
 * faults, and {@link ScriptedBridge.faults} must stay empty. The one of test/fakes/reference-bridge.ts behaves by itself.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface BridgeAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON, unless it is a text. */
  readonly body?: unknown;
}

export interface BridgeRequestSeen {
  readonly method: string;
  /** As it came, with its query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into requests by hand
  readonly body: any;
  readonly withToken: boolean;
}

type Decide = (request: BridgeRequestSeen) => BridgeAnswer | 'hang' | Promise<BridgeAnswer>;

export interface ScriptedBridge {
  readonly url: string;
  readonly token: string;
  readonly requests: readonly BridgeRequestSeen[];
  readonly faults: readonly string[];
  /** How a request is answered from now on, by `<METHOD> <path>` without its query. */
  on(route: string, answer: BridgeAnswer | Decide): void;
  close(): Promise<void>;
}

/** What a bridge with polling and nothing else says of itself. */
export const PLAIN_INFO = {
  protocol_version: '1',
  bridge: { name: 'scripted', version: '1.0' },
  messenger: { name: 'Nowhere', bot: { external_id: '42', username: 'oncall-bot', bot: true } },
  capabilities: { buttons: true, direct_messages: { bot_can_start: true } },
  limits: { max_body_length: 4000 },
  user_lookup: 'email',
  event_delivery: ['poll', 'push'],
} as const;

export const UNAUTHORIZED: BridgeAnswer = {
  status: 401,
  headers: { 'content-type': 'application/problem+json' },
  body: { type: 'about:blank', title: 'Unauthorized', status: 401, class: 'forbidden' },
};

export async function startScriptedBridge(token = 'b-t0ken'): Promise<ScriptedBridge> {
  const requests: BridgeRequestSeen[] = [];
  const faults: string[] = [];
  const routes = new Map<string, Decide>();

  const take = async (request: IncomingMessage, raw: string, response: ServerResponse): Promise<void> => {
    const seen = readRequest(request, raw, token);
    requests.push(seen);
    const [path = ''] = seen.target.split('?', 1);
    const decide = routes.get(`${seen.method} ${path}`);
    faults.push(...wireFaults(seen), ...(decide ? [] : [`${seen.method} ${path}: nothing was scripted`]));
    const answer = (await decide?.(seen)) ?? { status: 599 };
    if (answer === 'hang') return;
    const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers }).end(text);
  };

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => void take(request, Buffer.concat(chunks).toString('utf8'), response));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;

  const on: ScriptedBridge['on'] = (route, answer) => {
    routes.set(route, typeof answer === 'function' ? answer : () => answer);
  };
  on('GET /v1/info', ({ withToken }) => (withToken ? { status: 200, body: PLAIN_INFO } : UNAUTHORIZED));
  return {
    url: `http://127.0.0.1:${port}`,
    token,
    requests,
    faults,
    on,
    close: () =>
      new Promise((closed) => {
        server.closeAllConnections();
        server.close(() => closed());
      }),
  };
}

function readRequest(request: IncomingMessage, raw: string, token: string): BridgeRequestSeen {
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
  );
  return {
    method: request.method ?? '',
    target: request.url ?? '',
    headers,
    body: raw === '' ? null : parsed(raw),
    withToken: headers.authorization === `Bearer ${token}`,
  };
}

/** What the protocol demands of every request, and of those that create something. */
function wireFaults({ method, target, headers, body, withToken }: BridgeRequestSeen): readonly string[] {
  const where = `${method} ${target}`;
  const creates = method === 'POST';
  return [
    ...(headers.authorization !== undefined && !withToken ? [`${where}: another token`] : []),
    ...(creates && !/^[!-~]{1,255}$/.test(headers['idempotency-key'] ?? '')
      ? [`${where}: no Idempotency-Key`]
      : []),
    ...(!creates && headers['idempotency-key'] ? [`${where}: an Idempotency-Key for nothing`] : []),
    ...(body !== null && headers['content-type'] !== 'application/json' ? [`${where}: no JSON type`] : []),
    ...(body === undefined ? [`${where}: the body is no JSON`] : []),
    ...(target.startsWith('/v1/') ? [] : [`${where}: not under /v1/`]),
  ];
}

function parsed(raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch {
    // A fault; wireFaults says so.
    return undefined;
  }
}
