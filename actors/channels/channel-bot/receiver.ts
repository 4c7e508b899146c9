/**
 * How updates of a bot arrive: by long polling, or posted by the messenger to the callback address (channel-bot §4).
 * Either way each is taken to its end before it is acknowledged.
 */
import { DAY, HOUR, type Micros, SECOND } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import { parseStorable } from '../../../runtime/outbound/answer-json.ts';
import type { ErrorCode } from '../../../runtime/outbound/verdict.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { equalSecrets, type Opener, openSecret } from '../../../runtime/secrets/keyring.ts';
import { LONG_PAUSE } from '../../connection/machine.ts';
import type { PollOutcome } from '../../connection/messages.ts';
import type { ChannelBotInfo, ChannelBotSettings } from '../../connection/ports.ts';
import type { Push, Receiver } from '../channel.ts';
import { createPushes, type JudgedPush, type PushDeps } from '../inbound.ts';
import type { EventIntake } from '../intake.ts';
import type { PollerDeps } from '../polling.ts';
import type { BotFailed } from './answer.ts';
import type { BotAnswers } from './answers.ts';
import { type BotAccess, type BotUse, openBot } from './client.ts';
import { botCalls } from './operations.ts';
import { type BotUpdate, readUpdate, updateNumber } from './updates.ts';
import { callbackOf } from './webhook.ts';

/** Updates of one batch, at most. */
const BATCH = 100;
/** After a week without updates the messenger goes on with a random number, which may be lower (channel-bot §4.3). */
const OFFSET_HOLDS: Micros = 6 * DAY;
/** `telegram.press_max_age`: a downtime for longer makes the presses old that come right after it. */
const DOWNTIME_FROM: Micros = HOUR;
const OLD_AFTER_DOWNTIME: Micros = 120 * SECOND;
/** What an unknown Connection is compared with, so that it costs the same. */
const NO_SECRET = 'x'.repeat(43);

export interface BotReceiverDeps extends BotUse, PushDeps<ChannelBotSettings> {
  readonly intake: EventIntake<BotUpdate>;
  readonly answers: Pick<BotAnswers, 'arrived'>;
  /** Where the messenger posts, without a trailing slash. */
  readonly ingestUrl: string;
  /** Polls find, or find no more, a webhook of somebody else. */
  webhookBlocks(id: PublicId, access: number, blocks: boolean): Promise<void>;
  /** Stores which bot it is with the Connection, unless its address or token changed meanwhile. */
  learned(id: PublicId, access: number, info: ChannelBotInfo, askedAt: Micros): void;
  /** The last recorded downtime of the service; null: none. */
  lastDowntime(): Promise<{ readonly startedAt: Micros; readonly endedAt: Micros } | null>;
}

/** What polling a bot means to {@link PollerDeps}. */
export function botPoll(
  deps: BotReceiverDeps,
): Pick<PollerDeps<BotUpdate>, 'fetch' | 'readEvent' | 'arrived'> {
  const { bot, clock, log } = deps;
  /** Of the poll under way or its batch, by Connection. */
  const accesses = new Map<PublicId, BotAccess>();
  /** Connections whose last poll met their own webhook. */
  const metOwn = new Set<PublicId>();

  /**
   * The webhook that is in the way: another one belongs to others; ours is left from a save that failed half-way, unless
   * a save that sets it is about to be stored. That one is stored before the next poll, which is 5 s later.
   */
  const blocked = async (settings: ChannelBotSettings, access: BotAccess): Promise<PollOutcome> => {
    const found = await bot.call(access, botCalls.getWebhookInfo(), { class: 'background' });
    const url = found.class === 'ok' ? found.value.url : '';
    if (url === callbackOf(deps.ingestUrl, settings.id)) {
      const isLeft = metOwn.delete(settings.id);
      if (isLeft) await bot.call(access, botCalls.deleteWebhook(), { class: 'background' });
      else metOwn.add(settings.id);
    } else if (url !== '' && !settings.webhookBlocks)
      await deps.webhookBlocks(settings.id, settings.access, true);
    return { is: 'conflict' };
  };

  return {
    async fetch(effect, stillMine) {
      const settings = await deps.settings(effect.connectionId);
      if (!settings || settings.access !== effect.access || settings.updateMode !== 'long_polling')
        return { is: 'lost' };
      const access = openBot(deps.opener, settings);
      if (!access) return { is: 'failed', error: 'secret_unreadable', retryAt: clock.now() + LONG_PAUSE };
      if (!(await stillMine())) return null;
      const asked = botCalls.getUpdates(offsetOf(effect.cursor, clock.now()));
      const outcome = await bot.call(access, asked, { class: 'background' });
      if (outcome.class === 'not_sent') return null;
      if (!settings.info && (outcome.class === 'ok' || outcome.status === 409)) void learnBot(deps, settings);
      if (outcome.class !== 'ok') {
        if (outcome.status !== 409) return failed(outcome, clock.now());
        return /webhook is active/i.test(outcome.error) ? blocked(settings, access) : { is: 'conflict' };
      }
      if (settings.webhookBlocks) await deps.webhookBlocks(settings.id, settings.access, false);
      metOwn.delete(settings.id);
      accesses.set(settings.id, access);
      const sent = outcome.value;
      const cursor = cursorBehind(sent, clock.now(), effect.cursor);
      return { is: 'page', sent, cursor, isFull: sent.length >= BATCH };
    },

    readEvent: (value, now, { gap }) => readUpdate(value, now, gap),

    arrived(id, updates, { gap }) {
      const access = accesses.get(id);
      if (access) deps.answers.arrived(id, access, updates);
      if (gap !== null && updates.some(({ type }) => type === 'press')) dropped(log, id, gap);
    },
  };
}

