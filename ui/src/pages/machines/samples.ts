/** The machines that a person tries out, and for every event of each the fields it has when nobody says otherwise. */
import type { AnyStateMachine } from 'xstate';
import { alertGroupMachine } from '../../../../actors/alert-group/machine.ts';
import type { GroupEvent } from '../../../../actors/alert-group/machine-types.ts';
import { type ConnectionEvent, connectionMachine } from '../../../../actors/connection/machine.ts';
import { type DestinationEvent, destinationMachine } from '../../../../actors/destination/machine.ts';
import { type FeedEvent, feedMachine } from '../../../../actors/feed/machine.ts';
import { type IntegrationEvent, integrationMachine } from '../../../../actors/integration/machine.ts';
import { type RouteEvent, routeMachine } from '../../../../actors/route/machine.ts';
import { DAY, HOUR, MINUTE, type Micros, SECOND } from '../../../../runtime/clock.ts';

/** Fields of an event besides its type. @param at when it happens, µs since the beginning */
type Sample = (at: Micros) => object;

export interface Trial {
  readonly machine: AnyStateMachine;
  /** Where the machine is defined, below the project, and its name there. */
  readonly module: string;
  readonly name: string;
  readonly input: object | undefined;
  readonly events: Readonly<Record<string, Sample>>;
}

const ANN = {
  kind: 'user',
  id: 'SR0000000000AA',
  name: 'Ann',
  login: 'ann',
  tokenName: null,
  transport: 'ui',
};
/** Those of the On-call profile, but that an Owner who does not answer loses it: that can be tried out, too. */
const TIMERS = { ackTimeout: 15 * MINUTE, reminders: { first: 4 * HOUR, cap: DAY }, autoUnacknowledge: true };

const plain: Sample = (at) => ({ at });

const group =
  (fields: Sample = () => ({})): Sample =>
  (at) => ({ at, timers: TIMERS, ...fields(at) });

const GROUP = {
  annotate: group(() => ({ alerts: ['X1'] })),
  continue: group(() => ({ alerts: ['X1'] })),
  replace: group(() => ({ alerts: ['X2'] })),
  join: group(() => ({ alerts: ['X2'] })),
  severity_rises: group(),
  rises_to_urgent: group(() => ({ removesAcknowledgement: true })),
  alerts_resolve: group(() => ({
    remaining: 0,
    reason: 'resolved',
    reasonText: null,
    reopenWindow: 15 * MINUTE,
  })),
  reopen: group((at) => ({ receivedAt: at, alerts: ['X1'], ownerActive: true })),
  acknowledge: group(() => ({ by: ANN })),
  note: group(() => ({ by: ANN })),
  unacknowledge: group(),
  unresolve: group(),
  unsnooze: group(),
  still_on_it: group(),
  resolve: group(() => ({ by: ANN, gracePeriod: 15 * MINUTE })),
  snooze: group((at) => ({ by: ANN, until: at + HOUR, urgent: false })),
  snooze_end: group(),
  grace_end: group(),
  window_end: group(),
  unclaim: group(),
  notice_due: group(() => ({ sequence: 1 })),
  reminder_delivered: group(() => ({ sequence: 1 })),
  publish: group(),
  hold: group(),
  release: group(),
  downtime: group(),
  owner_released: group(() => ({ userId: ANN.id })),
  move: group(() => ({ toRouteId: 'RT0000000000BB' })),
} satisfies Record<GroupEvent['type'], Sample>;

const CONNECTION = {
  polling_wanted: plain,
  polling_ended: () => ({}),
  access_changed: plain,
  poll_started: (at) => ({ at, lostAt: at + MINUTE }),
  page_passed: (at) => ({ at, cursor: 'c1', brought: true, isFull: false }),
  poll_failed: (at) => ({ at, error: 'no answer', retryAt: null }),
  cursor_refused: (at) => ({ at, error: 'unknown cursor' }),
  events_failed: (at) => ({ at, ids: ['e1'], postponed: [] }),
  poll_unoffered: plain,
  poll_conflict: plain,
  poll_lost: plain,
  deleted: () => ({}),
} satisfies Record<ConnectionEvent['type'], Sample>;

const DESTINATION = {
  broke: (at) => ({ at, reason: 'credentials refused' }),
  probe_started: () => ({ probe: 'p1' }),
  probe_succeeded: plain,
  probe_failed: (at) => ({ at, reason: 'no answer', notBefore: at }),
  probe_rejected: plain,
  probe_lost: plain,
  saved: plain,
  worked: plain,
  first_event: plain,
  deleted: () => ({}),
} satisfies Record<DestinationEvent['type'], Sample>;

const FEED = {
  snapshot: (at) => ({
    ...{ receivedAt: at, duplicateWindow: 45 * SECOND, replayed: false, alertSet: 'a1', truncated: false },
    ...{ complete: true, digest: 'd1', verified: true, ends: [], isPresent: () => true },
  }),
  ended: (at) => ({ ends: [['X1', at]] }),
  silent: () => ({}),
} satisfies Record<FeedEvent['type'], Sample>;

const INTEGRATION = {
  heartbeat_on: () => ({ timeout: 5 * MINUTE }),
  heartbeat_off: () => ({}),
  timeout_changed: () => ({ timeout: 10 * MINUTE }),
  signal: plain,
  excused: (at) => ({ awaitedAt: null, until: at + MINUTE }),
  silence: () => ({}),
  check_planned: (at) => ({ at: at + MINUTE }),
  deleted: () => ({}),
  emptied: () => ({}),
  leftovers_found: () => ({}),
  ended: () => ({}),
} satisfies Record<IntegrationEvent['type'], Sample>;

const ROUTE = {
  group_created: (at) => ({ at, urgent: false, exceedsUntil: null }),
  group_unheld: () => ({ becameUrgent: false }),
  calm_reached: plain,
  deleted: plain,
} satisfies Record<RouteEvent['type'], Sample>;

const trial = (kind: string, machine: AnyStateMachine, events: Trial['events'], input?: object): Trial => ({
  ...{ machine, events, input },
  module: `actors/${kind.replace('_', '-')}/machine.ts`,
  name: `${kind.replace(/_(.)/, (_, letter: string) => letter.toUpperCase())}Machine`,
});

/** By kind of actor. A delivery is not among them: its machine takes the engine along. */
export const TRIALS: Readonly<Record<string, Trial>> = {
  alert_group: trial('alert_group', alertGroupMachine, GROUP, { at: 0, routeId: 'RT0000000000AA' }),
  connection: trial('connection', connectionMachine, CONNECTION),
  destination: trial('destination', destinationMachine, DESTINATION),
  feed: trial('feed', feedMachine, FEED),
  integration: trial('integration', integrationMachine, INTEGRATION),
  route: trial('route', routeMachine, ROUTE),
};
