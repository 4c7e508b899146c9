/** One commit of the engine: everything that a batch of turns wants stored, in one transaction. */
import {
  type ActorWrite,
  addressText,
  type CommitBatch,
  ConflictError,
  FencedError,
  type OutgoingMessage,
  type Receipt,
  ReceiptGoneError,
  type RecordedEffect,
  type ShardEpoch,
  StoreUnavailableError,
} from '../../runtime/actor/index.ts';
import type { Clock, Micros } from '../../runtime/clock.ts';
import { jsonTexts, numberArray, textArray } from '../postgres/bulk-parameters.ts';
import { isConflict, isServersFault, isUnavailable } from '../postgres/connection.ts';
import { fencesOf, LOCKS } from '../postgres/locks.ts';
import type { ReceiptConsumer, RecordWriter, Sql, Transaction } from '../postgres/records.ts';
import { type CommitPatience, limitStalls, pinPlans, together } from '../postgres/transaction.ts';
import { insertStateChanges } from './actor-states.ts';
import { type Decisions, OutdatedConfiguration } from './configuration-watch.ts';
import { insertReplies } from './inbox.ts';

export interface CommitParts {
  readonly clock: Clock;
  /** By type of record, in the order in which writers run. */
  readonly writers: ReadonlyMap<string, RecordWriter>;
  readonly consumers: ReadonlyMap<string, ReceiptConsumer>;
  /** Null when only this process changes what its turns are decided with. */
  readonly decisions: Decisions | null;
  readonly patience: CommitPatience;
}

/** A batch's records and receipts, with those who store them. */
export interface RoutedRecords {
  readonly records: readonly (readonly [RecordWriter, readonly RecordedEffect[]])[];
  readonly inbox: readonly number[];
  readonly receipts: readonly (readonly [ReceiptConsumer, readonly Exclude<Receipt, { kind: 'inbox' }>[]])[];
}

/** @throws {Error} a record or receipt that nobody stores: a defect */
export function routeRecords(batch: CommitBatch, parts: CommitParts): RoutedRecords {
  const byWriter = groupBy(batch.records, ({ type }) => known(parts.writers, type));
  const others = batch.consumed.filter((receipt) => receipt.kind !== 'inbox');
  return {
    records: [...new Set(parts.writers.values())].flatMap((writer) => {
      const effects = byWriter.get(writer);
      return effects ? [[writer, effects] as const] : [];
    }),
    inbox: batch.consumed.flatMap((receipt) => (receipt.kind === 'inbox' ? [receipt.seq] : [])),
    receipts: [...groupBy(others, ({ kind }) => known(parts.consumers, kind))],
  };
}

function known<T>(parts: ReadonlyMap<string, T>, type: string): T {
  const part = parts.get(type);
  if (part === undefined) throw new Error(`Nobody stores ${type}.`);
  return part;
}

function groupBy<Key, Value>(values: readonly Value[], keyOf: (value: Value) => Key): Map<Key, Value[]> {
  const groups = new Map<Key, Value[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group) group.push(value);
    else groups.set(key, [value]);
  }
  return groups;
}

/** Carries out {@link ActorStore.commit}; errors as described there. */
export async function commitBatch(
  sql: Sql,
  parts: CommitParts,
  routed: RoutedRecords,
  batch: CommitBatch,
  bind: (numbers: readonly number[]) => void,
): Promise<void> {
  try {
    await sql.begin('isolation level read committed', (tx) => writeBatch(tx, parts, routed, batch, bind));
  } catch (error) {
    if (error instanceof OutdatedConfiguration) await catchUp(parts, error);
    if (isConflict(error)) throw new ConflictError((error as Error).message, { cause: error });
    if (isServersFault(error)) throw new StoreUnavailableError((error as Error).message, { cause: error });
    throw error;
  }
}

/** Nothing is stored, whether this succeeds or not. Without the configuration the engine pauses between repetitions. */
async function catchUp({ decisions }: CommitParts, outdated: OutdatedConfiguration): Promise<void> {
  try {
    await decisions?.catchUp(outdated);
  } catch (error) {
    if (!isUnavailable(error)) throw error;
  }
}

/**
 * Statements are handed to the driver without waiting for each other's answers, which it sends on in one go. A commit
 * with numbers waits once, because what is written depends on them.
 */
