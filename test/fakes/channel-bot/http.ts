/** The strict Bot API server on a port of its own: it answers over HTTP, holds polls, and posts updates to a webhook. */
import { setTimeout as sleep } from 'node:timers/promises';
import { plainFetch } from '../../harness/plain-fetch.ts';
import { startListener } from '../listener.ts';
import { FakeBotApi } from './server.ts';

export interface RunningBotApi {
  readonly server: FakeBotApi;
  readonly url: string;
  readonly token: string;
  /** Performs the next calls of a method that contain the text and never answers them, as a lost connection does. */
  loseAnswers(count: number, method: string, text?: string): void;
  /** How many of those are still to come. */
  leftToLose(): number;
  /** Lets time go by for its limits. */
  pass(ms: number): void;
  close(): Promise<void>;
}

/** How soon a refused update is posted again: the server waits longer. */
const REPEAT_MS = 500;
/** How soon a post has its copy in the group: it takes the server 1 to 5 s. */
const COPY_AFTER_MS = 100;

/** @param port of 127.0.0.1; 0: any that is free */
export async function startBotApi(port = 0): Promise<RunningBotApi> {
  const token = '123456:hunter2-very-secret-bot-token';
  let passed = 0;
  const closing = new AbortController();
  const { signal } = closing;
  const server = new FakeBotApi({
    ...{ now: () => Date.now() + passed, token },
    sleep: (ms) => sleep(ms, undefined, { signal, ref: false }).catch(() => undefined),
    async post(url, body, headers) {
      const answer = await plainFetch(url, { method: 'POST', headers, body });
      return { status: answer.status, body: await answer.text() };
    },
  });
  Object.assign(server.settings, { isLocal: true, copiesAtOnce: false });
  const repeating = setInterval(() => void server.updates.deliver(), REPEAT_MS).unref();
  const listener = await startListener(async (request) => {
    const answer = await server.answer(request);
    setTimeout(() => server.forward(), COPY_AFTER_MS).unref();
    return answer;
  }, port);
  return {
    ...{ server, token, url: listener.url, leftToLose: listener.leftToLose },
    loseAnswers(count, method, text = '') {
      listener.lose(count, ({ target, body }) => target.endsWith(`/${method}`) && body.includes(text));
    },
    pass(ms) {
      passed += ms;
    },
    async close() {
      clearInterval(repeating);
      closing.abort();
      await listener.close();
    },
  };
}
