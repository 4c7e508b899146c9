/**
 * Whether a Storm of a Route lasts (alert-groups §9). What exceeds the threshold, and until when, is worked out
 * beside it (`storm-window.ts`).
 */
import { assign, emit, setup } from 'xstate';
import { MINUTE, type Micros } from '../../runtime/clock.ts';

/** How long the Route has to stay at or below its threshold before its Storm ends. */
export const CALM_AFTER: Micros = 5 * MINUTE;

export interface RouteContext {
  /** Time of the `created` that started the Storm, µs; null while calm, and so is {@link calmFrom}. */
  readonly since: Micros | null;
  /** From when on the threshold is exceeded no more, as far as is known now, µs. */
  readonly calmFrom: Micros | null;
  /** New Alert Groups since the start, the starting one included. */
  readonly groupCount: number;
  /** How many of them were Urgent when they began or became so while they were held. */
  readonly urgentCount: number;
}

export type RouteEvent =
  | {
      readonly type: 'group_created';
      readonly at: Micros;
      readonly urgent: boolean;
      /** Until when the threshold is exceeded; null when it is not. */
      readonly exceedsUntil: Micros | null;
    }
  | { readonly type: 'group_unheld'; readonly becameUrgent: boolean }
  | { readonly type: 'calm_reached'; readonly at: Micros }
  | { readonly type: 'deleted'; readonly at: Micros };

export interface StormNumbers {
  readonly since: Micros;
  readonly groupCount: number;
  readonly urgentCount: number;
}

export type RouteEmitted =
  | { readonly type: 'storm_started' }
  /** The new Alert Group is held. */
  | { readonly type: 'group_held' }
  | { readonly type: 'storm_ended'; readonly storm: StormNumbers; readonly at: Micros };

const CALM: RouteContext = { since: null, calmFrom: null, groupCount: 0, urgentCount: 0 };

/** When the Storm ends unless the threshold is exceeded again, µs; null while calm. */
export function stormEndsAt({ calmFrom }: RouteContext): Micros | null {
  return calmFrom === null ? null : calmFrom + CALM_AFTER;
}

export const routeMachine = setup({
  types: {
    context: {} as RouteContext,
    events: {} as RouteEvent,
    emitted: {} as RouteEmitted,
  },
  guards: {
    thresholdExceeded: ({ event }) => event.type === 'group_created' && event.exceedsUntil !== null,
    urgentExceedsThreshold: ({ event }) =>
      event.type === 'group_created' && event.urgent && event.exceedsUntil !== null,
    groupIsUrgent: ({ event }) => event.type === 'group_created' && event.urgent,
    becameUrgent: ({ event }) => event.type === 'group_unheld' && event.becameUrgent,
    longCalm: ({ context, event }) => {
      const endsAt = stormEndsAt(context);
      return event.type === 'calm_reached' && endsAt !== null && event.at >= endsAt;
    },
  },
  actions: {
    startStorm: assign(({ event }) => (event.type === 'group_created' ? { since: event.at } : {})),
    countGroup: assign(({ context, event }) => {
      if (event.type !== 'group_created') return {};
      const calmFrom = Math.max(context.calmFrom ?? 0, event.exceedsUntil ?? 0);
      return { groupCount: context.groupCount + 1, calmFrom };
    }),
    countUrgent: assign({ urgentCount: ({ context }) => context.urgentCount + 1 }),
    endStorm: assign(CALM),
    tellStarted: emit({ type: 'storm_started' }),
    tellHeld: emit({ type: 'group_held' }),
    tellEnded: emit(({ context: { since, groupCount, urgentCount }, event }) => {
      if (since === null || !('at' in event)) throw new Error(`no Storm ends with ${event.type}`);
      return { type: 'storm_ended' as const, storm: { since, groupCount, urgentCount }, at: event.at };
    }),
  },
}).createMachine({
  id: 'route',
  context: CALM,
  initial: 'calm',
  states: {
    /** New Alert Groups are posted as they come. */
    calm: {
      on: {
        group_created: [
          {
            guard: 'urgentExceedsThreshold',
            target: 'storm',
            actions: ['startStorm', 'countGroup', 'countUrgent', 'tellStarted'],
          },
          {
            guard: 'thresholdExceeded',
            target: 'storm',
            actions: ['startStorm', 'countGroup', 'tellStarted', 'tellHeld'],
          },
        ],
        deleted: 'deleted',
      },
    },
    /** New Alert Groups that are not Urgent are held. */
    storm: {
      on: {
        group_created: [
          { guard: 'groupIsUrgent', actions: ['countGroup', 'countUrgent'] },
          { actions: ['countGroup', 'tellHeld'] },
        ],
        group_unheld: { guard: 'becameUrgent', actions: 'countUrgent' },
        calm_reached: { guard: 'longCalm', target: 'calm', actions: ['tellEnded', 'endStorm'] },
        deleted: { target: 'deleted', actions: ['tellEnded', 'endStorm'] },
      },
    },
    deleted: {},
  },
});
