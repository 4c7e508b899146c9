/** Sign-ins and links that are on their way to the provider and back. */
import type { OidcRequest, OidcRequests, TakenRequest } from '../actors/access/oidc/ports.ts';
import type { Micros } from '../runtime/clock.ts';
import type { PublicId } from '../runtime/public-id.ts';
import type { Keyring, Sealed, Sealer } from '../runtime/secrets/keyring.ts';
import type { Sql, Transaction } from './records.ts';
import { inSealingTransaction } from './sealing.ts';

/** More than people sign in at once; whoever opens them in masses is slowed down. */
const MOST_PENDING = 10_000;

export function createOidcRequests(sql: Sql, keyring: Keyring): OidcRequests {
  return {
    open: (request, verifier, now) =>
      inSealingTransaction(sql, keyring, (tx, sealer) => open(tx, sealer, request, verifier, now)),

    async take(stateHash) {
      const [row] = await sql<RequestRow[]>`
        delete from oidc_requests where state_hash = ${Buffer.from(stateHash)} returning *`;
      return row ? takenOf(row) : null;
    },
  };
}

async function open(
  tx: Transaction,
  sealer: Sealer,
  request: OidcRequest,
  verifier: string,
  now: Micros,
): Promise<boolean> {
  const hash = Buffer.from(request.stateHash);
  const sealed = sealer.seal('oidc.pkce_verifier', hash.toString('hex'), verifier);
  // index: oidc_requests_old
  const opened = await tx`
    insert into oidc_requests (state_hash, nonce, verifier, return_to, user_id, session_id, expires_at)
    select
      ${hash}, ${request.nonce}, ${sealed}, ${request.returnTo},
      ${request.link?.userId ?? null}, ${request.link?.sessionId ?? null}, ${request.expiresAt}
    where (select count(*) from oidc_requests where expires_at > ${now}) < ${MOST_PENDING}
    returning 1`;
  return opened.length > 0;
}

interface RequestRow {
  state_hash: Buffer;
  nonce: string;
  verifier: Sealed | null;
  return_to: string;
  user_id: PublicId | null;
  session_id: PublicId | null;
  expires_at: Micros;
}

function takenOf(row: RequestRow): TakenRequest {
  const { user_id: userId, session_id: sessionId } = row;
  return {
    stateHash: row.state_hash,
    nonce: row.nonce,
    verifier: row.verifier,
    returnTo: row.return_to,
    link: userId !== null && sessionId !== null ? { userId, sessionId } : null,
    expiresAt: row.expires_at,
  };
}
