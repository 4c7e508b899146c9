/** Writes Timeline entries and Notes. */
import type { NoteAdded, TimelineAdded } from '../../actors/alert-group/effects.ts';
import { isLifecycle, type TimelineEntry } from '../../actors/alert-group/timeline.ts';
import type { RecordedEffect } from '../../runtime/actor/index.ts';
import type { RecordWriter } from '../records.ts';

/** Entries without a lifecycle event follow the lifecycle entries of the same instant. */
const LAST_PLACE = Number.MAX_SAFE_INTEGER;

export const addedEntries: RecordWriter = {
  types: ['timeline.added'],
  async write(tx, effects) {
    await tx`
      insert into timeline_entries (group_id, at, place, id, kind, entry)
      select * from json_to_recordset(${documentOf(effects)}::text::json)
        as e (group_id text, at bigint, place bigint, id text, kind text, entry jsonb)`;
  },
};

export const addedNotes: RecordWriter = {
  types: ['note.added'],
  async write(tx, effects) {
    await tx`
      insert into notes (group_id, at, place, id, entry)
      select group_id, at, place, id, entry from json_to_recordset(${documentOf(effects)}::text::json)
        as e (group_id text, at bigint, place bigint, id text, entry jsonb)`;
  },
};

function documentOf(effects: readonly RecordedEffect[]): string {
  const added = effects as readonly (TimelineAdded | NoteAdded)[];
  return JSON.stringify(
    added.map(({ groupId, entry }) => ({
      group_id: groupId,
      at: entry.at,
      place: placeOf(entry),
      id: entry.id,
      kind: entry.kind,
      entry,
    })),
  );
}

function placeOf(entry: TimelineEntry): number {
  return isLifecycle(entry) ? entry.sequence : LAST_PLACE;
}
