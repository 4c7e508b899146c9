/**
 * A receiver of events-mode webhooks that is strict about the wire: method, headers, signature, order of keys. What
 * breaks a rule, or comes without being allowed, is kept as a fault, and {@link WebhookReceiver.faults} must stay empty.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

/** How the receiver answers; a function decides for each request. */
export interface ScriptedAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Ends the connection instead of answering. */
  readonly hangUp?: true;
}

export interface ReceivedWebhook {
  readonly id: string;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly raw: string;
  readonly body: WebhookBody;
  readonly answered: number;
  /** When it had arrived, ms since the epoch. */
  readonly at: number;
  /** Who opened its connection, where the receiver was told how to find out. */
  readonly from: string | null;
}

export type UnansweredWebhook = Omit<ReceivedWebhook, 'answered' | 'at' | 'from'>;

export interface WebhookBody {
  readonly version: number;
  readonly event: string;
  readonly notify: boolean;
  readonly mentions: readonly Readonly<Record<string, string>>[];
  readonly sequence: number;
  readonly occurred_at: string;
  readonly alert_group: Readonly<Record<string, unknown>> & { readonly id: string; readonly number: number };
  readonly alerts: readonly Readonly<Record<string, unknown>>[];
}

export interface WebhookReceiver {
  readonly url: string;
  /** Everything received, in order of arrival. */
  readonly received: readonly ReceivedWebhook[];
  readonly faults: readonly string[];
  /** Signing secrets of which one signature must match. */
  trust(...secrets: readonly string[]): void;
  /** Answers for the next requests, in order; after them every request is answered 204. */
  answer(...answers: readonly ScriptedAnswer[]): void;
  /** Answers for every request from now on; null goes back to 204. */
  answerAll(answer: ((webhook: UnansweredWebhook) => ScriptedAnswer) | null): void;
  /** Makes every further request a fault. */
  expectNothing(): void;
  /** Resolves with everything received once there are `count` requests. Rejects after `withinMs`. */
  waitFor(count: number, withinMs?: number): Promise<readonly ReceivedWebhook[]>;
  close(): Promise<void>;
}

const BODY_KEYS = 'version,event,notify,mentions,sequence,occurred_at,actor,alert_group,alerts';
const GROUP_KEYS =
  'number,id,title,summary,status,route,urgent,severity_level,started_at,resolved_at,snooze_until,reopen_count,url';
const ALERT_KEYS = 'fingerprint,status,labels,annotations,starts_at,resolved_at,resolve_reason,generator_url';
const OK: ScriptedAnswer = { status: 204 };

export interface WebhookReceiverOptions {
  readonly host?: string;
  readonly port?: number;
  readonly secrets?: readonly string[];
  /** Says whose the connection is that came from a port; asked once for each connection. */
  readonly identify?: (clientPort: number) => string | null;
}

export async function startWebhookReceiver(options: WebhookReceiverOptions = {}): Promise<WebhookReceiver> {
  const host = options.host ?? '127.0.0.1';
  const received: ReceivedWebhook[] = [];
  const faults: string[] = [];
  const script: ScriptedAnswer[] = [];
  const waiting = new Set<() => void>();
  const clients = new WeakMap<object, string | null>();
  let secrets = options.secrets ?? [];
  let decide: ((webhook: UnansweredWebhook) => ScriptedAnswer) | null = null;
  let closedToAll = false;

  const take = (request: IncomingMessage, raw: string, response: ServerResponse): void => {
    const headers = headersOf(request);
    const broken = [
      ...(closedToAll ? ['a request came though none was expected'] : []),
      ...wireFaults(request, headers, raw, secrets),
    ];
    const webhook = readWebhook(request, headers, raw, broken);
    faults.push(...broken.map((fault) => `${headers['webhook-id'] ?? 'request'}: ${fault}`));
    if (!webhook) return void response.writeHead(400).end('not a webhook');
    const answer = script.shift() ?? decide?.(webhook) ?? OK;
    const from = clients.get(request.socket) ?? null;
    received.push({ ...webhook, answered: answer.status, at: Date.now(), from });
    if (answer.hangUp) request.socket.destroy();
    else response.writeHead(answer.status, answer.headers).end(answer.body);
    for (const wake of waiting) wake();
  };

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => take(request, Buffer.concat(chunks).toString('utf8'), response));
  });
  const { identify } = options;
  if (identify) {
    server.on('connection', (socket) => clients.set(socket, identify(socket.remotePort ?? 0)));
  }
  await new Promise<void>((listening) => server.listen(options.port ?? 0, host, listening));
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://${host}:${port}/in`,
    received,
    faults,
    trust: (...given) => {
      secrets = given;
    },
    answer: (...answers) => void script.push(...answers),
    answerAll: (answer) => {
      decide = answer;
    },
    expectNothing: () => {
      closedToAll = true;
    },
    waitFor: (count, withinMs = 10_000) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          if (received.length < count) return;
          clearTimeout(deadline);
          waiting.delete(check);
          resolve([...received]);
        };
        const deadline = setTimeout(() => {
          waiting.delete(check);
          reject(new Error(`${received.length} of ${count} webhooks came within ${withinMs} ms`));
        }, withinMs);
        waiting.add(check);
        check();
      }),
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

