/** A test message in a chat server, with the press that proves the way back (delivery §13, chat-server §11). */

import type { Clock, Micros } from '../../../runtime/clock.ts';
import type { RequestRecord } from '../../../runtime/outbound/request-log/record.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { Keyring, Opener } from '../../../runtime/secrets/keyring.ts';
import type { EventFacts } from '../../connection/ports.ts';
import { INTERACTIVE_BUDGET, type InteractiveTokens } from '../../connection/tokens.ts';
import type { ChatServerTarget } from '../../destination/sending/scene.ts';
import { chatServerRoot, NO_NOTES, previewRoot } from '../../messages/index.ts';
import { GONE_CONNECTION, keepWait, UNREADABLE } from '../access.ts';
import { signer } from '../delivering.ts';
import {
  type AskedTrial,
  type DestinationTrial,
  shownExchange,
  type TrialClass,
  type TrialResult,
  type TrialStep,
  type Tried,
  trialResult,
} from '../interactive.ts';
import { type ChatAccess, type ChatCallOptions, type ChatClient, openChatServer } from './client.ts';
import { type ChatRequest, chatCalls } from './operations.ts';
import { buttonsBack, rootPost } from './posts.ts';
import { testPressId } from './receiver.ts';
import type { ServerInfoReader } from './server-info.ts';

export interface ChatServerTrialDeps {
  readonly chat: ChatClient;
  readonly infos: ServerInfoReader;
  readonly opener: Opener;
  readonly keyring: Keyring;
  readonly tokens: InteractiveTokens;
  readonly facts: Pick<EventFacts, 'handled'>;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  /** Where the server calls, without a trailing slash. */
  readonly ingestUrl: string;
  target(destinationId: PublicId, target: number | null): Promise<ChatServerTarget | null>;
}

const NO_TOKEN = 'no token of the limiter within 5 s';
/** What is left of a step for its request when everything before took as long as it may. */
const LEAST_FOR_CALL: Micros = 100_000;
/** Between two looks for the press, which may arrive at another replica. */
const LOOK_EVERY: Micros = 100_000;

type Step = Pick<TrialStep, 'name' | 'errorClass' | 'error'>;

export function createChatServerTrial(deps: ChatServerTrialDeps): DestinationTrial {
  return {
    async test(asked) {
      const begun = deps.clock.now();
      const target = await deps.target(asked.destination.id, null);
      if (!target) return ended(deps, begun, 'fatal', GONE_CONNECTION);
      const access = openChatServer(deps.opener, target.connection);
      if (!access) return ended(deps, begun, 'fatal', UNREADABLE);
      const known = await deps.infos.upToDate(target.connection, access);
      if (known.class !== 'ok') return endedBy(deps, begun, trialResult(known));
      return new Trial(deps, asked, target, access, begun).run(known.info.bot_id, known.info.max_post_size);
    },

    async preview({ destination, scene }) {
      const target = await deps.target(destination.id, null);
      const limit = target?.connection.info?.max_post_size ?? null;
      const { text } = previewRoot('markdown', scene.group, scene.settings, limit);
      return [{ name: 'message', format: 'markdown', text, request: null }];
    },
  };
}

/** The two steps of one test. Its buttons belong to the Destination, so that a press says it was a test. */
class Trial {
  readonly #deps: ChatServerTrialDeps;
  readonly #asked: AskedTrial;
  readonly #target: ChatServerTarget;
  readonly #access: ChatAccess;
  readonly #begun: Micros;

  constructor(
    deps: ChatServerTrialDeps,
    asked: AskedTrial,
    target: ChatServerTarget,
    access: ChatAccess,
    begun: Micros,
  ) {
    this.#deps = deps;
    this.#asked = asked;
    this.#target = target;
    this.#access = access;
    this.#begun = begun;
  }

