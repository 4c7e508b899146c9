/** Takes presses that the chat server sends to the callback address (chat-server §8.1, §8.2). */
import * as v from 'valibot';
import { HOUR, type Micros, SECOND } from '../../../runtime/clock.ts';
import { parseStorable } from '../../../runtime/outbound/answer-json.ts';
import type { RequestRecorder } from '../../../runtime/outbound/request-log/recorder.ts';
import { newPublicId, type PublicId } from '../../../runtime/public-id.ts';
import { equalSecrets, type Opener } from '../../../runtime/secrets/keyring.ts';
import { type ButtonData, buttonProof, readButtonData } from '../../../runtime/secrets/signed-tokens.ts';
import { type ReceivedTokenDeps, receiveToken, UNLINK } from '../../account-links/linking.ts';
import {
  connectionAddress,
  type EventAnswer,
  type EventArrived,
  type EventSettled,
} from '../../connection/messages.ts';
import type { ChatServerSettings } from '../../connection/ports.ts';
import type { InteractiveTokens } from '../../connection/tokens.ts';
import { type PrivateAnswer, privateAnswer } from '../../messages/index.ts';
import type { Push, PushAnswer, Receiver } from '../channel.ts';
import { createInboundLog, readSettings } from '../inbound.ts';
import { isOf, type PressDeps, type Reaction, reactToPress, tellInvalid } from '../press.ts';
import { type ChatClient, openChatServer } from './client.ts';
import { chatCalls } from './operations.ts';
import { callbackUrl } from './posts.ts';

export interface ActionReceiverDeps extends PressDeps, Pick<ReceivedTokenDeps, 'links' | 'hints'> {
  readonly chat: ChatClient;
  readonly opener: Opener;
  readonly tokens: InteractiveTokens;
  readonly recorder: Pick<RequestRecorder, 'record'>;
  /** Where the server calls, without a trailing slash. */
  readonly ingestUrl: string;
  settings(id: PublicId): Promise<ChatServerSettings | null>;
}

const THROUGH = { transport: 'chat_server', way: 'chat_server_press', recordedWithin: 3 * SECOND } as const;
/** The call that shows an answer in the channel ends so long after the press arrived, for its answer waits for it. */
const SHOWN_WITHIN: Micros = 2 * SECOND;
/** A bot that may not show a text to one person is not tried again before. */
const REFUSED_FOR: Micros = 24 * HOUR;

const text = (most: number) => v.pipe(v.string(), v.nonEmpty(), v.maxLength(most));
/** Ids of the server have 26 characters, its usernames 64 at most; a trigger is some 200. */
const Action = v.object({
  user_id: text(64),
  user_name: v.fallback(v.nullable(text(64)), null),
  channel_id: text(64),
  post_id: text(64),
  trigger_id: v.fallback(v.nullable(text(512)), null),
  context: v.object({ action: text(64), key_id: text(128), proof: text(64) }),
});
type Action = v.InferOutput<typeof Action>;

/** A press whose signature holds. */
interface Proven {
  readonly settings: ChatServerSettings;
  readonly action: Action;
  readonly button: ButtonData;
  /** By which a repeat of the request is known. */
  readonly eventId: string;
  readonly arrivedAt: Micros;
}

/** The event by which a test of a Destination learns that the press of its own bot arrived. */
export function testPressId(postId: string): string {
  return `test-press-${postId}`;
}

