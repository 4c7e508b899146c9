/** Begins anew after all master keys were lost (secrets §5.1). */
import { type Authorship, auditEntry } from '../actors/audit.ts';
import { destinationAddress, type SecretsLost } from '../actors/destination/messages.ts';
import type { PublicId } from '../runtime/public-id.ts';
import { createKeyring, type MasterKey } from '../runtime/secrets/keyring.ts';
import type { SealedFieldName } from '../runtime/secrets/sealed-fields.ts';
import type { AppendAudit } from './access.ts';
import { enqueueInbox } from './inbox.ts';
import { keyHolders } from './key-view.ts';
import { lockSealing, readActiveKeyId, writeActiveKey } from './keyring.ts';
import type { Transaction } from './records.ts';
import { SECRET_FIELDS, wipeSealed } from './sealed-values.ts';

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
