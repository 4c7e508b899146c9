/** Query parameters of the Alert Group list and its counts (seed 2 §4.8, Alert Group chapter §10, api §12). */
import * as v from 'valibot';
import type { GroupFilter, SortColumn } from '../../actors/alert-group/reading.ts';
import type { Directory } from '../../actors/directory.ts';
import { GROUP_STATUSES, RESOLVE_REASONS, SEVERITY_LEVELS } from '../../actors/model.ts';
import { DAY, type Micros } from '../../runtime/clock.ts';
import { publicId } from '../fields.ts';
import type { Identity } from '../operation.ts';
import { pageQuery } from '../page.ts';
import type { FieldError } from '../problem.ts';
import { instant, labelMatchers, many, rangeErrors, searchText } from '../query-fields.ts';

/** Setting alert_group.list_range. */
const LIST_RANGE = 7 * DAY;
const MAX_COLUMNS = 20;

const yesOrNo = v.optional(
  v.pipe(
    v.picklist(['true', 'false']),
    v.transform((text) => text === 'true'),
  ),
);

export const labelColumns = v.optional(v.pipe(v.array(v.string()), v.maxLength(MAX_COLUMNS)), []);

/** Filters that the list and the counts share. */
const filters = {
  route: many(publicId),
  integration: many(publicId),
  severity: many(v.picklist(SEVERITY_LEVELS)),
  urgent: yesOrNo,
  resolved_by: v.optional(v.picklist(['user', 'system'])),
  resolve_reason: v.optional(v.picklist(RESOLVE_REASONS)),
  reopened: yesOrNo,
  label: labelMatchers,
  owner: v.optional(v.union([v.picklist(['me', 'none']), publicId], 'invalid_format')),
  snoozed_no_end: yesOrNo,
  delivery_problem: yesOrNo,
  unclaimed: yesOrNo,
  from: instant,
  to: instant,
  q: searchText,
};

export const countsQuery = v.object(filters);

export const SORTS = ['started_at', '-started_at', 'last_changed_at', '-last_changed_at'] as const;

export const listQuery = v.object({
  ...pageQuery,
  ...filters,
  status: many(v.picklist(GROUP_STATUSES)),
  number: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^-?\d+$/, 'invalid_format'),
      v.transform(Number),
      v.minValue(1, 'out_of_range'),
      v.maxValue(Number.MAX_SAFE_INTEGER, 'out_of_range'),
    ),
  ),
  sort: v.optional(v.picklist(SORTS), '-started_at'),
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
  return { ...filter, statuses: filter.number === null ? ['firing', 'acknowledged', 'snoozed'] : [] };
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
