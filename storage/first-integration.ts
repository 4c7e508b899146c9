/** The Integration that `quickstart` makes, so that there is something to paste into a sender right away. */
import { tokenHash } from '../actors/integration/token.ts';
import type { Micros } from '../runtime/clock.ts';
import { newPublicId, type PublicId } from '../runtime/public-id.ts';
import type { Transaction } from './records.ts';

export interface FirstIntegration {
  readonly id: PublicId;
  readonly name: string;
  /** Only when it was made now: later only its hash is known. */
  readonly token: string | null;
}

/**
 * Makes an Integration with one token when people never had one; otherwise names their oldest. Runs inside the start-up
 * lock.
 * @returns null when people had Integrations and deleted all of them
 */
export async function ensureFirstIntegration(
  tx: Transaction,
  make: {
    readonly name: string;
    readonly now: Micros;
    readonly random: (size: number) => Uint8Array;
    readonly token: string;
  },
): Promise<FirstIntegration | null> {
  const [known] = await tx`select 1 from integrations where not builtin limit 1`;
  if (known) return findFirstIntegration(tx);

  const id = newPublicId('NT', make.random);
  await tx`
    insert into integrations (
      id, version, builtin, name, description, static_labels, duplicate_window_seconds, heartbeat_enabled,
      heartbeat_timeout_seconds, created_at
    )
    values (${id}, 1, false, ${make.name}, '', '{}', 45, false, 300, ${make.now})`;
  await tx`
    insert into integration_tokens (id, integration_id, name, hash, created_at)
    values (${newPublicId('NK', make.random)}, ${id}, null, ${tokenHash(make.token)}, ${make.now})`;
  return { id, name: make.name, token: make.token };
}

/** The oldest Integration that people have; null when there is none. */
export async function findFirstIntegration(tx: Transaction): Promise<FirstIntegration | null> {
  const [live] = await tx<{ id: PublicId; name: string }[]>`
    select id, name from integrations where not builtin and deleted_at is null order by created_at, id limit 1`;
  return live ? { ...live, token: null } : null;
}
