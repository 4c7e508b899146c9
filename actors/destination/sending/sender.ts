/** Makes the calls that committed turns of Destinations asked for, and reports the outcomes (delivery §3, §5). */
import type { ActorSystem } from '../../../runtime/actor/index.ts';
import { type Clock, type Micros, SECOND } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import type { Watch } from '../../../runtime/pause-watch.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import {
  type DestinationProbe,
  groupOf,
  type MessageSend,
  type SendFinished,
  type SendOutcome,
} from '../../channels/calls.ts';
import type { Channel, SendResult } from '../../channels/channel.ts';
import { type ChannelName, channelFor } from '../../channels/index.ts';
import type { DestinationConfig, Directory, DirectorySource } from '../../directory.ts';
import { CALLS_AT_ONCE } from '../delivery/rows.ts';
import { destinationAddress } from '../messages.ts';
import type { CallKind, DeliveryMetrics } from '../metrics.ts';
import { createLanes, type LaneCall } from '../pacing.ts';
import type { ContentReader, ReadContent } from './content.ts';
import { type RenderReports, textOf } from './reports.ts';

export interface MessageSenderDeps {
  readonly system: Pick<ActorSystem, 'tell' | 'stillOwns'>;
  readonly channels: Readonly<Partial<Record<ChannelName, Pick<Channel, 'send' | 'probe'>>>>;
  readonly contents: ContentReader;
  readonly directory: Pick<DirectorySource, 'current'>;
  /** Of a Destination, deleted ones included: what is left of its messages gets a last edit. */
  typeOf(destinationId: PublicId): Promise<DestinationConfig['type'] | null>;
  /** Told how templates of Routes fared. */
  readonly reports: RenderReports;
  /** Whether an error means that the database cannot be read now. */
  isUnavailable(error: unknown): boolean;
  /** Notices that the process stood still between the look at its ownership and the call. */
  readonly pauses: { begin(): Watch };
  readonly clock: Clock;
  readonly log: Log;
  readonly deliveryMetrics: DeliveryMetrics;
}

type Asked = MessageSend | DestinationProbe;
type ContentOf = () => Promise<ReadContent>;

/** A call that is begun and waits for its turn. */
interface Waiting extends LaneCall {
  readonly asked: MessageSend;
  readonly since: Micros;
  ahead: ReadAhead | null;
}

/** The content of a call that waits, read with that of a call before it. */
interface ReadAhead {
  readonly at: Micros;
  /** What it was read with: of another one it is read again. */
  readonly directory: Directory;
  /** Null when it could not be read. */
  readonly content: Promise<ReadContent | null>;
}

/** Calls of a Destination whose content is read with that of the one that begins: one statement for all. */
const READ_AHEAD = 7;
/** Contents read ahead that are in memory together. */
const MOST_AHEAD = 56;
/** Content that was read longer ago is read again. */
const FRESH: Micros = SECOND / 4;

/** What waits longer for a turn than this is decided anew: how loud it is, and whether it is wanted at all. */
const LONGEST_WAIT: Micros = SECOND;
/** Requests of an events-mode webhook under way at once (webhooks §3.2). */
const EVENTS_AT_ONCE = 10;
/** What people see of a defect; the log has the error. */
const INTERNAL = 'internal error, see delivery_defect in the log';
/** The call was made, and what it led to could not be kept. */
const UNREAD = 'the database could not be read after the call';
const PUT_BACK = { class: 'not_sent', because: 'put_back' } as const satisfies SendOutcome;

export interface MessageSender {
  /** Performs `message.send`, a few of a Destination at a time, and `message.probe`. Never throws. */
  send(effect: Asked): void;
  /** Destinations with a call under way. */
  calling(): Iterable<PublicId>;
  /** Begins no further call; resolves when those under way have been told. */
  finish(): Promise<void>;
}

/**
 * The performer of messages. When something cannot be read, nothing is sent and the Destination is told so. A replica
 * that has lost the Destination sends and tells nothing: its new owner goes on from the committed intent.
 */