export function createActionReceiver(deps: ActionReceiverDeps): Pick<Receiver, 'push'> {
  const { clock, log, system } = deps;
  const inbound = createInboundLog(deps.recorder);
  /** When the permission was refused last, by Connection and access. */
  const refusedAt = new Map<string, Micros>();

  /** For a day, or until the bot is known to have it since. */
  const isRefused = ({ id, access, info, infoReadAt: readAt }: ChatServerSettings): boolean => {
    if (info?.answers_privately === false) return true;
    const at = refusedAt.get(`${id} ${access}`);
    if (at === undefined || clock.now() >= at + REFUSED_FOR) return false;
    return !(info?.answers_privately && readAt !== null && readAt > at);
  };

  const note = async (id: PublicId, eventId: string, say: string | null): Promise<string | null> => {
    const arrived: EventArrived = { type: 'event', eventId, say };
    return ((await system.ask(connectionAddress(id), arrived)) as EventAnswer).say;
  };

  const handle = async (proven: Proven): Promise<Judged> => {
    const { settings, action, button, eventId } = proven;
    const account = { externalId: action.user_id, username: action.user_name, displayName: null };
    if (button.subject === 'account_link') {
      const of = { messenger: 'chat_server', connectionId: settings.id, eventId, account } as const;
      const wish = { ...of, isBot: false, token: UNLINK, linkId: button.id };
      const { say } = await receiveToken(deps, wish, THROUGH.way);
      return say === null ? SILENT : { body: replaced(say), failed: null };
    }
    if (button.subject === 'test_message' && action.user_id === settings.info?.bot_id) {
      await note(settings.id, testPressId(action.post_id), null);
      return SILENT;
    }
    const posted = await deps.facts.message(settings.id, action.post_id);
    // A stranger learns nothing, and causes no request.
    if (posted && !isOf(button, posted)) return refused({ say: 'invalid' });
    if (await deps.facts.handled(settings.id, eventId)) return SILENT;
    const reaction = await reactToPress(
      deps,
      settings.id,
      {
        id: eventId,
        occurredAt: clock.now(),
        messageId: action.post_id,
        account,
        data: action.context.action,
      },
      THROUGH,
    );
    return reaction ? { body: await answered(proven, reaction), failed: null } : refused({ say: 'invalid' });
  };

  const answered = async (proven: Proven, reaction: Reaction): Promise<string> => {
    const { settings, eventId } = proven;
    const say =
      reaction.is === 'noted' && reaction.say !== null
        ? await note(settings.id, eventId, reaction.say)
        : reaction.say;
    const isShown = say !== null && (await showPrivately(proven, say));
    if (reaction.is === 'stored') reaction.answered?.();
    const settled: EventSettled = { type: 'event_settled', eventId };
    if (say !== null && reaction.is !== 'unsure') system.tell(connectionAddress(settings.id), settled);
    return say === null || isShown ? NOTHING_SAID : said(say);
  };

  /**
   * Shows a text in the channel, to one person. The answer of the callback shows it in the Thread, where a press on a
   * reply was made, and needs no permission.
   */
  const showPrivately = async (proven: Proven, message: string): Promise<boolean> => {
    const { settings, action, button, arrivedAt } = proven;
    const left = () => arrivedAt + SHOWN_WITHIN - clock.now();
    if (button.subject === 'thread_reply' || isRefused(settings)) return false;
    const access = openChatServer(deps.opener, settings);
    const posted = access && (await deps.facts.message(settings.id, action.post_id));
    if (!posted) return false;
    const { destinationId } = posted;
    const owners = { destinationId, connectionId: settings.id };
    if (left() <= 0 || (await deps.tokens.take(owners, left())) !== 'granted') return false;
    const shown = { channel_id: action.channel_id, message, root_id: '' };
    const call = chatCalls.createEphemeralPost(action.user_id, shown);
    const timeout = Math.max(1, left());
    const options = { class: 'interactive', destinationId, alertGroupId: posted.groupId } as const;
    const outcome = await deps.chat.call(access, { ...call, timeout }, options);
    if (outcome.class === 'ok') return true;
    const isForbidden = 'status' in outcome && outcome.status === 403;
    if (isForbidden) refusedAt.set(`${settings.id} ${settings.access}`, clock.now());
    else log('event_not_answered', failureOf(proven, outcome));
    return false;
  };

  const prove = async (
    push: Push,
    connection: ChatServerSettings | null,
  ): Promise<Proven | PrivateAnswer> => {
    const read = v.safeParse(Action, parseStorable(push.body));
    if (!read.success || !connection) return { say: 'invalid' };
    const { context, trigger_id: trigger } = read.output;
    const signed = readButtonData(deps.keyring, context.action);
    if (!signed.ok) return { say: signed.reason };
    if (signed.keyId !== context.key_id) return { say: 'invalid' };
    const proof = buttonProof(deps.keyring, signed.keyId, connection.id, context.action);
    if (!equalSecrets(proof, context.proof)) return { say: 'invalid' };
    const known = { eventId: trigger ?? newPublicId('RQ'), arrivedAt: clock.now() };
    return { settings: connection, action: read.output, button: signed.button, ...known };
  };

  const judged = async (push: Push, connection: ChatServerSettings | null): Promise<Judged> => {
    const proven = await prove(push, connection);
    if ('say' in proven) return refused(proven);
    try {
      return await handle(proven);
    } catch (error) {
      const { settings, eventId } = proven;
      log('press_failed', { connection: settings.id, event_id: eventId, error: String(error) });
      return { body: said(textOf({ say: 'failed' })), failed: FAILED };
    }
  };

  return {
    async push(push): Promise<PushAnswer> {
      const began = clock.now();
      const connection = await readSettings(deps, push.id);
      if (connection === 'unread') return { status: 200, body: said(textOf({ say: 'failed' })) };
      const { body, failed } = await judged(push, connection);
      if (connection) {
        if (failed === REFUSED) tellInvalid(deps, connection.id);
        inbound({
          ...{ operation: 'interactiveAction', connectionId: connection.id, began, ended: clock.now() },
          ...{ url: callbackUrl(deps.ingestUrl, connection.id), headers: push.headers, body: push.body },
          ...{ status: 200, failed },
          secrets: () => secretsOf(deps.opener, connection),
        });
      }
      return { status: 200, body };
    },
  };

  function refused(answer: PrivateAnswer): Judged {
    return { body: said(textOf(answer)), failed: REFUSED };
  }

  function textOf(answer: PrivateAnswer): string {
    return privateAnswer(answer, THROUGH.way, 'en', deps.publicUrl);
  }
}

interface Judged {
  readonly body: string;
  readonly failed: Parameters<ReturnType<typeof createInboundLog>>[0]['failed'];
}

const REFUSED = {
  is: 'refused',
  code: 'action_invalid',
  error: 'the action is not signed for this Connection',
} as const;
const FAILED = { is: 'failed', code: 'handler_failed', error: 'handling the press failed' } as const;

const NOTHING_SAID = '{}';
const SILENT: Judged = { body: NOTHING_SAID, failed: null };

/** Markdown as written: without this the server would read it as another messenger's markup. */
function said(message: string): string {
  return JSON.stringify({ ephemeral_text: message, skip_slack_parsing: true });
}

/** The post with the button says what it came to, and has the button no more. It is no delivery's. */
function replaced(message: string): string {
  return JSON.stringify({ update: { message, props: {} }, skip_slack_parsing: true });
}

function secretsOf(opener: Opener, connection: ChatServerSettings): readonly string[] {
  const access = openChatServer(opener, connection);
  return [access?.token, access?.proxy?.password].filter((secret) => typeof secret === 'string');
}

function failureOf(
  { settings, eventId }: Proven,
  outcome: { readonly class: string; readonly error?: string },
) {
  const { class: came, error = came } = outcome;
  return { connection: settings.id, event_id: eventId, outcome: came, error };
}
