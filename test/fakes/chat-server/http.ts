/** The strict Mattermost server on a port of its own: it answers over HTTP, and sends presses to their callbacks. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { plainFetch } from '../../harness/plain-fetch.ts';
import { FakeChatServer } from './server.ts';

export interface RunningChatServer {
  readonly server: FakeChatServer;
  readonly url: string;
  readonly token: string;
  /** Stores the next posts that contain the text and never answers them, as a connection that is lost does. */
  loseAnswers(count: number, text?: string): void;
  /** How many of those are still to come. */
  leftToLose(): number;
  close(): Promise<void>;
}

/** @param port of 127.0.0.1; 0: any that is free */
export async function startChatServer(port = 0): Promise<RunningChatServer> {
  const token = 'chat-server-bot-token';
  const server = new FakeChatServer({
    now: () => Date.now(),
    token,
    async callBack(url, body) {
      const headers = { 'content-type': 'application/json', accept: 'application/json' };
      const answer = await plainFetch(url, { method: 'POST', headers, body });
      return { status: answer.status, body: await answer.text() };
    },
  });
  let lost = 0;
  let wanted = '';
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
      const isPost = method === 'POST' && target.startsWith('/api/v4/posts');
      if (lost > 0 && isPost && body.includes(wanted)) {
        lost--;
        request.socket.destroy();
        return;
      }
      response.writeHead(answer.status, answer.headers).end(answer.body);
    });
  });
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject);
    listener.listen(port, '127.0.0.1', resolve);
  });
  const { port: bound } = listener.address() as AddressInfo;
  return {
    ...{ server, token, url: `http://127.0.0.1:${bound}` },
    loseAnswers(count, text = '') {
      lost = count;
      wanted = text;
    },
    leftToLose: () => lost,
    async close() {
      listener.closeAllConnections();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}
