/** Where the checker takes pushed events: answers 204 unless a check wants to see what another answer leads to. */
import { createServer } from 'node:http';
import type { Micros } from '../../clock.ts';
import { isObject } from './client.ts';

export interface Arrival {
  readonly at: Micros;
  readonly method: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly raw: string;
  /** The body as an object; null when it is none. */
  readonly event: Readonly<Record<string, unknown>> | null;
}

export interface ScriptedAnswer {
  readonly status: number;
  /** How late the answer comes; 0 when missing. */
  readonly afterSeconds?: number;
}

export interface PushInbox {
  /** Takes a request and says with what status to answer it. */
  take(request: Pick<Arrival, 'method' | 'headers' | 'raw'>): Promise<number>;
  /** Answers for the arrivals whose Account link token is this; after them they get 204. */
  script(token: string, answers: readonly ScriptedAnswer[]): void;
  /** Everything, oldest first. */
  readonly arrivals: readonly Arrival[];
  /** Resolves with the next arrival, or after so many seconds. */
  next(seconds: number): Promise<void>;
}

export function createInbox(parts: {
  now(): Micros;
  after(seconds: number, run: () => void): { cancel(): void };
}): PushInbox {
  const arrivals: Arrival[] = [];
  const scripts = new Map<string, ScriptedAnswer[]>();
  const waiting = new Set<() => void>();
  const pause = (seconds: number) => new Promise<void>((resolve) => void parts.after(seconds, resolve));
  return {
    arrivals,
    script: (token, answers) => void scripts.set(token, [...answers]),
    async take(request) {
      const event = objectIn(request.raw);
      arrivals.push({ ...request, at: parts.now(), event });
      for (const wake of [...waiting]) wake();
      const { status = 204, afterSeconds = 0 } = scripts.get(String(event?.token))?.shift() ?? {};
      if (afterSeconds > 0) await pause(afterSeconds);
      return status;
    },
    next: (seconds) =>
      new Promise((resolve) => {
        const wake = (): void => {
          timer.cancel();
          waiting.delete(wake);
          resolve();
        };
        const timer = parts.after(seconds, wake);
        waiting.add(wake);
      }),
  };
}

function objectIn(raw: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(raw);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** The HTTP listener in front of the inbox (`--push-listen`). */
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
