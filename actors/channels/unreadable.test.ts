import { expect, test } from 'vitest';
import type { OutboundResult } from '../../runtime/outbound/client.ts';
import { judgeResult, type Verdict } from '../../runtime/outbound/verdict.ts';
import { createBotClient } from './channel-bot/client.ts';
import { botCalls } from './channel-bot/operations.ts';
import { createChatClient } from './chat-server/client.ts';
import { chatCalls } from './chat-server/operations.ts';

const HTTP = 'https://messenger.example';
const access = { connectionId: null, owner: 'CN1', token: 't', proxy: null, credentials: '1' };

/** What is recorded of a call that is answered so, and what comes of it. */
async function called(by: 'chat server' | 'channel bot', result: OutboundResult) {
  let recorded: Verdict | null = null;
  const caller = {
    async call({ mapping, request }: { mapping: Parameters<typeof judgeResult>[1]; request: { url: URL } }) {
      const verdict = judgeResult(result, mapping, { url: request.url, now: 0, mask: (said) => said });
      recorded = verdict;
      return { result, verdict };
    },
  };
  const options = { class: 'messages' } as const;
  const outcome =
    by === 'chat server'
      ? await createChatClient(caller as never).call(
          { ...access, serverUrl: HTTP },
          chatCalls.getMe(),
          options as never,
        )
      : await createBotClient(caller as never).call(
          { ...access, baseUrl: HTTP } as never,
          botCalls.getMe(),
          options as never,
        );
  return { recorded, outcome };
}

const TOO_LARGE: OutboundResult = {
  kind: 'answer',
  status: 201,
  headers: {},
  body: Buffer.from('{'),
  tooLarge: true,
};
const NO_HTTP: OutboundResult = { kind: 'failed', code: 'response_invalid', error: 'the answer is not HTTP' };

test.each([
  ['chat server', 'response_too_large', TOO_LARGE],
  ['channel bot', 'response_too_large', TOO_LARGE],
  ['chat server', 'response_invalid', NO_HTTP],
  ['channel bot', 'response_invalid', NO_HTTP],
] as const)(
  'what a %s answered and cannot be read says nothing about the message: %s',
  async (by, code, result) => {
    const { recorded, outcome } = await called(by, result);
    expect(recorded).toMatchObject({ class: 'transient', code });
    expect(outcome).toMatchObject({ class: 'transient', code });
  },
);
