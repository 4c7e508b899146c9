/** Query parameters of the Alert Group list and its counts (alert-groups §10, api §12). */
import * as v from 'valibot';
import type { GroupFilter, SortColumn } from '../../../actors/alert-group/reading/readers.ts';
import type { Directory } from '../../../actors/directory.ts';
import { DAY, type Micros } from '../../../runtime/clock.ts';
import type { Identity } from '../../operation.ts';
import type { FieldError } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import {
  instant,
  labelMatchers,
  many,
  publicId,
  rangeErrors,
  searchText,
  wholeNumber,
  yesOrNo,
} from '../../schema/fields.ts';
import { pageQuery } from '../../schema/page.ts';
import { GroupStatus, ResolveReason, SeverityLevel } from '../../schema/words.ts';

/** Setting alert_group.list_range. */
const LIST_RANGE = 7 * DAY;
const MAX_COLUMNS = 20;
const OPEN: GroupFilter['statuses'] = ['firing', 'acknowledged', 'snoozed'];

export const labelColumns = d.described(
  v.optional(v.pipe(v.array(v.string()), v.maxLength(MAX_COLUMNS)), []),
  'A label name, at most 20 times. `label_values` then has the values that all Alerts of a group share.',
);

/** Filters that the list and the counts share. */
const filters = {
  route: d.described(many(publicId), 'Id of a Route.'),
  integration: d.described(many(publicId), 'Id of an Integration.'),
  severity: d.described(many(SeverityLevel), 'Severity level.'),
  urgent: d.described(v.optional(yesOrNo), 'Only Urgent ones, or only others.'),
  resolved_by: d.described(
    v.optional(v.picklist(['user', 'system'])),
    'Only those resolved by somebody (`user`) or by the service (`system`).',
  ),
  resolve_reason: d.described(
    v.optional(ResolveReason),
    'Those the service resolved for this reason. Not with `resolved_by=user`.',
  ),
  reopened: d.described(v.optional(yesOrNo), 'Only those opened again at least once, or only others.'),
  label: d.described(
    labelMatchers,
    'A Matcher in text form, such as `job=~"node.*"`, against the labels that all Alerts of a group share. Repeated, all must match; at most 20.',
  ),
  owner: d.described(
    v.optional(v.union([v.picklist(['me', 'none']), publicId], 'invalid_format')),
    'Id of the Owner, `me`, or `none` for groups without one. A Service account cannot ask for `me`.',
  ),
  snoozed_no_end: d.described(v.optional(yesOrNo), 'Only those snoozed without end, or only others.'),
  delivery_problem: d.described(
    v.optional(yesOrNo),
    'Only those that could not be delivered somewhere, or only others.',
  ),
  unclaimed: d.described(v.optional(yesOrNo), 'Only those that nobody acknowledged in time, or only others.'),
  from: d.described(
    instant,
    'Those that lasted at or after this time. Without `from`, `to` and a number: the last 7 days.',
  ),
  to: d.described(instant, 'Only those that began before this time; after `from`.'),
  q: d.described(
    searchText,
    'Text in title or summary in any case, up to 200 characters. `#N`: the group with that number.',
  ),
};

export const countsQuery = v.object(filters);

const status = d.described(many(GroupStatus), 'Status. Left out, the three open ones.');

const MAX_LABEL_NAME = 200;
const MAX_DISTINCT = 5;
const labelName = d.documented(v.pipe(v.string(), v.nonEmpty(), v.maxLength(MAX_LABEL_NAME)), {
  maxLength: MAX_LABEL_NAME,
});

export const foldsQuery = v.object({
  ...filters,
  status,
  by: d.described(
    v.optional(labelName),
    'Name of the label by whose values groups are counted; left out, by label names.',
  ),
  distinct: d.described(
    v.optional(v.pipe(v.array(labelName), v.maxLength(MAX_DISTINCT)), []),
    'A label name, at most 5 times: how many values of it each fold has. Needs `by`.',
  ),
});

export const SORTS = ['started_at', '-started_at', 'last_changed_at', '-last_changed_at'] as const;

export const listQuery = v.object({
  ...pageQuery,
  ...filters,
  status,
  number: d.described(
    v.optional(wholeNumber(1, Number.MAX_SAFE_INTEGER)),
    'Number of an Alert Group. Status and range then have no defaults.',
  ),
  sort: d.described(
    v.optional(v.picklist(SORTS), '-started_at'),
    'By begin: `started_at`, newest first `-started_at`; by last change: `last_changed_at`, `-last_changed_at`.',
  ),
  label_columns: labelColumns,
});

