/** The engine's durable storage: what `runtime/actor/store.ts` asks for (docs/engine.md). */
import {
  type ActorMessage,
  type ActorStore,
  type Address,
  type Asker,
  addressText,
  type InboxMessage,
  type LoadedActor,
  parseAddress,
} from '../../runtime/actor/index.ts';
import type { Clock, Micros } from '../../runtime/clock.ts';
import { numberArray, textArray } from '../postgres/bulk-parameters.ts';
import { unlessUnavailable } from '../postgres/connection.ts';
import type { ReceiptConsumer, RecordWriter, RowLoader, Sql } from '../postgres/records.ts';
import { createCommitPatience, inPlannedSnapshot } from '../postgres/transaction.ts';
import { type CommitParts, commitBatch, routeRecords } from './actor-commit.ts';
import type { Decisions } from './configuration-watch.ts';
import { deadLetters, postMessages, takeReplies } from './inbox.ts';
import { readEpochs } from './placement.ts';

export interface ActorStoreDeps {
  /** Reads, and large commits, which go on beside others: the main pool. */
  readonly sql: Sql;
  /**
   * Commits: a client of their own, of one connection, so that a commit never waits for a reader. The pool when
   * absent.
   */
  readonly commits?: Sql;
  readonly clock: Clock;
  /**
   * Started in this order within a commit, each before the one before it has its answers: statements of one writer
   * keep their order, and the first ones of all writers do, too.
   */
  readonly writers: readonly RecordWriter[];
  readonly rowLoaders: readonly RowLoader[];
  /** Run after all writers have finished. */
  readonly consumers: readonly ReceiptConsumer[];
  /** Absent when only this process changes what its turns are decided with. */
  readonly decisions?: Decisions | null;
}

/** @throws {Error} when two writers want one type of record, two loaders one kind, or two consumers one receipt */
export function createActorStore(deps: ActorStoreDeps): ActorStore {
  const { sql, commits = sql } = deps;
  const parts: CommitParts = {
    clock: deps.clock,
    writers: uniqueBy([deadLetters, ...deps.writers], ({ types }) => types),
    consumers: uniqueBy(deps.consumers, ({ kind }) => [kind]),
    decisions: deps.decisions ?? null,
    patience: createCommitPatience(),
  };
  const loaders = uniqueBy(deps.rowLoaders, ({ kind }) => [kind]);
  return {
    load: (addresses) => unlessUnavailable(() => load(sql, loaders, addresses)),
    commit: async (batch, bind) => {
      const connection = batch.isLarge ? sql : commits;
      return commitBatch(connection, parts, routeRecords(batch, parts), batch, bind);
    },
    inbox: (...query) => unlessUnavailable(() => readInbox(sql, ...query)),
    due: (shards, now, limit) => unlessUnavailable(() => readDue(sql, shards, now, limit)),
    nextWake: (shards) => unlessUnavailable(() => readNextWake(sql, shards)),
    post: (messages) => unlessUnavailable(() => postMessages(sql, messages, deps.clock.now())),
    takeReplies: (askedBy) => unlessUnavailable(() => takeReplies(sql, askedBy)),
    epochs: (shards) => unlessUnavailable(() => readEpochs(sql, shards)),
  };
}

interface ActorRow {
  readonly kind: string;
  readonly key: string;
  readonly version: number;
  readonly schema: number;
  readonly snapshot: unknown;
  readonly wake_at: number | null;
}

/**
 * Actors first, their rows after: should a commit that was given up for lost land in between, the state is the older
 * of the two, and the next commit notices.
 */
