/** A Route as it arrives and as it is answered (api §11, routes §2). */
import * as v from 'valibot';
import { labelNameProblem, MATCHER_VALUE_LIMIT } from '../../actors/route/matcher-text.ts';
import { RoutePolicyInput, RoutePolicyShape } from '../../actors/route/policy.ts';
import type { RouteDestination, StoredRoute } from '../../actors/route/ports.ts';
import { text } from '../../actors/schemas.ts';
import { formatInstant, formatInstantOrNull } from '../../runtime/clock.ts';
import { name, publicId } from '../fields.ts';
import { DestinationRef, MatcherShape } from '../shapes.ts';

const labelName = v.pipe(
  v.string(),
  v.rawCheck(({ dataset, addIssue }) => {
    const message = dataset.typed ? labelNameProblem(dataset.value) : null;
    if (message) addIssue({ message });
  }),
);

const MatcherInput = v.object({
  label: labelName,
  op: v.picklist(['=', '!=', '=~', '!~']),
  value: text(MATCHER_VALUE_LIMIT),
});

export const MatchersInput = v.pipe(v.array(MatcherInput), v.maxLength(50, 'too_long'));
export const GroupKeyInput = v.pipe(v.array(labelName), v.maxLength(20, 'too_long'));

export const RouteInput = v.object({
  name,
  description: v.optional(v.nullable(text(2_000))),
  matchers: MatchersInput,
  urgent: v.boolean(),
  group_key: GroupKeyInput,
  destination_ids: v.pipe(v.array(publicId), v.maxLength(50, 'too_long')),
  policy: RoutePolicyInput,
});
export type RouteInput = v.InferOutput<typeof RouteInput>;

export const RouteOrderInput = v.object({ route_ids: v.array(publicId) });

/** A body that would be accepted, as it is answered. */
export const RouteInputShape = v.object({
  name: v.string(),
  description: v.string(),
  matchers: v.array(MatcherShape),
  urgent: v.boolean(),
  group_key: v.array(v.string()),
  destination_ids: v.array(v.string()),
  policy: RoutePolicyShape,
});

export const RouteShape = v.object({
  id: v.string(),
  ...RouteInputShape.entries,
  position: v.number(),
  is_default: v.boolean(),
  destinations: v.array(DestinationRef),
  template_error: v.nullable(
    v.object({
      template: v.picklist(['root_message', 'line', 'ack_timeout_notice']),
      since: v.string(),
      error: v.string(),
      fallback: v.literal('fallback_template'),
    }),
  ),
  storm_active: v.boolean(),
  storm: v.nullable(v.object({ since: v.string(), alert_group_count: v.number() })),
  open_alert_group_count: v.number(),
  created_at: v.string(),
  etag: v.string(),
});
export type RouteShape = v.InferOutput<typeof RouteShape>;

export const RouteProfileShape = v.object({
  id: v.picklist(['on_call', 'informational']),
  name: v.string(),
  urgent: v.boolean(),
  group_key: v.array(v.string()),
  policy: RoutePolicyShape,
});

export function routeBody(route: StoredRoute): RouteShape {
  const { fields, storm } = route;
  return {
    id: route.id,
    name: fields.name,
    description: fields.description,
    matchers: [...fields.matchers],
    urgent: fields.urgent,
    group_key: [...fields.group_key],
    destination_ids: [...fields.destination_ids],
    policy: { ...fields.policy, snooze_durations_seconds: [...fields.policy.snooze_durations_seconds] },
    position: route.position,
    is_default: route.isDefault,
    destinations: route.destinations.map(destinationRef),
    template_error: route.templateError && {
      ...route.templateError,
      since: formatInstant(route.templateError.since),
      fallback: 'fallback_template',
    },
    storm_active: storm !== null,
    storm: storm && { since: formatInstant(storm.since), alert_group_count: storm.alertGroupCount },
    open_alert_group_count: route.openAlertGroups,
    created_at: formatInstant(route.createdAt),
    etag: `"${route.version}"`,
  };
}

function destinationRef(destination: RouteDestination): v.InferOutput<typeof DestinationRef> {
  const { id, name, type, brokenSince: since, brokenReason: reason } = destination;
  const state = since === null ? 'healthy' : 'broken';
  return { id, name, type, health: { state, since: formatInstantOrNull(since), reason } };
}
