/** Which master keys the values of a database need (secrets §5). */
import { SEALED_FIELDS } from '../runtime/secrets/sealed-fields.ts';
import { readActiveKeyId } from './keyring.ts';
import type { Transaction } from './records.ts';

export interface KeyUse {
  /** Null on a database that was never started on. */
  readonly activeKeyId: string | null;
  /** How many sealed values each key id opens; ids without any are absent. */
  readonly sealedWith: ReadonlyMap<string, number>;
  /** How many open Root messages have buttons that each key signed; ids without any are absent. */
  readonly signedWith: ReadonlyMap<string, number>;
}

/** Reads every sealed column once, and what signed the buttons that people may still press. */
export async function readKeyUse(tx: Transaction): Promise<KeyUse> {
  const sealedWith = new Map<string, number>();
  for (const { table, column } of SEALED_FIELDS) {
    const rows = await tx<{ key_id: string; count: number }[]>`
      select split_part(${tx(column)}, ':', 1) as key_id, count(*) as count
      from ${tx(table)} where ${tx(column)} is not null group by 1`;
    for (const { key_id: id, count } of rows) sealedWith.set(id, (sealedWith.get(id) ?? 0) + count);
  }
  // index: deliveries_signed
  const signed = await tx<{ signed_with: string; count: number }[]>`
    select signed_with, count(*) as count from deliveries
    where signed_with is not null and is_open group by 1`;
  const signedWith = new Map(signed.map(({ signed_with: id, count }) => [id, count]));
  return { activeKeyId: await readActiveKeyId(tx), sealedWith, signedWith };
}
