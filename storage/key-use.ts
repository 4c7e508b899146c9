/** Which master keys the values of a database need (secrets §5). */
import { SEALED_FIELDS } from '../runtime/secrets/sealed-fields.ts';
import { readActiveKeyId } from './keyring.ts';
import type { Transaction } from './records.ts';

export interface KeyUse {
  /** Null on a database that was never started on. */
  readonly activeKeyId: string | null;
  /** How many sealed values each key id opens; ids without any are absent. */
  readonly sealedWith: ReadonlyMap<string, number>;
}

/** Reads every sealed column once. */
export async function readKeyUse(tx: Transaction): Promise<KeyUse> {
  const sealedWith = new Map<string, number>();
  for (const { table, column } of SEALED_FIELDS) {
    const rows = await tx<{ key_id: string; count: number }[]>`
      select split_part(${tx(column)}, ':', 1) as key_id, count(*) as count
      from ${tx(table)} where ${tx(column)} is not null group by 1`;
    for (const { key_id: id, count } of rows) sealedWith.set(id, (sealedWith.get(id) ?? 0) + count);
  }
  return { activeKeyId: await readActiveKeyId(tx), sealedWith };
}
