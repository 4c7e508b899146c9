/**
 * A small chat that template-mode webhooks post to: messages with ids of 64 bits, updates, threads. Strict: a request that
 * it does not know, or one without the three signature headers, is kept as a fault, and {@link TemplateReceiver.faults}
 * must stay empty.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
  /** `webhook-id`. */
  readonly id: string;
}

export interface TemplateReceiver {
  readonly url: string;
  readonly received: readonly ReceivedRequest[];
  readonly faults: readonly string[];
  /** The answer to the next create whose body has a text in it; everything else is done as asked. */
  answerCreate(text: string, answer: ScriptedAnswer): void;
  /** Requests by what their path and method ask for, and whose body has a text in it. */
  of(kind: RequestKind, text: string): readonly ReceivedRequest[];
  close(): Promise<void>;
}

interface ScriptedAnswer {
  readonly status: number;
  readonly body?: string;
}

export type RequestKind = 'create' | 'update' | 'open_thread' | 'reply_in_thread';

const KINDS: readonly (readonly [RequestKind, RegExp])[] = [
  ['create', /^POST \/messages$/],
  ['update', /^PUT \/messages\/\d+$/],
  ['open_thread', /^POST \/messages\/\d+\/thread$/],
  ['reply_in_thread', /^POST \/threads\/t\d+$/],
];
const FIRST_ID = 9_007_199_254_740_993n;

export async function startTemplateReceiver(): Promise<TemplateReceiver> {
  const received: ReceivedRequest[] = [];
  const faults: string[] = [];
  const scripted: { readonly text: string; readonly answer: ScriptedAnswer }[] = [];
  let made = FIRST_ID;

  const answerOf = (request: ReceivedRequest): ScriptedAnswer => {
    switch (kindOf(request)) {
      case 'create': {
        const place = scripted.findIndex(({ text }) => request.body.includes(text));
        const [found] = place < 0 ? [] : scripted.splice(place, 1);
        if (found) return found.answer;
        made += 2n;
        return { status: 201, body: `{"data":{"id":${made}}}` };
      }
      case 'open_thread':
        return { status: 200, body: `{"thread":{"id":"t${request.path.split('/')[2]}"}}` };
      default:
        return { status: 204 };
    }
  };

  const server = createServer(async (incoming, outgoing) => {
    const request = await readRequest(incoming);
    received.push(request);
    const asked = `${request.method} ${request.path}`;
    if (!kindOf(request)) faults.push(`${asked} is nothing that this chat knows`);
    if (!/^msg_[a-z2-7]{26}$/.test(request.id)) faults.push(`${asked} has no webhook-id`);
    if (!request.headers['webhook-signature']?.startsWith('v1,')) faults.push(`${asked} is not signed`);
    const { status, body = '' } = answerOf(request);
    outgoing.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    received,
    faults,
    answerCreate: (text, answer) => void scripted.push({ text, answer }),
    of: (kind, text) => received.filter((request) => kindOf(request) === kind && request.body.includes(text)),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function kindOf({ method, path }: Pick<ReceivedRequest, 'method' | 'path'>): RequestKind | null {
  return KINDS.find(([, pattern]) => pattern.test(`${method} ${path}`))?.[0] ?? null;
}

async function readRequest(incoming: IncomingMessage): Promise<ReceivedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join() : value,
    ]),
  );
  return {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers,
    body: Buffer.concat(chunks).toString('utf8'),
    id: headers['webhook-id'] ?? '',
  };
}
