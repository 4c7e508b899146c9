/** Moves Slots: where new firings of a Route and Group key go from now on. */
import type { SlotMoved } from '../../actors/alert-group/effects.ts';
import { ConflictError } from '../../runtime/actor/index.ts';
import { wordArray } from '../array-literals.ts';
import { compareKeys } from '../lock-order.ts';
import type { RecordWriter } from '../records.ts';

/**
 * A Slot moves only away from the group that it names, so that two who choose a new address for one Slot never both
 * succeed. Of several moves of one Slot in a batch the first one's origin and the last one's target count.
 */
export const movedSlots: RecordWriter = {
  types: ['slot.moved'],
  async write(tx, effects) {
    const merged = new Map<string, SlotMoved>();
    for (const moved of effects as readonly SlotMoved[]) {
      const key = `${moved.routeId} ${moved.keyHash}`;
      const first = merged.get(key);
      merged.set(key, first ? { ...moved, fromGroupId: first.fromGroupId } : moved);
    }
    // Groups of other replicas may move the same Slots.
    const rows = [...merged].sort(([left], [right]) => compareKeys(left, right)).map(([, moved]) => moved);
    const written = await tx`
      insert into slots as s (route_id, key_hash, group_id)
      select route_id, key_hash, group_id from unnest(
        ${wordArray(rows.map(({ routeId }) => routeId))}::text[],
        ${wordArray(rows.map(({ keyHash }) => keyHash))}::text[],
        ${wordArray(rows.map(({ groupId }) => groupId))}::text[]
      ) as m (route_id, key_hash, group_id)
      on conflict (route_id, key_hash) do update set group_id = excluded.group_id
      where (s.route_id, s.key_hash, s.group_id) in (
        select * from unnest(
          ${wordArray(rows.map(({ routeId }) => routeId))}::text[],
          ${wordArray(rows.map(({ keyHash }) => keyHash))}::text[],
          ${wordArray(rows.map(({ fromGroupId }) => fromGroupId ?? 'null'))}::text[]
        )
      )`;
    if (written.count < rows.length) throw new ConflictError('a Slot was moved by another Alert Group');
  },
};
