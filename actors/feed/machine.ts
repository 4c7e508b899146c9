/**
 * The statechart of a feed: what may be concluded from the next Snapshot of a sender's group (ingestion §6.1, §6.4).
 *
 * - `unknown`: nothing heard yet.
 * - `steady`: the last Snapshot lists every Alert present here, so hearing the same again changes nothing.
 * - `moving`: some Alert was missing, ended or unclear; the next window is compared entry by entry.
 * - `truncated`: the sender cut its list; nothing is concluded from what it leaves out.
 *
 * `silent`: the Integration heard nothing for so long that its presences went stale, or that a cut list no longer counts.
 */
import { assign, type SnapshotFrom, setup } from 'xstate';
import type { Micros } from '../../runtime/clock.ts';
import { judgeWindow } from './window.ts';

export interface FeedContext {
  /** Start of the current duplicate window, µs; null before the first. */
  readonly windowStart: Micros | null;
  /** The current window holds a truncated Snapshot, so it decides no absence. */
  readonly windowTruncated: boolean;
  /** What the last applied Snapshot said; null when that is not to be relied upon. */
  readonly digest: string | null;
  /** The Alerts and their states in the Snapshot that opened the window; null when that is not known. */
  readonly openedBy: string | null;
  /** Receipt of the Snapshot with which it was last verified that listed Alerts fire, µs; null before the first. */
  readonly verifiedAt: Micros | null;
}

export interface SnapshotHeard {
  readonly type: 'snapshot';
  readonly receivedAt: Micros;
  readonly duplicateWindow: Micros;
  /** It was processed before. */
  readonly replayed: boolean;
  /** Equal for the same Alerts in the same states. */
  readonly alertSet: string;
  /** The sender cut its list and did not resolve the whole group. */
  readonly truncated: boolean;
  /** It lists every Alert present here and nothing that ended. */
  readonly complete: boolean;
  /** What it says; null when the same would have to be judged again. */
  readonly digest: string | null;
  /** Every Alert it lists was looked up. */
  readonly verified: boolean;
}

export type FeedEvent = SnapshotHeard | { readonly type: 'ended' } | { readonly type: 'silent' };

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
        return { windowTruncated: context.windowTruncated || event.truncated };
      }
      const verifiedAt = event.verified ? event.receivedAt : context.verifiedAt;
      return {
        windowStart: event.receivedAt,
        windowTruncated: event.truncated,
        openedBy: event.alertSet,
        verifiedAt,
      };
    }),
    rememberDigest: assign(({ event }) => (event.type === 'snapshot' ? { digest: event.digest } : {})),
    forgetDigest: assign({ digest: null }),
  },
}).createMachine({
  id: 'feed',
  context: { windowStart: null, windowTruncated: false, digest: null, openedBy: null, verifiedAt: null },
  initial: 'unknown',
  on: {
    snapshot: [
      { guard: 'late' },
      { guard: 'early', actions: ['keepWindow', 'forgetDigest'] },
      { guard: 'truncated', target: '.truncated', actions: ['keepWindow', 'rememberDigest'] },
      { guard: 'complete', target: '.steady', actions: ['keepWindow', 'rememberDigest'] },
      { target: '.moving', actions: ['keepWindow', 'rememberDigest'] },
    ],
    ended: { actions: 'forgetDigest' },
    silent: { actions: 'forgetDigest' },
  },
  states: {
    unknown: {},
    steady: {
      on: {
        ended: { target: 'moving', actions: 'forgetDigest' },
        silent: { target: 'moving', actions: 'forgetDigest' },
      },
    },
    moving: {},
    truncated: { on: { silent: { target: 'moving', actions: 'forgetDigest' } } },
  },
});

export type FeedState = SnapshotFrom<typeof feedMachine>;

function verdictOf(context: FeedContext, event: FeedEvent): ReturnType<typeof judgeWindow> | null {
  if (event.type !== 'snapshot') return null;
  return judgeWindow(context.windowStart, event);
}
