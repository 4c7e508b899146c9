/** A test message in a chat server, with the press that proves the way back (delivery §13, chat-server §11). */
import type { Clock } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { Keyring, Opener } from '../../../runtime/secrets/keyring.ts';
import type { ChatServerInfo, EventFacts } from '../../connection/ports.ts';
import type { InteractiveTokens } from '../../connection/tokens.ts';
import type { ChatServerTarget } from '../../destination/sending/scene.ts';
import { chatServerRoot, NO_NOTES, previewRoot } from '../../messages/index.ts';
import { beginStep, GONE_CONNECTION, keepWait, seenBy, type TrialStepDeps, UNREADABLE } from '../access.ts';
import { signer } from '../delivering.ts';
import { type AskedTrial, type DestinationTrial, type TrialStep, trialResult } from '../interactive.ts';
import { type ChatAccess, type ChatClient, openChatServer } from './client.ts';
import { type ChatRequest, chatCalls } from './operations.ts';
import { buttonsBack, rootPost } from './posts.ts';
import { testPressId } from './receiver.ts';
import type { ServerInfoReader } from './server-info.ts';

export interface ChatServerTrialDeps extends TrialStepDeps {
  readonly tokens: InteractiveTokens;
  readonly chat: ChatClient;
  readonly infos: ServerInfoReader;
  readonly opener: Opener;
  readonly keyring: Keyring;
  readonly facts: Pick<EventFacts, 'handled'>;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  /** Where the server calls, without a trailing slash. */
  readonly ingestUrl: string;
  target(destinationId: PublicId, target: number | null): Promise<ChatServerTarget | null>;
}

type Step = ReturnType<typeof beginStep>;

interface Way {
  readonly deps: ChatServerTrialDeps;
  readonly access: ChatAccess;
  readonly connectionId: PublicId;
}

export function createChatServerTrial(deps: ChatServerTrialDeps): DestinationTrial {
  return {
    async test(asked) {
      const step = beginStep(deps, asked);
      const target = await deps.target(asked.destination.id, null);
      if (!target) return step.failed('fatal', GONE_CONNECTION);
      const access = openChatServer(deps.opener, target.connection);
      if (!access) return step.failed('fatal', UNREADABLE);
      const known = await deps.infos.upToDate(target.connection, access);
      if (known.class !== 'ok') return { steps: [step.ended(trialResult(known))], message: null };
      const { id: connectionId } = target.connection;
      const way = { deps, access, connectionId };
      const post = testPost(deps, asked, target, known.info);
      const outcome = await call(way, step, chatCalls.createPost(post, true));
      const steps = [step.ended(trialResult(outcome))];
      if (outcome.class !== 'ok') return { steps, message: null };
      const { id: messageId } = outcome.value;
      const [button] = post.props.attachments?.[0]?.actions ?? [];
      if (button) steps.push(await press(way, asked, messageId, button.id));
      return { steps, message: { connectionId, messageId } };
    },

    async preview({ destination, scene }) {
      const target = await deps.target(destination.id, null);
      const limit = target?.connection.info?.max_post_size ?? null;
      const { text } = previewRoot('markdown', scene.group, scene.settings, limit);
      return [{ name: 'message', format: 'markdown', text, request: null }];
    },
  };
}

/** Its buttons belong to the Destination, so that a press says it was a test. */
function testPost(
  { keyring, ingestUrl }: ChatServerTrialDeps,
  { destination, scene, run }: AskedTrial,
  { connection, channelId }: ChatServerTarget,
  { bot_id: botId, max_post_size: limit }: ChatServerInfo,
) {
  const sign = signer(keyring, 'test_message', destination.id);
  const call = { kind: 'test', notes: NO_NOTES, mentions: null, sign } as const;
  const message = chatServerRoot(scene.group, scene.settings, call, limit);
  const origin = { channelId, botId, key: `test-${run}` };
  return rootPost(message, origin, buttonsBack(keyring, ingestUrl, connection.id));
}

async function call<Value>({ deps, access, connectionId }: Way, step: Step, request: ChatRequest<Value>) {
  const outcome = await step.call(connectionId, (options, timeout) =>
    deps.chat.call(access, { ...request, timeout }, options),
  );
  keepWait(deps.tokens, connectionId, outcome);
  return outcome;
}

/** What the server answers does not decide: the callback has to arrive, at any replica. */
async function press(way: Way, asked: AskedTrial, postId: string, actionId: string): Promise<TrialStep> {
  const { clock, facts } = way.deps;
  const step = beginStep(way.deps, asked, 'press');
  const outcome = await call(way, step, chatCalls.doPostAction(postId, actionId));
  if (outcome.class === 'limited') return step.ended(trialResult(outcome));
  const isSeen = await seenBy(clock, step.deadline, () =>
    facts.handled(way.connectionId, testPressId(postId)),
  );
  if (isSeen) return step.ended({ errorClass: 'none', error: null });
  return step.ended({ errorClass: 'unknown', error: notArrived(way.deps) });
}

function notArrived({ ingestUrl }: ChatServerTrialDeps): string {
  const { hostname } = new URL(ingestUrl);
  return (
    `The press did not reach ${hostname}. If that is a private address, list it in the server's setting ` +
    'ServiceSettings.AllowedUntrustedInternalConnections; the server also has to trust its certificate.'
  );
}
