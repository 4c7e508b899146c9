/** What ties a user to the identity provider, and how it is undone (access §6.5, §7). */
import type { PublicId } from '../runtime/public-id.ts';
import type { Transaction } from './records.ts';

/** The account signs in without the provider from now on; the identity may link or sign up again. */
export async function forgetIdentity(tx: Transaction, userId: PublicId): Promise<void> {
  await tx`
    update users set
      oidc_issuer = null,
      oidc_subject = null,
      oidc_signed_in_at = null,
      oidc_contact_at = null,
      oidc_refused_at = null,
      oidc_withheld_role = null
    where id = ${userId}`;
  await wipeOfflineToken(tx, userId);
}

/** The provider is not asked about the user any more, until they sign in through it again. */
export async function wipeOfflineToken(tx: Transaction, userId: PublicId): Promise<void> {
  await tx`
    update users set offline_token = null, offline_token_at = null, oidc_check_at = null where id = ${userId}`;
}
