/** How a Connection listens to its messenger: one poll after the other, or none (bridge §7.2). */
import { assign, emit, setup } from 'xstate';
import { HOUR, MINUTE, type Micros, SECOND } from '../../runtime/clock.ts';

/** After a refused token, and after two refused cursors within a minute. */
export const LONG_PAUSE: Micros = 60 * SECOND;
/** How often a bridge that offers no polling is asked whether it does by now. */
export const UNOFFERED_PAUSE: Micros = 5 * MINUTE;
/** Between the beginnings of two polls, the first of which brought nothing. */
const QUIET_PAUSE: Micros = SECOND;
const FIRST_STEP: Micros = SECOND;
/** An event is given up after so many failures over at least this time. */
const MOST_FAILURES = 5;
const FAILS_FOR_LONG: Micros = 5 * MINUTE;
/** After another poller of the same bot was met; it doubles. */
const CONFLICT_STEP: Micros = 5 * SECOND;
/** `telegram.press_max_age`: without an answered poll for longer, nothing could be received. */
const GAP_FROM: Micros = HOUR;

export interface FailingEvent {
  readonly id: string;
  readonly times: number;
  readonly since: Micros;
}

export interface ConnectionContext {
  /** Behind the last event that was handled; null: from the oldest that the bridge has. */
  readonly cursor: string | null;
  /** When the next poll is due, while none is under way. */
  readonly nextAt: Micros | null;
  /** Number of the poll under way, or of the last one. */
  readonly poll: number;
  readonly startedAt: Micros;
  /** When the poll under way counts as lost. */
  readonly lostAt: Micros | null;
  /** Polls that failed in a row. */
  readonly failures: number;
  /** Why events do not arrive, masked, and since when. */
  readonly trouble: { readonly error: string; readonly since: Micros } | null;
  readonly cursorRefusedAt: Micros | null;
  /** Events of the page that comes again, whose handling failed. */
  readonly failing: readonly FailingEvent[];
  /** When the last page arrived. */
  readonly heardAt: Micros | null;
  /** How long nothing could be received before what is polled now; null once that is behind (channel-bot §4.4). */
  readonly gap: Micros | null;
  /** Polls in a row that met another poller. */
  readonly conflicts: number;
}

export type ConnectionEvent =
  | { readonly type: 'polling_wanted'; readonly at: Micros }
  | { readonly type: 'polling_ended' }
  /** Another address or token: nothing that is known of the old one counts. */
  | { readonly type: 'access_changed'; readonly at: Micros }
  | { readonly type: 'poll_started'; readonly at: Micros; readonly lostAt: Micros }
  /** Every event of the page is acknowledged. `isFull`: more may wait behind it. */
  | {
      readonly type: 'page_passed';
      readonly cursor: string;
      readonly brought: boolean;
      readonly isFull: boolean;
      readonly at: Micros;
    }
  /** `retryAt`: when the bridge asked to be called again, or a time of its own; null: the next step of the backoff. */
  | {
      readonly type: 'poll_failed';
      readonly error: string;
      readonly at: Micros;
      readonly retryAt: Micros | null;
    }
  | { readonly type: 'cursor_refused'; readonly error: string; readonly at: Micros }
  /** The page is polled again. `postponed`: failed before and not tried this time, because they are not due yet. */
  | {
      readonly type: 'events_failed';
      readonly ids: readonly string[];
      readonly postponed: readonly string[];
      readonly at: Micros;
    }
  /** The bridge does not offer polling. */
  | { readonly type: 'poll_unoffered'; readonly at: Micros }
  /** Somebody else polls for the same bot, or it has a webhook: nothing is wrong with this Connection. */
  | { readonly type: 'poll_conflict'; readonly at: Micros }
  /** Nobody knows how the poll ended. */
  | { readonly type: 'poll_lost'; readonly at: Micros }
  | { readonly type: 'deleted' };

export type ConnectionEmitted = {
  readonly type: 'trouble_began' | 'trouble_went_on' | 'trouble_ended' | 'conflict_met';
};

const SILENT: ConnectionContext = {
  cursor: null,
  nextAt: null,
  poll: 0,
  startedAt: 0,
  lostAt: null,
  failures: 0,
  trouble: null,
  cursorRefusedAt: null,
  failing: [],
  heardAt: null,
  gap: null,
  conflicts: 0,
};

