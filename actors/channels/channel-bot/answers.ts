/** What people are told who press a button of a post, or write to the bot (channel-bot §9, §10). */
import { type Clock, MINUTE, type Micros, SECOND } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { WaitingTokens } from '../../connection/tokens.ts';
import { privateAnswer } from '../../messages/index.ts';
import type { Said } from '../intake.ts';
import type { BotAccess, BotClient } from './client.ts';
import { botCalls } from './operations.ts';
import type { BotUpdate } from './updates.ts';

/**
 * A press whose outcome is not known by then is answered that it is not: the person sees within 2 s of its arrival that
 * it arrived.
 */
const ANSWERED_AFTER: Micros = 1.5 * SECOND;
/** The messenger takes no answer that comes later; one that is repeated within this time is not answered twice. */
const REMEMBERED_FOR: Micros = 10 * MINUTE;

type Press = Extract<BotUpdate, { type: 'press' }>;

/** Of an update that arrived: how to answer it, and whether it was. */
interface Arrival {
  readonly access: BotAccess;
  readonly at: Micros;
  isAnswered: boolean;
}

export interface BotAnswers {
  /** Updates arrived that are handled from now on: from now on their time runs. */
  arrived(id: PublicId, access: BotAccess, updates: readonly BotUpdate[]): void;
  /** An update was handled before, with its answer. */
  answeredBefore(id: PublicId, update: BotUpdate): void;
  /**
   * Says it to the person behind an update, at most once.
   * @returns false when it was not tried, because the service stops
   */
  say(id: PublicId, update: BotUpdate, said: Said): Promise<boolean>;
}

export interface BotAnswersDeps {
  readonly bot: BotClient;
  readonly tokens: Pick<WaitingTokens, 'take'>;
  readonly publicUrl: string;
  readonly clock: Clock;
  readonly log: Log;
}

export function createBotAnswers({ bot, tokens, publicUrl, clock, log }: BotAnswersDeps): BotAnswers {
  /** By Connection and update, oldest first. */
  const arrivals = new Map<string, Arrival>();
  const unknown = privateAnswer({ say: 'unknown_result' }, 'channel_bot_press', 'en', publicUrl);

  const forgetOld = (): void => {
    for (const [key, { at }] of arrivals) {
      if (clock.now() - at < REMEMBERED_FOR) break;
      arrivals.delete(key);
    }
  };

  const answerPress = async (
    id: PublicId,
    press: Press,
    text: string,
    isAlert: boolean,
  ): Promise<boolean> => {
    const arrival = arrivals.get(keyOf(id, press));
    if (!arrival || arrival.isAnswered) return true;
    arrival.isAnswered = true;
    // No token of the limiter is taken: it is no message, and must not wait behind a burst of posts.
    const call = botCalls.answerCallbackQuery(press.queryId, text, isAlert);
    const outcome = await bot.call(arrival.access, call, { class: 'interactive' });
    if (outcome.class === 'not_sent') return false;
    if (outcome.class !== 'ok') tellFailure(id, press, outcome);
    return true;
  };

  const write = async (
    id: PublicId,
    update: BotUpdate & { type: 'private' },
    text: string,
  ): Promise<boolean> => {
    const arrival = arrivals.get(keyOf(id, update));
    if (!arrival || arrival.isAnswered) return true;
    arrival.isAnswered = true;
    if ((await tokens.take(id)) !== 'granted') {
      tellFailure(id, update, { class: 'no_token' });
      return true;
    }
    const plain = { isHtml: false, isQuiet: false, replyTo: null, keyboard: null };
    const call = botCalls.sendMessage({ chatId: update.chatId, text, ...plain });
    const outcome = await bot.call(arrival.access, call, { class: 'interactive' });
    if (outcome.class === 'not_sent') return false;
    // Who blocked the bot reads nothing of it.
    const isBlocked = 'status' in outcome && outcome.status === 403;
    if (outcome.class !== 'ok' && !isBlocked) tellFailure(id, update, outcome);
    return true;
  };

  const tellFailure = (
    connection: PublicId,
    { id: eventId }: BotUpdate,
    outcome: { readonly class: string; readonly error?: string },
  ): void => {
    const { class: came, error = came } = outcome;
    log('event_not_answered', { connection, event_id: eventId, outcome: came, error });
  };

  return {
    arrived(id, access, updates) {
      forgetOld();
      for (const update of updates) {
        const key = keyOf(id, update);
        if (arrivals.has(key)) continue;
        arrivals.set(key, { access, at: clock.now(), isAnswered: false });
        if (update.type === 'press' && !update.from.isBot)
          clock.after(ANSWERED_AFTER, () => void answerPress(id, update, unknown, true));
      }
    },

    answeredBefore(id, update) {
      const arrival = arrivals.get(keyOf(id, update));
      if (arrival) arrival.isAnswered = true;
    },

    async say(id, update, { text, isDone }) {
      if (update.type === 'press') return answerPress(id, update, text, !isDone);
      return update.type === 'private' ? write(id, update, text) : true;
    },
  };
}

function keyOf(connectionId: PublicId, { id }: BotUpdate): string {
  return `${connectionId} ${id}`;
}
