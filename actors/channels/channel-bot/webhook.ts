/**
 * The webhook of a bot, and the change between polls and webhook (channel-bot §1.1). No update is lost: the messenger
 * keeps what it could not deliver, and nothing asks it to drop that.
 */
import { type Clock, type Micros, SECOND } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { newToken } from '../../account-links/link.ts';
import { failed } from '../access.ts';
import type { BotOutcome } from './answer.ts';
import type { BotAccess, BotClient } from './client.ts';
import { type BotRequest, botCalls } from './operations.ts';

/** For both attempts together. */
const CHANGED_WITHIN: Micros = 5 * SECOND;

export interface BotWebhooksDeps {
  readonly bot: BotClient;
  /** Where the messenger posts, without a trailing slash. */
  readonly ingestUrl: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: (size: number) => Uint8Array;
}

/** A Connection as its bot is reached. */
export interface BotPlace {
  readonly access: BotAccess;
  readonly mode: 'long_polling' | 'webhook';
  /** Set at the messenger, as far as is known; null: none. */
  readonly secret: string | null;
}

export type WebhookChange =
  /** To be stored with the save. `url` null: no webhook is set. */
  | { readonly ok: true; readonly url: string | null; readonly secret: string | null }
  /** Nothing may be stored. `isLost`: the webhook that was in use may be set no more. */
  | { readonly ok: false; readonly error: string; readonly isLost: boolean };

export interface BotWebhooks {
  /**
   * Brings the messenger to what a save wants, before it is stored.
   * @param before null: a new Connection
   * @param after its `secret` is of no effect
   */
  change(id: PublicId, before: BotPlace | null, after: BotPlace): Promise<WebhookChange>;
  /** After a Connection was deleted. A failure is logged. */
  forget(place: BotPlace): Promise<void>;
}

/** The address that a messenger posts the updates of a Connection to. */
export function callbackOf(ingestUrl: string, id: PublicId): string {
  return `${ingestUrl}/api/v1/callbacks/channel-bot/${id}`;
}

export function createBotWebhooks({ bot, ingestUrl, clock, log, random }: BotWebhooksDeps): BotWebhooks {
  /** Once more after the time that the messenger asks for: a second change within a second is refused so. */
  const call = async (access: BotAccess, request: BotRequest<true>): Promise<BotOutcome<true>> => {
    const deadline = clock.now() + CHANGED_WITHIN;
    const once = (attempt: number) => {
      const timeout = Math.max(1, deadline - clock.now());
      return bot.call(access, { ...request, timeout }, { class: 'interactive', attempt });
    };
    const outcome = await once(1);
    if (outcome.class !== 'retry_after' || outcome.until >= deadline) return outcome;
    await new Promise<void>((resolve) => clock.after(outcome.until - clock.now(), resolve));
    return once(2);
  };

  const set = (id: PublicId, access: BotAccess, secret: string): Promise<BotOutcome<true>> => {
    const hidden = { ...access, otherSecrets: [...(access.otherSecrets ?? []), secret] };
    return call(hidden, botCalls.setWebhook(callbackOf(ingestUrl, id), secret));
  };

  const remove = (access: BotAccess): Promise<BotOutcome<true>> => call(access, botCalls.deleteWebhook());

  /** A bot that is replaced may be gone. */
  const leave = async ({ access }: BotPlace): Promise<void> => {
    const outcome = await remove(access);
    if (outcome.class !== 'ok')
      log('webhook_not_removed', { connection: access.connectionId, error: failed(outcome).error });
  };

  return {
    async change(id, before, after) {
      const isSameBot = (['token', 'baseUrl'] as const).every(
        (by) => before?.access[by] === after.access[by],
      );
      if (after.mode === 'webhook') {
        const secret = newToken(random);
        const outcome = await set(id, after.access, secret);
        if (outcome.class === 'ok') {
          if (before?.mode === 'webhook' && !isSameBot) await leave(before);
          return { ok: true, url: callbackOf(ingestUrl, id), secret };
        }
        // By then the messenger has removed the webhook that was set before.
        const isLost =
          before?.mode === 'webhook' &&
          isSameBot &&
          (before.secret === null || (await set(id, before.access, before.secret)).class !== 'ok');
        return { ok: false, error: failed(outcome).error, isLost };
      }
      if (before?.mode !== 'webhook') return { ok: true, url: null, secret: null };
      const outcome = await remove(before.access);
      // Without an answer nobody knows whether it is removed.
      if (outcome.class !== 'ok' && isSameBot)
        return { ok: false, error: failed(outcome).error, isLost: outcome.class === 'transient' };
      if (outcome.class !== 'ok')
        log('webhook_not_removed', { connection: id, error: failed(outcome).error });
      return { ok: true, url: null, secret: null };
    },

    async forget(place) {
      if (place.mode === 'webhook') await leave(place);
    },
  };
}
