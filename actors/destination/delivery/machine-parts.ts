/** Guards and actions of the delivery's statechart, by the names that the diagram shows (delivery §11.1). */
import { assign, setup } from 'xstate';
import type { Micros } from '../../../runtime/clock.ts';
import {
  type Delivery,
  type Flight,
  isOpenSubject,
  NO_SEND_NOTES,
  NO_TRIES,
  type Post,
  type PostedMessage,
  type QueuedEvent,
} from './delivery.ts';

/** A Publication that becomes wanted. */
export interface Wish extends Pick<Post, 'loudness' | 'mentions' | 'owner'> {
  /** The Destination is Broken. */
  readonly isBroken: boolean;
}

export type DeliveryEvent = { readonly now: Micros } & (
  | ({ readonly type: 'judged_free' | 'released' | 'joined' | 'reopened' } & Wish)
  | { readonly type: 'judged_held' }
  /** It may show something else. */
  | { readonly type: 'changed' }
  /** It was left unpublished while the Destination was Broken. */
  | { readonly type: 'withhold' }
  | { readonly type: 'left' | 'gone' | 'window_closed' }
  | {
      readonly type: 'publish_began' | 'edit_began' | 'reply_began';
      readonly call: Flight;
      readonly notes: Delivery['notes'];
    }
  /** Events mode: one more event waits. */
  | { readonly type: 'recorded'; readonly event: QueuedEvent }
  /** Events mode: the receiver took the first event. */
  | { readonly type: 'event_taken' }
  | { readonly type: 'published'; readonly message: PostedMessage; readonly isReplayed: boolean }
  /** The messenger took an edit, or shows already what it would have shown. */
  | { readonly type: 'edited'; readonly flight: Flight; readonly shown: PostedMessage | null }
  /** The call came to nothing and is made again. */
  | { readonly type: 'put_back'; readonly flight: Flight }
  | { readonly type: 'not_delivered' | 'given_up'; readonly error: string }
  /** The queue of replies, or what is known of their attempts, is another one. */
  | { readonly type: 'reply_queued' | 'reply_over' | 'replies_dropped' }
);

type Args = { readonly context: Delivery; readonly event: DeliveryEvent };

function expected<Type extends DeliveryEvent['type']>(
  event: DeliveryEvent,
  ...types: readonly Type[]
): Extract<DeliveryEvent, { type: Type }> {
  if (!types.some((type) => type === event.type)) throw new Error(`unexpected event ${event.type}`);
  return event as Extract<DeliveryEvent, { type: Type }>;
}

const CAUSES = {
  judged_free: 'created',
  released: 'released',
  joined: 'joined',
  reopened: 'reopened',
} as const satisfies Partial<Record<DeliveryEvent['type'], Post['cause']>>;

/** Past its edit window at `now`, a margin before the messenger refuses. */
export function isPastWindow({ message }: Pick<Delivery, 'message'>, now: Micros): boolean {
  return message?.editableUntil != null && now > message.editableUntil;
}

/** Resolved before it was ever published, with nothing visible in the messenger. */
export function isUnseen({
  status,
  message,
  call,
  tries,
  republished,
}: Pick<Delivery, 'status' | 'message' | 'call' | 'tries' | 'republished'>): boolean {
  return status === 'resolved' && !message && !republished && !call && tries.unsureSince === null;
}

const leaves = ({ context }: Args): boolean => isOpenSubject(context) && !context.leaving;
const isNotLeaving = ({ context }: Args): boolean => !context.leaving;
const pastWindow = ({ context, event }: Args): boolean =>
  !context.leaving && isPastWindow(context, event.now);
const showsStatus = ({ context }: Args): boolean => context.status === context.message?.status;
const isReplying = ({ context }: Args): boolean => context.call?.kind === 'reply';
const isReplyDue = ({ context, event }: Args): boolean => context.replies.some(({ due }) => due <= event.now);
const hasReplies = ({ context }: Args): boolean => context.replies.length > 0;

/** A Publication of this cause is wanted from now on. */
function wish(context: Delivery, post: Omit<Post, 'since'>, now: Micros): Partial<Delivery> {
  return { post: { ...post, since: now }, publication: context.publication + 1 };
}

