/** How recorded effects become rows: each store owns some types and writes many effects of a type in few statements. */
import type postgres from 'postgres';
import type { Receipt, RecordedEffect } from '../../runtime/actor/index.ts';

export type Sql = postgres.Sql<{ bigint: number }>;
export type Transaction = postgres.TransactionSql<{ bigint: number }>;

export interface RecordWriter {
  /**
   * The effects of a large commit in parts that are written one after the other: bounded, before numbers are drawn, and
   * in an order that holds for all of them. Absent where effects are few, or need the numbers.
   */
  parts?(effects: readonly RecordedEffect[]): Iterable<readonly RecordedEffect[]>;
  /** The effect types written here, in the order in which they must be written among themselves. */
  readonly types: readonly string[];
  /**
   * Writes all effects of those types of one batch, in the order they were recorded.
   * `numbers` holds the #N drawn by this commit, by Alert Group id.
   * @throws {ConflictError} when a row refuses the change
   */
  write(
    tx: Transaction,
    effects: readonly RecordedEffect[],
    numbers: ReadonlyMap<string, number>,
  ): Promise<void>;
}

/** Loads the owned rows of one kind of actor, in the shape its definition works with. */
export interface RowLoader {
  readonly kind: string;
  /** Rows by actor key; a key without rows may be absent. */
  load(sql: Sql, keys: readonly string[]): Promise<ReadonlyMap<string, unknown>>;
}

/** Removes the durable form of messages that a commit has used up (the engine's own inbox rows aside). */
export interface ReceiptConsumer {
  readonly kind: 'snapshot';
  consume(tx: Transaction, receipts: readonly Extract<Receipt, { kind: 'snapshot' }>[]): Promise<void>;
}
