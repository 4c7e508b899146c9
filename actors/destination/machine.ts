/**
 * Only the health of a Destination (delivery §7.4, webhooks §3.5): healthy, Broken, probes. Its queue and its limiter
 * decide what is sent, and when.
 */
import { assign, emit, setup } from 'xstate';
import { MINUTE, type Micros } from '../../runtime/clock.ts';

/** `delivery.broken_probe_interval`. */
export const BROKEN_PROBE_INTERVAL: Micros = 5 * MINUTE;

const LONGEST_REASON = 1000;

export interface DestinationContext {
  /** While Broken: since when, why (masked), and when the next probe is due. */
  readonly since: Micros | null;
  readonly reason: string | null;
  /** Null while a probe is in flight, unless a save asked for another one at once. */
  readonly nextProbeAt: Micros | null;
  /** The call that is the probe under way: the id of its event, or its number. */
  readonly probe: string | null;
}

export type DestinationEvent =
  /** Refused credentials or address, or a budget that is spent. */
  | { readonly type: 'broke'; readonly reason: string; readonly at: Micros }
  | { readonly type: 'probe_started'; readonly probe: string }
  | { readonly type: 'probe_succeeded'; readonly at: Micros }
  /** `notBefore`: the receiver asked to wait until then. */
  | {
      readonly type: 'probe_failed';
      readonly reason: string;
      readonly at: Micros;
      readonly notBefore: Micros;
    }
  /** The event itself can never succeed: it ended, and the next one is the next probe. */
  | { readonly type: 'probe_rejected'; readonly at: Micros }
  /** Nobody knows how the call ended, or it never began. `at`: when the next one may follow. */
  | { readonly type: 'probe_lost'; readonly at: Micros }
  | { readonly type: 'saved'; readonly at: Micros }
  /** A check or test that a person started succeeded. */
  | { readonly type: 'worked'; readonly at: Micros }
  /** With nothing else waiting, an event was recorded: it is the probe. */
  | { readonly type: 'first_event'; readonly at: Micros }
  | { readonly type: 'deleted' };

export type DestinationEmitted =
  | { readonly type: 'destination_broken' }
  | { readonly type: 'reason_replaced' }
  | { readonly type: 'destination_recovered' };

const HEALTHY: DestinationContext = { since: null, reason: null, nextProbeAt: null, probe: null };

export const destinationMachine = setup({
  types: {
    context: {} as DestinationContext,
    events: {} as DestinationEvent,
    emitted: {} as DestinationEmitted,
  },
  guards: {
    savedMeanwhile: ({ context }) => context.nextProbeAt !== null,
  },
  actions: {
    becomeBroken: assign(({ event }) =>
      event.type === 'broke'
        ? {
            since: event.at,
            reason: shortened(event.reason),
            nextProbeAt: event.at + BROKEN_PROBE_INTERVAL,
            probe: null,
          }
        : {},
    ),
    replaceReason: assign(({ event }) =>
      event.type === 'broke' || event.type === 'probe_failed' ? { reason: shortened(event.reason) } : {},
    ),
    beginProbe: assign(({ event }) =>
      event.type === 'probe_started' ? { probe: event.probe, nextProbeAt: null } : {},
    ),
    scheduleProbe: assign(({ event }) =>
      event.type === 'probe_failed'
        ? { probe: null, nextProbeAt: Math.max(event.at + BROKEN_PROBE_INTERVAL, event.notBefore) }
        : {},
    ),
    probeAtOnce: assign(({ event }) => ('at' in event ? { probe: null, nextProbeAt: event.at } : {})),
    askForAnotherProbe: assign(({ event }) => (event.type === 'saved' ? { nextProbeAt: event.at } : {})),
    recover: assign(() => HEALTHY),
    tellBroken: emit({ type: 'destination_broken' }),
    tellReason: emit({ type: 'reason_replaced' }),
    tellRecovered: emit({ type: 'destination_recovered' }),
  },
}).createMachine({
  id: 'destination',
  context: HEALTHY,
  initial: 'healthy',
  states: {
    healthy: {
      on: {
        broke: { target: 'broken', actions: ['becomeBroken', 'tellBroken'] },
        deleted: 'deleted',
      },
    },
    broken: {
      initial: 'waiting_for_probe',
      on: {
        // A call that was in flight when the Destination broke.
        broke: { actions: ['replaceReason', 'tellReason'] },
        worked: { target: 'healthy', actions: ['recover', 'tellRecovered'] },
        deleted: 'deleted',
      },
      states: {
        waiting_for_probe: {
          on: {
            probe_started: { target: 'probing', actions: 'beginProbe' },
            saved: { actions: 'probeAtOnce' },
            first_event: { actions: 'probeAtOnce' },
          },
        },
        probing: {
          on: {
            probe_succeeded: { target: '#destination.healthy', actions: ['recover', 'tellRecovered'] },
            probe_failed: [
              {
                guard: 'savedMeanwhile',
                target: 'waiting_for_probe',
                actions: ['replaceReason', 'probeAtOnce', 'tellReason'],
              },
              { target: 'waiting_for_probe', actions: ['replaceReason', 'scheduleProbe', 'tellReason'] },
            ],
            probe_rejected: { target: 'waiting_for_probe', actions: 'probeAtOnce' },
            probe_lost: { target: 'waiting_for_probe', actions: 'probeAtOnce' },
            saved: { actions: 'askForAnotherProbe' },
          },
        },
      },
    },
    deleted: {},
  },
});

/** At most 1,000 characters. */
export function shortened(reason: string): string {
  return [...reason].slice(0, LONGEST_REASON).join('');
}
