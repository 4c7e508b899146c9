/** Statistics of Alert Groups, computed from their rows (alert-groups §10 rule 8). */
import {
  type DeedFigures,
  LISTED_FOR,
  MOST_NOISY,
  MOST_PEOPLE,
  type NoiseFigures,
  type NoisyName,
  type PersonFigures,
  type StatisticsFigures,
  type StatisticsQuery,
  type StatisticsReader,
  type SubjectFigures,
} from '../../actors/alert-group/reading/readers.ts';
import { type LocalDay, localDays, offsetSpans } from '../../actors/wall-clock.ts';
import type { Micros } from '../../runtime/clock.ts';
import { Pace } from '../../runtime/pace.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { createTurns } from '../../runtime/share-next.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { inPlannedSnapshot } from '../postgres/transaction.ts';
import type { Fragment } from './filters.ts';
import { sharedValue } from './folds.ts';
import {
  packedGroups,
  percentilesOf,
  type StartedGroups,
  SubjectCollector,
  unpackedGroups,
  WeekCollector,
} from './subject-figures.ts';

/** Days that are read with one statement. One such part is computed while the server reads the next one. */
const DAYS_AT_ONCE = 30;

/** Readings that wait for their turn. */
const MOST_WAITING = 100;

/** Reads one period at a time: each takes 24 bytes a group of memory until it is answered. */
export function createStatisticsReader(sql: Sql): StatisticsReader {
  const inTurn = createTurns('statistics', MOST_WAITING);
  return {
    read: (query) =>
      inTurn(async () => {
        const pace = new Pace();
        const { collectors, week, ...lists } = await inPlannedSnapshot(sql, (tx) => collect(tx, query, pace));
        const subjects: SubjectFigures[] = [];
        for (const [id, collector] of collectors) subjects.push(await collector.figures(id, pace));
        return { subjects, weekHours: week.hours, ...lists };
      }),
  };
}

type Noise = Pick<StatisticsFigures, 'noisiest' | 'noisiestRest'>;
type People = Pick<StatisticsFigures, 'people' | 'peopleRest'>;

interface Collected extends Noise, People {
  readonly listsFrom: Micros;
  readonly collectors: ReadonlyMap<PublicId, SubjectCollector>;
  readonly week: WeekCollector;
}

async function collect(tx: Transaction, query: StatisticsQuery, pace: Pace): Promise<Collected> {
  const collectors = new Map<PublicId, SubjectCollector>();
  const listed = within(query, query.to - LISTED_FOR);
  const listsFrom = listed.from;
  const [span] = await tx<{ first: Micros | null; last: Micros | null }[]>`
    select min(started_at) as first, max(started_at) as last from alert_groups
    where started_at >= ${query.from} and started_at < ${query.to}`;
  if (!span || span.first === null || span.last === null)
    return {
      collectors,
      week: new WeekCollector([]),
      listsFrom,
      ...noiseOf([]),
      ...(await peopleOf([], pace)),
    };
  const week = new WeekCollector(offsetSpans(query.timeZone, span.first, span.last));
  // More processes would take the processors from whatever else goes on, and gain little beside the reading ahead.
  await tx`select set_config('max_parallel_workers_per_gather', '0', true)`;
  const parts = partsOf(query, localDays(query.timeZone, span.first, span.last));
  let next = readAhead(tx, parts[0]);
  for (const [index, { days }] of parts.entries()) {
    const packed = await next;
    // The server reads on while this part is computed, once the driver has sent what is asked: two rounds later.
    next = readAhead(tx, parts[index + 1]);
    await pace.rest();
    await pace.rest();
    for (const [id, groups] of await groupsBySubject(packed, query, week, pace)) {
      const collector = collectors.get(id) ?? new SubjectCollector();
      collectors.set(id, collector);
      await collector.add(days, groups, pace);
    }
  }
  const newest = { ...query, ...listed };
  const noise = noiseOf(await tx<NoiseRow[]>`${noiseStatement(tx, newest)}`);
  const people = await peopleOf(await tx<PersonRow[]>`${peopleStatement(tx, newest)}`, pace);
  return { collectors, week, listsFrom, ...noise, ...people };
}