async function writeBatch(
  tx: Transaction,
  parts: CommitParts,
  routed: RoutedRecords,
  batch: CommitBatch,
  bind: (numbers: readonly number[]) => void,
): Promise<void> {
  if (batch.isLarge) await writeParts(tx, parts, routed, batch);
  const claims = batch.claims.length;
  // Whoever holds the counter holds a fence: a process that stopped is ended by whoever takes over its shards.
  const [, drawn] = claims > 0 ? await together(opening(), drawNumbers(tx, claims)) : [null, []];
  bind(drawn);
  const numbers = new Map(batch.drawnBefore);
  batch.claims.forEach(({ key }, index) => void numbers.set(key, drawn[index] ?? 0));
  const now = parts.clock.now();
  const [added, changed] = split(batch.writes, ({ expectedVersion }) => expectedVersion === 0);
  const records = batch.isLarge
    ? routed.records.filter(([{ parts }]) => parts === undefined)
    : routed.records;
  const opened = claims > 0 ? Promise.resolve() : opening();
  try {
    await together(
      opened,
      insertActors(tx, added, now),
      updateActors(tx, changed, now),
      insertStateChanges(tx, batch.writes),
      deleteInbox(tx, routed.inbox),
      batch.isLarge ? Promise.resolve() : insertInbox(tx, batch.sends, now),
      insertReplies(tx, batch.replies, now),
      ...records.map(async ([writer, effects]) => writer.write(tx, effects, numbers)),
    );
  } catch (error) {
    // Whoever has lost its shards meets rows that their new owner has changed: that it lost them is what counts.
    await opened;
    throw error;
  }
  await together(...routed.receipts.map(async ([consumer, receipts]) => consumer.consume(tx, receipts)));

  function opening(): Promise<void> {
    return batch.isLarge ? Promise.resolve() : open(tx, parts, batch);
  }
}

/** Messages of a large commit written with one statement. */
const MESSAGES_AT_ONCE = 500;

/**
 * What makes a commit large, a bounded part at a time: the process serves others between two, and no statement is
 * long. The counter of numbers, which others need, is locked only afterwards.
 */
async function writeParts(
  tx: Transaction,
  parts: CommitParts,
  routed: RoutedRecords,
  batch: CommitBatch,
): Promise<void> {
  await open(tx, parts, batch);
  for (const [writer, effects] of routed.records) {
    for (const part of writer.parts?.(effects) ?? []) await writer.write(tx, part, NO_NUMBERS);
  }
  const now = parts.clock.now();
  for (let from = 0; from < batch.sends.length; from += MESSAGES_AT_ONCE)
    await insertInbox(tx, batch.sends.slice(from, from + MESSAGES_AT_ONCE), now);
}

const NO_NUMBERS: ReadonlyMap<string, number> = new Map();

/** What every commit begins with. */
async function open(
  tx: Transaction,
  { decisions, patience }: CommitParts,
  batch: CommitBatch,
): Promise<void> {
  const { epochs, decidedWith } = batch;
  await together(
    // Said in the transaction, because a session behind a transaction pooler brings settings of its own.
    limitStalls(tx, patience(batch)),
    pinPlans(tx),
    tx`select set_config('synchronous_commit', 'on', true)`,
    checkEpochs(tx, epochs),
    decisions && decidedWith !== null ? decisions.check(tx, decidedWith) : Promise.resolve(),
  );
}

/** Raises the counter, whose row stays locked until the commit ends: numbers of a failed one are given again. */
async function drawNumbers(tx: Transaction, count: number): Promise<number[]> {
  const [row] = await tx<{ value: number }[]>`
    update counters set value = value + ${count} where name = 'alert_group_number' returning value`;
  if (row === undefined) throw new Error('The counter alert_group_number is missing.');
  return Array.from({ length: count }, (_, index) => row.value - count + 1 + index);
}

/**
 * Fencing (operations §5.2 rule 3). The fences stay shared until the commit ends: whoever raises an epoch waits for
 * commits that saw the old one, and those that come later see the new one, because the epochs are read by a statement
 * of its own once the fences are held.
 */
async function checkEpochs(tx: Transaction, epochs: readonly ShardEpoch[]): Promise<void> {
  if (epochs.length === 0) return;
  const shards = epochs.map(({ shard }) => shard);
  const [, rows] = await together(
    tx`
      select pg_advisory_xact_lock_shared(${LOCKS.fence}, fence)
      from unnest(${numberArray(fencesOf(shards))}::int[]) with ordinality as f(fence, place) order by place`,
    tx<{ shard: number; epoch: number }[]>`
      select shard, epoch from shards where shard = any(${numberArray(shards)}::smallint[])`,
  );
  const newest = new Map(rows.map(({ shard, epoch }) => [shard, epoch]));
  const lost = epochs.filter(({ shard, epoch }) => newest.get(shard) !== epoch).map(({ shard }) => shard);
  if (lost.length > 0) throw new FencedError(`A newer owner exists for the shards ${lost.join(', ')}.`, lost);
}

