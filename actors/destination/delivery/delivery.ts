/**
 * One delivery: how an Alert Group, or the summary of a Storm, stands at one Destination (delivery §1). Plain data that
 * is stored as it is; whoever changes it makes a new one. What may be done with it now is in `work.ts`.
 */
import type { Micros } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { type ReplyCall, type SendNotes, type Subject, subjectText } from '../../channels/calls.ts';
import type { GroupStatus, LifecycleEventName, Loudness, SymbolicMention, UserRef } from '../../model.ts';

/** A group that is open, resolved, or a Storm that lasts or is over. */
export type SubjectStatus = GroupStatus | 'storm' | 'storm_over';

export interface Delivery {
  readonly subject: Subject;
  /** Which target of the Destination: it is raised when the Destination is pointed elsewhere. */
  readonly target: number;
  /** The Connection of that target; null for a webhook. */
  readonly connectionId: PublicId | null;
  /** The present Route of the group as of the newest event; of a Storm, its Route. */
  readonly routeId: PublicId;
  /** #N; null until it is known here, and for a Storm. */
  readonly number: number | null;
  readonly urgent: boolean;
  readonly status: SubjectStatus;
  /** Time of the newest event applied, µs. */
  readonly changedAt: Micros;
  /** Budgets count from this recovery of the Destination on, or from the beginning of the delivery. */
  readonly renewedAt: Micros;
  /** Where the statechart of `machine.ts` stands. */
  readonly root: RootState;
  readonly thread: ThreadState;
  /** The Publication that is wanted, under way, or came to nothing. */
  readonly post: Post | null;
  /** Since when the message does not show what it should. During a call: what changed since the call began. */
  readonly editSince: Micros | null;
  /** It left this Destination: its next edit is the last one. */
  readonly leaving: boolean;
  /** What stands in the messenger; null while nothing does. */
  readonly message: PostedMessage | null;
  /** Number of the last Publication that was wanted, from 1; 0 before the first. */
  readonly publication: number;
  readonly notes: SendNotes;
  /** It was published again once after its message was deleted. */
  readonly republished: boolean;
  /** Why the last call came to nothing; null unless it is Not delivered. Masked. */
  readonly failed: string | null;
  readonly tries: Tries;
  /** The one call that is under way. */
  readonly call: Flight | null;
  /** What is still to be said under the message, in order. */
  readonly replies: readonly QueuedReply[];
  /** End of the Thread batching window, µs; 0 before the first batch. */
  readonly windowEnd: Micros;
  readonly possibleDuplicate: boolean;
  readonly threadNotAttached: boolean;
  /** What a template webhook took from answers. */
  readonly values: Readonly<Record<string, string>>;
  /** Events mode: what waits, in order, the first being the next to be sent. Null for messages. */
  readonly events: readonly QueuedEvent[] | null;
}

/** An event of an events-mode webhook that waits or is being sent (webhooks §3.2). */
export interface QueuedEvent {
  /** The `webhook-id`. */
  readonly id: string;
  readonly sequence: number;
  readonly event: LifecycleEventName;
  readonly urgent: boolean;
  readonly occurredAt: Micros;
  /** Calls begun since it was recorded; the number of the newest, by which its outcome is known. */
  readonly calls: number;
}

export type RootState =
  | 'held.unjudged'
  | 'held.storm'
  | 'wanted'
  | 'publishing'
  | 'current'
  | 'stale'
  | 'editing'
  | 'frozen'
  | 'not_delivered'
  | 'withheld.storm'
  | 'withheld.broken'
  | 'withheld.left'
  | 'retired'
  | 'deleted_there';

export type ThreadState = 'silent' | 'collecting' | 'due' | 'replying';

export interface Post {
  readonly loudness: Loudness;
  readonly mentions: readonly SymbolicMention[];
  /** Whom the Mention `owner` names; left out in what an earlier version stored. */
  readonly owner?: UserRef | null;
  readonly cause: 'created' | 'joined' | 'released' | 'reopened' | 'deleted' | 'continued';
  /** A failed Publication or a recovery came in between: Loud only while the group fires. */
  readonly again: boolean;
  readonly since: Micros;
}

export interface PostedMessage {
  /** The messenger's; empty where the type has none. */
  readonly id: string;
  readonly threadRef: string | null;
  readonly url: string | null;
  /** Of the state that the messenger accepted last; null when that is not known. */
  readonly hash: string | null;
  readonly postedAt: Micros;
  /** When the messenger accepted the last edit; absent before the first. */
  readonly editedAt?: Micros;
  readonly publication: number;
  /** What it shows. */
  readonly status: SubjectStatus;
  /** From when on it is not edited any more, µs; 0 when the messenger refused an edit for that. */
  readonly editableUntil: Micros | null;
  /** The master key that signed its buttons; null without buttons. */
  readonly signedWith: string | null;
  /** The Route's template failed when it was sent last. */
  readonly showsFallback?: boolean;
}

