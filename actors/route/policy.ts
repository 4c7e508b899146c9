/**
 * RoutePolicy as it arrives: shape and ranges (routes §3). Rules between its fields are judged with the whole Route.
 */
import * as v from 'valibot';
import type { RoutePolicy } from '../directory.ts';
import { described, integer, named } from '../schemas.ts';

const YEAR_SECONDS = 31_536_000;
export const TEMPLATE_LIMIT = 20_000;
export const TEMPLATE_KEYS = ['root_message', 'line', 'ack_timeout_notice'] as const;

const templateInput = v.optional(v.nullable(v.string()));

/** Every field is required and none is defaulted, except single templates (see {@link settledTemplates}). */
export const RoutePolicyInput = v.object({
  reopen_window_seconds: described(
    integer(0, YEAR_SECONDS),
    'Seconds after the end in which the same Alerts reopen it. 0 never does; at most a year.',
  ),
  grace_period_seconds: described(
    integer(0, YEAR_SECONDS),
    'Seconds after somebody resolved it in which Alerts that still fire start no new one. At most a year.',
  ),
  urgent_rise_removes_ack: described(
    v.boolean(),
    'Whether an Alert Group that becomes Urgent loses its Owner.',
  ),
  snooze_durations_seconds: described(
    v.pipe(v.array(integer(1, YEAR_SECONDS)), v.maxLength(10, 'too_long')),
    'Durations that buttons offer, at most 10 of up to a year.',
  ),
  thread_batching_window_seconds: described(
    integer(0, 3_600),
    'Seconds in which what follows a Thread reply is gathered for the next; 0 for none, at most an hour.',
  ),
  storm_threshold: described(
    integer(1, 100_000),
    'More new Alert Groups than this in 60 seconds begin a Storm. 1 to 100,000.',
  ),
  language: described(v.picklist(['en', 'ru']), 'Language of messages: `en` is English, `ru` Russian.'),
  templates: described(
    v.object({
      root_message: described(templateInput, 'The message of an Alert Group.'),
      line: described(templateInput, 'The line of an Alert in a message.'),
      ack_timeout_notice: described(templateInput, 'What is said when nobody acknowledges in time.'),
    }),
    'Templates of messages, up to 20,000 characters each. One that is left out stays; null or empty is the built-in one.',
  ),
  ack_timeout: named(
    'AckTimeout',
    v.object({
      enabled: described(v.boolean(), 'Whether there are any.'),
      first_interval_seconds: described(
        integer(1, YEAR_SECONDS),
        'Seconds F before the first notice; two more follow at 3F and 7F. At most a year.',
      ),
    }),
    'Notices until somebody acknowledges.',
  ),
  reminders: named(
    'Reminders',
    v.object({
      enabled: described(v.boolean(), 'Whether there are any.'),
      first_interval_seconds: described(
        integer(1, YEAR_SECONDS),
        'Seconds before the first Reminder; the next intervals double. At most a year.',
      ),
      cap_seconds: described(
        integer(1, YEAR_SECONDS),
        'Most seconds between two Reminders, at least the first interval. At most a year.',
      ),
    }),
    'Reminders to the Owner until the Alert Group is over.',
  ),
  auto_unacknowledge: described(
    v.boolean(),
    'Whether an Owner who answers neither of two Reminders loses it.',
  ),
});
export type RoutePolicyInput = v.InferOutput<typeof RoutePolicyInput>;

/** RoutePolicy as it is stored and answered. */
export const RoutePolicyShape = v.object({
  ...RoutePolicyInput.entries,
  templates: described(
    v.object({
      root_message: described(
        v.nullable(v.string()),
        'The message of an Alert Group; null for the built-in one.',
      ),
      line: described(
        v.nullable(v.string()),
        'The line of an Alert in a message; null for the built-in one.',
      ),
      ack_timeout_notice: described(
        v.nullable(v.string()),
        'The notice that nobody acknowledged; null for the built-in one.',
      ),
    }),
    'Templates of messages.',
  ),
});

/** The policy to store: a template left out keeps the stored one (none: built-in), `""` means built-in. */
export function settledPolicy(input: RoutePolicyInput, stored: RoutePolicy | null): RoutePolicy {
  return { ...input, templates: settledTemplates(input.templates, stored?.templates ?? null) };
}

function settledTemplates(
  input: RoutePolicyInput['templates'],
  stored: RoutePolicy['templates'] | null,
): RoutePolicy['templates'] {
  const settle = (key: (typeof TEMPLATE_KEYS)[number]) => {
    const sent = input[key];
    return sent === undefined ? (stored?.[key] ?? null) : sent || null;
  };
  return {
    root_message: settle('root_message'),
    line: settle('line'),
    ack_timeout_notice: settle('ack_timeout_notice'),
  };
}

/** Templates that a Route may have of its own. */
export type RouteTemplateKind = 'root_message' | 'line' | 'ack_timeout_notice';

/** The starting sets that a new Route may be filled in from (routes §3). Never stored with a Route. */
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