  async run(botId: string, limit: number): Promise<Tried> {
    const { keyring, clock, ingestUrl } = this.#deps;
    const { destination, scene, run } = this.#asked;
    const connectionId = this.#target.connection.id;
    if (!(await this.#isGranted())) return ended(this.#deps, this.#begun, 'limited', NO_TOKEN);
    const sign = signer(keyring, 'test_message', destination.id);
    const call = { kind: 'test', notes: NO_NOTES, mentions: null, sign } as const;
    const message = chatServerRoot(scene.group, scene.settings, call, limit);
    const back = buttonsBack(keyring, ingestUrl, connectionId);
    const origin = { channelId: this.#target.channelId, botId, key: `test-${run}` };
    const post = rootPost(message, origin, back);
    const sent = await this.#call(chatCalls.createPost(post, true));
    const result = trialResult(sent.outcome);
    const step = stepOf(clock.now() - this.#begun, sent.record, { name: 'message', ...result });
    if (sent.outcome.class !== 'ok') return { steps: [step], message: null };
    const { id: messageId } = sent.outcome.value;
    const [first] = post.props.attachments?.[0]?.actions ?? [];
    const steps = first ? [step, await this.#press(messageId, first.id)] : [step];
    return { steps, message: { connectionId, messageId } };
  }

  /** What the server answers does not decide: the callback has to arrive, at any replica. */
  async #press(postId: string, actionId: string): Promise<TrialStep> {
    const { clock, facts } = this.#deps;
    const begun = clock.now();
    const deadline = begun + INTERACTIVE_BUDGET;
    const ended = (record: RequestRecord | null, errorClass: TrialClass, error: string | null) =>
      stepOf(clock.now() - begun, record, { name: 'press', errorClass, error });
    if (!(await this.#isGranted())) return ended(null, 'limited', NO_TOKEN);
    const { record } = await this.#call(chatCalls.doPostAction(postId, actionId), deadline);
    for (;;) {
      if (await facts.handled(this.#target.connection.id, testPressId(postId)))
        return ended(record, 'none', null);
      if (clock.now() + LOOK_EVERY >= deadline) return ended(record, 'unknown', this.#notArrived());
      await new Promise<void>((resolve) => void clock.after(LOOK_EVERY, resolve));
    }
  }

  #notArrived(): string {
    const { hostname } = new URL(this.#deps.ingestUrl);
    return (
      `The press did not reach ${hostname}. If that is a private address, list it in the server's setting ` +
      'ServiceSettings.AllowedUntrustedInternalConnections; the server also has to trust its certificate.'
    );
  }

  async #isGranted(): Promise<boolean> {
    const owners = { destinationId: this.#asked.destination.id, connectionId: this.#target.connection.id };
    return (await this.#deps.tokens.take(owners)) === 'granted';
  }

  async #call<Value>(request: ChatRequest<Value>, deadline = this.#begun + INTERACTIVE_BUDGET) {
    const { clock, chat, tokens } = this.#deps;
    let record: RequestRecord | null = null;
    const options: ChatCallOptions = {
      ...{ class: 'interactive', destinationId: this.#asked.destination.id },
      check: { as: 'destination_test', run: this.#asked.run },
      observe: (made) => {
        record = made;
      },
    };
    const timeout = Math.max(LEAST_FOR_CALL, deadline - clock.now());
    const outcome = await chat.call(this.#access, { ...request, timeout }, options);
    keepWait(tokens, this.#target.connection.id, outcome);
    return { outcome, record: record as RequestRecord | null };
  }
}

function ended(deps: ChatServerTrialDeps, begun: Micros, errorClass: TrialClass, error: string): Tried {
  return endedBy(deps, begun, { errorClass, error });
}

function endedBy({ clock }: ChatServerTrialDeps, begun: Micros, result: TrialResult): Tried {
  return { steps: [stepOf(clock.now() - begun, null, { name: 'message', ...result })], message: null };
}

function stepOf(duration: Micros, record: RequestRecord | null, step: Step): TrialStep {
  return { ...shownExchange(record), extracted: null, duration, ...step };
}
