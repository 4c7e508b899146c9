/** RoutePolicy as it arrives: shape and ranges (routes §3). Rules between its fields are judged with the whole Route. */
import * as v from 'valibot';
import type { RoutePolicy } from '../directory.ts';
import { integer } from '../schemas.ts';

const YEAR_SECONDS = 31_536_000;
export const TEMPLATE_LIMIT = 20_000;
export const TEMPLATE_KEYS = ['root_message', 'line', 'ack_timeout_notice'] as const;

const templateInput = v.optional(v.nullable(v.string()));

/** Every field is required and none is defaulted, except single templates (see {@link settledTemplates}). */
export const RoutePolicyInput = v.object({
  reopen_window_seconds: integer(0, YEAR_SECONDS),
  grace_period_seconds: integer(0, YEAR_SECONDS),
  urgent_rise_removes_ack: v.boolean(),
  snooze_durations_seconds: v.pipe(v.array(integer(1, YEAR_SECONDS)), v.maxLength(10, 'too_long')),
  thread_batching_window_seconds: integer(0, 3_600),
  storm_threshold: integer(1, 100_000),
  language: v.picklist(['en', 'ru']),
  templates: v.object({
    root_message: templateInput,
    line: templateInput,
    ack_timeout_notice: templateInput,
  }),
  ack_timeout: v.object({ enabled: v.boolean(), first_interval_seconds: integer(1, YEAR_SECONDS) }),
  reminders: v.object({
    enabled: v.boolean(),
    first_interval_seconds: integer(1, YEAR_SECONDS),
    cap_seconds: integer(1, YEAR_SECONDS),
  }),
  auto_unacknowledge: v.boolean(),
});
export type RoutePolicyInput = v.InferOutput<typeof RoutePolicyInput>;

/** RoutePolicy as it is stored and answered. */
export const RoutePolicyShape = v.object({
  ...RoutePolicyInput.entries,
  templates: v.object({
    root_message: v.nullable(v.string()),
    line: v.nullable(v.string()),
    ack_timeout_notice: v.nullable(v.string()),
  }),
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