function headersOf(request: IncomingMessage): Record<string, string> {
  const entries = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
  return Object.fromEntries(entries);
}

function wireFaults(
  request: IncomingMessage,
  headers: Readonly<Record<string, string>>,
  raw: string,
  secrets: readonly string[],
): string[] {
  const faults: string[] = [];
  const expect = (holds: boolean, fault: string): void => {
    if (!holds) faults.push(fault);
  };
  expect(request.method === 'POST', `the method is ${request.method}`);
  expect(request.httpVersion === '1.1', `the protocol is HTTP/${request.httpVersion}`);
  expect(headers['content-type'] === 'application/json', `the content type is ${headers['content-type']}`);
  expect(headers['content-length'] === String(Buffer.byteLength(raw)), 'the content length is wrong');
  expect(headers['accept-encoding'] === 'identity', 'an encoded answer is asked for');
  expect(/^msg_[a-z2-7]{26}$/.test(headers['webhook-id'] ?? ''), 'the webhook-id is malformed');
  expect(/^\d{10}$/.test(headers['webhook-timestamp'] ?? ''), 'the webhook-timestamp is malformed');
  expect(headers['user-agent'] !== undefined, 'there is no User-Agent');
  expect(!('cookie' in headers), 'there is a cookie');
  expect(
    secrets.length === 0 || secrets.some((secret) => verifies(secret, headers, raw)),
    'no signature matches',
  );
  return faults;
}

/** The published library decides, its own five minutes of tolerance included. */
function verifies(secret: string, headers: Readonly<Record<string, string>>, raw: string): boolean {
  try {
    new Webhook(secret).verify(raw, headers);
    return true;
  } catch {
    return false;
  }
}

function readWebhook(
  request: IncomingMessage,
  headers: Readonly<Record<string, string>>,
  raw: string,
  faults: string[],
): UnansweredWebhook | null {
  let body: WebhookBody;
  try {
    body = JSON.parse(raw) as WebhookBody;
  } catch {
    faults.push('the body is not JSON');
    return null;
  }
  if (JSON.stringify(body) !== raw) faults.push('the body holds insignificant white space or odd escapes');
  const keys = Object.keys(body).filter((key) => key !== 'test');
  if (keys.join(',') !== BODY_KEYS) faults.push(`the keys of the body are ${keys.join(',')}`);
  const groupKeys = Object.keys(body.alert_group ?? {}).filter((key) => key !== 'owner');
  if (groupKeys.join(',') !== GROUP_KEYS) faults.push(`the keys of alert_group are ${groupKeys.join(',')}`);
  for (const alert of body.alerts ?? []) {
    const alertKeys = Object.keys(alert).join(',');
    if (alertKeys !== ALERT_KEYS) faults.push(`the keys of an alert are ${alertKeys}`);
  }
  return {
    id: headers['webhook-id'] ?? '',
    timestamp: Number(headers['webhook-timestamp']),
    path: request.url ?? '',
    headers,
    raw,
    body,
  };
}