export const connectionMachine = setup({
  types: {
    context: {} as ConnectionContext,
    events: {} as ConnectionEvent,
    emitted: {} as ConnectionEmitted,
  },
  guards: {
    refusedLately: ({ context, event }) =>
      event.type === 'cursor_refused' &&
      context.cursorRefusedAt !== null &&
      event.at - context.cursorRefusedAt < MINUTE,
    troubled: ({ context }) => context.trouble !== null,
  },
  actions: {
    pollAtOnce: assign(({ event }) => ('at' in event ? { nextAt: event.at, lostAt: null } : {})),
    beginPoll: assign(({ context, event }) =>
      event.type === 'poll_started'
        ? {
            poll: context.poll + 1,
            startedAt: event.at,
            lostAt: event.lostAt,
            nextAt: null,
            gap: gapBefore(context, event.at),
          }
        : {},
    ),
    passPage: assign(({ context, event }) =>
      event.type === 'page_passed'
        ? {
            cursor: event.cursor,
            // The same cursor brings the same page: a bridge that does not move on is not asked in a circle.
            nextAt:
              event.brought && event.cursor !== context.cursor
                ? event.at
                : Math.max(event.at, context.startedAt + QUIET_PAUSE),
            failing: [],
            gap: event.isFull ? context.gap : null,
          }
        : {},
    ),
    endTrouble: assign(() => ({ lostAt: null, failures: 0, trouble: null, conflicts: 0 })),
    noteHeard: assign(({ event }) => ('at' in event ? { heardAt: event.at } : {})),
    backOff: assign(({ context, event }) => ({
      lostAt: null,
      failures: 0,
      trouble: null,
      conflicts: context.conflicts + 1,
      nextAt: 'at' in event ? event.at + conflictPause(context.conflicts) : null,
    })),
    noteTrouble: assign(({ context, event }) =>
      'error' in event
        ? {
            lostAt: null,
            failures: context.failures + 1,
            trouble: { error: event.error, since: context.trouble?.since ?? event.at },
          }
        : {},
    ),
    retryLater: assign(({ context, event }) =>
      event.type === 'poll_failed' ? { nextAt: retryAt(event, context.failures) } : {},
    ),
    dropCursor: assign(({ event }) =>
      event.type === 'cursor_refused' ? { cursor: null, cursorRefusedAt: event.at } : {},
    ),
    pauseLong: assign(({ event }) => ('at' in event ? { nextAt: event.at + LONG_PAUSE } : {})),
    pauseUnoffered: assign(({ event }) => ('at' in event ? { nextAt: event.at + UNOFFERED_PAUSE } : {})),
    countFailures: assign(({ context, event }) =>
      event.type === 'events_failed' ? { failing: countedAgain(context.failing, event) } : {},
    ),
    repeatPage: assign(({ context, event }) => {
      if (event.type !== 'events_failed') return {};
      // New events come with the page: they must not wait for the backoff of the one that failed.
      const nextAt = Math.max(event.at, context.startedAt + QUIET_PAUSE);
      return { lostAt: null, failures: 0, trouble: null, conflicts: 0, nextAt };
    }),
    stopPolling: assign(({ context }) => ({
      ...SILENT,
      cursor: context.cursor,
      poll: context.poll,
    })),
    forgetEverything: assign(({ context }) => ({ ...SILENT, poll: context.poll })),
    tellBegan: emit({ type: 'trouble_began' }),
    tellGoesOn: emit({ type: 'trouble_went_on' }),
    tellEnded: emit({ type: 'trouble_ended' }),
    tellConflict: emit({ type: 'conflict_met' }),
  },
}).createMachine({
  id: 'connection',
  context: SILENT,
  initial: 'not_polling',
  states: {
    not_polling: {
      on: {
        polling_wanted: { target: 'polling', actions: 'pollAtOnce' },
        access_changed: { actions: 'forgetEverything' },
        deleted: { target: 'deleted', actions: 'forgetEverything' },
      },
    },
    polling: {
      initial: 'waiting',
      on: {
        polling_ended: { target: 'not_polling', actions: 'stopPolling' },
        access_changed: { target: 'polling', actions: ['forgetEverything', 'pollAtOnce'] },
        deleted: { target: 'deleted', actions: 'forgetEverything' },
      },
      states: {
        waiting: {
          on: { poll_started: { target: 'calling', actions: 'beginPoll' } },
        },
        calling: {
          on: {
            page_passed: [
              {
                guard: 'troubled',
                target: 'waiting',
                actions: ['passPage', 'noteHeard', 'endTrouble', 'tellEnded'],
              },
              { target: 'waiting', actions: ['passPage', 'noteHeard', 'endTrouble'] },
            ],
            poll_failed: [
              { guard: 'troubled', target: 'waiting', actions: ['noteTrouble', 'retryLater', 'tellGoesOn'] },
              { target: 'waiting', actions: ['noteTrouble', 'retryLater', 'tellBegan'] },
            ],
            cursor_refused: [
              {
                guard: 'refusedLately',
                target: 'waiting',
                actions: ['noteTrouble', 'dropCursor', 'pauseLong', 'tellGoesOn'],
              },
              { target: 'waiting', actions: ['dropCursor', 'pollAtOnce'] },
            ],
            events_failed: [
              {
                guard: 'troubled',
                target: 'waiting',
                actions: ['countFailures', 'noteHeard', 'repeatPage', 'tellEnded'],
              },
              { target: 'waiting', actions: ['countFailures', 'noteHeard', 'repeatPage'] },
            ],
            poll_unoffered: [
              {
                guard: 'troubled',
                target: 'waiting',
                actions: ['endTrouble', 'pauseUnoffered', 'tellEnded'],
              },
              { target: 'waiting', actions: ['endTrouble', 'pauseUnoffered'] },
            ],
            poll_conflict: [
              { guard: 'troubled', target: 'waiting', actions: ['backOff', 'tellEnded', 'tellConflict'] },
              { target: 'waiting', actions: ['backOff', 'tellConflict'] },
            ],
            poll_lost: { target: 'waiting', actions: 'pollAtOnce' },
          },
        },
      },
    },
    deleted: {},
  },
});

