import type { CommitBatch } from '../runtime/actor/index.ts';
import type { Transaction } from './records.ts';

/** Whoever takes over the shards of a process that stopped in the middle of a commit waits as long (operations §5.2), ms. */
const FIRST = 1_500;
/** Below what a commit's connection may be silent for. */
const MOST = 9_000;

/**
 * Makes the server undo the transaction of a process that stopped in the middle of it: between two statements after
 * `patience` ms, while one is carried out after `statement` ms, for it may wait for another's. It has no limit for a
 * process that stopped between the two parts in which the driver sends a statement that is new to its session:
 * whoever takes over ends that one (`epochs.ts`). Said in the transaction, it holds behind a transaction pooler, too.
 */
export async function limitStalls(
  tx: Transaction,
  patience: number,
  statement = 2 * patience,
): Promise<void> {
  await tx`
    select set_config('idle_in_transaction_session_timeout', ${String(patience)}, true),
      set_config('statement_timeout', ${String(statement)}, true)`;
}

/** How long the server waits for the rest of a commit before it gives it up, ms. */
export type CommitPatience = (batch: CommitBatch) => number;

/**
 * Patience that doubles each time the same batch comes again: a process that is too busy to be in time would be so
 * every time, and nothing of it would ever be stored.
 */
export function createCommitPatience(): CommitPatience {
  const offered = new WeakMap<CommitBatch, number>();
  return (batch) => {
    const before = offered.get(batch) ?? 0;
    offered.set(batch, before + 1);
    return Math.min(FIRST * 2 ** before, MOST);
  };
}
