/** One actor as it is committed: the store behind actors/system/actor-state.ts. */
import type { ActorStateReader } from '../actors/system/actor-state.ts';
import { shardOf } from '../runtime/actor/index.ts';
import type { Micros } from '../runtime/clock.ts';
import type { Sql } from './records.ts';

export function createActorStateReader(sql: Sql): ActorStateReader {
  return {
    async read(actor) {
      // An actor is stored as its machine's snapshot, or has that among what else it keeps.
      // Index: actors_pkey, shards_pkey.
      const [row] = await sql<ActorRow[]>`
        select
          coalesce(a.snapshot -> 'snapshot' -> 'value', a.snapshot -> 'value') as state, a.schema, a.version, a.wake_at,
          nullif(split_part(s.owner, '/', 1), '') as replica
        from actors a
        left join shards s on s.shard = ${shardOf(actor)}
        where a.kind = ${actor.kind} and a.key = ${actor.key}`;
      if (row === undefined) return null;
      const { wake_at: wakeAt, ...stored } = row;
      return { ...stored, wakeAt };
    },
  };
}

interface ActorRow {
  readonly state: unknown;
  readonly schema: number;
  readonly version: number;
  readonly wake_at: Micros | null;
  readonly replica: string | null;
}
