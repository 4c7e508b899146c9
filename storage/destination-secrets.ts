/** Secrets and signing secrets of Destinations, sealed (webhooks §2, secrets §3). */

import type { Authorship } from '../actors/audit.ts';
import { auditEntry } from '../actors/audit.ts';
import { type DestinationStore, MOST_SECRETS, type SecretEntry } from '../actors/destination/ports.ts';
import { newSigningSecret } from '../actors/destination/signature.ts';
import type { AuditChange } from '../actors/effects.ts';
import type { Micros } from '../runtime/clock.ts';
import type { PublicId } from '../runtime/public-id.ts';
import type { Keyring, Sealed, Sealer } from '../runtime/secrets/keyring.ts';
import { type DestinationRow, lockDestination, readDestination } from './destination-rows.ts';
import type { Sql } from './records.ts';
import type { SealingChange } from './sealing.ts';

export interface DestinationSecretDeps {
  readonly sql: Sql;
  readonly keyring: Keyring;
  change<Result>(author: Authorship, run: (made: SealingChange) => Promise<Result>): Promise<Result>;
  random(size: number): Uint8Array;
}

type SecretMethods = Pick<
  DestinationStore,
  'secrets' | 'putSecret' | 'deleteSecret' | 'generateSigningSecret' | 'retirePreviousSigningSecret'
>;

export function destinationSecrets({ sql, keyring, change, random }: DestinationSecretDeps): SecretMethods {
  return {
    async secrets(id) {
      const row = await readDestination(sql, id);
      if (!row) return null;
      const items = await sql<SecretRow[]>`
        select name, value is not null as is_set, updated_at from destination_secrets where destination_id = ${id} order by name`;
      return { version: row.secrets_version, items: items.map(secretEntry) };
    },

    putSecret: (id, { name, value }, isCurrent, author) =>
      change(author, async (made) => {
        const row = await lockDestination(made.tx, id);
        if (!row) return { outcome: 'unknown' };
        if (isCurrent && !isCurrent(row.secrets_version)) return { outcome: 'stale' };
        if (await isFull(made, id, name)) return { outcome: 'too_many' };
        const sealed = made.sealer.seal('destination.secret', `${id}/${name}`, value);
        await made.tx`
          insert into destination_secrets (destination_id, name, value, updated_at)
          values (${id}, ${name}, ${sealed}, ${author.at})
          on conflict (destination_id, name) do update set value = excluded.value, updated_at = excluded.updated_at`;
        return { outcome: 'saved', version: await secretChanged(made, row, name), updatedAt: author.at };
      }),

    deleteSecret: (id, name, isCurrent, author) =>
      change(author, async (made) => {
        const row = await lockDestination(made.tx, id);
        if (!row) return { outcome: 'unknown' };
        const found = await made.tx`
          select 1 from destination_secrets where destination_id = ${id} and name = ${name}`;
        if (found.length === 0) return { outcome: 'unknown' };
        if (isCurrent && !isCurrent(row.secrets_version)) return { outcome: 'stale' };
        await made.tx`delete from destination_secrets where destination_id = ${id} and name = ${name}`;
        return { outcome: 'saved', version: await secretChanged(made, row, name), updatedAt: author.at };
      }),

    generateSigningSecret: (id, author) =>
      change(author, async (made) => {
        const row = await lockDestination(made.tx, id);
        if (!row) return null;
        const secret = newSigningSecret(random);
        const previous = resealedAsPrevious(keyring, made.sealer, row);
        const previousSince = previous === null ? null : author.at;
        await made.tx`
          update destinations set
            signing_secret = ${made.sealer.seal('destination.signing_secret', id, secret)},
            signing_secret_at = ${author.at},
            signing_secret_previous = ${previous},
            signing_secret_previous_at = ${previousSince}
          where id = ${id}`;
        await audit(made, row, 'destination.signing_secret_generated');
        return { secret, status: { updatedAt: author.at, previousSince } };
      }),

    retirePreviousSigningSecret: (id, author) =>
      change(author, async (made) => {
        const row = await lockDestination(made.tx, id);
        if (!row) return 'unknown';
        if (row.signing_secret_previous === null) return 'nothing_to_retire';
        await made.tx`
          update destinations set signing_secret_previous = null, signing_secret_previous_at = null
          where id = ${id}`;
        await audit(made, row, 'destination.signing_secret_retired');
        return 'retired';
      }),
  };
}

/** A value that moves to another field is bound anew. One that no longer opens cannot sign and is dropped. */
function resealedAsPrevious(
  keyring: Keyring,
  sealer: Sealer,
  { id, signing_secret: current }: DestinationRow,
): Sealed | null {
  if (current === null) return null;
  const opened = keyring.open('destination.signing_secret', id, current);
  return opened.ok ? sealer.seal('destination.signing_secret_previous', id, opened.value) : null;
}

async function isFull({ tx }: SealingChange, id: PublicId, name: string): Promise<boolean> {
  const [row] = await tx<{ others: number }[]>`
    select count(*)::integer as others from destination_secrets
    where destination_id = ${id} and name <> ${name}`;
  return (row?.others ?? 0) >= MOST_SECRETS;
}

/** @returns the new version of the Secrets */
async function secretChanged(made: SealingChange, row: DestinationRow, name: string): Promise<number> {
  const version = row.secrets_version + 1;
  await made.tx`update destinations set secrets_version = ${version} where id = ${row.id}`;
  await audit(made, row, 'destination.updated', [{ pointer: `/secrets/${name}`, secret_changed: true }]);
  return version;
}

async function audit(
  { tx, appendAudit, author }: SealingChange,
  row: DestinationRow,
  action: string,
  diff: readonly AuditChange[] = [],
): Promise<void> {
  await appendAudit(tx, auditEntry(author, { action, resourceId: row.id, resourceName: row.name, diff }));
}

interface SecretRow {
  readonly name: string;
  readonly is_set: boolean;
  readonly updated_at: Micros;
}

function secretEntry(row: SecretRow): SecretEntry {
  return { name: row.name, isSet: row.is_set, updatedAt: row.updated_at };
}
