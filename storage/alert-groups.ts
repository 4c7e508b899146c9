/** Alert Groups in PostgreSQL: what the engine writes and loads, and what pages read. */
import type { ContestedAlerts } from '../actors/alert-group/ports.ts';
import type { GroupReader } from '../actors/alert-group/reading.ts';
import { createAlertWriter } from './alert-groups/alert-writer.ts';
import { groupColumns, groupOf, type StoredGroupRow } from './alert-groups/group-rows.ts';
import { savedGroups } from './alert-groups/group-writer.ts';
import { countGroups, listGroups } from './alert-groups/list.ts';
import { readAlerts, readNote, readNotes, readRelated, readTimeline } from './alert-groups/pages.ts';
import { movedSlots } from './alert-groups/slot-writer.ts';
import { addedEntries, addedNotes } from './alert-groups/timeline-writer.ts';
import type { RecordWriter, Sql } from './records.ts';

export { createAlertsView } from './alert-groups/alerts-view.ts';
export { alertRows } from './alert-groups/loader.ts';
export { createRelatedGroups } from './alert-groups/related.ts';
export { createStatisticsReader } from './alert-groups/statistics.ts';

/** The writers of everything an Alert Group records, in the order in which they run. */
export function alertGroupWriters(contested: ContestedAlerts): readonly RecordWriter[] {
  return [savedGroups, createAlertWriter(contested), addedEntries, addedNotes, movedSlots];
}

export function createGroupReader(sql: Sql): GroupReader {
  return {
    list: (query) => listGroups(sql, query),
    counts: (filter) => countGroups(sql, filter),
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
