/** A test message of a channel bot (delivery §13): a post of the channel, outside every Thread. */
import type { Clock, Micros } from '../../../runtime/clock.ts';
import type { RequestRecord } from '../../../runtime/outbound/request-log/record.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { Keyring, Opener } from '../../../runtime/secrets/keyring.ts';
import { INTERACTIVE_BUDGET, type InteractiveTokens } from '../../connection/tokens.ts';
import type { ChannelBotTarget } from '../../destination/sending/scene.ts';
import { CHANNEL_BOT_LIMIT, channelBotRoot, NO_NOTES, previewRoot } from '../../messages/index.ts';
import { GONE_CONNECTION, keepWait, UNREADABLE } from '../access.ts';
import type { TokenCallOptions } from '../calls.ts';
import { signer } from '../delivering.ts';
import {
  type AskedTrial,
  type DestinationTrial,
  shownExchange,
  type TrialResult,
  type Tried,
  trialResult,
} from '../interactive.ts';
import { NOT_CHECKED, sentKeyboard } from './channel.ts';
import { type BotClient, openBot } from './client.ts';
import { botCalls, messageIdOf } from './operations.ts';

export interface ChannelBotTrialDeps {
  readonly bot: BotClient;
  readonly opener: Opener;
  readonly keyring: Keyring;
  readonly tokens: InteractiveTokens;
  readonly clock: Pick<Clock, 'now'>;
  target(destinationId: PublicId, target: number | null): Promise<ChannelBotTarget | null>;
}

const NO_TOKEN = 'no token of the limiter within 5 s';

/** Its buttons belong to the Destination, so that a press says it was a test. */
export function createChannelBotTrial(deps: ChannelBotTrialDeps): DestinationTrial {
  return {
    async test(asked) {
      const { destination } = asked;
      const begun = deps.clock.now();
      const target = await deps.target(destination.id, null);
      const failed = (error: string, errorClass: TrialResult['errorClass'] = 'fatal') =>
        tried(deps.clock.now() - begun, null, { errorClass, error }, null);
      if (!target) return failed(GONE_CONNECTION);
      if (!target.place) return failed(NOT_CHECKED);
      const { connection, place } = target;
      const access = openBot(deps.opener, connection);
      if (!access) return failed(UNREADABLE);
      const owners = { destinationId: destination.id, connectionId: connection.id };
      if ((await deps.tokens.take(owners)) !== 'granted') return failed(NO_TOKEN, 'limited');
      let record: RequestRecord | null = null;
      const options: TokenCallOptions = {
        ...{ class: 'interactive', destinationId: destination.id },
        check: { as: 'destination_test', run: asked.run },
        observe: (made) => {
          record = made;
        },
      };
      const request = { ...testPost(deps, asked, place.channelId), timeout: INTERACTIVE_BUDGET };
      const outcome = await deps.bot.call(access, request, options);
      keepWait(deps.tokens, connection.id, outcome);
      const sent = outcome.class === 'ok' ? messageIdOf(place.channelId, outcome.value.message_id) : null;
      const message = sent === null ? null : { connectionId: connection.id, messageId: sent };
      return tried(deps.clock.now() - begun, record, trialResult(outcome), message);
    },

    async preview({ scene }) {
      const { text } = previewRoot('html', scene.group, scene.settings, CHANNEL_BOT_LIMIT);
      return [{ name: 'message', format: 'html', text, request: null }];
    },
  };
}

function testPost({ keyring }: ChannelBotTrialDeps, { destination, scene }: AskedTrial, chatId: string) {
  const sign = signer(keyring, 'test_message', destination.id);
  const call = { kind: 'test', notes: NO_NOTES, mentions: null, sign } as const;
  const message = channelBotRoot(scene.group, scene.settings, call);
  const { text } = message;
  const post = { chatId, text, isHtml: true, isQuiet: true, replyTo: null };
  return botCalls.sendMessage({ ...post, keyboard: sentKeyboard(message) });
}

function tried(
  duration: Micros,
  record: RequestRecord | null,
  result: TrialResult,
  message: Tried['message'],
): Tried {
  const step = { ...shownExchange(record), extracted: null, duration, name: 'message', ...result } as const;
  return { steps: [step], message };
}
