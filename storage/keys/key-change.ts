/** Changes of the master key: rotation, and the new beginning after all keys were lost (secrets §5). */
import { type Authorship, auditEntry } from '../../actors/audit.ts';
import { destinationAddress, type SecretsLost } from '../../actors/destination/messages.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { createKeyring, type MasterKey } from '../../runtime/secrets/keyring.ts';
import type { SealedFieldName } from '../../runtime/secrets/sealed-fields.ts';
import { rerenderOldButtons } from '../delivery/rerender.ts';
import { enqueueInbox } from '../engine/inbox.ts';
import type { Transaction } from '../postgres/records.ts';
import type { AppendAudit } from '../postgres/transaction.ts';
import { keyHolders, lockSealing, readActiveKeyId, readKeyring, writeActiveKey } from './keyring.ts';
import {
  type Resealed,
  replaceSealed,
  reseal,
  SECRET_FIELDS,
  sealedValues,
  type UnreadableValue,
  wipeSealed,
} from './sealed-values.ts';

export interface WipedValue {
  readonly field: SealedFieldName;
  readonly owner: string;
  /** Of the Destination or Connection; null when it has none. */
  readonly name: string | null;
}

export type ResetOutcome =
  | {
      readonly outcome: 'reset';
      readonly active: string;
      readonly wiped: readonly WipedValue[];
      readonly sessionsEnded: number;
      /** Ids of live replicas that lack the key and will end by themselves. */
      readonly ending: readonly string[];
    }
  /** The database was never started on. */
  | { readonly outcome: 'no_keyring' };

/** Runs in one transaction under the start-up lock; nothing that is stored has to open. */
export async function resetKeyring(
  tx: Transaction,
  appendAudit: AppendAudit,
  first: MasterKey,
  author: Authorship,
): Promise<ResetOutcome> {
  await lockSealing(tx);
  const before = await readActiveKeyId(tx);
  if (before === null) return { outcome: 'no_keyring' };
  await writeActiveKey(tx, createKeyring([first], first.id).sealer(first.id));

  const wiped: WipedValue[] = [];
  const names = await ownerNames(tx);
  for (const field of SECRET_FIELDS) {
    for (const owner of await wipeSealed(tx, field)) {
      wiped.push({ field: field.field, owner, name: names.get(owner.split('/')[0] ?? '') ?? null });
    }
  }
  await breakDestinations(tx, wiped, author);
  await stopSingleSignOn(tx, wiped, author);
  const ended = await tx`
    update sessions set ended_at = ${author.at}, end_reason = 'sign_out_everywhere' where ended_at is null`;

  const fields = Object.fromEntries(
    SECRET_FIELDS.map(({ field }) => [field, wiped.filter((value) => value.field === field).length]),
  );
  const details = { from: before, to: first.id, fields, sessions_ended: ended.count };
  const entry = { action: 'keyring.reset', resourceId: first.id, resourceName: first.id, details };
  await appendAudit(tx, auditEntry(author, entry));
  const ending = (await keyHolders(tx, author.at)).filter(({ keyIds }) => !keyIds.includes(first.id));
  return {
    outcome: 'reset',
    active: first.id,
    wiped,
    sessionsEnded: ended.count,
    ending: ending.map(({ id }) => id),
  };
}

async function ownerNames(tx: Transaction): Promise<ReadonlyMap<string, string>> {
  const rows = await tx<{ id: string; name: string }[]>`
    select id, name from destinations
    union all select id, name from connections
    union all select id, name from users`;
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** A lost proxy password alone shows itself with the next call; the others would let a request go out unsigned or refused. */
const BREAKS: readonly SealedFieldName[] = [
  'destination.secret',
  'destination.signing_secret',
  'connection.bridge_token',
];

/** Without its secret nobody could come back from the provider; an Admin enters another one and turns it on. */
async function stopSingleSignOn(
  tx: Transaction,
  wiped: readonly WipedValue[],
  { at }: Authorship,
): Promise<void> {
  if (!wiped.some(({ field }) => field === 'oidc.client_secret')) return;
  await tx`
    update oidc_settings set
      version = version + 1, settings = settings || '{"enabled": false}', updated_at = ${at}`;
  await tx`update users set role_locked = false where role_locked`;
}

async function breakDestinations(
  tx: Transaction,
  wiped: readonly WipedValue[],
  { at }: Authorship,
): Promise<void> {
  const owners = wiped.filter(({ field }) => BREAKS.includes(field)).map(({ owner }) => owner.split('/')[0]);
  const ids = [...new Set(owners)].filter((owner) => owner !== undefined);
  const rows = await tx<{ id: PublicId }[]>`
    select id from destinations
    where deleted_at is null and (id = any(${ids}::text[]) or connection_id = any(${ids}::text[]))
    order by id`;
  const message: SecretsLost = { type: 'secrets_lost' };
  await enqueueInbox(
    tx,
    rows.map(({ id }) => ({ to: destinationAddress(id), message })),
    at,
  );
}

/** Makes another master key the active one (secrets §5). */
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