interface Part {
  readonly days: readonly LocalDay[];
  readonly query: StatisticsQuery;
}

function partsOf(query: StatisticsQuery, days: readonly LocalDay[]): readonly Part[] {
  const parts: Part[] = [];
  for (let from = 0; from < days.length; from += DAYS_AT_ONCE) {
    const some = days.slice(from, from + DAYS_AT_ONCE);
    const range = within(query, some[0]?.start, days[from + DAYS_AT_ONCE]?.start);
    parts.push({ days: some, query: { ...query, ...range } });
  }
  return parts;
}

type PackedRows = readonly (Buffer | null)[][];

/** Nothing for no part. Whoever waits for it meets its failure; whoever does not, has failed already. */
function readAhead(tx: Transaction, part: Part | undefined): Promise<PackedRows> {
  const reading: Promise<PackedRows> =
    part === undefined
      ? Promise.resolve([])
      : statisticsStatement(tx, part.query)
          .raw()
          .then((rows) => rows);
  reading.catch(() => undefined);
  return reading;
}

function within({ from, to }: StatisticsQuery, start: Micros = from, end: Micros = to) {
  return { from: Math.max(from, start), to: Math.min(to, end) };
}

/** The groups by subject. One that belongs to several subjects is among those of each, and counts once in the week. */
async function groupsBySubject(
  rows: PackedRows,
  query: StatisticsQuery,
  week: WeekCollector,
  pace: Pace,
): Promise<Map<PublicId, StartedGroups[]>> {
  const bySubject = new Map<PublicId, StartedGroups[]>();
  const wanted = new Set(query.subjectIds);
  for (const [subjects, started, acknowledged, resolved] of rows) {
    if (!subjects || !started || !acknowledged || !resolved)
      throw new Error('statistics were asked for four columns');
    const groups = await unpackedGroups([started, acknowledged, resolved], pace);
    await week.add(groups.startedAt, pace);
    for (const id of subjects.toString().split(',') as PublicId[]) {
      if (wanted.size > 0 && !wanted.has(id)) continue;
      const others = bySubject.get(id);
      if (others) others.push(groups);
      else bySubject.set(id, [groups]);
    }
  }
  return bySubject;
}

/**
 * The groups of a period, packed, under their Route or under the Integrations they have, joined with commas. Neither a row
 * a group nor a sort: all that the server does is to read an index, alert_groups_started, which holds all that is asked.
 */
export function statisticsStatement(sql: Sql | Transaction, query: StatisticsQuery) {
  const [subject, key] =
    query.groupBy === 'route'
      ? [sql`g.route_id`, sql`g.route_id`]
      : [sql`array_to_string(g.integration_ids, ',')`, sql`g.integration_ids`];
  return sql`
    select ${subject}, ${packedGroups(sql)}
    from alert_groups g
    where ${isCounted(sql, query)}
    group by ${key}`;
}

/** Rows of `alert_groups g` that started in the period and belong to a subject that is asked for. */
function isCounted(sql: Sql | Transaction, { groupBy, subjectIds, from, to }: StatisticsQuery): Fragment {
  const ids = sql`${[...subjectIds]}::text[]`;
  const [any, wanted] =
    groupBy === 'route'
      ? [sql`true`, sql`g.route_id = any(${ids})`]
      : [sql`g.integration_ids <> '{}'`, sql`g.integration_ids && ${ids}`];
  return sql`g.started_at >= ${from} and g.started_at < ${to} and ${subjectIds.length === 0 ? any : wanted}`;
}

/** Of the rest, whose `name` is null, `names` counts the names. */
interface NoiseRow extends NoiseFigures {
  readonly name: string | null;
  readonly names: number;
}

/**
 * The names with the most groups, in order, and one row for everything else. Reads the rows of the period, for no index
 * holds labels by value: 0.15 s for 100,000 groups.
 */
