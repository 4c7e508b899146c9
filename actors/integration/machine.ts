/**
 * The statechart of an Integration: the state of the sender's path by its Heartbeat (ingestion §12), and its deletion
 * (ingestion §8).
 *
 * - `not_configured`: the Heartbeat is off; signals are ignored.
 * - `waiting`: on, and no signal yet. Nothing becomes lost or stale.
 * - `live`: signals arrive; live time advances.
 * - `lost`: no signal arrived for longer than the timeout. Live time stops until the next one.
 * - `deleting`: Snapshots from before the deletion are processed, then its firing Alerts are resolved.
 * - `settling`: no Alert is left; Alerts that were in transit between Alert Groups are searched for once more.
 * - `deleted`: final.
 */
import { assign, type SnapshotFrom, setup } from 'xstate';
import type { Micros } from '../../runtime/clock.ts';

export interface IntegrationContext {
  /** Timeout of the Heartbeat, µs. A changed value applies from the next check. */
  readonly timeout: Micros;
  /** Null before the first signal since the Heartbeat was switched on. */
  readonly lastSignalAt: Micros | null;
  /** A newer signal that is stored and whose message has not arrived yet. */
  readonly awaitedAt: Micros | null;
  /** Silence before this was the service's own: the end of its last outage. */
  readonly excusedUntil: Micros | null;
  /** Past time that is no live time, oldest first. */
  readonly gaps: readonly Gap[];
  /** Since when time is no live time; null while it is. */
  readonly deadSince: Micros | null;
  /** Time of the next check of the feeds; null while there is nothing to check. */
  readonly checkAt: Micros | null;
}

export type IntegrationEvent =
  | { readonly type: 'heartbeat_on'; readonly timeout: Micros }
  | { readonly type: 'heartbeat_off' }
  | { readonly type: 'timeout_changed'; readonly timeout: Micros }
  | { readonly type: 'signal'; readonly at: Micros }
  /** Silence is excused: a signal is in flight, or the service was away. */
  | { readonly type: 'excused'; readonly awaitedAt: Micros | null; readonly until: Micros | null }
  | { readonly type: 'silence' }
  | { readonly type: 'check_planned'; readonly at: Micros | null }
  | { readonly type: 'deleted' }
  | { readonly type: 'emptied' }
  | { readonly type: 'leftovers_found' }
  | { readonly type: 'ended' };

export const integrationMachine = setup({
  types: {
    context: {} as IntegrationContext,
    events: {} as IntegrationEvent,
  },
  guards: {
    newer: ({ context, event }) =>
      event.type === 'signal' && (context.lastSignalAt === null || event.at > context.lastSignalAt),
  },
  actions: {
    takeTimeout: assign(({ event }) =>
      event.type === 'heartbeat_on' || event.type === 'timeout_changed' ? { timeout: event.timeout } : {},
    ),
    beginLiveTime: assign(({ context, event }) => {
      if (event.type !== 'signal') return {};
      const gap = { from: context.deadSince ?? event.at, to: event.at };
      return { ...heard(event.at), gaps: withGap(context.gaps, gap), deadSince: null };
    }),
    countLiveTime: assign(({ context, event }) => {
      if (event.type !== 'signal') return {};
      const gap = { from: context.lastSignalAt ?? event.at, to: event.at };
      const isDead = gap.to - gap.from > context.timeout;
      return { ...heard(event.at), gaps: isDead ? withGap(context.gaps, gap) : context.gaps };
    }),
    endLiveTime: assign(({ context }) => ({ deadSince: context.lastSignalAt })),
    forgetSignals: assign(({ context }) => ({
      lastSignalAt: null,
      awaitedAt: null,
      excusedUntil: null,
      deadSince: context.deadSince ?? context.lastSignalAt,
    })),
    excuse: assign(({ event }) =>
      event.type === 'excused' ? { awaitedAt: event.awaitedAt, excusedUntil: event.until } : {},
    ),
    planCheck: assign(({ event }) => (event.type === 'check_planned' ? { checkAt: event.at } : {})),
    forgetCheck: assign({ checkAt: null }),
  },
}).createMachine({
  id: 'integration',
  context: {
    timeout: 0,
    lastSignalAt: null,
    awaitedAt: null,
    excusedUntil: null,
    gaps: [],
    deadSince: 0,
    checkAt: null,
  },
  initial: 'not_configured',
  on: {
    timeout_changed: { actions: 'takeTimeout' },
    check_planned: { actions: 'planCheck' },
    deleted: { target: '.deleting', actions: ['forgetSignals', 'forgetCheck'] },
  },
  states: {
    not_configured: {
      on: { heartbeat_on: { target: 'waiting', actions: 'takeTimeout' } },
    },
    waiting: {
      on: {
        signal: { target: 'live', actions: 'beginLiveTime' },
        heartbeat_off: { target: 'not_configured', actions: 'forgetSignals' },
      },
    },
    live: {
      on: {
        signal: { guard: 'newer', actions: 'countLiveTime' },
        excused: { actions: 'excuse' },
        silence: { target: 'lost', actions: 'endLiveTime' },
        heartbeat_off: { target: 'not_configured', actions: 'forgetSignals' },
      },
    },
    lost: {
      on: {
        signal: { guard: 'newer', target: 'live', actions: 'beginLiveTime' },
        heartbeat_off: { target: 'not_configured', actions: 'forgetSignals' },
      },
    },
    deleting: {
      on: { deleted: {}, emptied: 'settling' },
    },
    settling: {
      on: { deleted: {}, leftovers_found: 'deleting', ended: { target: 'deleted', actions: 'forgetCheck' } },
    },
    deleted: {
      on: { deleted: {}, check_planned: {} },
    },
  },
});

