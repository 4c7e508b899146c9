/** A test message of a channel bot (delivery §13): a post of the channel, outside every Thread. */
import type { Clock } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { Keyring, Opener } from '../../../runtime/secrets/keyring.ts';
import type { Copies, PostCopy } from '../../connection/ports.ts';
import type { InteractiveTokens } from '../../connection/tokens.ts';
import type { ChannelBotTarget } from '../../destination/sending/scene.ts';
import { CHANNEL_BOT_LIMIT, channelBotRoot, NO_NOTES, previewRoot } from '../../messages/index.ts';
import { beginStep, GONE_CONNECTION, keepWait, seenBy, type TrialStepDeps, UNREADABLE } from '../access.ts';
import { signer } from '../delivering.ts';
import { type AskedTrial, type DestinationTrial, type TrialStep, trialResult } from '../interactive.ts';
import { NOT_CHECKED, sentKeyboard } from './channel.ts';
import { type BotClient, openBot } from './client.ts';
import { botCalls, messageIdOf } from './operations.ts';

export interface ChannelBotTrialDeps extends TrialStepDeps {
  readonly tokens: InteractiveTokens;
  readonly bot: BotClient;
  readonly copies: Copies;
  readonly clock: Pick<Clock, 'now' | 'after'>;
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
      const { channelId } = place;
      const { message_id: postId } = outcome.value;
      const { id: connectionId } = connection;
      steps.push(await copied(deps, asked, { connectionId, channelId, postId: String(postId) }));
      return { steps, message: { connectionId, messageId: messageIdOf(channelId, postId) } };
    },

    async preview({ scene }) {
      const { text } = previewRoot('html', scene.group, scene.settings, CHANNEL_BOT_LIMIT);
      return [{ name: 'message', format: 'html', text, request: null }];
    },
  };
}

const NO_COPY =
  'No copy of the post was seen in the discussion group within 5 s. Where the messenger makes none of posts with ' +
  'buttons, or updates do not arrive, replies follow each other in the group, the first with a link to the post.';

/** Whether posts with buttons are forwarded into the group, which only a post can show (channel-bot §8.0). */
async function copied(
  deps: ChannelBotTrialDeps,
  asked: AskedTrial,
  post: Pick<PostCopy, 'connectionId' | 'channelId' | 'postId'>,
): Promise<TrialStep> {
  const step = beginStep(deps, asked, 'copy');
  const isSeen = await seenBy(deps.clock, step.deadline, () => deps.copies.find(post));
  return step.ended({ errorClass: 'none', error: isSeen ? null : NO_COPY });
}

function testPost({ keyring }: ChannelBotTrialDeps, { destination, scene }: AskedTrial, chatId: string) {
  const sign = signer(keyring, 'test_message', destination.id);
  const call = { kind: 'test', notes: NO_NOTES, mentions: null, sign } as const;
  const message = channelBotRoot(scene.group, scene.settings, call);
  const { text } = message;
  const post = { chatId, text, isHtml: true, isQuiet: true, replyTo: null };
  return botCalls.sendMessage({ ...post, keyboard: sentKeyboard(message) });
}
