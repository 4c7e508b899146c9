/** Statistics of Alert Groups by Route or Integration (alert-groups §10 rule 8, api §12). */
import * as v from 'valibot';
import {
  type DeedFigures,
  type Durations,
  type Figures,
  MOST_NOISY,
  MOST_PEOPLE,
  type NoiseFigures,
  STATISTICS_SUBJECTS,
  type StatisticsReader,
  type SubjectFigures,
} from '../../../actors/alert-group/reading/readers.ts';
import type { Directory } from '../../../actors/directory.ts';
import { isTimeZone } from '../../../actors/wall-clock.ts';
import { DAY, formatInstant, type Micros, nearestNameable, SECOND } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { type Operation, operation } from '../../operation.ts';
import { type FieldError, invalid } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { instant, many, publicId, rangeErrors } from '../../schema/fields.ts';
import { EntityRef, UserRef } from '../../schema/shapes.ts';
import { userRef } from './bodies.ts';
import { TAG } from './shared.ts';
import { noSuchZone, zoneOf } from './snooze.ts';

export interface StatisticsOperationsDeps {
  readonly statistics: StatisticsReader;
}

const PERIOD = 7 * DAY;
/** Days of all items in one answer, some 6 MB: 220 Routes in 90 days. */
export const MOST_DAYS = 20_000;

const DurationShape = d.named(
  'DurationFigures',
  v.object({
    count: d.count('How many Alert Groups it is measured on.'),
    median_seconds: d.described(v.nullable(v.number()), 'Median in seconds; null without any.'),
    p90_seconds: d.described(v.nullable(v.number()), '90th percentile in seconds; null without any.'),
    p95_seconds: d.described(v.nullable(v.number()), '95th percentile in seconds; null without any.'),
    p99_seconds: d.described(v.nullable(v.number()), '99th percentile in seconds; null without any.'),
  }),
  'How long something took.',
);

const figures = {
  alert_group_count: d.count('How many Alert Groups started.'),
  time_to_acknowledge: d.described(DurationShape, 'Until somebody acknowledged.'),
  time_to_resolve: d.described(DurationShape, 'Until the end.'),
};

const noise = {
  alert_group_count: figures.alert_group_count,
  reopen_count: d.count('Reopens of all of them.'),
  acknowledged_count: d.count('Ever acknowledged.'),
  self_resolved_count: d.count('Resolved by the system, never acknowledged.'),
};

const deeds = {
  acknowledged_count: d.count('Alert Groups acknowledged first.'),
  resolved_count: d.count('Alert Groups resolved now.'),
};

const StatisticsShape = d.named(
  'AlertGroupStatistics',
  v.object({
    group_by: d.described(
      v.picklist(STATISTICS_SUBJECTS),
      'What they are counted by: `route` or `integration`.',
    ),
    from: d.time('Begin of the range, included.'),
    to: d.time('End of the range, not included.'),
    items: d.described(
      v.array(
        v.object({
          subject: EntityRef,
          ...figures,
          per_day: d.described(
            v.nullable(v.array(v.object({ date: d.text('The day, `YYYY-MM-DD`.'), ...figures }))),
            `The same figures for each day of the time zone; null from where all items together would have more than ${MOST_DAYS} days: ask for those by id.`,
          ),
        }),
      ),
      'One item for each Route in evaluation order, or Integration by name. Deleted ones come last, and only with groups.',
    ),
    per_hour: d.described(
      v.array(
        v.object({
          weekday: d.described(v.number(), '1 is Monday, 7 is Sunday.'),
          hour: d.described(v.number(), 'Hour of the day, 0 to 23.'),
          alert_group_count: figures.alert_group_count,
        }),
      ),
      'Hours of the week in the time zone that have any, from Monday 0:00. Each Alert Group counts once.',
    ),
    lists_from: d.time('Begin of what the lists below are about; after `from` in a long period.'),
    noisiest: d.described(
      v.array(v.object({ alert_name: d.text('The common `alertname`.'), ...noise })),
      `The ${MOST_NOISY} alert names with the most Alert Groups, then by name. Each Alert Group counts once.`,
    ),
    noisiest_rest: d.described(
      v.object({ alert_name_count: d.count('How many other alert names.'), ...noise }),
      'All others, those without a common `alertname` among them.',
    ),
    by_person: d.described(
      v.array(
        v.object({
          user: UserRef,
          ...deeds,
          time_to_acknowledge_median_seconds: d.described(
            v.nullable(v.number()),
            'Median seconds to the first Acknowledge; null without any.',
          ),
        }),
      ),
      `The ${MOST_PEOPLE} people who acknowledged most first, then by name.`,
    ),
    by_person_rest: d.described(
      v.object({ person_count: d.count('How many other people.'), ...deeds }),
      'Other people, Service accounts, and Acknowledges by nobody known.',
    ),
  }),
  'Figures of Alert Groups by when they started.',
);

