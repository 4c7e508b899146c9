/** The strict Bot API server on a port of its own: it answers over HTTP, holds polls, and posts updates to a webhook. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { plainFetch } from '../../harness/plain-fetch.ts';
import { FakeBotApi } from './server.ts';

export interface RunningBotApi {
  readonly server: FakeBotApi;
  readonly url: string;
  readonly token: string;
  /** Performs the next calls of a method that contain the text and never answers them, as a lost connection does. */
  loseAnswers(count: number, method: string, text?: string): void;
  /** How many of those are still to come. */
  leftToLose(): number;
  close(): Promise<void>;
}

/** How soon a refused update is posted again: the server waits longer. */
const REPEAT_MS = 500;
/** How soon a post has its copy in the group: it takes the server 1 to 5 s. */
const COPY_AFTER_MS = 100;

export async function startBotApi(): Promise<RunningBotApi> {
  const token = '123456:hunter2-very-secret-bot-token';
  const closing = new AbortController();
  const { signal } = closing;
  const server = new FakeBotApi({
    ...{ now: () => Date.now(), token },
    sleep: (ms) => sleep(ms, undefined, { signal, ref: false }).catch(() => undefined),
    async post(url, body, headers) {
      const answer = await plainFetch(url, { method: 'POST', headers, body });
      return { status: answer.status, body: await answer.text() };
    },
  });
  Object.assign(server.settings, { isLocal: true, copiesAtOnce: false });
  const repeating = setInterval(() => void server.updates.deliver(), REPEAT_MS).unref();
  let lost = { count: 0, method: '', text: '' };
  const listener = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', async () => {
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      );
      const { method = 'GET', url: target = '/' } = request;
      const body = Buffer.concat(parts).toString();
      const answer = await server.answer({ method, target, headers, body });
      setTimeout(() => server.forward(), COPY_AFTER_MS).unref();
      if (lost.count > 0 && target.endsWith(`/${lost.method}`) && body.includes(lost.text)) {
        lost = { ...lost, count: lost.count - 1 };
        request.socket.destroy();
        return;
      }
      if (!response.destroyed) response.writeHead(answer.status, answer.headers).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as AddressInfo;
  return {
    ...{ server, token, url: `http://127.0.0.1:${port}` },
    loseAnswers(count, method, text = '') {
      lost = { count, method, text };
    },
    leftToLose: () => lost.count,
    async close() {
      clearInterval(repeating);
      closing.abort();
      listener.closeAllConnections();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}
