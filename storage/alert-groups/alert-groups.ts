/** Alert Groups in PostgreSQL: what the engine writes and loads, and what pages read. */
import type { ContestedAlerts } from '../../actors/alert-group/ports.ts';
import type { GroupFilter, GroupReader } from '../../actors/alert-group/reading/readers.ts';
import { type Monotonic, systemMonotonic } from '../../runtime/clock.ts';
import { Pace } from '../../runtime/pace.ts';
import { createTurns } from '../../runtime/share-next.ts';
import type { RecordWriter, Sql } from '../postgres/records.ts';
import { createAlertWriter } from './alert-writer.ts';
import { isExpression } from './filters.ts';
import { foldGroups } from './folds.ts';
import { groupColumns, groupOf, type StoredGroupRow } from './group-rows.ts';
import { addedEntries, addedNotes, createGroupWriter, movedSlots } from './group-writer.ts';
import { countGroups, listGroups } from './list.ts';
import { readAlerts, readNote, readNotes, readRelated, readTimeline } from './pages.ts';
import type { RecentGroups } from './recent/recent-groups.ts';
import { TextIndexes } from './text-sample.ts';

export { createAlertsView } from './alerts-view.ts';
export { createContextReader } from './context.ts';
export { createFlowReader } from './flow.ts';
export { alertRows, createRelatedGroups } from './loader.ts';
export { createTemplateGroups } from './pages.ts';
export { RecentGroups } from './recent/recent-groups.ts';
export { createStatisticsReader } from './statistics.ts';

/** The writers of everything an Alert Group records, in the order in which they run. */
export function alertGroupWriters(contested: ContestedAlerts): readonly RecordWriter[] {
  return [createGroupWriter(contested), createAlertWriter(contested), addedEntries, addedNotes, movedSlots];
}

/** Readings with regular expressions that wait for their turn. */
const MOST_WAITING = 32;

/**
 * @param monotonic tells how long a regular expression takes
 * @param recent answers what it can in place of the database
 */
export function createGroupReader(
  sql: Sql,
  monotonic: Monotonic = systemMonotonic,
  recent: RecentGroups | null = null,
): GroupReader {
  const turns = createTurns('regular expressions', MOST_WAITING);
  const indexes = new TextIndexes(monotonic);
  const inTurn = <Result>({ matchers }: GroupFilter, read: (pace: Pace) => Promise<Result>) => {
    const run = () => read(new Pace(monotonic));
    return matchers.some(isExpression) ? turns(run) : run();
  };
  return {
    list: (query) => inTurn(query.filter, (pace) => listGroups(sql, query, pace, indexes, recent)),
    counts: (filter) => inTurn(filter, (pace) => countGroups(sql, filter, pace, recent)),
    folds: (query) => inTurn(query.filter, (pace) => foldGroups(sql, query, pace, indexes)),
    async read(id) {
      const [row] = await sql<StoredGroupRow[]>`
        select ${groupColumns(sql)} from alert_groups g where g.id = ${id}`;
      return row ? groupOf(row) : null;
    },
    alerts: (query) => readAlerts(sql, query),
    timeline: (query) => readTimeline(sql, query),
    notes: (query) => readNotes(sql, query),
    note: (groupId, id) => readNote(sql, groupId, id),
    related: (query) => readRelated(sql, query),
  };
}
