/** Calls the Bot API with the bot's token, which is a part of every path (channel-bot §2). */
import type { OutboundCaller } from '../../../runtime/outbound/caller.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { Opener } from '../../../runtime/secrets/keyring.ts';
import type { ChannelBotSettings } from '../../connection/ports.ts';
import { openAccess } from '../access.ts';
import { callWithToken, type TokenAccess, type TokenCallOptions } from '../calls.ts';
import { answerOutcome, type BotOutcome, unansweredOutcome, verdictOf } from './answer.ts';
import type { BotRequest } from './operations.ts';

/** The largest answer is a batch of updates, which the messenger cuts at about 4 MiB. */
const ANSWER_LIMIT = 16 * 1024 * 1024;
/** Of the dry probe: no bot has it, and every Bot API server says so. */
const NO_TOKEN = '0:x';

/** Where the Bot API is, the way there, and the token; without one only the dry probe can be made. */
export interface BotAccess extends TokenAccess {
  /** Without a trailing slash; a path prefix is kept. */
  readonly baseUrl: string;
}

export interface BotClient {
  /** Makes one call. Never throws, follows no redirect, repeats nothing. */
  call<Value>(
    access: BotAccess,
    request: BotRequest<Value>,
    options: TokenCallOptions,
  ): Promise<BotOutcome<Value>>;
}

/** What makes calls for Connections of the type. */
export interface BotUse {
  readonly bot: BotClient;
  readonly opener: Opener;
  settings(id: PublicId): Promise<ChannelBotSettings | null>;
}

export function createBotClient(caller: OutboundCaller): BotClient {
  return {
    async call<Value>(access: BotAccess, request: BotRequest<Value>, options: TokenCallOptions) {
      const { operation, method, body, timeout } = request;
      const { outcome, verdict, status } = await callWithToken<BotOutcome<Value>>(
        caller,
        access,
        {
          ...{ operation, method, body, timeout, answerLimit: ANSWER_LIMIT, unreadable: 'transient' },
          url: new URL(`${access.baseUrl}/bot${access.token ?? NO_TOKEN}/${operation}`),
          headers: body === null ? [JSON_WANTED] : [JSON_WANTED, ['Content-Type', 'application/json']],
        },
        options,
        (answer, context) => {
          const judged = answerOutcome(answer, context, request);
          const isEmptyPoll = judged.class === 'ok' && request.isEmpty?.(judged.value);
          return { outcome: judged, verdict: isEmptyPoll ? { class: 'ok', isEmptyPoll } : verdictOf(judged) };
        },
      );
      return outcome ?? unansweredOutcome(verdict, status);
    },
  };
}

const JSON_WANTED = ['Accept', 'application/json'] as const;

/** Null when one of the secrets cannot be opened. */
export function openBot(opener: Opener, settings: ChannelBotSettings): BotAccess | null {
  const opened = openAccess(opener, settings);
  return opened && { ...opened, baseUrl: settings.baseUrl };
}