export function createMessageSender(deps: MessageSenderDeps): MessageSender {
  const { system, clock, log } = deps;
  const underWay = new Map<Promise<void>, PublicId>();
  let isFinishing = false;
  let contentsAhead = 0;

  const tell = (asked: Asked, outcome: SendOutcome): void => {
    const { call } = asked;
    const message: SendFinished = {
      type: 'send_finished',
      call,
      ...eventOf(asked),
      outcome,
      at: clock.now(),
    };
    system.tell(destinationAddress(asked.destinationId), message);
  };

  /**
   * No call was made. Of a Destination that is lost nothing is told, since its new owner may have made it. Where that
   * cannot be read it is told: to wait until the call counts as lost would take a minute.
   */
  const tellUncalled = async (asked: Asked, outcome: SendOutcome): Promise<void> => {
    const isMine = await system.stillOwns(destinationAddress(asked.destinationId)).catch(() => true);
    if (isMine && !isFinishing) tell(asked, outcome);
  };

  const destinationOf = ({ destinationId }: Asked) =>
    deps.directory.current().destinationsById.get(destinationId) ?? null;

  const takeAhead = (waiting: Waiting): ReadAhead | null => {
    const { ahead } = waiting;
    waiting.ahead = null;
    if (ahead) contentsAhead--;
    return ahead;
  };

  const readAhead = (following: readonly Waiting[]): void => {
    for (const waiting of following.slice(0, READ_AHEAD)) {
      if (waiting.ahead !== null || isEvent(waiting.asked) || contentsAhead >= MOST_AHEAD) continue;
      contentsAhead++;
      const { asked } = waiting;
      waiting.ahead = {
        at: clock.now(),
        directory: deps.directory.current(),
        content: deps.contents.read(asked, destinationOf(asked)).catch(() => null),
      };
    }
  };

  /** Read after the call was begun, so that a change it does not show makes the Destination call again. */
  const contentOf = async (waiting: Waiting, following: () => readonly Waiting[]): Promise<ReadContent> => {
    const { asked } = waiting;
    const ahead = takeAhead(waiting);
    const isFresh = ahead?.directory === deps.directory.current() && clock.now() - ahead.at <= FRESH;
    const known = isFresh ? await ahead.content : null;
    if (known) return known;
    const content = deps.contents.read(asked, destinationOf(asked));
    if (!isEvent(asked)) readAhead(following());
    return content;
  };

  const run = async (asked: Asked, content: ContentOf | null): Promise<void> => {
    const read = content && (await content());
    const watch = deps.pauses.begin();
    try {
      // Asked last, right before the call: on a busy machine what comes before it takes its time.
      if (!(await system.stillOwns(destinationAddress(asked.destinationId)))) return;
      const began = clock.now();
      let hasBegun = false;
      const mayBegin = () => {
        const may = (isEvent(asked) || !isFinishing) && !watch.hasPaused();
        hasBegun ||= may;
        return may;
      };
      const outcome = await outcomeOf(deps, asked, mayBegin, read).catch((error: unknown) =>
        thrown(asked, error, hasBegun),
      );
      if (outcome.class === 'not_sent') return tellUncalled(asked, outcome);
      tell(asked, outcome);
      for (const other of lanes.takeOut(spokenOfBy(asked, outcome))) {
        takeAhead(other);
        void tellUncalled(other.asked, PUT_BACK);
      }
      report(deps, asked, outcome, began, clock.now());
    } finally {
      watch.end();
    }
  };

  /**
   * What could not be read is read again. Any other error is a defect: it is logged as one, shown as the health of the
   * Destination, and what may have reached the messenger is not sent once more (delivery §7.5).
   */
  const thrown = (asked: Asked, error: unknown, hasBegun: boolean): SendOutcome => {
    const isOutage = deps.isUnavailable(error);
    log(isOutage ? 'delivery_work_failed' : 'delivery_defect', {
      destination: asked.destinationId,
      group: asked.type === 'message.send' ? groupOf(asked) : null,
      error: error instanceof Error ? error.message : String(error),
    });
    if (hasBegun) {
      const said = isOutage ? UNREAD : INTERNAL;
      return { class: isEvent(asked) ? 'transient' : 'unknown', error: said, unsure: true };
    }
    if (isOutage) return { class: 'not_sent', because: 'unreadable' };
    if (asked.type === 'message.probe') return { class: 'unknown', error: INTERNAL };
    return { class: 'not_sent', because: 'defect', error: INTERNAL };
  };

  const call = (asked: Asked, content: ContentOf | null = null): Promise<void> => {
    const made = run(asked, content)
      .catch((error: unknown) => tellUncalled(asked, thrown(asked, error, false)))
      .finally(() => underWay.delete(made));
    underWay.set(made, asked.destinationId);
    return made;
  };

  const lanes = createLanes<Waiting>(async (waiting, following) => {
    const { asked, since } = waiting;
    if (isFinishing) return;
    if (isEvent(asked) || clock.now() - since <= LONGEST_WAIT) {
      await call(asked, () => contentOf(waiting, following));
      return;
    }
    takeAhead(waiting);
    await tellUncalled(asked, PUT_BACK);
  });

  return {
    send(asked) {
      if (isFinishing) return;
      if (asked.type === 'message.probe') {
        void call(asked);
        return;
      }
      const { destinationId, urgent } = asked;
      const atOnce = isEvent(asked) ? EVENTS_AT_ONCE : CALLS_AT_ONCE;
      lanes.add({ asked, destinationId, urgent, atOnce, since: clock.now(), ahead: null });
    },
    calling: () => underWay.values(),
    async finish() {
      isFinishing = true;
      await Promise.all(underWay.keys());
    },
  };
}