const statisticsQuery = v.object({
  group_by: d.described(
    v.picklist(STATISTICS_SUBJECTS),
    'What to count by: `route` or `integration`, each of which has a row.',
  ),
  route: d.described(many(publicId), 'Id of a Route, with `group_by=route` only.'),
  integration: d.described(many(publicId), 'Id of an Integration. With `group_by=integration` only.'),
  from: d.described(
    instant,
    'Only groups that started at or after this time. With `to` alone: 7 days before it. Neither: the last 7 days.',
  ),
  to: d.described(instant, 'Only groups that started before this time; after `from`. Left out: now.'),
  time_zone: d.optionalText('IANA time zone. Left out: yours, else that of the Organization.'),
});

type Query = v.InferOutput<typeof statisticsQuery>;

export function statisticsOperations({ statistics }: StatisticsOperationsDeps): readonly Operation[] {
  return [
    operation({
      id: 'getAlertGroupStatistics',
      method: 'GET',
      path: '/alert-group-statistics',
      tag: TAG,
      summary: 'Count Alert Groups that started, and how fast people were, by Route or Integration and day',
      description:
        'Groups count by when they started, under their present Route; one with Alerts of two Integrations counts for both, but once in `per_hour` and `noisiest`. Percentiles are exact.',
      needs: 'alert-groups:read',
      query: statisticsQuery,
      answers: { 200: { description: 'Figures of the period', schema: StatisticsShape } },
      refusals: [[422, 'validation-failed', '']],
      async handle(call) {
        const { query, directory, now } = call;
        const errors = meaningErrors(query);
        if (errors.length > 0) return invalid(errors);
        const { group_by: groupBy } = query;
        const period = periodOf(query, now, PERIOD);
        const subjectIds = query[groupBy];
        const timeZone = query.time_zone ?? zoneOf(call);
        const found = await statistics.read({ groupBy, subjectIds, ...period, timeZone });
        return {
          status: 200,
          body: {
            group_by: groupBy,
            from: formatInstant(period.from),
            to: formatInstant(period.to),
            items: itemsOf(found.subjects, subjectsOf(directory)[groupBy], subjectIds),
            per_hour: hoursBody(found.weekHours),
            lists_from: formatInstant(found.listsFrom),
            noisiest: found.noisiest.map((one) => ({ alert_name: one.alertName, ...noiseBody(one) })),
            noisiest_rest: {
              alert_name_count: found.noisiestRest.nameCount,
              ...noiseBody(found.noisiestRest),
            },
            by_person: found.people.map((one) => ({
              user: userRef(directory, one.userId),
              ...deedsBody(one),
              time_to_acknowledge_median_seconds: secondsOf(one.medianToAcknowledge),
            })),
            by_person_rest: { person_count: found.peopleRest.personCount, ...deedsBody(found.peopleRest) },
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

/** The last `length`; the other end of one that is given is as far away, or now where that is later. */
export function periodOf(
  { from, to }: Pick<Query, 'from' | 'to'>,
  now: Micros,
  length: number,
): { readonly from: Micros; readonly to: Micros } {
  if (from === undefined) return { from: nearestNameable((to ?? now) - length), to: to ?? now };
  return { from, to: to ?? (from < now ? now : nearestNameable(from + length)) };
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
  let dayCount = 0;
  return subjects
    .filter(({ id, deleted }) => (wanted.length === 0 || wanted.includes(id)) && (!deleted || byId.has(id)))
    .map(({ id, name }) => {
      const { days, ...all } = byId.get(id) ?? NOTHING;
      dayCount += days.length;
      const perDay =
        dayCount > MOST_DAYS ? null : days.map(({ date, ...day }) => ({ date, ...figuresBody(day) }));
      return { subject: { id, name }, ...figuresBody(all), per_day: perDay };
    });
}

const NONE: Durations = { count: 0, median: null, p90: null, p95: null, p99: null };
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

function durationBody({ count, median, p90, p95, p99 }: Durations) {
  return {
    count,
    median_seconds: secondsOf(median),
    p90_seconds: secondsOf(p90),
    p95_seconds: secondsOf(p95),
    p99_seconds: secondsOf(p99),
  };
}

function noiseBody({ groupCount, reopenCount, acknowledgedCount, selfResolvedCount }: NoiseFigures) {
  return {
    alert_group_count: groupCount,
    reopen_count: reopenCount,
    acknowledged_count: acknowledgedCount,
    self_resolved_count: selfResolvedCount,
  };
}

function deedsBody({ acknowledgedCount, resolvedCount }: DeedFigures) {
  return { acknowledged_count: acknowledgedCount, resolved_count: resolvedCount };
}

const HOURS_OF_DAY = 24;

function hoursBody(weekHours: readonly number[]) {
  return weekHours.flatMap((count, index) =>
    count === 0
      ? []
      : [
          {
            weekday: Math.floor(index / HOURS_OF_DAY) + 1,
            hour: index % HOURS_OF_DAY,
            alert_group_count: count,
          },
        ],
  );
}

function secondsOf(duration: Micros | null): number | null {
  return duration === null ? null : Math.round(duration / SECOND);
}