/** Of a Connection that nobody has checked: without it two of one bot, which take each other's updates, go unseen. */
export async function learnBot(
  deps: Pick<BotReceiverDeps, 'bot' | 'opener' | 'learned' | 'clock'>,
  settings: ChannelBotSettings,
): Promise<void> {
  const access = openBot(deps.opener, settings);
  const askedAt = deps.clock.now();
  const me = access && (await deps.bot.call(access, botCalls.getMe(), { class: 'background' }));
  if (me?.class !== 'ok') return;
  const info = { bot_id: String(me.value.id), bot_username: me.value.username };
  deps.learned(settings.id, settings.access, info, askedAt);
}

function dropped(log: Log, connection: PublicId, gap: Micros): void {
  log('update_dropped', { connection, reason: 'press_too_old', gap_seconds: Math.round(gap / SECOND) });
}

/** Of a cursor: `<offset>@<when its batch came>`. Null: from the oldest update that waits. */
function offsetOf(cursor: string | null, now: Micros): number | null {
  const [offset, at] = (cursor ?? '').split('@').map(Number);
  return offset && at !== undefined && now - at < OFFSET_HOLDS ? offset : null;
}

/** Behind the highest number; as it was where the batch has none, or came before. */
function cursorBehind(sent: readonly unknown[], now: Micros, before: string | null): string {
  const highest = sent.reduce<number>((most, value) => Math.max(most, updateNumber(value) ?? 0), 0);
  const isNew = highest > 0 && !before?.startsWith(`${highest + 1}@`);
  return isNew ? `${highest + 1}@${now}` : (before ?? '');
}

/** Statuses that a Bot API server gives for as long as the token or the address is not another one. */
const LASTING = [401, 403, 404, 421];

/** A redirect may be over in a moment: whoever answers in the messenger's place gives it, not the messenger. */
function failed({ status, error, ...outcome }: BotFailed, now: Micros): PollOutcome {
  if (outcome.class === 'retry_after') return { is: 'failed', error, retryAt: outcome.until };
  return { is: 'failed', error, retryAt: LASTING.includes(status ?? 0) ? now + LONG_PAUSE : null };
}

const HANDLED = { status: 200, body: '{}' } as const;

/** Takes updates that the messenger posts in webhook mode (channel-bot §4.2). */
export function createBotReceiver(deps: BotReceiverDeps): Pick<Receiver, 'push'> {
  const { clock, log } = deps;

  /** For how long nothing could be received before, if that was so long that presses from it are old. */
  const gapBefore = async (now: Micros): Promise<Micros | null> => {
    const downtime = await deps.lastDowntime();
    if (!downtime || now - downtime.endedAt > OLD_AFTER_DOWNTIME) return null;
    const gap = downtime.endedAt - downtime.startedAt;
    return gap > DOWNTIME_FROM ? gap + (now - downtime.endedAt) : null;
  };

  const handle = async (settings: ChannelBotSettings, value: unknown): Promise<JudgedPush> => {
    const { id } = settings;
    const access = openBot(deps.opener, settings);
    const gap = await gapBefore(clock.now());
    const update = readUpdate(value, clock.now(), gap);
    if (!update) return { answer: { status: 400 }, code: 'body_invalid' };
    if (!access) return { answer: { status: 500 }, code: 'handler_failed' };
    deps.answers.arrived(id, access, [update]);
    if (gap !== null && update.type === 'press') dropped(log, id, gap);
    const isHandled = await deps.intake.handle(id, update);
    return isHandled ? { answer: HANDLED, code: null } : { answer: { status: 500 }, code: 'handler_failed' };
  };

  const judge = async (settings: ChannelBotSettings | null, push: Push): Promise<JudgedPush> => {
    const isTaken = settings?.updateMode === 'webhook';
    const secret = settings && isTaken ? secretOf(deps.opener, settings) : null;
    const given = push.headers.find(([name]) => name === 'x-telegram-bot-api-secret-token')?.[1] ?? '';
    const isRight = equalSecrets(given, secret ?? NO_SECRET);
    if (settings && !isTaken) return { answer: { status: 401 }, code: 'mode_mismatch' };
    if (!settings || secret === null || !isRight)
      return { answer: { status: 401 }, code: 'signature_invalid' };
    try {
      return await handle(settings, parseStorable(push.body));
    } catch (error) {
      log('store_read_failed', { what: `Connection ${settings.id}`, error: String(error) });
      return { answer: { status: 500 }, code: 'handler_failed' };
    }
  };

  return createPushes(deps, {
    ...{ operation: 'webhookUpdate', errors: ERRORS, judge },
    url: (id) => callbackOf(deps.ingestUrl, id),
    secrets(settings) {
      const access = openBot(deps.opener, settings);
      return [secretOf(deps.opener, settings), access?.token, access?.proxy?.password];
    },
  });
}

const ERRORS: Partial<Record<ErrorCode, string>> = {
  signature_invalid: 'the secret token of the webhook is missing or wrong',
  mode_mismatch: 'the Connection is in long polling mode',
  body_invalid: 'the body is no update',
  handler_failed: 'handling the update failed',
};

function secretOf(opener: Opener, { id, webhookSecret }: ChannelBotSettings): string | null {
  return webhookSecret && openSecret(opener, 'connection.webhook_secret_token', id, webhookSecret);
}