/** Attempts of one intent: a Publication, an edit or a reply. */
export interface Tries {
  /** Failed ones since the budget began. */
  readonly attempts: number;
  readonly firstFailedAt: Micros | null;
  /** Not to be tried before, µs; 0 when nothing holds it. */
  readonly notBefore: Micros;
  /** `notBefore` is what the receiver of an event asked for, and outlives a recovery. */
  readonly exact?: boolean;
  /** Of the last failed attempt, masked. */
  readonly error: string | null;
  /** Start of the first attempt of which nobody knows what became. */
  readonly unsureSince: Micros | null;
  /** Times in a row that what is needed for it could not be read. */
  readonly unread: number;
}

export const NO_TRIES: Tries = {
  attempts: 0,
  firstFailedAt: null,
  notBefore: 0,
  error: null,
  unsureSince: null,
  unread: 0,
};

export interface Flight {
  readonly call: number;
  readonly kind: 'publish' | 'edit' | 'reply';
  /** The message that is edited or answered to. */
  readonly messageId: string | null;
  /** Which reply. */
  readonly sequence: number | null;
  /** What the message will show. */
  readonly status: SubjectStatus;
  readonly isFinal: boolean;
  readonly isProbe: boolean;
  /** Took a token of the delivery's Connection. */
  readonly tookToken: boolean;
  /** Of a Publication or reply, as it goes out. */
  readonly loudness: Loudness;
  /** Of a Publication, as it goes out; left out in what an earlier version stored, and for other calls. */
  readonly mentions?: readonly SymbolicMention[];
  readonly startedAt: Micros;
  /** Without an outcome until then it is lost. */
  readonly lostAt: Micros;
}

export interface QueuedReply extends Omit<ReplyCall, 'at'> {
  /** Left out in what an earlier version stored. */
  readonly at?: Micros;
  readonly due: Micros;
  readonly tries: Tries;
}

export const NO_SEND_NOTES: SendNotes = { late: false, deletedAt: null, continued: false };

/** A delivery of which nothing but its subject is known. */
export function newDelivery(
  first: Pick<
    Delivery,
    | 'subject'
    | 'target'
    | 'connectionId'
    | 'routeId'
    | 'number'
    | 'urgent'
    | 'status'
    | 'changedAt'
    | 'renewedAt'
  > &
    Partial<Pick<Delivery, 'root' | 'events'>>,
): Delivery {
  return {
    root: 'held.unjudged',
    events: null,
    ...first,
    thread: 'silent',
    post: null,
    editSince: null,
    leaving: false,
    message: null,
    publication: 0,
    notes: NO_SEND_NOTES,
    republished: false,
    failed: null,
    tries: NO_TRIES,
    call: null,
    replies: [],
    windowEnd: 0,
    possibleDuplicate: false,
    threadNotAttached: false,
    values: {},
  };
}

export type DeliveryState =
  | 'pending'
  | 'delivered'
  | 'not_delivered'
  | 'deleted_in_messenger'
  | 'withheld'
  | 'retired';

/** As it is shown, but for a Broken Destination (delivery §11). */
export function stateOf(delivery: Delivery): DeliveryState {
  const { root, replies } = delivery;
  if (root === 'deleted_there') return 'deleted_in_messenger';
  if (root === 'retired' || root === 'not_delivered') return root;
  if (isWithheld(root)) return 'withheld';
  if (root !== 'current' && root !== 'frozen') return 'pending';
  return replies.some(({ tries }) => tries.error !== null) ? 'pending' : 'delivered';
}

function isWithheld(root: RootState): boolean {
  return root === 'withheld.storm' || root === 'withheld.broken' || root === 'withheld.left';
}

/** Over for good, but for a return to the Route or a Reopen. */
export function isOver({ root }: Pick<Delivery, 'root'>): boolean {
  return root === 'retired' || root === 'deleted_there' || isWithheld(root);
}

/** The Route has not judged the group yet, or a Storm of it holds the group back. */
export function isHeld({ root }: Pick<Delivery, 'root'>): boolean {
  return root === 'held.unjudged' || root === 'held.storm';
}

/** The error that is shown: of what failed for good, or of the last failed attempt while it is pending. */
export function errorOf(delivery: Delivery): string | null {
  if (delivery.failed !== null) return delivery.failed;
  if (stateOf(delivery) !== 'pending') return null;
  return (
    delivery.tries.error ?? delivery.replies.find(({ tries }) => tries.error !== null)?.tries.error ?? null
  );
}

export function isOpenSubject({ status }: Pick<Delivery, 'status'>): boolean {
  return status !== 'resolved' && status !== 'storm_over';
}

/** The group has a problem here (`delivery_problem`). */
export function isProblem(delivery: Delivery, broken: boolean): boolean {
  if (delivery.threadNotAttached) return true;
  const state = stateOf(delivery);
  if (state === 'pending') return broken;
  return state === 'not_delivered' || state === 'deleted_in_messenger';
}