async function insertActors(tx: Transaction, writes: readonly ActorWrite[], now: Micros): Promise<void> {
  if (writes.length === 0) return;
  const { count } = await tx`
    insert into actors (kind, key, shard, version, schema, snapshot, wake_at, updated_at)
    select kind, key, shard, 1, schema, snapshot::jsonb, wake_at, ${now}
    from rows from (
      unnest(${textArray(writes.map(({ address }) => address.kind))}::text[]),
      unnest(${textArray(writes.map(({ address }) => address.key))}::text[]),
      unnest(${numberArray(writes.map(({ shard }) => shard))}::smallint[]),
      unnest(${numberArray(writes.map(({ schema }) => schema))}::integer[]),
      unnest(string_to_array(${snapshotsOf(writes)}, chr(1))),
      unnest(${numberArray(writes.map(({ wakeAt }) => wakeAt))}::bigint[])
    ) as w (kind, key, shard, schema, snapshot, wake_at)
    on conflict (kind, key) do nothing`;
  if (count !== writes.length) throw refusal(writes, count);
}

/** Index: actors_pkey. */
async function updateActors(tx: Transaction, writes: readonly ActorWrite[], now: Micros): Promise<void> {
  if (writes.length === 0) return;
  const { count } = await tx`
    update actors a
    set version = a.version + 1, schema = w.schema, snapshot = w.snapshot::jsonb, wake_at = w.wake_at,
      updated_at = ${now}
    from rows from (
      unnest(${textArray(writes.map(({ address }) => address.kind))}::text[]),
      unnest(${textArray(writes.map(({ address }) => address.key))}::text[]),
      unnest(${numberArray(writes.map(({ expectedVersion }) => expectedVersion))}::bigint[]),
      unnest(${numberArray(writes.map(({ schema }) => schema))}::integer[]),
      unnest(string_to_array(${snapshotsOf(writes)}, chr(1))),
      unnest(${numberArray(writes.map(({ wakeAt }) => wakeAt))}::bigint[])
    ) as w (kind, key, version, schema, snapshot, wake_at)
    where a.kind = w.kind and a.key = w.key and a.version = w.version`;
  if (count !== writes.length) throw refusal(writes, count);
}

function split<T>(values: readonly T[], first: (value: T) => boolean): [T[], T[]] {
  return [values.filter(first), values.filter((value) => !first(value))];
}

function snapshotsOf(writes: readonly ActorWrite[]): string {
  return jsonTexts(writes.map((write) => write.persist()));
}

function refusal(writes: readonly ActorWrite[], count: number): ConflictError {
  const [first] = writes;
  const example = first ? `, ${addressText(first.address)} among them` : '';
  return new ConflictError(
    `${writes.length - count} of ${writes.length} actors changed meanwhile${example}.`,
  );
}

async function deleteInbox(tx: Transaction, seqs: readonly number[]): Promise<void> {
  if (seqs.length === 0) return;
  const rows = await tx<{ seq: number }[]>`
    delete from inbox where seq = any(${numberArray(seqs)}::bigint[]) returning seq`;
  if (rows.length === seqs.length) return;
  const there = new Set(rows.map(({ seq }) => seq));
  throw new ReceiptGoneError(seqs.filter((seq) => !there.has(seq)).map((seq) => ({ kind: 'inbox', seq })));
}

/** Numbered in the order of the batch. */
async function insertInbox(tx: Transaction, sends: readonly OutgoingMessage[], now: Micros): Promise<void> {
  if (sends.length === 0) return;
  await tx`
    insert into inbox (shard, receiver_kind, receiver_key, sender, message, created_at)
    select shard, kind, key, sender, message::jsonb, ${now}
    from rows from (
      unnest(${numberArray(sends.map(({ shard }) => shard))}::smallint[]),
      unnest(${textArray(sends.map(({ to }) => to.kind))}::text[]),
      unnest(${textArray(sends.map(({ to }) => to.key))}::text[]),
      unnest(${textArray(sends.map(({ from }) => (from === null ? null : addressText(from))))}::text[]),
      unnest(string_to_array(${jsonTexts(sends.map(({ message }) => message))}, chr(1)))
    ) with ordinality as sent (shard, kind, key, sender, message, place)
    order by place`;
}
