/** Statistics of Alert Groups, computed from their rows (Alert Group chapter §10 rule 8). */
import type {
  StatisticsQuery,
  StatisticsReader,
  SubjectFigures,
} from '../../actors/alert-group/statistics.ts';
import { localDays } from '../../actors/wall-clock.ts';
import type { Micros } from '../../runtime/clock.ts';
import { createTurns } from '../../runtime/in-turn.ts';
import { Pace } from '../../runtime/pace.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Sql, Transaction } from '../records.ts';
import { inPlannedSnapshot } from '../transaction.ts';
import { packedGroups, type StartedGroups, unpackedGroups } from './started-groups.ts';
import { SubjectCollector } from './subject-figures.ts';

/** Days that are read with one statement: what is in memory in packed form at a time. */
const DAYS_AT_ONCE = 120;

/** Readings that wait for their turn. */
const MOST_WAITING = 100;

/** Reads one period at a time: each takes 24 bytes a group of memory until it is answered. */
export function createStatisticsReader(sql: Sql): StatisticsReader {
  const inTurn = createTurns('statistics', MOST_WAITING);
  return {
    read: (query) =>
      inTurn(async () => {
        const pace = new Pace();
        const collectors = await inPlannedSnapshot(sql, (tx) => collect(tx, query, pace));
        const subjects: SubjectFigures[] = [];
        for (const [id, collector] of collectors) subjects.push(await collector.figures(id, pace));
        return subjects;
      }),
  };
}

async function collect(
  tx: Transaction,
  query: StatisticsQuery,
  pace: Pace,
): Promise<Map<PublicId, SubjectCollector>> {
  const collectors = new Map<PublicId, SubjectCollector>();
  const [span] = await tx<{ first: Micros | null; last: Micros | null }[]>`
    select min(started_at) as first, max(started_at) as last from alert_groups
    where started_at >= ${query.from} and started_at < ${query.to}`;
  if (!span || span.first === null || span.last === null) return collectors;
  const days = localDays(query.timeZone, span.first, span.last);
  for (let from = 0; from < days.length; from += DAYS_AT_ONCE) {
    const some = days.slice(from, from + DAYS_AT_ONCE);
    const part = { ...query, ...within(query, some[0]?.start, days[from + DAYS_AT_ONCE]?.start) };
    for (const [id, groups] of await startedGroups(tx, part, pace)) {
      const collector = collectors.get(id) ?? new SubjectCollector();
      collectors.set(id, collector);
      await collector.add(some, groups, pace);
    }
  }
  return collectors;
}

function within({ from, to }: StatisticsQuery, start: Micros = from, end: Micros = to) {
  return { from: Math.max(from, start), to: Math.min(to, end) };
}

/** The groups of the period by subject. One that belongs to several subjects is among those of each. */
async function startedGroups(
  tx: Transaction,
  query: StatisticsQuery,
  pace: Pace,
): Promise<Map<PublicId, StartedGroups[]>> {
  const bySubject = new Map<PublicId, StartedGroups[]>();
  const wanted = new Set(query.subjectIds);
  for (const [subjects, packed] of await statisticsStatement(tx, query).raw()) {
    if (!subjects || !packed) throw new Error('statistics were asked for two columns');
    const groups = await unpackedGroups(packed, pace);
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
 * a group nor a sort: all that the server does is to read an index, with several processes where it can:
 * alert_groups_started, which holds all that is asked.
 */
export function statisticsStatement(sql: Sql | Transaction, query: StatisticsQuery) {
  const { groupBy, subjectIds, from, to } = query;
  const ids = sql`${[...subjectIds]}::text[]`;
  const all = subjectIds.length === 0;
  const [subject, key, isWanted] =
    groupBy === 'route'
      ? [sql`g.route_id`, sql`g.route_id`, all ? sql`true` : sql`g.route_id = any(${ids})`]
      : [
          sql`array_to_string(g.integration_ids, ',')`,
          sql`g.integration_ids`,
          all ? sql`g.integration_ids <> '{}'` : sql`g.integration_ids && ${ids}`,
        ];
  return sql`
    select ${subject}, ${packedGroups(sql)}
    from alert_groups g
    where g.started_at >= ${from} and g.started_at < ${to} and ${isWanted}
    group by ${key}`;
}
