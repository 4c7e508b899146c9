/**
 * Calls that a message Destination asks its sender for, and their outcomes (delivery §3, §5, §7). One call is made of
 * one committed {@link MessageSend}; it carries no text: the sender lays the newest state out when it calls.
 * At the end: how a channel of messages makes a request with the token of its Connection.
 */
import type { PerformedEffect } from '../../runtime/actor/index.ts';
import { type Micros, SECOND } from '../../runtime/clock.ts';
import type { OutboundCaller } from '../../runtime/outbound/caller.ts';
import type { HeaderList, OutboundAnswer, RequestClass } from '../../runtime/outbound/client.ts';
import type { ProxyRoute } from '../../runtime/outbound/proxy.ts';
import type { RequestCheck, RequestRecord } from '../../runtime/outbound/request-log/record.ts';
import type { Verdict, VerdictContext } from '../../runtime/outbound/verdict.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { People, Target } from '../destination/sending/people.ts';
import type { GroupScene } from '../destination/sending/scene.ts';
import type { DeliveryNotes, MessageSettings, ReplyEvent, StormSummary } from '../messages/index.ts';
import type {
  LifecycleEventName,
  Loudness,
  ResolveReason,
  SeverityLevel,
  SymbolicMention,
  UserRef,
} from '../model.ts';

/** What a delivery is about: an Alert Group, or the Storm of a Route that began at `since`. */
export type Subject =
  | { readonly kind: 'group'; readonly groupId: PublicId }
  | { readonly kind: 'storm'; readonly routeId: PublicId; readonly since: Micros };

/** A subject as text, unique among subjects; the form in which it is stored. */
export function subjectText(subject: Subject): string {
  if (subject.kind === 'group') return subject.groupId;
  return `${subject.routeId}-${Math.floor(subject.since / SECOND)}`;
}

/** One call to a messenger about a message, made once the state that says so is committed. */
export interface MessageSend extends PerformedEffect {
  readonly type: 'message.send';
  readonly destinationId: PublicId;
  /** Rises with every call of the Destination; an outcome that names an older one of the delivery does not count. */
  readonly call: number;
  readonly subject: Subject;
  /** Which target of the Destination the message is at: raised when it is pointed at another channel (delivery §10). */
  readonly target: number;
  /** Through which the call goes; an old one for the last edit of a message at a former target. Null for a webhook. */
  readonly connectionId: PublicId | null;
  readonly operation: MessageOperation;
  readonly notes: SendNotes;
  /** Idempotency-Key, the same at every attempt of one intent; null for an edit. Of an event, its id. */
  readonly key: string | null;
  /** 1 for the first attempt since the budget began. */
  readonly attempt: number;
  /** Start of the first attempt whose outcome nobody knows; null when every outcome is known. */
  readonly unsureSince: Micros | null;
  readonly urgent: boolean;
  /** What a template webhook took from earlier answers. */
  readonly values: Readonly<Record<string, string>>;
  /** When it came due, for the measure of how late it is. */
  readonly dueAt: Micros;
  /** It stands for the probe of a Broken Destination whose type has no check (webhooks §4.5). */
  readonly isProbe: boolean;
}

export type MessageOperation =
  | {
      readonly kind: 'publish';
      /** Number of this Publication there, from 1. */
      readonly publication: number;
      readonly loudness: Loudness;
      readonly mentions: readonly SymbolicMention[];
      /** Whom `owner` names. */
      readonly owner: UserRef | null;
    }
  | {
      readonly kind: 'edit';
      readonly messageId: string;
      readonly threadRef: string | null;
      /** What the messenger accepted last; null: call in any case. */
      readonly hash: string | null;
      /** The last edit: note "final", no buttons. Never left out because of an equal hash. */
      readonly isFinal: boolean;
    }
  | {
      readonly kind: 'reply';
      readonly messageId: string;
      readonly threadRef: string | null;
      readonly reply: ReplyCall;
    }
  /** An event, to a receiver that gets events instead of messages. `call`: number of this call of it, from 1. */
  | { readonly kind: 'event'; readonly event: LifecycleEventName; readonly call: number };

/** What a Root message or a Storm summary shows, as it is now. */
export type Shown =
  | { readonly kind: 'group'; readonly scene: GroupScene }
  | {
      readonly kind: 'storm';
      readonly storm: StormSummary;
      readonly settings: MessageSettings;
      readonly people: People;
    };

/** The content of a message, read when its call is made. `targets` is empty for a Quiet message. */
export type MessageContent =
  | {
      readonly kind: 'publish';
      readonly shown: Shown;
      readonly notes: DeliveryNotes;
      readonly isLoud: boolean;
      readonly targets: readonly Target[];
    }
  | { readonly kind: 'edit'; readonly shown: Shown; readonly notes: DeliveryNotes }
  | {
      readonly kind: 'reply';
      readonly scene: GroupScene;
      readonly event: ReplyEvent;
      readonly isLoud: boolean;
      readonly targets: readonly Target[];
    };

