/** The starting sets that a new Route may be filled in from (routes §3). Never stored with a Route. */
import type { RoutePolicy } from '../directory.ts';

export interface RouteProfile {
  readonly id: 'on_call' | 'informational';
  readonly name: string;
  readonly urgent: boolean;
  readonly group_key: readonly string[];
  readonly policy: RoutePolicy;
}

const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 24 * HOUR_SECONDS;

export const ON_CALL_POLICY: RoutePolicy = {
  reopen_window_seconds: 900,
  grace_period_seconds: 900,
  urgent_rise_removes_ack: true,
  snooze_durations_seconds: [HOUR_SECONDS, 4 * HOUR_SECONDS, DAY_SECONDS],
  thread_batching_window_seconds: 60,
  storm_threshold: 20,
  language: 'en',
  templates: { root_message: null, line: null, ack_timeout_notice: null },
  ack_timeout: { enabled: true, first_interval_seconds: 900 },
  reminders: { enabled: true, first_interval_seconds: 4 * HOUR_SECONDS, cap_seconds: DAY_SECONDS },
  auto_unacknowledge: false,
};

const INFORMATIONAL_POLICY: RoutePolicy = {
  ...ON_CALL_POLICY,
  snooze_durations_seconds: [DAY_SECONDS, 3 * DAY_SECONDS, 7 * DAY_SECONDS],
  ack_timeout: { ...ON_CALL_POLICY.ack_timeout, enabled: false },
  reminders: { ...ON_CALL_POLICY.reminders, enabled: false },
};

export const PROFILE_GROUP_KEY: readonly string[] = ['alertname', 'severity', 'cluster'];

export const ROUTE_PROFILES: readonly RouteProfile[] = [
  { id: 'on_call', name: 'On-call', urgent: false, group_key: PROFILE_GROUP_KEY, policy: ON_CALL_POLICY },
  {
    id: 'informational',
    name: 'Informational',
    urgent: false,
    group_key: PROFILE_GROUP_KEY,
    policy: INFORMATIONAL_POLICY,
  },
];