/** Whether it has to be in memory: something is to be done, by itself or with an answer. */
export function isWanted(delivery: Delivery): boolean {
  const { root, call, message, replies } = delivery;
  if (call || root === 'wanted' || root === 'stale') return true;
  if (isOver(delivery) || isHeld(delivery)) return false;
  return replies.length > 0 && (root !== 'not_delivered' || message !== null);
}

/** What names a delivery among those of its Destination. */
export function deliveryKey({
  subject,
  target,
  events = null,
}: Pick<Delivery, 'subject' | 'target'> & Partial<Pick<Delivery, 'events'>>): string {
  if (events) return `${subjectText(subject)}/events`;
  return `${subjectText(subject)}/${target}`;
}

/** The attempts of what a call was about: of the Root message, or of one reply. Pure. */
export function retried(delivery: Delivery, flight: Flight, change: (tries: Tries) => Tries): Delivery {
  if (flight.kind !== 'reply') return { ...delivery, tries: change(delivery.tries) };
  const replies = delivery.replies.map((reply) =>
    reply.sequence === flight.sequence ? { ...reply, tries: change(reply.tries) } : reply,
  );
  return { ...delivery, replies };
}

export function triesOf(delivery: Delivery, flight: Flight): Tries {
  return flight.kind === 'reply' ? (replyOf(delivery, flight)?.tries ?? NO_TRIES) : delivery.tries;
}

export function replyOf(delivery: Delivery, { sequence }: Flight): QueuedReply | undefined {
  return delivery.replies.find((reply) => reply.sequence === sequence);
}

export function withoutReply(delivery: Delivery, { sequence }: Flight): Delivery {
  return { ...delivery, replies: delivery.replies.filter((reply) => reply.sequence !== sequence) };
}

/** An edit may have arrived without an answer: nobody knows what the message shows, so that no edit can be left out. */
export function unsureEdit(delivery: Delivery, { kind, messageId }: Flight): Delivery {
  const { message } = delivery;
  return kind === 'edit' && message?.id === messageId
    ? { ...delivery, message: { ...message, hash: null } }
    : delivery;
}

/** A delivery of messages as it is stored (events are rows of their own): with what a replica of the version before reads, and writes, in place of the states. */
export type StoredDelivery = Omit<Delivery, 'root' | 'thread' | 'events'> &
  Partial<Pick<Delivery, 'root' | 'thread'>> &
  Flags;

interface Flags {
  readonly hold: 'unjudged' | 'storm' | null;
  readonly frozen: boolean;
  readonly ended:
    | { readonly as: 'withheld'; readonly because: 'storm' | 'broken' | 'left' }
    | { readonly as: 'retired' | 'deleted_in_messenger' }
    | null;
}

export function toStored({ events: _, ...delivery }: Delivery): StoredDelivery {
  const [, hold = null] = /^held\.(unjudged|storm)$/.exec(delivery.root) ?? [];
  const frozen = delivery.message?.editableUntil === 0;
  return { ...delivery, hold: hold as Flags['hold'], frozen, ended: endedAs(delivery.root) };
}

function endedAs(root: RootState): Flags['ended'] {
  switch (root) {
    case 'withheld.storm':
      return { as: 'withheld', because: 'storm' };
    case 'withheld.broken':
      return { as: 'withheld', because: 'broken' };
    case 'withheld.left':
      return { as: 'withheld', because: 'left' };
    case 'deleted_there':
      return { as: 'deleted_in_messenger' };
    default:
      return root === 'retired' ? { as: 'retired' } : null;
  }
}

/** The states follow from the rest, which a replica of the version before may have changed last. */
export function fromStored(stored: StoredDelivery): Delivery {
  const { hold: _hold, frozen, ended: _ended, message, replies, call } = stored;
  const { hold: _, frozen: __, ended: ___, ...kept } = stored;
  const waiting = replies.length > 0 ? 'due' : 'silent';
  return {
    ...kept,
    events: null,
    message: message && frozen ? { ...message, editableUntil: 0 } : message,
    root: rootOf(stored),
    thread: call?.kind === 'reply' ? 'replying' : waiting,
  };
}

function rootOf({
  ended,
  hold,
  failed,
  call,
  post,
  editSince,
  frozen,
  leaving,
  message,
}: StoredDelivery): RootState {
  if (ended) {
    if (ended.as === 'withheld') return `withheld.${ended.because}`;
    return ended.as === 'retired' ? 'retired' : 'deleted_there';
  }
  if (hold) return `held.${hold}`;
  if (failed !== null) return 'not_delivered';
  if (post) return call?.kind === 'publish' ? 'publishing' : 'wanted';
  if (call?.kind === 'edit') return 'editing';
  if (editSince !== null || leaving) return 'stale';
  if (!message) return 'held.unjudged';
  return frozen ? 'frozen' : 'current';
}
