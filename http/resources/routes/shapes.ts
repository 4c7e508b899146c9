/** A Route as it arrives and as it is answered (api §11, routes §2), and the answers that its operations share. */
import * as v from 'valibot';
import type { DirectorySource } from '../../../actors/directory.ts';
import type { HintBus } from '../../../actors/effects.ts';
import { labelNameProblem, MATCHER_VALUE_LIMIT } from '../../../actors/route/matcher.ts';
import { RoutePolicyInput, RoutePolicyShape } from '../../../actors/route/policy.ts';
import type { RouteDestination, StoredRoute } from '../../../actors/route/ports.ts';
import { text } from '../../../actors/schemas.ts';
import { formatInstant, formatInstantOrNull } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { Call } from '../../operation.ts';
import { refuse } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { freeText, name, publicId } from '../../schema/fields.ts';
import { DestinationRef, MatcherShape } from '../../schema/shapes.ts';
import { MatcherOp } from '../../schema/words.ts';

const labelName = v.pipe(
  v.string(),
  v.rawCheck(({ dataset, addIssue }) => {
    const message = dataset.typed ? labelNameProblem(dataset.value) : null;
    if (message) addIssue({ message });
  }),
);

const MatcherInput = d.named(
  'MatcherInput',
  v.object({
    label: d.described(labelName, 'Name of the label.'),
    op: MatcherOp,
    value: d.described(
      text(MATCHER_VALUE_LIMIT),
      'What the value is compared with, up to 4,096 characters. Expressions are RE2 and match it whole.',
    ),
  }),
  'A condition on one label, as it is saved.',
);

export const MatchersInput = v.pipe(v.array(MatcherInput), v.maxLength(50, 'too_long'));
export const GroupKeyInput = v.pipe(v.array(labelName), v.maxLength(20, 'too_long'));

const PolicyBase = d.named(
  'RoutePolicyBase',
  v.omit(RoutePolicyInput, ['templates']),
  'How Alert Groups of a Route live, without templates.',
);

const PolicyShape = d.extending(
  PolicyBase,
  'RoutePolicy',
  RoutePolicyShape,
  'How Alert Groups of a Route live.',
);

export const RouteInput = d.named(
  'RouteInput',
  v.object({
    name,
    description: freeText,
    matchers: d.described(
      MatchersInput,
      'All must match an Alert; at most 50. Without any, every Alert does.',
    ),
    urgent: d.flag('Whether all its Alert Groups are Urgent.'),
    group_key: d.described(
      GroupKeyInput,
      'Labels by whose values Alerts are split into Alert Groups; at most 20. Empty: one Alert Group.',
    ),
    destination_ids: d.described(
      v.pipe(v.array(publicId), v.maxLength(50, 'too_long')),
      'Ids of its Destinations, at most 50.',
    ),
    policy: d.extending(
      PolicyBase,
      'RoutePolicyInput',
      RoutePolicyInput,
      'How Alert Groups of a Route live, as it is saved.',
    ),
  }),
  'A Route as it is saved.',
);
export type RouteInput = v.InferOutput<typeof RouteInput>;

export const RouteOrderInput = d.named(
  'RouteOrderInput',
  v.object({
    route_ids: d.described(
      v.array(publicId),
      'Ids of all Routes but the Default one, each once, in the new order.',
    ),
  }),
  'A new order of Routes.',
);

/** A body that would be accepted, as it is answered. */
export const RouteInputShape = d.named(
  'RouteBase',
  v.object({
    name: d.text('Its name.'),
    description: d.text('Free text.'),
    matchers: d.described(v.array(MatcherShape), 'All must match an Alert.'),
    urgent: d.flag('Whether all its Alert Groups are Urgent.'),
    group_key: d.described(v.array(v.string()), 'Labels by whose values Alerts are split into Alert Groups.'),
    destination_ids: d.described(v.array(d.id('DS')), 'Ids of its Destinations.'),
    policy: PolicyShape,
  }),
  'What a Route says, suggested ones included.',
);

export const RouteShape = d.extending(
  RouteInputShape,
  'Route',
  v.object({
    id: d.id('RT'),
    ...RouteInputShape.entries,
    position: d.count('Its place in the order, from 0. The first Route that matches takes an Alert.'),
    is_default: d.flag('Whether it is the Default route, which takes the rest.'),
    destinations: d.described(v.array(DestinationRef), 'Each of them, with its health.'),
    template_error: d.described(
      v.nullable(
        v.object({
          template: d.described(
            v.picklist(['root_message', 'line', 'ack_timeout_notice']),
            '`root_message`: of messages; `line`: of an Alert in them; `ack_timeout_notice`: of the notice.',
          ),
          since: d.time('Since when it fails.'),
          error: d.text('What is wrong.'),
          fallback: d.described(
            v.literal('fallback_template'),
            'The built-in template is used in its place.',
          ),
        }),
      ),
      'The template that fails; null while none does.',
    ),
    storm_active: d.flag('Whether a Storm lasts.'),
    storm: d.described(
      v.nullable(
        v.object({
          since: d.time('When it began.'),
          alert_group_count: d.count('How many Alert Groups began since then.'),
        }),
      ),
      'The Storm; null without one.',
    ),
    open_alert_group_count: d.count('Open Alert Groups of the Route.'),
    created_at: d.CREATED_AT,
    etag: d.VERSION,
  }),
  'A rule that says which Alerts form which Alert Groups, and where these are sent.',
);
export type RouteShape = v.InferOutput<typeof RouteShape>;

export const RouteProfileShape = d.named(
  'RouteProfile',
  v.object({
    id: d.described(
      v.picklist(['on_call', 'informational']),
      '`on_call`: people must act at once; `informational`: nobody is woken.',
    ),
    name: d.text('Its name in English.'),
    urgent: d.flag('Value for `urgent`.'),
    group_key: d.described(v.array(v.string()), 'Value for `group_key`.'),
    policy: PolicyShape,
  }),
  'A set of settings to begin a Route with.',
);

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

/** What the operations on Routes share. */
export const ROUTE_ID = { route_id: 'RT' } as const;

export const OF_ROUTE = { description: 'The Route', schema: RouteShape, etag: true } as const;

export const DEFAULT_IMMUTABLE = [409, 'default-route-immutable', 'default-route-immutable'] as const;

export const IS_DEFAULT = refuse({
  status: 409,
  type: 'default-route-immutable',
  detail: 'The Default route is always last and cannot be moved or deleted.',
});

export interface RouteAnnouncement {
  readonly directory: DirectorySource;
  readonly hints: HintBus;
}

/** Before the answer to a change: the next Snapshot is judged with it. A change of the order has no id. */
export function announcing({ directory, hints }: RouteAnnouncement): (id: PublicId | null) => Promise<void> {
  return async (id) => {
    await directory.reload();
    hints.send({ type: 'route', id });
  };
}

export function routeId({ params }: Pick<Call, 'params'>): PublicId {
  return params.route_id as PublicId;
}

export function createdAnswer(route: StoredRoute) {
  const location = `/api/v1/routes/${route.id}`;
  return { status: 201, body: routeBody(route), etag: route.version, location };
}
