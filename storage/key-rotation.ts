/** Makes another master key the active one (secrets §5). */
import { type Authorship, auditEntry } from '../actors/audit.ts';
import type { MasterKey } from '../runtime/secrets/keyring.ts';
import type { AppendAudit } from './access.ts';
import { keyHolders } from './key-view.ts';
import { lockSealing, readKeyring, writeActiveKey } from './keyring.ts';
import type { Transaction } from './records.ts';
import { rerenderOldButtons } from './rerender.ts';
import {
  type Resealed,
  replaceSealed,
  reseal,
  SECRET_FIELDS,
  sealedValues,
  type UnreadableValue,
} from './sealed-values.ts';

export interface Rotation {
  /** Those of this process, the old and the new one among them. */
  readonly keys: readonly MasterKey[];
  /** Id of the key to activate. */
  readonly to: string;
  readonly author: Authorship;
}

/** How many values each field has that were sealed anew. */
export type FieldCounts = Readonly<Record<string, number>>;

/** Everything but `activated` has changed nothing. */
export type RotationOutcome =
  | { readonly outcome: 'activated'; readonly from: string; readonly fields: FieldCounts }
  | { readonly outcome: 'already_active' }
  | { readonly outcome: 'no_keyring' }
  | { readonly outcome: 'not_held_here'; readonly held: readonly string[] }
  /** Ids of live replicas. */
  | { readonly outcome: 'missing_on'; readonly replicas: readonly string[] }
  | { readonly outcome: 'unreadable'; readonly value: UnreadableValue };

/** A process that stops in the middle must not hold up saves for longer. */
const STALLED_AFTER = '5s';

/**
 * Runs in one transaction under the start-up lock. Open Root messages are looked at afterwards, so that their buttons are
 * signed anew. Saves of sealed values wait for its end, everything else goes on; a
 * process killed in the middle leaves the old key active and every value as it was. No `updated_at` moves.
 * @throws {KeyringError} the keys of this process do not open the database
 */
export async function rotateKeys(
  tx: Transaction,
  appendAudit: AppendAudit,
  { keys, to, author }: Rotation,
): Promise<RotationOutcome> {
  await tx`select set_config('idle_in_transaction_session_timeout', ${STALLED_AFTER}, true)`;
  await lockSealing(tx);
  const keyring = await readKeyring(tx, keys);
  if (!keyring) return { outcome: 'no_keyring' };
  const from = keyring.activeKeyId;
  if (from === to) return { outcome: 'already_active' };
  if (!keyring.heldKeyIds.includes(to)) return { outcome: 'not_held_here', held: keyring.heldKeyIds };
  const lacking = (await keyHolders(tx, author.at)).filter(({ keyIds }) => !keyIds.includes(to));
  if (lacking.length > 0) return { outcome: 'missing_on', replicas: lacking.map(({ id }) => id) };

  const sealer = keyring.sealer(to);
  const resealed = new Map<(typeof SECRET_FIELDS)[number], readonly Resealed[]>();
  for (const field of SECRET_FIELDS) {
    const made: Resealed[] = [];
    for (const value of await sealedValues(tx, field)) {
      const one = reseal(keyring, sealer, value);
      if ('keyId' in one) return { outcome: 'unreadable', value: one };
      made.push(one);
    }
    resealed.set(field, made);
  }

  await writeActiveKey(tx, sealer);
  for (const [field, values] of resealed) await replaceSealed(tx, field, values);
  await rerenderOldButtons(tx, author.at);
  const fields = Object.fromEntries([...resealed].map(([{ field }, values]) => [field, values.length]));
  const details = { from, to, fields };
  const entry = { action: 'keyring.key_activated', resourceId: to, resourceName: to, details };
  await appendAudit(tx, auditEntry(author, entry));
  return { outcome: 'activated', from, fields };
}
