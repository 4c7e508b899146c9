/**
 * How many actors are in which state of their machine, and which ones (ui §12.1). A commit appends what it changed and
 * updates no row, so that commits wait for nobody; a reading adds the few rows up.
 */
import type { ActorStateReader, WaitingMessage } from '../../actors/system/ports.ts';
import { type ActorWrite, shardOf } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import { jsonText, numberArray, textArray } from '../postgres/bulk-parameters.ts';
import { LOCKS } from '../postgres/locks.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { inTransaction } from '../postgres/transaction.ts';

/** Actors that one request for a page looks at. */
export const LOOKED_AT = 20_000;

/** Messages in the inbox of a shard among which those to an actor are looked for. */
const OLDEST_WAITING = 1_000;
/** Of those that wait for an actor, so many are listed; the others are not read, since each may be large. */
const LISTED_WAITING = 20;

/** Within the commit: how many actors more, or fewer, are in each state than before. */
export async function insertStateChanges(tx: Transaction, writes: readonly ActorWrite[]): Promise<void> {
  const changes = changesOf(writes);
  if (changes.length === 0) return;
  await tx`
    insert into actor_states (kind, state, change)
    select kind, state::jsonb, change
    from unnest(
      ${textArray(changes.map(({ kind }) => kind))}::text[],
      ${textArray(changes.map(({ state }) => state))}::text[],
      ${numberArray(changes.map(({ change }) => change))}::bigint[]
    ) as changed (kind, state, change)`;
}

interface Change {
  readonly kind: string;
  /** As JSON text. */
  readonly state: string;
  change: number;
}

function changesOf(writes: readonly ActorWrite[]): readonly Change[] {
  const changes = new Map<string, Change>();
  const count = (kind: string, state: string, by: number) => {
    const key = `${kind} ${state}`;
    const known = changes.get(key);
    if (known === undefined) changes.set(key, { kind, state, change: by });
    else known.change += by;
  };
  for (const write of writes) {
    const { from, to } = write.states();
    const [before, after] = [from === undefined ? null : jsonText(from), jsonText(to)];
    if (before === after) continue;
    if (before !== null) count(write.address.kind, before, -1);
    count(write.address.kind, after, 1);
  }
  return [...changes.values()].filter(({ change }) => change !== 0);
}

/**
 * Replaces what commits appended by its sums. Harmless beside commits and readings: a statement sees it before or after.
 */
export async function foldStateChanges(sql: Sql): Promise<void> {
  await inTransaction(sql, async (tx) => {
    await tx`select pg_advisory_xact_lock(${LOCKS.actorStates})`;
    await tx`
      with folded as (
        delete from actor_states returning kind, state, change
      )
      insert into actor_states (kind, state, change)
      select kind, state, sum(change) from folded group by kind, state having sum(change) <> 0`;
  });
}

/**
 * Counts the actors themselves: replicas of an earlier release append nothing. The lock keeps {@link foldStateChanges}
 * away, whose sums the statement would not see.
 */
export async function recountStates(sql: Sql): Promise<void> {
  await inTransaction(sql, async (tx) => {
    await tx`select pg_advisory_xact_lock(${LOCKS.actorStates})`;
    await tx`
      with counted as (
        select kind, ${stateOf(tx)} as state, count(*) as count from actors group by 1, 2
      ), forgotten as (
        delete from actor_states
      )
      insert into actor_states (kind, state, change) select kind, state, count from counted`;
  });
}

/**
 * The state in the row of an actor: it is stored as its machine's snapshot, or has that among what else it keeps. The
 * counterpart of `machineValue` (runtime/actor/machine.ts).
 */
export function stateOf(sql: Sql | Transaction) {
  return sql`coalesce(snapshot -> 'snapshot' -> 'value', snapshot -> 'value', 'null')`;
}