export type ListQuery = v.InferOutput<typeof listQuery>;
export type CountsQuery = v.InferOutput<typeof countsQuery>;

/** Rules between parameters: all that is 422, together. */
export function queryErrors(query: CountsQuery, identity: Identity): FieldError[] {
  const errors: FieldError[] = [];
  if (query.owner === 'me' && identity.kind !== 'user') {
    errors.push({
      pointer: '/query/owner',
      code: 'unsupported',
      detail: 'A Service account owns no Alert Groups. Name a user instead.',
    });
  }
  errors.push(...rangeErrors(query.from, query.to));
  if (query.resolve_reason !== undefined && query.resolved_by === 'user') {
    errors.push({
      pointer: '/query/resolve_reason',
      code: 'unsupported',
      detail: 'Only what the system resolved has a reason. Leave out resolved_by or set it to system.',
    });
  }
  return errors;
}

/** The same for folds. Values are counted in folds of a value alone: in those of names they would be too many. */
export function foldsErrors(query: v.InferOutput<typeof foldsQuery>, identity: Identity): FieldError[] {
  const errors = queryErrors(query, identity);
  if (query.by === undefined && query.distinct.length > 0) {
    errors.push({
      pointer: '/query/distinct',
      code: 'unsupported',
      detail: 'Values are counted only in folds by the values of a label. Name one in by.',
    });
  }
  return errors;
}

export function sortOf(sort: ListQuery['sort']): { sort: SortColumn; descending: boolean } {
  const descending = sort.startsWith('-');
  return { sort: (descending ? sort.slice(1) : sort) as SortColumn, descending };
}

/** The list's filter: open ones of the last days unless something else was asked for. */
export function listFilter(
  query: ListQuery,
  identity: Identity,
  directory: Directory,
  now: Micros,
): GroupFilter {
  const filter = sharedFilter(query, identity, directory, now, query.number ?? null);
  if (query.status.length > 0) return { ...filter, statuses: query.status };
  return { ...filter, statuses: filter.number === null ? OPEN : [] };
}

/** The same for folds. */
export function foldsFilter(
  query: v.InferOutput<typeof foldsQuery>,
  identity: Identity,
  directory: Directory,
  now: Micros,
): GroupFilter {
  const statuses = query.status.length > 0 ? query.status : OPEN;
  return { ...sharedFilter(query, identity, directory, now, null), statuses };
}

/** The same for counts, which go over every status. */
export function countsFilter(
  query: CountsQuery,
  identity: Identity,
  directory: Directory,
  now: Micros,
): GroupFilter {
  return sharedFilter(query, identity, directory, now, null);
}

function sharedFilter(
  query: CountsQuery,
  identity: Identity,
  directory: Directory,
  now: Micros,
  numberAsked: number | null,
): GroupFilter {
  const { q = '' } = query;
  const typed = /^#([1-9]\d{0,14})$/.exec(q);
  const number = numberAsked ?? (typed ? Number(typed[1]) : null);
  const ranged = query.from !== undefined || query.to !== undefined || number !== null;
  return {
    statuses: [],
    routeIds: query.route,
    integrationIds: query.integration,
    severities: query.severity,
    urgent: query.urgent ?? null,
    urgency: {
      routeIds: [...directory.routesById.values()].filter(({ urgent }) => urgent).map(({ id }) => id),
      critical: directory.organization.criticalIsUrgent,
    },
    resolvedBy: query.resolved_by ?? (query.resolve_reason === undefined ? null : 'system'),
    resolveReason: query.resolve_reason ?? null,
    reopened: query.reopened ?? null,
    owner: ownerFilter(query.owner, identity),
    snoozedNoEnd: query.snoozed_no_end ?? null,
    unclaimed: query.unclaimed ?? null,
    deliveryProblem: query.delivery_problem ?? null,
    matchers: query.label,
    from: query.from ?? (ranged ? null : now - LIST_RANGE),
    to: query.to ?? null,
    number,
    text: q === '' || typed ? null : q,
  };
}

function ownerFilter(owner: CountsQuery['owner'], identity: Identity): GroupFilter['owner'] {
  switch (owner) {
    case undefined:
      return null;
    case 'none':
      return { id: null };
    case 'me':
      return { id: identity.id };
    default:
      return { id: owner };
  }
}
