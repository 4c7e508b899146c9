/**
 * One delivery as a statechart (delivery §11.1): how the message of an Alert Group, or of a Storm, stands at one
 * Destination, and beside it what is to be said in its Thread. Steps are taken by {@link step} without a live actor;
 * the parts that the chart names are in `machine-parts.ts`.
 */
import type { SnapshotFrom } from 'xstate';
import { step } from '../../../runtime/actor/index.ts';
import type { Delivery, RootState, ThreadState } from './delivery.ts';
import { type DeliveryEvent, parts } from './machine-parts.ts';

/** Its message was deleted in the messenger: an open one is published again, once. */
const replaced = [
  { guard: 'isNotReplaced', target: 'deleted_there', actions: 'end' },
  { target: 'wanted', actions: 'wantReplacement' },
] as const;
/** The same where it may be waiting for its last edit. */
const gone = [{ guard: 'isLeaving', target: 'retired', actions: 'end' }, ...replaced] as const;

/** An event was taken; the next of the Alert Group may follow it. */
const eventTaken = [
  { guard: 'hasMoreEvents', target: 'wanted', actions: 'endEvent' },
  { target: 'current', actions: 'endEvent' },
] as const;

/** The messenger edits it no more. */
const closed = [
  { guard: 'isLeaving', target: 'retired', actions: 'end' },
  { guard: 'showsStatus', target: 'frozen', actions: 'freeze' },
  { target: 'wanted', actions: ['freeze', 'wantContinuation'] },
] as const;

const lastEdit = { guard: 'leaves', target: 'stale', actions: 'leave' } as const;
const comesBack = { guard: 'isLeaving', actions: 'comeBack' } as const;
const givenUp = { target: 'not_delivered', actions: ['dropReplies', 'dropEvents', 'fail'] } as const;
/** Events mode. */
const recorded = { actions: 'addEvent' } as const;
const recordedAnew = { target: 'wanted', actions: 'addEvent' } as const;
const wantedAnew = {
  target: '#delivery.root.wanted',
  actions: ['forgetMessage', 'wantPublication'],
} as const;

/** A call was under way when it ended, and is answered now. */
const late = { published: { actions: 'notePublished' }, edited: { actions: 'noteShown' } } as const;

/** What follows from the queue of replies, whatever changed it. */
const thread = {
  replying: { guard: 'repliesNow', target: 'replying' },
  due: { guard: 'hasDueReply', target: 'due' },
  collecting: { guard: 'hasReply', target: 'collecting' },
  silent: { guard: 'hasNoReply', target: 'silent' },
} as const;