function isEvent(asked: Asked): asked is MessageSend {
  return asked.type === 'message.send' && asked.operation.kind === 'event';
}

function eventOf(asked: Asked): Pick<SendFinished, 'event'> {
  if (!isEvent(asked) || asked.key === null || asked.subject.kind !== 'group') return {};
  return { event: { id: asked.key, groupId: asked.subject.groupId } };
}

/**
 * A messenger that asks to wait, fails or refuses is left alone: which of the calls that have not begun go back in
 * line. Events of different Alert Groups do not wait for each other, but for a refusal of them all.
 */
function spokenOfBy(asked: Asked, outcome: SendOutcome): (other: Waiting) => boolean {
  const { destinationId, connectionId } = asked;
  switch (outcome.class) {
    case 'retry_after':
      if (outcome.scope === 'connection' && connectionId !== null) {
        return (other) => other.asked.connectionId === connectionId;
      }
      return (other) => outcome.scope !== 'delivery' && other.destinationId === destinationId;
    case 'transient':
      return (other) => !isEvent(other.asked) && other.destinationId === destinationId;
    case 'fatal':
      return (other) => other.destinationId === destinationId;
    default:
      return () => false;
  }
}

async function outcomeOf(
  deps: MessageSenderDeps,
  asked: Asked,
  mayBegin: () => boolean,
  read: ReadContent | null,
): Promise<SendOutcome> {
  const { destinationId } = asked;
  const destination = deps.directory.current().destinationsById.get(destinationId) ?? null;
  const type = destination?.type ?? (await deps.typeOf(destinationId));
  const channel = type && deps.channels[channelFor(type, isEvent(asked) ? 'events' : 'messages')];
  if (!channel) throw new Error(`nothing is sent to a Destination of type ${type}`);
  if (asked.type === 'message.probe') {
    if (!channel.probe) throw new Error(`a Destination of type ${type} has no probe of its own`);
    return channel.probe({ asked, destination, mayBegin });
  }
  if (read === null) throw new Error('a message has no content');
  if (read.is === 'dropped') return { class: 'dropped' };
  if (read.is === 'missing')
    return { class: 'unknown', error: 'what the message is about is not kept any more' };
  const result = await channel.send({ asked, destination, mayBegin }, read.content);
  deps.reports.rendered(asked, read.content, result);
  return withFallback(result);
}

/** The Timeline tells of a message that shows the Fallback. */
function withFallback({ outcome, failure }: SendResult): SendOutcome {
  return outcome.class === 'ok' && failure ? { ...outcome, fallback: textOf(failure.error) } : outcome;
}

/** As lists of attempts name it. */
function kindOf(asked: MessageSend): CallKind {
  const { operation, subject } = asked;
  if (operation.kind === 'event') return 'webhook_event';
  if (subject.kind === 'storm') return 'storm_summary';
  if (operation.kind === 'edit') return operation.isFinal ? 'final_edit' : 'update';
  return operation.kind === 'publish' ? 'publication' : 'thread_reply';
}

/** What made no call leaves no trace; a probe is in the Request log. */
function report(
  { log, deliveryMetrics }: MessageSenderDeps,
  asked: Asked,
  outcome: SendOutcome,
  began: Micros,
  ended: Micros,
): void {
  if (asked.type === 'message.probe') return;
  if (outcome.class === 'unchanged' || outcome.class === 'dropped' || outcome.class === 'not_sent') return;
  const { destinationId: destination, attempt } = asked;
  const kind = kindOf(asked);
  deliveryMetrics.attempt(destination, kind, outcome.class);
  if (attempt === 1) deliveryMetrics.latency(destination, began - asked.dueAt);
  log('delivery_attempt', {
    destination,
    group: groupOf(asked),
    kind,
    outcome: outcome.class === 'ok' ? 'delivered' : outcome.class,
    attempt,
    duration_ms: Math.round((ended - began) / 1000),
    ...(outcome.class === 'retry_after'
      ? { retry_after_ms: Math.max(0, Math.round((outcome.until - ended) / 1000)) }
      : {}),
  });
}