/** The Alert Group that a call is about, if it is about one. */
export function groupOf({ subject }: Pick<MessageSend, 'subject'>): PublicId | null {
  return subject.kind === 'group' ? subject.groupId : null;
}

/** The Destination check in the delivery class, by which a Broken Destination is tried (delivery §7.4). */
export interface DestinationProbe extends PerformedEffect {
  readonly type: 'message.probe';
  readonly destinationId: PublicId;
  readonly call: number;
  readonly connectionId: PublicId | null;
}

/** Notes of this message (delivery §9). `late`: with the times of the group itself. */
export interface SendNotes {
  readonly late: boolean;
  readonly deletedAt: Micros | null;
  readonly continued: boolean;
}

/** A reply as its sender needs it. Mentions are symbolic; `owner` is whom `owner` and `previous_owner` name. */
export interface ReplyCall {
  /** Of its first event within the Alert Group. */
  readonly sequence: number;
  /** When that happened. */
  readonly at: Micros;
  readonly facts: ReplyFacts;
  readonly loudness: Loudness;
  readonly mentions: readonly SymbolicMention[];
  readonly owner: UserRef | null;
}

/** What a reply tells, as the event recorded it; Alerts are looked up when it is sent. */
export type ReplyFacts =
  | { readonly event: 'alerts_added'; readonly fingerprints: readonly string[] }
  | { readonly event: 'alert_replaced'; readonly label: string }
  | {
      readonly event: 'urgency_raised';
      readonly level: SeverityLevel;
      readonly formerOwner: UserRef | null;
    }
  | { readonly event: 'reopened'; readonly owner: UserRef | null }
  | { readonly event: 'snooze_ended'; readonly fingerprints: readonly string[] }
  | { readonly event: 'takeover'; readonly owner: UserRef; readonly formerOwner: UserRef }
  | { readonly event: 'resolved'; readonly reason: ResolveReason }
  | {
      readonly event: 'unacknowledged';
      readonly reason: 'owner_disabled' | 'owner_deleted';
      readonly formerOwner: UserRef;
    }
  | { readonly event: 'auto_unacknowledged'; readonly formerOwner: UserRef }
  | { readonly event: 'ack_timeout'; readonly last: boolean }
  | { readonly event: 'reminder'; readonly owner: UserRef }
  | { readonly event: 'notices_missed'; readonly kind: 'ack_timeout'; readonly count: number }
  | {
      readonly event: 'notices_missed';
      readonly kind: 'reminder';
      readonly count: number;
      readonly owner: UserRef;
    };

/** The outcome of a call, for a {@link MessageSend} and a {@link DestinationProbe}. */
export interface SendFinished {
  readonly type: 'send_finished';
  readonly call: number;
  /** What a call about an event was about: its success counts however late it is known. */
  readonly event?: { readonly id: string; readonly groupId: PublicId };
  readonly outcome: SendOutcome;
  /** When the answer came, µs. */
  readonly at: Micros;
}

/** What a template webhook learned before its call failed; it is kept as if it had succeeded. */
interface Learned {
  readonly values?: Readonly<Record<string, string>>;
  readonly threadRef?: string;
}

/** Errors are masked. */
export type SendOutcome =
  | SendAccepted
  | (SendFailed & Learned)
  /** The hash is the actual one: no call was made, and its token is given back. */
  | { readonly class: 'unchanged' }
  /** No call was made: a Quiet reply none of whose Alerts fires any more, or an event that has ended. */
  | { readonly class: 'dropped' }
  /** No request was made: what it needs could not be read, or it goes back in line to be decided anew. */
  | { readonly class: 'not_sent'; readonly because: 'unreadable' | 'put_back' }
  /** No request was made: the service failed at it. */
  | { readonly class: 'not_sent'; readonly because: 'defect'; readonly error: string }
  /** No request was made: a reply waits for something that the messenger still has to tell, at most until then. */
  | { readonly class: 'not_sent'; readonly because: 'not_yet'; readonly until: Micros };

export type SendFailed =
  | {
      readonly class: 'retry_after';
      readonly until: Micros;
      /** What has to wait. `delivery`: calls about the same Alert Group alone. */
      readonly scope: 'connection' | 'destination' | 'delivery';
      readonly error: string;
      /** So long that the Destination is Broken meanwhile, with `error` as its reason. */
      readonly breaks?: boolean;
    }
  /** `unsure`: the request was written, and nobody knows what became of it. */
  | { readonly class: 'transient'; readonly error: string; readonly unsure: boolean }
  | { readonly class: 'fatal'; readonly error: string }
  /** `unsure`: it may be done, and the answer was not understood, or the service failed at it. */
  | { readonly class: 'unknown'; readonly error: string; readonly unsure?: boolean }
  | { readonly class: 'gone'; readonly error: string }
  | { readonly class: 'edit_window_closed'; readonly error: string }
  /**
   * `request`: which of a webhook's requests does not render: events, create, update, open_thread or reply_in_thread.
   */
  | { readonly class: 'template_error'; readonly error: string; readonly request: string };

