/** Tries a bot before and after its Connection is saved, and the channel of a Destination (channel-bot §3). */
import { type Clock, HOUR, type Micros, SECOND } from '../../../runtime/clock.ts';
import type { ChannelBotInfo } from '../../connection/ports.ts';
import type { InteractiveTokens } from '../../connection/tokens.ts';
import { cutPoints, oneLine } from '../../messages/neutral.ts';
import {
  askedWithToken,
  GONE_CONNECTION,
  openProxyPassword,
  passedSteps,
  placeFailed,
  UNREADABLE,
} from '../access.ts';
import { type ConnectionCheck, checkInSteps, NO_TOKEN, unreachable } from '../connection-check.ts';
import type { Interactive } from '../interactive.ts';
import { type BotOutcome, NO_BOT_API } from './answer.ts';
import { type BotUse, openBot } from './client.ts';
import { type BotWebhookInfo, botCalls } from './operations.ts';
import { checkPlace, PLACE_STEPS } from './place.ts';

export interface BotConnectionCheckDeps extends BotUse {
  readonly clock: Pick<Clock, 'now'>;
}

/** An error of the way back is of interest so long. */
const RECENT: Micros = HOUR;
const LONGEST_ERROR = 200;

/** Tries the address without the token, which never reaches another server, then the token, then the way back. */
export function createBotConnectionCheck(deps: BotConnectionCheckDeps): ConnectionCheck {
  const { bot, opener, clock } = deps;
  return {
    async saved(id) {
      const settings = await deps.settings(id);
      if (!settings) return null;
      const { access, baseUrl: address, updateMode, proxy } = settings;
      const proxyPassword = openProxyPassword(opener, settings);
      const mode = updateMode === 'webhook' ? 'push' : 'poll';
      return { ...{ id, access, address, mode, proxy, proxyPassword }, opened: openBot(opener, settings) };
    },

    async run({ address: baseUrl, access, run, take }) {
      const on = { ...access, baseUrl };
      const options = { class: 'interactive', check: { as: 'connection_check', run } } as const;
      const host = new URL(baseUrl).hostname;
      const skip = access.token === null ? NO_TOKEN : null;
      let info: ChannelBotInfo | null = null;
      let webhook: BotWebhookInfo | null = null;
      const checked = await checkInSteps({ take, clock }, [
        {
          ...{ name: 'dry_probe', skip: null },
          make: async () =>
            dryFailure(await bot.call({ ...on, token: null }, botCalls.getMe(), options), host),
        },
        {
          ...{ name: 'get_me', skip },
          async make() {
            const me = await bot.call(on, botCalls.getMe(), options);
            if (me.class !== 'ok') return failure(me, host);
            info = { bot_id: String(me.value.id), bot_username: me.value.username };
            return null;
          },
        },
        {
          ...{ name: 'get_webhook_info', skip },
          async make() {
            const read = await bot.call(on, botCalls.getWebhookInfo(), options);
            if (read.class !== 'ok') return failure(read, host);
            webhook = read.value;
            return null;
          },
        },
      ]);
      if (!('steps' in checked)) return checked;
      const learned = info && ({ ok: true, info, wrong: null, tokenless: null } as const);
      const steps = withLastError(checked.steps, webhook, clock.now());
      return { ...checked, steps, info, wrong: null, tokenless: false, learned, updates: updatesOf(webhook) };
    },
  };
}

function updatesOf(webhook: BotWebhookInfo | null) {
  return webhook && { webhookSet: webhook.url !== '', pending: webhook.pending_update_count };
}

/** What the messenger said of its last attempt to deliver an update, beside a step that passed. */
function withLastError<Step extends { readonly name: string; readonly ok: boolean }>(
  steps: readonly Step[],
  webhook: BotWebhookInfo | null,
  now: Micros,
): readonly Step[] {
  if (!webhook || webhook.url === '' || now - webhook.last_error_date * SECOND > RECENT) return steps;
  const message = cutPoints(oneLine(webhook.last_error_message), LONGEST_ERROR);
  return steps.map((step) => (step.name === 'get_webhook_info' && step.ok ? { ...step, message } : step));
}

/** No bot has this token: a Bot API server refuses it as one, and nothing else does so. */
function dryFailure(outcome: BotOutcome<unknown>, host: string): string | null {
  const isRefused = outcome.class === 'fatal' && outcome.code === 'http_status' && outcome.status === 401;
  if (isRefused) return null;
  return outcome.class === 'ok' ? NO_BOT_API : failure(outcome, host);
}

/** What is wrong, for people who check a bot; masked. */
function failure(outcome: Exclude<BotOutcome<unknown>, { readonly class: 'ok' }>, host: string): string {
  if (outcome.class === 'not_sent') return 'the service is stopping';
  const { code, error, status } = outcome;
  if (code === 'response_invalid')
    return status === 404 ? 'nothing here: check the path prefix (404)' : NO_BOT_API;
  return unreachable(outcome, host) ?? error;
}

export interface BotPlaceCheckDeps extends BotUse {
  readonly tokens: InteractiveTokens;
}

/** Whether the bot can post to a channel and to its group: the Destination check of the type. It posts nothing. */
export function createChannelBotCheck(deps: BotPlaceCheckDeps): NonNullable<Interactive['check']> {
  return async ({ destinationId, fields, found: saved }, run) => {
    if (fields.type !== 'channel_bot')
      throw new Error(`a Destination of type ${fields.type} is no channel of a channel bot`);
    const settings = await deps.settings(fields.connection_id);
    if (!settings) return placeFailed(PLACE_STEPS, 'token', GONE_CONNECTION);
    const access = openBot(deps.opener, settings);
    if (!access) return placeFailed(PLACE_STEPS, 'token', UNREADABLE);
    const check = { as: 'destination_check', run } as const;
    // It posts nothing, so no token of the Destination is taken.
    const owners = { destinationId: null, connectionId: settings.id };
    const checked = await checkPlace(fields.channel_id, saved?.channel ?? null, (request) =>
      askedWithToken(deps.tokens, owners, () =>
        deps.bot.call(access, request, { class: 'interactive', destinationId, check }),
      ),
    );
    if (checked.is === 'busy') return checked.wait;
    if (checked.is === 'failed') return placeFailed(PLACE_STEPS, checked.step, checked.message);
    const { channelName, ...channel } = checked.found;
    const checks = passedSteps(PLACE_STEPS);
    return { ok: true, checks, found: { channelName, teamName: null, teamPath: null, channel } };
  };
}
