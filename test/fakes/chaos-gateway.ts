/**
 * What goes wrong between the service and a messenger: stands before a strict fake, passes requests on, and answers some of
 * them itself, hangs, or ends their connections before they were read, after, or after what they asked for was done. It
 * can be gone altogether for a while, as a bridge that restarts; what stands behind it remembers everything.
 */
import { Agent, request as ask, createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface GatewayAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** `worked`: the fake did what it was asked for, and nobody hears so. */
export type Trouble =
  | { readonly does: 'answer'; readonly answer: GatewayAnswer; readonly worked: boolean }
  | { readonly does: 'hang'; readonly worked: boolean }
  | { readonly does: 'drop'; readonly when: 'unread' | 'read' | 'worked' };

export interface Passing {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface ChaosGateway {
  readonly url: string;
  /** What happens to each request from now on; null, and an answer of null: it is passed on. */
  trouble(choose: ((asked: Passing) => Trouble | null) | null): void;
  /** Nobody listens, and every connection ends. */
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  /** Ends what hangs. */
  release(): void;
  close(): Promise<void>;
}

type Heard = (asked: Passing, answer: GatewayAnswer) => void;

const HOST = '127.0.0.1';
/** Below the ports that connections are made from, so that nobody takes it while the gateway is gone. */
const PORTS = { from: 20_000, count: 12_000 } as const;

/** @param heard told of every answer of the fake, whether or not it is passed on */
export async function startChaosGateway(upstream: string, heard: Heard): Promise<ChaosGateway> {
  const agent = new Agent({ keepAlive: true });
  const sockets = new Set<Socket>();
  const hanging = new Set<Socket>();
  let choose: ((asked: Passing) => Trouble | null) | null = null;

  const perform = async (asked: Passing, body: Buffer, request: IncomingMessage): Promise<GatewayAnswer> => {
    const answer = await passOn({ agent, upstream, asked, body, gone: request.socket });
    heard(asked, answer);
    return answer;
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const asked = {
      method: request.method ?? 'GET',
      target: request.url ?? '/',
      headers: headersOf(request),
    };
    const trouble = choose?.(asked) ?? null;
    if (trouble?.does === 'drop' && trouble.when === 'unread') return void request.socket.destroy();
    const body = await bodyOf(request);
    if (!trouble) return send(response, await perform(asked, body, request));
    const worked = trouble.does === 'drop' ? trouble.when === 'worked' : trouble.worked;
    if (worked) await perform(asked, body, request);
    if (trouble.does === 'answer') send(response, trouble.answer);
    else if (trouble.does === 'drop') request.socket.destroy();
    else hanging.add(request.socket);
  };

  const server = createServer((request, response) => {
    serve(request, response).catch(() => request.socket.destroy());
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => {
      sockets.delete(socket);
      hanging.delete(socket);
    });
  });
  const listen = (port: number) =>
    new Promise<void>((listening, failed) => {
      server.once('error', failed);
      server.listen(port, HOST, () => {
        server.off('error', failed);
        listening();
      });
    });
  const port = await freePort(listen);

  const goAway = () =>
    new Promise<void>((closed) => {
      server.close(() => closed());
      for (const socket of sockets) socket.destroy();
    });
  return {
    url: `http://${HOST}:${port}`,
    trouble: (chosen) => {
      choose = chosen;
    },
    goAway,
    comeBack: () => listen(port),
    release: () => {
      for (const socket of hanging) socket.destroy();
    },
    async close() {
      await goAway();
      agent.destroy();
    },
  };
}

async function freePort(listen: (port: number) => Promise<void>): Promise<number> {
  for (;;) {
    const port = PORTS.from + Math.floor(Math.random() * PORTS.count);
    try {
      await listen(port);
      return port;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error;
    }
  }
}

interface PassedOn {
  readonly agent: Agent;
  readonly upstream: string;
  readonly asked: Passing;
  readonly body: Buffer;
  /** A poll ends when whoever asked is gone; everything else is done all the same. */
  readonly gone: Socket;
}

function passOn({ agent, upstream, asked, body, gone }: PassedOn): Promise<GatewayAnswer> {
  return new Promise((resolve, reject) => {
    const { method, target, headers } = asked;
    const onward = ask(`${upstream}${target}`, { agent, method, headers }, (response) => {
      bodyOf(response).then(
        (text) =>
          resolve({
            status: response.statusCode ?? 0,
            headers: headersOf(response),
            body: text.toString('utf8'),
          }),
        reject,
      );
    });
    onward.on('error', reject);
    const giveUp = () => onward.destroy();
    if (method === 'GET') gone.once('close', giveUp);
    onward.once('close', () => gone.off('close', giveUp));
    onward.end(body);
  });
}

function send(response: ServerResponse, { status, headers, body }: GatewayAnswer): void {
  const { 'transfer-encoding': _, connection: __, ...kept } = headers;
  response.writeHead(status, kept).end(body);
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
