/** The strict Mattermost server on a port of its own: it answers over HTTP, and sends presses to their callbacks. */
import { plainFetch } from '../../harness/plain-fetch.ts';
import { startListener } from '../listener.ts';
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
  const listener = await startListener((request) => server.answer(request), port);
  return {
    ...{ server, token, url: listener.url, leftToLose: listener.leftToLose, close: listener.close },
    loseAnswers(count, text = '') {
      listener.lose(
        count,
        ({ method, target, body }) =>
          method === 'POST' && target.startsWith('/api/v4/posts') && body.includes(text),
      );
    },
  };
}