/** A probe that passed has neither message nor hash. */
export interface SendAccepted {
  readonly class: 'ok';
  /** Of a new message or reply; null for an edit and a probe, and where the type has none. */
  readonly messageId: string | null;
  /** Null: not told, the known one stays. */
  readonly threadRef: string | null;
  readonly messageUrl: string | null;
  /** Of the state that was sent; null for a reply and a probe. */
  readonly hash: string | null;
  /** The messenger knew the key: the message may show an older state. */
  readonly replayed: boolean;
  /** New values of a template webhook, to be kept beside the earlier ones. */
  readonly values: Readonly<Record<string, string>>;
  /** From when on the message can be edited no more, µs; null without such a limit. */
  readonly editableUntil: Micros | null;
  /** The master key that signed its buttons; null without buttons, and for what has none. */
  readonly signedWith: string | null;
  /** Extraction rules of a template webhook that found nothing. */
  readonly missing?: readonly string[];
  /** Why the Route's template failed: the message shows the Fallback. */
  readonly fallback?: string;
  /** Where a reply is: below its message, or beside it because there is no way below. */
  readonly thread?: 'attached' | 'unattached';
  /** The messenger took it without its markup only. */
  readonly markupRejected?: boolean;
  /** Found, not sent: earlier attempts posted it more than once. */
  readonly isDuplicate?: boolean;
}

/** What an accepted call says unless the channel learned more. */
export const ACCEPTED = {
  ...{ class: 'ok', messageId: null, threadRef: null, messageUrl: null, hash: null, replayed: false },
  ...{ values: {}, editableUntil: null, signedWith: null },
} as const satisfies SendAccepted;

/** Another side that a token opens, and the way there. */
export interface TokenAccess {
  /** Null: a check of something that is not saved. */
  readonly connectionId: PublicId | null;
  /** Whose sockets are used. */
  readonly owner: string;
  /** Sent to the address of its Connection and nowhere else; null: a request without a token. */
  readonly token: string | null;
  readonly proxy: ProxyRoute | null;
  /** What no call needs, or nobody else may read; masked, since an answer may contain it. */
  readonly otherSecrets?: readonly string[];
  /** Changes with the address and the token. */
  readonly credentials: string;
}

export interface TokenCallOptions {
  readonly class: Exclude<RequestClass, 'heartbeat'>;
  /** 1 for the first request of this event, poll or step. */
  readonly attempt?: number;
  /** The check, test or probe that it is part of; only a probe has no run. */
  readonly check?: { readonly as: RequestCheck; readonly run: PublicId | null };
  /** The Destination that it is made for, and the Alert Group. */
  readonly destinationId?: PublicId | null;
  readonly alertGroupId?: PublicId | null;
  /** Shown what was sent and answered, masked, when there was anything. */
  readonly observe?: (record: RequestRecord) => void;
  /** Asked right before the first byte is sent. */
  readonly mayBegin?: () => boolean;
}

export interface TokenRequest {
  readonly operation: string;
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly url: URL;
  readonly headers: HeaderList;
  /** Sent as JSON; null: no body. */
  readonly body: unknown;
  readonly timeout: Micros;
  readonly answerLimit: number;
  /** What an answer comes to that is too large or no HTTP. */
  readonly unreadable: 'transient' | 'unknown';
}

/**
 * Makes one call of JSON with a token, and masks every secret of its owner in what is kept of it.
 * @param judge what an answer that is no redirect means, and its verdict for metrics and the Request log
 * @returns `outcome`: null when there was no answer to judge; `status` is that of an answer
 */
export async function callWithToken<Outcome>(
  caller: OutboundCaller,
  { connectionId, owner, token, proxy, otherSecrets = [], credentials }: TokenAccess,
  { operation, body, unreadable, ...request }: TokenRequest,
  options: TokenCallOptions,
  judge: (answer: OutboundAnswer, context: VerdictContext) => { outcome: Outcome; verdict: Verdict },
): Promise<{ outcome: Outcome | null; verdict: Verdict; status: number | null }> {
  let outcome: Outcome | null = null;
  const { result, verdict } = await caller.call({
    request: {
      ...{ ...request, owner, credentials, proxy, class: options.class },
      body: body === null ? null : Buffer.from(JSON.stringify(body), 'utf8'),
      ...(options.mayBegin ? { mayBegin: options.mayBegin } : {}),
    },
    secrets: [token, proxy?.password, ...otherSecrets].filter((secret) => typeof secret === 'string'),
    mapping: {
      status: () => 'unknown',
      unreadable,
      answer(answer, context) {
        const judged = judge(answer, context);
        outcome = judged.outcome;
        return judged.verdict;
      },
    },
    about: {
      operation,
      connectionId,
      attempt: options.attempt ?? 1,
      destinationId: options.destinationId ?? null,
      alertGroupId: options.alertGroupId ?? null,
      check: options.check?.as ?? null,
      checkRun: options.check?.run ?? null,
    },
    ...(options.observe ? { observe: options.observe } : {}),
  });
  return { outcome, verdict, status: result.kind === 'answer' ? result.status : null };
}