export function noiseStatement(sql: Sql | Transaction, query: StatisticsQuery) {
  return sql`
    with counted as (
      select ${sharedValue(sql, 'alertname')} as name, count(*) as groups, sum(g.reopen_count) as reopened,
        count(g.first_acknowledged_at) as acknowledged,
        count(*) filter (where g.resolved_by = 'system' and g.first_acknowledged_at is null) as self_resolved
      from alert_groups g
      where ${isCounted(sql, query)}
      group by 1
    ),
    ranked as (
      select *, row_number() over (order by name is null, groups desc, name collate "C") as place from counted
    )
    select case when place <= ${MOST_NOISY} then name end as name, count(name) as names,
      sum(groups)::bigint as "groupCount", sum(reopened)::bigint as "reopenCount",
      sum(acknowledged)::bigint as "acknowledgedCount", sum(self_resolved)::bigint as "selfResolvedCount"
    from ranked
    group by 1
    order by min(place)`;
}

function noiseOf(rows: readonly NoiseRow[]): Noise {
  const noisiest: NoisyName[] = [];
  let rest: Noise['noisiestRest'] = { nameCount: 0, ...NO_NOISE };
  for (const { name, names, ...figures } of rows) {
    if (name === null) rest = { nameCount: names, ...figures };
    else noisiest.push({ alertName: name, ...figures });
  }
  return { noisiest, noisiestRest: rest };
}

const NO_NOISE: NoiseFigures = { groupCount: 0, reopenCount: 0, acknowledgedCount: 0, selfResolvedCount: 0 };

/** Of the rest, whose `id` is null, `people` counts the Users. `took` has the times to the first Acknowledge. */
interface PersonRow extends DeedFigures {
  readonly id: PublicId | null;
  readonly people: number;
  readonly took: Buffer | null;
}

/**
 * The Users who acknowledged most, in order, and one row for everything else. Groups are gathered by who acknowledged
 * and who resolved, without a sort of them: 0.17 s for 100,000.
 */
export function peopleStatement(sql: Sql | Transaction, query: StatisticsQuery) {
  return sql`
    with pairs as (
      select g.first_acknowledged_by as acknowledger,
        case when g.resolver ->> 'kind' = 'user' then g.resolver ->> 'id' end as resolver,
        count(g.first_acknowledged_at) as acknowledged, count(*) filter (where g.resolved_by = 'user') as resolved,
        string_agg(float8send((g.first_acknowledged_at - g.started_at)::float8), ''::bytea) as took
      from alert_groups g
      where ${isCounted(sql, query)} and (g.first_acknowledged_at is not null or g.resolved_by = 'user')
      group by 1, 2
    ),
    deeds (user_id, acknowledged, resolved, took) as (
      select acknowledger, acknowledged, 0, took from pairs where acknowledged > 0
      union all
      select resolver, 0, resolved, null from pairs where resolved > 0
    ),
    counted as (
      select user_id, sum(acknowledged) as acknowledged, sum(resolved) as resolved, string_agg(took, ''::bytea) as took
      from deeds group by 1
    ),
    ranked as (
      select counted.*, row_number() over (
        order by user_id is null, acknowledged desc, u.name collate "C", user_id collate "C"
      ) as place
      from counted left join users u on u.id = user_id
    )
    select case when place <= ${MOST_PEOPLE} then user_id end as id, count(user_id) as people,
      sum(acknowledged)::bigint as "acknowledgedCount", sum(resolved)::bigint as "resolvedCount",
      string_agg(took, ''::bytea) filter (where place <= ${MOST_PEOPLE} and user_id is not null) as took
    from ranked
    group by 1
    order by min(place)`;
}

async function peopleOf(rows: readonly PersonRow[], pace: Pace): Promise<People> {
  const people: PersonFigures[] = [];
  let rest: People['peopleRest'] = { personCount: 0, acknowledgedCount: 0, resolvedCount: 0 };
  for (const { id, people: personCount, took, ...deeds } of rows) {
    if (id === null) rest = { personCount, ...deeds };
    else people.push({ userId: id, medianToAcknowledge: await medianOf(took, pace), ...deeds });
    if (pace.isDue()) await pace.rest();
  }
  return { people, peopleRest: rest };
}

/** @param packed numbers with their highest byte first */
async function medianOf(packed: Buffer | null, pace: Pace): Promise<number | null> {
  if (packed === null) return null;
  const values = Float64Array.from({ length: packed.length / 8 }, (_, index) =>
    packed.readDoubleBE(index * 8),
  );
  const [median = null] = (await percentilesOf(values, [0.5], pace)) ?? [];
  return median;
}
