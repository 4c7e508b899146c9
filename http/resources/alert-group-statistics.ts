/** Statistics of Alert Groups by Route or Integration (Alert Group chapter §10 rule 8, api §12). */
import * as v from 'valibot';
import { isTimeZone } from '../../actors/alert-group/presets.ts';
import {
  type Durations,
  type Figures,
  STATISTICS_SUBJECTS,
  type StatisticsReader,
  type SubjectFigures,
} from '../../actors/alert-group/statistics.ts';
import type { Directory } from '../../actors/directory.ts';
import { DAY, formatInstant, type Micros, nearestNameable, SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { publicId } from '../fields.ts';
import { type Operation, operation } from '../operation.ts';
import { type FieldError, invalid } from '../problem.ts';
import { instant, many, rangeErrors } from '../query-fields.ts';
import { EntityRef } from '../shapes.ts';
import { TAG } from './alert-groups-deps.ts';
import { noSuchZone, zoneOf } from './alert-groups-snooze.ts';

export interface StatisticsOperationsDeps {
  readonly statistics: StatisticsReader;
}

const PERIOD = 7 * DAY;

const DurationShape = v.object({
  count: v.number(),
  median_seconds: v.nullable(v.number()),
  p95_seconds: v.nullable(v.number()),
});

const figures = {
  alert_group_count: v.number(),
  time_to_acknowledge: DurationShape,
  time_to_resolve: DurationShape,
};

const StatisticsShape = v.object({
  group_by: v.picklist(STATISTICS_SUBJECTS),
  from: v.string(),
  to: v.string(),
  items: v.array(
    v.object({
      subject: EntityRef,
      ...figures,
      per_day: v.array(v.object({ date: v.string(), ...figures })),
    }),
  ),
});

const statisticsQuery = v.object({
  group_by: v.picklist(STATISTICS_SUBJECTS),
  route: many(publicId),
  integration: many(publicId),
  from: instant,
  to: instant,
  time_zone: v.optional(v.string()),
});

type Query = v.InferOutput<typeof statisticsQuery>;

export function statisticsOperations({ statistics }: StatisticsOperationsDeps): readonly Operation[] {
  return [
    operation({
      id: 'getAlertGroupStatistics',
      method: 'GET',
      path: '/alert-group-statistics',
      tag: TAG,
      summary: 'Say how many Alert Groups started and how fast people were, by Route or Integration and day',
      needs: 'alert-groups:read',
      query: statisticsQuery,
      answers: { 200: { description: 'Figures of the period', schema: StatisticsShape } },
      async handle(call) {
        const { query, directory, now } = call;
        const errors = meaningErrors(query);
        if (errors.length > 0) return invalid(errors);
        const { group_by: groupBy } = query;
        const period = periodOf(query, now);
        const subjectIds = query[groupBy];
        const timeZone = query.time_zone ?? zoneOf(call);
        const found = await statistics.read({ groupBy, subjectIds, ...period, timeZone });
        return {
          status: 200,
          body: {
            group_by: groupBy,
            from: formatInstant(period.from),
            to: formatInstant(period.to),
            items: itemsOf(found, subjectsOf(directory)[groupBy], subjectIds),
          },
        };
      },
    }),
  ];
}

function meaningErrors(query: Query): FieldError[] {
  const errors: FieldError[] = [];
  const other = query.group_by === 'route' ? 'integration' : 'route';
  if (query[other].length > 0) {
    errors.push({
      pointer: `/query/${other}`,
      code: 'unsupported',
      detail: `Filter by ${query.group_by}, or group by ${other}.`,
    });
  }
  errors.push(...rangeErrors(query.from, query.to));
  const { time_zone: zone } = query;
  if (zone !== undefined && !isTimeZone(zone)) errors.push(noSuchZone('/query/time_zone'));
  return errors;
}

/** The last days; the other end of one that is given is as far away, or now where that is later. */
function periodOf({ from, to }: Query, now: Micros): { readonly from: Micros; readonly to: Micros } {
  if (from === undefined) return { from: nearestNameable((to ?? now) - PERIOD), to: to ?? now };
  return { from, to: to ?? (from < now ? now : nearestNameable(from + PERIOD)) };
}

interface Subject {
  readonly id: PublicId;
  readonly name: string;
  readonly deleted: boolean;
}

/** Every subject in the order of items, deleted ones last and by name. */
function subjectsOf(directory: Directory): Readonly<Record<Query['group_by'], readonly Subject[]>> {
  const integrations = [...directory.integrationsById.values()].sort(byName);
  const routes = [...directory.routesById.values()];
  return {
    route: [...directory.routes, ...routes.filter(isDeleted).sort(byName)],
    integration: [...integrations.filter((one) => !one.deleted), ...integrations.filter(isDeleted)],
  };
}

function isDeleted({ deleted }: Subject): boolean {
  return deleted;
}

/** Code points, as lists sort names everywhere. */
function byName(left: Subject, right: Subject): number {
  if (left.name !== right.name) return left.name < right.name ? -1 : 1;
  return left.id < right.id ? -1 : 1;
}

/** Those without Alert Groups in the period have items, too, unless they are deleted. */
function itemsOf(
  found: readonly SubjectFigures[],
  subjects: readonly Subject[],
  wanted: readonly PublicId[],
) {
  const byId = new Map(found.map((one) => [one.subjectId, one]));
  return subjects
    .filter(({ id, deleted }) => (wanted.length === 0 || wanted.includes(id)) && (!deleted || byId.has(id)))
    .map(({ id, name }) => {
      const { days, ...all } = byId.get(id) ?? NOTHING;
      const perDay = days.map(({ date, ...day }) => ({ date, ...figuresBody(day) }));
      return { subject: { id, name }, ...figuresBody(all), per_day: perDay };
    });
}

const NONE: Durations = { count: 0, median: null, p95: null };
const NOTHING: Omit<SubjectFigures, 'subjectId'> = {
  groupCount: 0,
  timeToAcknowledge: NONE,
  timeToResolve: NONE,
  days: [],
};

function figuresBody({ groupCount, timeToAcknowledge, timeToResolve }: Figures) {
  return {
    alert_group_count: groupCount,
    time_to_acknowledge: durationBody(timeToAcknowledge),
    time_to_resolve: durationBody(timeToResolve),
  };
}

function durationBody({ count, median, p95 }: Durations) {
  return { count, median_seconds: secondsOf(median), p95_seconds: secondsOf(p95) };
}

function secondsOf(duration: Micros | null): number | null {
  return duration === null ? null : Math.round(duration / SECOND);
}