/** Actors as they are committed: the store behind actors/system/ports.ts. */
export function createActorStateReader(sql: Sql): ActorStateReader {
  return {
    async read(actor) {
      // Index: actors_pkey, shards_pkey, inbox_by_shard.
      const [row] = await sql<StoredStateRow[]>`
        with waiting as (
          select seq, message, created_at
          from (select * from inbox where shard = ${shardOf(actor)} order by seq limit ${OLDEST_WAITING}) oldest
          where receiver_kind = ${actor.kind} and receiver_key = ${actor.key}
        ), listed as (
          select seq, message ->> 'type' as type, created_at as since
          from (select * from waiting order by seq limit ${LISTED_WAITING}) oldest
        )
        select
          nullif(${stateOf(sql)}, 'null') as state, schema, version, wake_at,
          (select count(*)::int from waiting) as waiting,
          (
            select coalesce(jsonb_agg(jsonb_build_object('type', type, 'since', since) order by seq), '[]') from listed
          ) as inbox,
          (select nullif(split_part(owner, '/', 1), '') from shards where shard = ${shardOf(actor)}) as replica
        from actors
        where kind = ${actor.kind} and key = ${actor.key}`;
      if (row === undefined) return null;
      const { wake_at: wakeAt, ...stored } = row;
      return { ...stored, wakeAt };
    },

    counts: () => sql<{ kind: string; state: unknown; count: number }[]>`
      select kind, nullif(state, 'null') as state, sum(change)::int as count
      from actor_states
      group by kind, state
      having sum(change) > 0
      order by kind, state`,

    async list({ kind, state, after, limit }) {
      const path = state.split('.');
      const rows = await sql<ListedRow[]>`
        with looked as materialized (
          ${candidates(sql, kind, path, after)}
        ), found as (
          select a.key, ${stateOf(sql)} as state, a.version, a.wake_at, a.updated_at
          from looked
          cross join lateral (select * from actors where kind = ${kind} and key = looked.key limit 1) a
        ), listed as (
          select * from found
          where state #>> ${textArray(path.slice(0, -1))}::text[] = ${path.at(-1) ?? ''}
            or state #> ${textArray(path)}::text[] is not null
          order by key
          limit ${limit + 1}
        )
        select listed.*, reach.looked, reach.last
        from (select count(*)::int as looked, max(key) as last from looked) reach
        left join listed on true
        order by key`;
      const items = rows.flatMap(({ key, looked, last, wake_at, updated_at, ...row }) =>
        key === null ? [] : [{ ...row, key, wakeAt: wake_at, changedAt: updated_at }],
      );
      if (items.length > limit) return { items: items.slice(0, limit), next: items[limit - 1]?.key ?? null };
      const { looked = 0, last = null } = rows[0] ?? {};
      return { items, next: looked === LOOKED_AT ? last : null };
    },
  };
}

/** Statuses of Alert Groups that are not over, which are the names of the outermost states of their machine. */
const OPEN = ['firing', 'acknowledged', 'snoozed'];

/**
 * Keys among which those in the state are: of open Alert Groups by their status, because resolved ones may be a hundred
 * times as many. The open ones are chosen before they are ordered: in the order of ids the server would read resolved
 * ones as well. Indexes: one of the open ones of alert_groups; actors_pkey.
 */
function candidates(sql: Sql, kind: string, [outermost = '']: readonly string[], after: string) {
  if (kind === 'alert_group' && OPEN.includes(outermost)) {
    return sql`
      with open as materialized (
        select id from alert_groups where status = ${outermost} and status <> 'resolved' and id > ${after}
      )
      select id as key from open order by id limit ${LOOKED_AT}`;
  }
  return sql`select key from actors where kind = ${kind} and key > ${after} order by key limit ${LOOKED_AT}`;
}

interface StoredStateRow {
  readonly state: unknown;
  readonly waiting: number;
  readonly inbox: readonly WaitingMessage[];
  readonly schema: number;
  readonly version: number;
  readonly wake_at: Micros | null;
  readonly replica: string | null;
}

interface ListedRow {
  /** Null in the only row of a page without any. */
  readonly key: string | null;
  readonly state: unknown;
  readonly version: number;
  readonly wake_at: Micros | null;
  readonly updated_at: Micros;
  readonly looked: number;
  readonly last: string | null;
}