export const deliveryMachine = parts.createMachine({
  id: 'delivery',
  context: ({ input }) => input,
  type: 'parallel',
  states: {
    root: {
      initial: 'held',
      states: {
        held: {
          initial: 'unjudged',
          on: {
            released: [
              { guard: 'isResolved', target: 'withheld.storm', actions: 'end' },
              { target: 'wanted', actions: 'wantPublication' },
            ],
            left: { guard: 'leaves', target: 'withheld.left', actions: 'end' },
          },
          states: {
            /** The Route has not said yet whether a Storm holds it. */
            unjudged: {
              on: {
                judged_free: { target: '#delivery.root.wanted', actions: 'wantPublication' },
                judged_held: { target: 'storm', actions: 'dropReplies' },
                joined: { target: '#delivery.root.wanted', actions: 'wantPublication' },
                reopened: { target: '#delivery.root.wanted', actions: 'wantPublication' },
              },
            },
            storm: {},
          },
        },
        /** A Publication is to be made. */
        wanted: {
          on: {
            judged_free: { guard: 'isUnbegunJoin', actions: 'relabelPublication' },
            judged_held: { guard: 'isUnbegunJoin', target: 'held.storm', actions: 'unwantPublication' },
            withhold: { guard: 'isUnseen', target: 'withheld.broken', actions: 'end' },
            publish_began: { target: 'publishing', actions: 'noteCall' },
            left: [
              { guard: 'leavesShown', target: 'retired', actions: 'end' },
              { guard: 'leavesUnsure', actions: 'leaveUnsure' },
              { guard: 'leaves', target: 'withheld.left', actions: 'end' },
            ],
            joined: { guard: 'isLeaving', actions: 'stay' },
            gone: replaced,
            given_up: givenUp,
            recorded,
            event_taken: eventTaken,
            published: { target: 'stale', actions: ['notePublished', 'wantEdit'] },
          },
        },
        publishing: {
          on: {
            changed: { guard: 'isNews', actions: 'wantEdit' },
            published: [
              { guard: 'isBehind', target: 'stale', actions: ['notePublished', 'wantEdit'] },
              { target: 'current', actions: 'notePublished' },
            ],
            put_back: [
              { guard: 'isAbandoned', target: 'withheld.left', actions: 'end' },
              { guard: 'isAbandonedContinuation', target: 'retired', actions: 'end' },
              { target: 'wanted' },
            ],
            not_delivered: [
              { guard: 'hasMoreEvents', target: 'wanted', actions: 'endEvent' },
              { guard: 'hasNews', target: 'wanted', actions: ['startAfresh', 'forgetChange'] },
              { target: 'not_delivered', actions: ['endEvent', 'fail'] },
            ],
            given_up: givenUp,
            recorded,
            event_taken: eventTaken,
            left: { guard: 'leaves', actions: 'leaveUnsure' },
            joined: comesBack,
            gone: replaced,
          },
        },
        /** The message shows what it should. */
        current: {
          on: {
            changed: [
              { guard: 'isFrozenAsIs', target: 'frozen', actions: 'freeze' },
              { guard: 'isPastWindow', target: 'wanted', actions: ['freeze', 'wantContinuation'] },
              { target: 'stale', actions: 'wantEdit' },
            ],
            left: lastEdit,
            gone: replaced,
            given_up: givenUp,
            recorded: recordedAnew,
          },
        },
        /** An edit is to be made. */
        stale: {
          on: {
            changed: [
              { guard: 'isFrozenAsIs', target: 'frozen', actions: 'freeze' },
              { guard: 'isPastWindow', target: 'wanted', actions: ['freeze', 'wantContinuation'] },
            ],
            edit_began: { target: 'editing', actions: 'noteCall' },
            window_closed: closed,
            left: { guard: 'leaves', actions: 'leave' },
            joined: comesBack,
            gone,
            given_up: givenUp,
          },
        },
        editing: {
          on: {
            changed: { guard: 'isNews', actions: 'wantEdit' },
            edited: [
              { guard: 'wasLastEdit', target: 'retired', actions: ['noteShown', 'end'] },
              { guard: 'hasChanged', target: 'stale', actions: 'noteShown' },
              { target: 'current', actions: 'noteShown' },
            ],
            put_back: { target: 'stale', actions: 'wantEdit' },
            not_delivered: [
              { guard: 'hasChanged', target: 'stale', actions: 'startAfresh' },
              { target: 'not_delivered', actions: 'fail' },
            ],
            window_closed: closed,
            left: { guard: 'leaves', actions: 'leave' },
            joined: comesBack,
            gone,
          },
        },
        /** Past its edit window. */
        frozen: {
          on: {
            changed: { guard: 'showsOtherStatus', target: 'wanted', actions: 'wantContinuation' },
            left: { guard: 'leaves', target: 'retired', actions: 'end' },
            gone: replaced,
            given_up: givenUp,
          },
        },
        /** A Publication or an edit came to nothing; the next change starts afresh. */
        not_delivered: {
          on: {
            withhold: { guard: 'isUnseen', target: 'withheld.broken', actions: 'end' },
            changed: [
              { guard: 'hasPost', target: 'wanted', actions: 'startAfresh' },
              { guard: 'isFrozenAsIs', target: 'frozen', actions: ['startAfresh', 'freeze'] },
              {
                guard: 'isPastWindow',
                target: 'wanted',
                actions: ['startAfresh', 'freeze', 'wantContinuation'],
              },
              { guard: 'isNotLeaving', target: 'stale', actions: ['startAfresh', 'wantEdit'] },
            ],
            left: [
              { guard: 'leavesShown', target: 'retired', actions: 'end' },
              { guard: 'leavesMessage', target: 'stale', actions: 'leave' },
              { guard: 'leavesUnsure', target: 'wanted', actions: 'leaveUnsure' },
              { guard: 'leaves', target: 'withheld.left', actions: 'end' },
            ],
            joined: [
              { guard: 'leftUnpublished', target: 'wanted', actions: ['stay', 'startAfresh'] },
              { guard: 'isLeaving', target: 'stale', actions: ['startAfresh', 'comeBack'] },
            ],
            gone,
            given_up: { actions: ['dropReplies', 'fail'] },
            recorded: recordedAnew,
          },
        },
        /** Nothing is sent about it. */
        withheld: {
          initial: 'storm',
          states: {
            storm: {},
            broken: {
              on: {
                reopened: { target: '#delivery.root.wanted', actions: 'wantPublication' },
                joined: wantedAnew,
              },
            },
            left: {
              on: {
                joined: wantedAnew,
                reopened: wantedAnew,
              },
            },
          },
        },
        /** It got its last edit, or nothing edits it any more. */
        retired: { on: { edited: late.edited, joined: wantedAnew, reopened: wantedAnew } },
        deleted_there: { on: late },
      },
    },
    thread: {
      initial: 'silent',
      on: { reply_queued: {}, reply_began: { actions: 'noteCall' }, reply_over: {}, replies_dropped: {} },
      states: {
        silent: { always: [thread.due, thread.collecting] },
        /** What waits shares a batching window that has not ended. */
        collecting: { always: [thread.replying, thread.due, thread.silent] },
        due: { always: [thread.replying, thread.silent, { guard: 'hasOnlyLater', target: 'collecting' }] },
        replying: {
          always: [
            { guard: 'repliedDue', target: 'due' },
            { guard: 'repliedLater', target: 'collecting' },
            { guard: 'repliedAll', target: 'silent' },
          ],
        },
      },
    },
  },
});

/**
 * Applies one event.
 * @returns the same object when it changed nothing
 */
export function next(delivery: Delivery, event: DeliveryEvent): Delivery {
  const before = standing(delivery);
  const { snapshot } = step(deliveryMachine, before, event);
  if (snapshot === before) return delivery;
  const { root, thread } = snapshot.value as { root: string | Record<string, string>; thread: ThreadState };
  return { ...snapshot.context, root: (typeof root === 'string' ? root : nested(root)) as RootState, thread };
}

type DeliverySnapshot = SnapshotFrom<typeof deliveryMachine>;

/** Snapshots by state: what is resolved once serves every delivery that stands there. */
const standings = new Map<string, DeliverySnapshot>();

function standing(context: Delivery): DeliverySnapshot {
  const { root, thread } = context;
  const name = `${root} ${thread}`;
  let found = standings.get(name);
  if (!found) {
    const [outer = '', inner] = root.split('.');
    const value = { root: inner === undefined ? outer : { [outer]: inner }, thread };
    found = deliveryMachine.resolveState({ value, context } as Parameters<
      typeof deliveryMachine.resolveState
    >[0]);
    standings.set(name, found);
  }
  return { ...found, context } as DeliverySnapshot;
}

function nested(root: Record<string, string>): string {
  const [[outer, inner] = []] = Object.entries(root);
  return `${outer}.${inner}`;
}