async function load(
  sql: Sql,
  loaders: ReadonlyMap<string, RowLoader>,
  addresses: readonly Address[],
): Promise<Map<string, LoadedActor>> {
  if (addresses.length === 0) return new Map();
  // Index: actors_pkey. The limit keeps a plan made while the table was small from reading all of it.
  const actors = await sql<ActorRow[]>`
    select a.kind, a.key, a.version, a.schema, a.snapshot, a.wake_at
    from unnest(
      ${textArray(addresses.map(({ kind }) => kind))}::text[],
      ${textArray(addresses.map(({ key }) => key))}::text[]
    ) as wanted (kind, key)
    cross join lateral (select * from actors where kind = wanted.kind and key = wanted.key limit 1) a`;
  const kinds = [...new Set(actors.map(({ kind }) => kind))];
  const owned = await Promise.all(
    kinds.map(async (kind) => {
      const keys = actors.filter((actor) => actor.kind === kind).map(({ key }) => key);
      return [kind, await loaders.get(kind)?.load(sql, keys)] as const;
    }),
  );
  const rowsOf = new Map(owned);
  return new Map(
    actors.map((row) => [
      addressText(row),
      {
        version: row.version,
        schema: row.schema,
        persisted: row.snapshot,
        wakeAt: row.wake_at,
        rows: rowsOf.get(row.kind)?.get(row.key),
      },
    ]),
  );
}

interface InboxRow {
  readonly seq: number;
  readonly receiver_kind: string;
  readonly receiver_key: string;
  readonly sender: string | null;
  readonly message: ActorMessage;
  readonly asked_by: string | null;
  readonly ask_id: string | null;
  readonly expires_at: Micros | null;
}

/**
 * Index: inbox_pkey or inbox_by_shard, whichever is shorter. Planned each time: the inbox swings between empty and very
 * many rows, and a plan made while it was empty would sort all of them for every page.
 */
async function readInbox(
  sql: Sql,
  ...[shards, known, limit, passedOver]: Parameters<ActorStore['inbox']>
): Promise<InboxMessage[]> {
  const rows = await inPlannedSnapshot(
    sql,
    (tx) => tx<InboxRow[]>`
      select seq, receiver_kind, receiver_key, sender, message, asked_by, ask_id, expires_at
      from inbox
      where shard = any(${numberArray(shards)}::smallint[]) and seq <> all(${numberArray(known)}::bigint[])
        and (sender is null or sender <> all(${textArray(passedOver)}::text[]))
      order by seq
      limit ${limit}`,
  );
  return rows.map((row) => ({
    seq: row.seq,
    to: { kind: row.receiver_kind, key: row.receiver_key },
    from: row.sender === null ? null : parseAddress(row.sender),
    message: row.message,
    asker: askerOf(row),
  }));
}

function askerOf({ asked_by: askedBy, ask_id: askId, expires_at: expiresAt }: InboxRow): Asker | null {
  return askedBy === null || askId === null || expiresAt === null ? null : { askedBy, askId, expiresAt };
}

/** Index: actors_wake. */
async function readDue(sql: Sql, shards: readonly number[], now: number, limit: number) {
  const rows = await sql<{ kind: string; key: string; wake_at: number }[]>`
    select kind, key, wake_at
    from actors
    where wake_at <= ${now} and shard = any(${numberArray(shards)}::smallint[])
    order by wake_at
    limit ${limit}`;
  return rows.map(({ kind, key, wake_at }) => ({ address: { kind, key }, wakeAt: wake_at }));
}

/** Index: actors_wake. */
async function readNextWake(sql: Sql, shards: readonly number[]) {
  const [row] = await sql<{ wake_at: number }[]>`
    select wake_at
    from actors
    where wake_at is not null and shard = any(${numberArray(shards)}::smallint[])
    order by wake_at
    limit 1`;
  return row?.wake_at ?? null;
}

function uniqueBy<T>(values: readonly T[], names: (value: T) => readonly string[]): Map<string, T> {
  const found = new Map<string, T>();
  for (const value of values) {
    for (const name of names(value)) {
      if (found.has(name)) throw new Error(`Two parts of the storage claim ${name}.`);
      found.set(name, value);
    }
  }
  return found;
}