export type IntegrationSnapshot = SnapshotFrom<typeof integrationMachine>;

/** A signal ends all reasons to wait for it. */
function heard(at: Micros): Partial<IntegrationContext> {
  return { lastSignalAt: at, awaitedAt: null, excusedUntil: null };
}

/** Time that does not count. */
export interface Gap {
  readonly from: Micros;
  readonly to: Micros;
}

/**
 * Most outages recorded separately. Older ones are merged, which shortens live time and makes Stale later, never
 * earlier.
 */
export const MOST_GAPS = 64;

/** Adds a gap that is later than all others. */
export function withGap(gaps: readonly Gap[], gap: Gap): readonly Gap[] {
  const all = [...gaps, gap];
  const [first, second, ...rest] = all;
  if (all.length <= MOST_GAPS || !first || !second) return all;
  return [{ from: first.from, to: second.to }, ...rest];
}

/** The gaps with the outages of the service, none of which overlap, oldest first. */
export function withOutages(gaps: readonly Gap[], outages: readonly Gap[]): readonly Gap[] {
  const all: Gap[] = [];
  for (const gap of [...gaps, ...outages].sort((left, right) => left.from - right.from)) {
    const last = all.at(-1);
    if (last === undefined || gap.from > last.to) all.push(gap);
    else all[all.length - 1] = { from: last.from, to: Math.max(last.to, gap.to) };
  }
  return all;
}

/** Live time between two instants, µs. Neither may be before the oldest gap. */
export function liveTimeBetween(gaps: readonly Gap[], from: Micros, to: Micros): Micros {
  let live = Math.max(0, to - from);
  for (const gap of gaps) live -= Math.max(0, Math.min(gap.to, to) - Math.max(gap.from, from));
  return live;
}

/**
 * The instant before which more than `span` of live time has passed until `end`; null when there is none, because not
 * so much passed since the first signal.
 */
export function instantBefore(gaps: readonly Gap[], end: Micros, span: Micros): Micros | null {
  let until = end;
  let left = span;
  for (const gap of gaps.toReversed()) {
    if (gap.from >= until) continue;
    const stretch = Math.max(0, until - gap.to);
    if (left < stretch) break;
    left -= stretch;
    until = gap.from;
  }
  const oldest = gaps[0]?.from ?? Number.NEGATIVE_INFINITY;
  return until <= oldest ? null : until - left;
}
