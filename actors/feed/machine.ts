/**
 * The statechart of a feed: what may be concluded from the next Snapshot of a sender's group (ingestion §6.1, §6.4).
 *
 * - `unknown`: no Snapshot received yet.
 * - `steady`: the last Snapshot lists every present Alert, so receiving the same again changes nothing.
 * - `moving`: some Alert was missing, ended or unclear; the next window is compared entry by entry.
 * - `truncated`: the sender truncated its list; omitted Alerts are not evaluated.
 *
 * `silent`: no Snapshot arrived for so long that the presences became stale, or that a truncated list no longer counts.
 */
import { assign, type SnapshotFrom, setup } from 'xstate';
import { MINUTE, type Micros } from '../../runtime/clock.ts';

export interface FeedContext {
  /** Start of the current duplicate window, µs; null before the first. */
  readonly windowStart: Micros | null;
  /** The current window contains a truncated Snapshot, so it decides no absence. */
  readonly windowTruncated: boolean;
  /** Digest of the last applied Snapshot; null when the next one has to be compared in any case. */
  readonly digest: string | null;
  /** The Alerts and their states in the Snapshot that opened the window; null when that is not known. */
  readonly openedBy: string | null;
  /**
   * The gap that ended when the current window opened, if a repeat opened it and none of its Snapshots is truncated.
   * Absent from what earlier releases stored, which keep it unchanged: it counts only while `to` is `windowStart`.
   */
  readonly repeatGap?: WindowGap | null;
  /** Receipt of the Snapshot with which it was last verified that listed Alerts fire, µs; null before the first. */
  readonly verifiedAt: Micros | null;
  /**
   * Ends that the feed reported, by name or by omission: one for each Alert, the latest last, at most
   * {@link MOST_NAMED_ENDS}.
   */
  readonly namedEnds: readonly NamedEnd[];
  /** Alerts that ended while they were present here, not reported by this feed; form and bound of {@link namedEnds}. */
  readonly endsElsewhere: readonly NamedEnd[];
}

/** Time between the starts of two successive windows, µs. */
export interface WindowGap {
  readonly from: Micros;
  readonly to: Micros;
}

/** The fingerprint of an Alert that ended, and the newest start that ended, µs. */
export type NamedEnd = readonly [fingerprint: string, startsAt: Micros];

/** Ends that a feed remembers (ingestion §6.2). */
export const MOST_NAMED_ENDS = 64;

export interface SnapshotHeard {
  readonly type: 'snapshot';
  readonly receivedAt: Micros;
  readonly duplicateWindow: Micros;
  /** It was processed before. */
  readonly replayed: boolean;
  /** Equal for the same Alerts in the same states. */
  readonly alertSet: string;
  /** The sender's `notification_reason`; null from senders without that field. */
  readonly reason: string | null;
  /** The sender cut its list and did not resolve the whole group. */
  readonly truncated: boolean;
  /** It lists every present Alert and no ended one. */
  readonly complete: boolean;
  /** Digest of its content; null when the same content would have to be compared again. */
  readonly digest: string | null;
  /** Every Alert it lists was looked up. */
  readonly verified: boolean;
  /** The ends that it reports. */
  readonly ends: readonly NamedEnd[];
  /** After it. */
  isPresent(fingerprint: string): boolean;
}

export interface EndedElsewhere {
  readonly type: 'ended';
  /** Alerts that were present and whose end this feed did not report. */
  readonly ends: readonly NamedEnd[];
}

export type FeedEvent = SnapshotHeard | EndedElsewhere | { readonly type: 'silent' };

const HEARD = ['keepWindow', 'rememberEnds', 'rememberDigest'] as const;

