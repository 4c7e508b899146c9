/** The master keys of the installation, as the API and the command line show them (secrets §5). */
import type { Micros } from '../runtime/clock.ts';
import { type KeyEntry, keyEntries } from '../runtime/secrets/key-report.ts';
import { readKeyUse } from './key-use.ts';
import type { Sql, Transaction } from './records.ts';
import { liveReplicas } from './replica-records.ts';
import { inSnapshot } from './transaction.ts';

export function readKeys(sql: Sql, now: Micros): Promise<readonly KeyEntry[]> {
  return inSnapshot(sql, async (tx) =>
    keyEntries({ ...(await readKeyUse(tx)), replicas: await keyHolders(tx, now) }),
  );
}

export interface KeyHolder {
  readonly id: string;
  readonly keyIds: readonly string[];
}

/** Live replicas, each with the keys of its newest run: one that was killed and came back holds what it holds now. */
export async function keyHolders(tx: Transaction, now: Micros): Promise<readonly KeyHolder[]> {
  const newest = new Map<string, KeyHolder>();
  for (const { id, keyIds } of await liveReplicas(tx, now)) newest.set(id, { id, keyIds });
  return [...newest.values()];
}
