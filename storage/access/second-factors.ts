/** Second factors as they are stored, seeds sealed and recovery codes hashed, and how people enrol (access §5). */
import type { Confirmation, TotpEnrolments } from '../../actors/access/ports.ts';
import type { Proof, SecondFactor } from '../../actors/access/second-factor.ts';
import { type Authorship, auditEntry } from '../../actors/audit.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Keyring, Sealed, Sealer } from '../../runtime/secrets/keyring.ts';
import { inSealingTransaction } from '../keys/keyring.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { type AppendAudit, inTransaction } from '../postgres/transaction.ts';
import { endEvaluation, forgetFailures } from './throttle.ts';

export interface SecondFactorRow {
  totp_seed: Sealed | null;
  totp_pending_seed: Sealed | null;
  totp_enrolled_at: Micros | null;
  totp_last_step: number | null;
  totp_recovery_codes: readonly string[];
}

/** A sealed value that none of the held keys opens; the log names the field and its owner. */
export class SecretUnreadableError extends Error {
  override readonly name = 'SecretUnreadableError';
}

export interface Seeds {
  readonly keyring: Pick<Keyring, 'open'>;
  readonly log: Log;
}

/** @throws {SecretUnreadableError} */
export function secondFactorOf(seeds: Seeds, id: PublicId, row: SecondFactorRow): SecondFactor | null {
  const { totp_seed: sealed, totp_enrolled_at: enrolledAt } = row;
  if (sealed === null || enrolledAt === null) return null;
  return {
    seed: openSeed(seeds, 'user.totp_seed', id, sealed),
    enrolledAt,
    lastStep: row.totp_last_step,
    recoveryCodes: row.totp_recovery_codes,
  };
}

/** @throws {SecretUnreadableError} */
function openSeed(
  { keyring, log }: Seeds,
  field: 'user.totp_seed' | 'user.totp_pending_seed',
  owner: PublicId,
  sealed: Sealed,
): Uint8Array {
  const opened = keyring.open(field, owner, sealed);
  if (opened.ok) return Buffer.from(opened.value, 'base64');
  log('secret_unreadable', { field, owner, key_id: opened.keyId });
  throw new SecretUnreadableError(`${field} of ${owner} does not open`);
}

/** Uses a right code up, so that it counts once on all replicas. @returns false when another attempt was faster */
export async function consumeProof(tx: Transaction, id: PublicId, proof: Proof): Promise<boolean> {
  const used =
    proof.kind === 'totp'
      ? await tx`
          update users set totp_last_step = ${proof.step}
          where id = ${id}
            and totp_enrolled_at = ${proof.enrolledAt}
            and (totp_last_step is null or totp_last_step < ${proof.step})`
      : await tx`
          update users set totp_recovery_codes = array_remove(totp_recovery_codes, ${proof.hash})
          where id = ${id} and ${proof.hash} = any(totp_recovery_codes)`;
  return used.count > 0;
}

/** Seed, pending seed and recovery codes are gone. @returns whether a second factor was confirmed or begun */
export async function wipeSecondFactor(tx: Transaction, id: PublicId): Promise<boolean> {
  const wiped = await tx`
    update users set
      totp_seed = null,
      totp_enrolled_at = null,
      totp_last_step = null,
      totp_pending_seed = null,
      totp_recovery_codes = '{}'
    where id = ${id} and (totp_seed is not null or totp_pending_seed is not null)`;
  return wiped.count > 0;
}

/** Second factors as people set them up and give them up: the store behind actors/access/ports.ts. */
export interface TotpEnrolmentDeps extends Seeds {
  readonly sql: Sql;
  readonly appendAudit: AppendAudit;
  readonly keyring: Pick<Keyring, 'open' | 'sealer'>;
}