export const feedMachine = setup({
  types: {
    context: {} as FeedContext,
    events: {} as FeedEvent,
  },
  guards: {
    late: ({ context, event }) => verdictOf(context, event) === 'late',
    early: ({ context, event }) => verdictOf(context, event) === 'early',
    truncated: ({ event }) => event.type === 'snapshot' && event.truncated,
    complete: ({ event }) => event.type === 'snapshot' && event.complete,
  },
  actions: {
    keepWindow: assign(({ context, event }) => {
      if (event.type !== 'snapshot') return {};
      if (verdictOf(context, event) !== 'opens') {
        const isChanged = event.alertSet !== context.openedBy;
        return {
          ...(event.truncated ? { windowTruncated: true } : {}),
          ...(event.truncated || isChanged ? { repeatGap: null, openedBy: null } : {}),
        };
      }
      const verifiedAt = event.verified ? event.receivedAt : context.verifiedAt;
      return {
        windowStart: event.receivedAt,
        windowTruncated: event.truncated,
        openedBy: event.alertSet,
        repeatGap: repeatGapOf(context, event),
        verifiedAt,
      };
    }),
    rememberEnds: assign(({ context, event }) => {
      if (event.type === 'ended') return { endsElsewhere: withEnds(context.endsElsewhere, event.ends) };
      if (event.type !== 'snapshot') return {};
      return {
        namedEnds: withEnds(context.namedEnds, event.ends),
        endsElsewhere: context.endsElsewhere.filter(([fingerprint]) => !event.isPresent(fingerprint)),
      };
    }),
    rememberDigest: assign(({ event }) => (event.type === 'snapshot' ? { digest: event.digest } : {})),
    forgetDigest: assign({ digest: null }),
  },
}).createMachine({
  id: 'feed',
  context: {
    ...{ windowStart: null, windowTruncated: false, digest: null, openedBy: null, verifiedAt: null },
    ...{ repeatGap: null, namedEnds: [], endsElsewhere: [] },
  },
  initial: 'unknown',
  on: {
    snapshot: [
      { guard: 'late' },
      { guard: 'early', actions: ['keepWindow', 'rememberEnds', 'forgetDigest'] },
      { guard: 'truncated', target: '.truncated', actions: HEARD },
      { guard: 'complete', target: '.steady', actions: HEARD },
      { target: '.moving', actions: HEARD },
    ],
    ended: { actions: ['rememberEnds', 'forgetDigest'] },
    silent: { actions: 'forgetDigest' },
  },
  states: {
    unknown: {},
    steady: {
      on: {
        ended: { target: 'moving', actions: ['rememberEnds', 'forgetDigest'] },
        silent: { target: 'moving', actions: 'forgetDigest' },
      },
    },
    moving: {},
    truncated: { on: { silent: { target: 'moving', actions: 'forgetDigest' } } },
  },
});

export type FeedState = SnapshotFrom<typeof feedMachine>;

/** The `notification_reason` of a repeat (ingestion §6.5). */
const REPEAT_REASON = 'repeat interval elapsed';

/**
 * The gap that a Snapshot ends which opens a window, if it is a repeat: it has that reason, or, from a sender without
 * reasons, the same Alerts in the same states as the opener of the window before.
 */
function repeatGapOf({ windowStart: from, openedBy }: FeedContext, event: SnapshotHeard): WindowGap | null {
  if (from === null || event.truncated) return null;
  const repeats = event.reason === null ? openedBy === event.alertSet : event.reason === REPEAT_REASON;
  return repeats ? { from, to: event.receivedAt } : null;
}

function withEnds(known: readonly NamedEnd[], ends: readonly NamedEnd[]): readonly NamedEnd[] {
  if (ends.length === 0) return known;
  const starts = new Map(known);
  for (const [fingerprint, startsAt] of ends) {
    const newest = Math.max(startsAt, starts.get(fingerprint) ?? startsAt);
    starts.delete(fingerprint);
    starts.set(fingerprint, newest);
  }
  return [...starts].slice(-MOST_NAMED_ENDS);
}

function verdictOf(context: FeedContext, event: FeedEvent): ReturnType<typeof judgeWindow> | null {
  if (event.type !== 'snapshot') return null;
  return judgeWindow(context.windowStart, event);
}

/** processing.gone_min_absence: how long an Alert must be missed before it counts as gone (ingestion §1). */
export const GONE_MIN_ABSENCE: Micros = 5 * MINUTE;

/** Interval after which a feed verifies that the Alerts it lists still fire in some Alert Group. */
export const VERIFICATION_INTERVAL: Micros = 15 * MINUTE;

export type WindowVerdict = 'opens' | 'same' | 'early' | 'late';

/**
 * What a Snapshot is to the duplicate window of its feed (ingestion §6.1).
 * @param start of the current window, null before the first
 */
export function judgeWindow(
  start: Micros | null,
  {
    receivedAt,
    duplicateWindow,
    replayed,
  }: { readonly receivedAt: Micros; readonly duplicateWindow: Micros; readonly replayed: boolean },
): WindowVerdict {
  if (replayed) return 'late';
  if (start === null || receivedAt >= start + duplicateWindow) return 'opens';
  if (receivedAt >= start) return 'same';
  return receivedAt > start - duplicateWindow ? 'early' : 'late';
}