const NOTHING_THERE = {
  ...{ message: null, editSince: null, failed: null, tries: NO_TRIES, windowEnd: 0, values: {} },
} as const;

/** As Urgent as the event that is sent next. */
function withEvents({ urgent }: Delivery, events: readonly QueuedEvent[]): Partial<Delivery> {
  return { events, urgent: events[0]?.urgent ?? urgent };
}

const QUIET = { loudness: 'quiet', mentions: [], again: false } as const;

/**
 * A failed Publication starts afresh with the Mentions that it had (delivery §7.2). It is Loud only while the group
 * fires, which has no Owner then.
 */
function afresh({ post, tries }: Delivery): Partial<Delivery> {
  const again = post && { ...post, again: true };
  return {
    failed: null,
    tries: { ...NO_TRIES, unsureSince: tries.unsureSince },
    post: again?.mentions.includes('owner') ? recoveredPost(again) : again,
  };
}

/** After a recovery a Loud one is a new Alert Group to those who read it (delivery §2.1). */
export function recoveredPost<Wanted extends Omit<Post, 'since'>>(post: Wanted): Wanted {
  return { ...post, again: true, mentions: post.mentions.length > 0 ? ['new_alert_group'] : [] };
}

export const parts = setup({
  types: { context: {} as Delivery, events: {} as DeliveryEvent, input: {} as Delivery },
  guards: {
    isResolved: ({ context }) => context.status === 'resolved',
    isUnseen: ({ context }) => isUnseen(context),
    /** The group was found when the Destination joined the Route, before the Route's message arrived. */
    isUnbegunJoin: ({ context }) => context.post?.cause === 'joined' && !context.call,
    /** A last edit is wanted, or a message whose fate nobody knows yet is not wanted here any more. */
    isLeaving: ({ context }) => context.leaving,
    isNotLeaving,
    leftUnpublished: ({ context }) => context.leaving && context.post !== null,
    leaves,
    leavesMessage: (args) => leaves(args) && args.context.message !== null,
    /** What stands there cannot be edited: a continuation of it was wanted. */
    leavesShown: (args) => leaves(args) && args.context.message !== null && args.context.post !== null,
    /** A Publication may have arrived, or may arrive yet: it gets its last edit then. */
    leavesUnsure: (args) => {
      const { message, call, tries, connectionId } = args.context;
      return (
        leaves(args) && !message && (call !== null || (tries.unsureSince !== null && connectionId !== null))
      );
    },
    isAbandoned: ({ context }) => context.leaving && !context.message && context.tries.unsureSince === null,
    isAbandonedContinuation: ({ context }) =>
      context.leaving && context.message !== null && context.tries.unsureSince === null,
    isNotReplaced: ({ context }) => !isOpenSubject(context) || context.republished,
    isNews: ({ context }) => !context.leaving && context.editSince === null,
    /** It changed while it was published, or the messenger may show what an earlier attempt told it. */
    isBehind: ({ context, event }) =>
      context.leaving || context.editSince !== null || expected(event, 'published').isReplayed,
    hasChanged: ({ context }) => context.editSince !== null,
    wasLastEdit: ({ context, event }) => context.leaving && expected(event, 'edited').flight.isFinal,
    isPastWindow: pastWindow,
    isFrozenAsIs: (args) => pastWindow(args) && showsStatus(args),
    showsStatus,
    showsOtherStatus: (args) => !showsStatus(args),
    hasMoreEvents: ({ context }) => (context.events?.length ?? 0) > 1,
    hasNews: ({ context }) => context.editSince !== null && context.post !== null && !context.leaving,
    hasPost: ({ context }) => context.post !== null && !context.leaving,

    repliesNow: isReplying,
    hasReply: hasReplies,
    hasDueReply: isReplyDue,
    hasNoReply: (args) => !hasReplies(args),
    hasOnlyLater: (args) => hasReplies(args) && !isReplyDue(args),
    repliedDue: (args) => !isReplying(args) && isReplyDue(args),
    repliedLater: (args) => !isReplying(args) && hasReplies(args),
    repliedAll: (args) => !isReplying(args),
  },
  actions: {
    wantPublication: assign(({ context, event }) => {
      const { type, loudness, mentions, owner, isBroken, now } = expected(
        event,
        'judged_free',
        'released',
        'joined',
        'reopened',
      );
      const post = { loudness, mentions, owner: owner ?? null, cause: CAUSES[type], again: false } as const;
      return wish(context, isBroken ? recoveredPost(post) : post, now);
    }),
    relabelPublication: assign(({ context: { post }, event }) => {
      const { loudness, mentions } = expected(event, 'judged_free');
      return { post: post && { ...post, cause: 'created' as const, loudness, mentions } };
    }),
    unwantPublication: assign(({ context }) => ({
      post: null,
      publication: context.publication - 1,
      replies: [],
    })),
    wantReplacement: assign(({ context, event }) => ({
      ...NOTHING_THERE,
      republished: true,
      notes: { ...NO_SEND_NOTES, deletedAt: event.now },
      ...wish(context, { ...QUIET, cause: 'deleted' }, event.now),
    })),
    wantContinuation: assign(({ context, event }) => ({
      notes: { ...NO_SEND_NOTES, continued: true },
      failed: null,
      tries: NO_TRIES,
      ...wish(context, { ...QUIET, cause: 'continued' }, event.now),
    })),
    forgetMessage: assign({ ...NOTHING_THERE, notes: NO_SEND_NOTES, republished: false, replies: [] }),
    /** Nothing edits the message any more (delivery §9 rule 3). */
    freeze: assign(({ context: { message } }) => ({
      message: message && { ...message, editableUntil: 0 },
      editSince: null,
      tries: NO_TRIES,
    })),
    /** Since when the message does not show what it should. */
    wantEdit: assign(({ context, event }) => ({
      editSince: context.editSince ?? (event.type === 'put_back' ? event.flight.startedAt : event.now),
    })),
    noteCall: assign(({ context, event }) => {
      const { type, call, notes } = expected(event, 'publish_began', 'edit_began', 'reply_began');
      return { call, notes, editSince: type === 'reply_began' ? context.editSince : null };
    }),
    notePublished: assign(({ event }) => ({
      message: expected(event, 'published').message,
      post: null,
      failed: null,
      tries: NO_TRIES,
    })),
    noteShown: assign(({ context: { message }, event }) => {
      const { flight, shown } = expected(event, 'edited');
      if (!message || message.id !== flight.messageId) return {};
      return { message: { ...(shown ?? message), status: flight.status }, failed: null, tries: NO_TRIES };
    }),
    fail: assign(({ context, event }) => ({
      failed: expected(event, 'not_delivered', 'given_up').error,
      editSince: null,
      tries: { ...NO_TRIES, unsureSince: context.tries.unsureSince },
      replies: context.message ? context.replies : [],
    })),
    startAfresh: assign(({ context }) => afresh(context)),
    forgetChange: assign({ editSince: null }),
    dropReplies: assign({ replies: [] }),
    addEvent: assign(({ context, event }) => {
      const events = [...(context.events ?? []), expected(event, 'recorded').event];
      return { ...withEvents(context, events), failed: null };
    }),
    endEvent: assign(({ context }) => {
      const { events } = context;
      return events ? { ...withEvents(context, events.slice(1)), tries: NO_TRIES } : {};
    }),
    dropEvents: assign(({ context }) => (context.events ? { events: [] } : {})),
    leave: assign(({ event }) => ({
      ...{ post: null, replies: [], failed: null, tries: NO_TRIES },
      ...{ leaving: true, editSince: event.now },
    })),
    leaveUnsure: assign({ leaving: true, replies: [], failed: null }),
    stay: assign({ leaving: false, editSince: null }),
    comeBack: assign(({ event }) => ({ leaving: false, editSince: event.now })),
    end: assign({
      ...{ post: null, editSince: null, leaving: false, failed: null, tries: NO_TRIES, replies: [] },
    }),
  },
});