export function createTotpEnrolments(deps: TotpEnrolmentDeps): TotpEnrolments {
  const { sql, keyring } = deps;
  return {
    async status(userId) {
      const row = await readFactor(sql, userId);
      return {
        enrolledAt: row?.totp_enrolled_at ?? null,
        isPending: row?.totp_pending_seed != null,
        recoveryCodesRemaining: row?.totp_enrolled_at == null ? 0 : row.totp_recovery_codes.length,
      };
    },

    begin: (userId, seed) =>
      inSealingTransaction(sql, keyring, async (tx, sealer) => {
        const pending = sealer.seal('user.totp_pending_seed', userId, Buffer.from(seed).toString('base64'));
        const begun = await tx`
          update users set totp_pending_seed = ${pending} where id = ${userId} and totp_seed is null`;
        return begun.count > 0;
      }),

    async pendingSeed(userId) {
      const pending = (await readFactor(sql, userId))?.totp_pending_seed ?? null;
      return pending && openSeed(deps, 'user.totp_pending_seed', userId, pending);
    },

    confirm: (confirmation, author) =>
      inSealingTransaction(sql, keyring, async (tx, sealer) => {
        if (!(await isStillPending(deps, tx, confirmation))) {
          await endEvaluation(tx, confirmation.attempt, author.at);
          return 'superseded';
        }
        await enrol(tx, sealer, confirmation, author);
        await forgetFailures(tx, confirmation.attempt);
        await record(deps, tx, confirmation.userId, 'totp.enrolled', author);
        return 'confirmed';
      }),

    replaceRecoveryCodes: ({ userId, proof, recoveryCodes }, attempt, author) =>
      inTransaction(sql, async (tx) => {
        if (!(await consumeProof(tx, userId, proof))) return false;
        await tx`update users set totp_recovery_codes = ${[...recoveryCodes]} where id = ${userId}`;
        await forgetFailures(tx, attempt);
        await record(deps, tx, userId, 'totp.recovery_codes_regenerated', author);
        return true;
      }),

    remove: (userId, proof, attempt, author) =>
      inTransaction(sql, async (tx) => {
        if (proof && !(await consumeProof(tx, userId, proof))) return false;
        const wiped = await wipeSecondFactor(tx, userId);
        await forgetFailures(tx, attempt);
        if (wiped) await record(deps, tx, userId, 'totp.removed', author);
        return true;
      }),
  };
}

async function readFactor(sql: Sql | Transaction, id: PublicId): Promise<SecondFactorRow | null> {
  const [row] = await sql<SecondFactorRow[]>`
    select totp_seed, totp_pending_seed, totp_enrolled_at, totp_last_step, totp_recovery_codes
    from users where id = ${id}`;
  return row ?? null;
}

async function isStillPending(
  seeds: Seeds,
  tx: Transaction,
  { userId, seed }: Confirmation,
): Promise<boolean> {
  await tx`select 1 from users where id = ${userId} for update`;
  const row = await readFactor(tx, userId);
  if (!row?.totp_pending_seed || row.totp_seed !== null) return false;
  const pending = openSeed(seeds, 'user.totp_pending_seed', userId, row.totp_pending_seed);
  return Buffer.compare(pending, seed) === 0;
}

/** The session that enrolled is active; the user's others that had to enrol owe a code now. */
async function enrol(
  tx: Transaction,
  sealer: Sealer,
  { userId, sessionId, seed, step, recoveryCodes }: Confirmation,
  { at }: Authorship,
): Promise<void> {
  const sealed = sealer.seal('user.totp_seed', userId, Buffer.from(seed).toString('base64'));
  await tx`
    update users set
      totp_seed = ${sealed},
      totp_enrolled_at = ${at},
      totp_last_step = ${step},
      totp_pending_seed = null,
      totp_recovery_codes = ${[...recoveryCodes]}
    where id = ${userId}`;
  await tx`
    update sessions set state = case when id = ${sessionId} then 'active' else 'totp_required' end
    where user_id = ${userId} and ended_at is null and state = 'totp_enrolment_required'`;
}

async function record(
  { appendAudit }: TotpEnrolmentDeps,
  tx: Transaction,
  userId: PublicId,
  action: string,
  author: Authorship,
): Promise<void> {
  const [user] = await tx<{ name: string }[]>`select name from users where id = ${userId}`;
  await appendAudit(tx, auditEntry(author, { action, resourceId: userId, resourceName: user?.name ?? null }));
}
