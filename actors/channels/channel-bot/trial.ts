/** A test message of a channel bot (delivery §13): a post of the channel, outside every Thread. */
import type { PublicId } from '../../../runtime/public-id.ts';
import type { Keyring, Opener } from '../../../runtime/secrets/keyring.ts';
import type { InteractiveTokens } from '../../connection/tokens.ts';
import type { ChannelBotTarget } from '../../destination/sending/scene.ts';
import { CHANNEL_BOT_LIMIT, channelBotRoot, NO_NOTES, previewRoot } from '../../messages/index.ts';
import { beginStep, GONE_CONNECTION, keepWait, type TrialStepDeps, UNREADABLE } from '../access.ts';
import { signer } from '../delivering.ts';
import { type AskedTrial, type DestinationTrial, trialResult } from '../interactive.ts';
import { NOT_CHECKED, sentKeyboard } from './channel.ts';
import { type BotClient, openBot } from './client.ts';
import { botCalls, messageIdOf } from './operations.ts';

export interface ChannelBotTrialDeps extends TrialStepDeps {
  readonly tokens: InteractiveTokens;
  readonly bot: BotClient;
  readonly opener: Opener;
  readonly keyring: Keyring;
  target(destinationId: PublicId, target: number | null): Promise<ChannelBotTarget | null>;
}

/** Its buttons belong to the Destination, so that a press says it was a test. */
export function createChannelBotTrial(deps: ChannelBotTrialDeps): DestinationTrial {
  return {
    async test(asked) {
      const step = beginStep(deps, asked);
      const target = await deps.target(asked.destination.id, null);
      if (!target) return step.failed('fatal', GONE_CONNECTION);
      if (!target.place) return step.failed('fatal', NOT_CHECKED);
      const { connection, place } = target;
      const access = openBot(deps.opener, connection);
      if (!access) return step.failed('fatal', UNREADABLE);
      const outcome = await step.call(connection.id, (options, timeout) =>
        deps.bot.call(access, { ...testPost(deps, asked, place.channelId), timeout }, options),
      );
      keepWait(deps.tokens, connection.id, outcome);
      const steps = [step.ended(trialResult(outcome))];
      if (outcome.class !== 'ok') return { steps, message: null };
      const messageId = messageIdOf(place.channelId, outcome.value.message_id);
      return { steps, message: { connectionId: connection.id, messageId } };
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