/** Events of the page that failed and are not due again at `now`: each has a backoff of its own. */
export function postponed({ failing }: ConnectionContext, now: Micros): readonly string[] {
  return failing.filter((event) => now < dueAgain(event)).map(({ id }) => id);
}

function dueAgain({ times, since }: FailingEvent): Micros {
  let due = since;
  for (let attempt = 1; attempt <= times; attempt++) due += backoff(attempt);
  return due;
}

/** Events that failed so often, for so long, that they are dropped. */
export function givenUp({ failing }: ConnectionContext, now: Micros): readonly string[] {
  return failing
    .filter(({ times, since }) => times >= MOST_FAILURES && now - since >= FAILS_FOR_LONG)
    .map(({ id }) => id);
}

/** A bridge that asks to be called again at once is not: each poll costs two commits. */
function retryAt({ at, retryAt: asked }: { at: Micros; retryAt: Micros | null }, failures: number): Micros {
  return asked === null ? at + backoff(failures) : Math.max(asked, at + FIRST_STEP);
}

/** 5 s, doubling to a minute. @param before how many conflicts came before */
export function conflictPause(before: number): Micros {
  return Math.min(CONFLICT_STEP * 2 ** Math.min(before, 10), LONG_PAUSE);
}

/** A gap counts until the messenger has nothing left that waited in it. */
function gapBefore({ heardAt, gap }: ConnectionContext, at: Micros): Micros | null {
  return heardAt !== null && at - heardAt > GAP_FROM ? at - heardAt : gap;
}

/** The context of a snapshot, with what earlier versions did not store. */
export function completeContext(stored: Partial<ConnectionContext>): ConnectionContext {
  return { ...SILENT, ...stored };
}

/** 1 s, doubling to a minute. */
function backoff(times: number): Micros {
  return Math.min(FIRST_STEP * 2 ** Math.min(times - 1, 10), LONG_PAUSE);
}

/** What does not fail any more is forgotten. */
function countedAgain(
  failing: readonly FailingEvent[],
  { ids, postponed: waiting, at }: Extract<ConnectionEvent, { type: 'events_failed' }>,
): readonly FailingEvent[] {
  const failed = ids.map((id) => {
    const before = failing.find((each) => each.id === id);
    return { id, times: (before?.times ?? 0) + 1, since: before?.since ?? at };
  });
  return [...failed, ...failing.filter(({ id }) => waiting.includes(id))];
}
