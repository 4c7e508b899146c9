/** Sign-ins through the provider, from the request to the linked account (access §6.3 to §6.5): one transaction each. */
import type {
  Identities,
  Identity,
  LinkRefusal,
  OidcRequest,
  OidcRequests,
  ProviderLink,
  ProviderSignIn,
  ProviderWord,
  SignInRefusal,
  TakenRequest,
} from '../../actors/access/oidc/ports.ts';
import { OIDC_FALLBACK_LIFETIME, providerSessionLifetime } from '../../actors/access/session.ts';
import { foldLogin, type RoleName, type User } from '../../actors/access/user.ts';
import { auditDiff, auditEntry } from '../../actors/audit.ts';
import { MINUTE, type Micros } from '../../runtime/clock.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import type { Keyring, Sealed, Sealer } from '../../runtime/secrets/keyring.ts';
import { inSealingTransaction } from '../keys/keyring.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { type AppendAudit, unlessViolated } from '../postgres/transaction.ts';
import { bySystem, syncRole, wipeOfflineToken } from './oidc-identities.ts';
import type { OidcStoreDeps } from './oidc-settings.ts';
import { endSessionsOf, replaceSession } from './sessions.ts';
import { recordRefusal } from './throttle.ts';
import { type UserRow, userOf } from './user-rows.ts';

/** From one word of the provider about a user to the next (access §6.6). */
export const CHECK_EVERY: Micros = 15 * MINUTE;

const IDENTITY_RULE = 'users_oidc_identity';
const LOGIN_RULE = 'users_login';

export function createIdentities(deps: OidcStoreDeps): Identities {
  const { sql, appendAudit, keyring } = deps;
  const change = <Result>(run: (made: Made) => Promise<Result>): Promise<Result> =>
    inSealingTransaction(sql, keyring, (tx, sealer) => run({ tx, sealer, appendAudit }));

  const signInOnce = (wanted: ProviderSignIn) =>
    unlessViolated(LOGIN_RULE, 'login_taken' as const, () => change((made) => signIn(made, wanted)));

  return {
    // Of two first sign-ins that meet, the later one finds the account that the other has made.
    async signIn(wanted) {
      const outcome = await unlessViolated(IDENTITY_RULE, 'met' as const, () => signInOnce(wanted));
      return outcome === 'met' ? signInOnce(wanted) : outcome;
    },

    link: (wanted) =>
      unlessViolated(IDENTITY_RULE, 'identity_linked_elsewhere' as const, () =>
        change((made) => link(made, wanted)),
      ),

    record: (entry) => recordRefusal(sql, appendAudit, entry),
  };
}

interface Made {
  readonly tx: Transaction;
  readonly sealer: Sealer;
  readonly appendAudit: AppendAudit;
}

async function signIn(made: Made, wanted: ProviderSignIn): Promise<'signed_in' | SignInRefusal> {
  const { tx, appendAudit } = made;
  const { role, at, address } = wanted;
  const known = await lockIdentity(tx, wanted.identity);
  if (known && known.status !== 'active') return 'account_disabled';
  if (role === null) return 'no_access';
  const user = known ? await synced(made, wanted, known, role) : await create(made, wanted, role);
  await takeWord(made, wanted, user.id);
  await tx`update users set last_sign_in_at = ${at} where id = ${user.id}`;
  const session = wanted.session(user);
  await replaceSession(tx, { ...wanted, session });
  const { id, name, login } = user;
  const by = { kind: 'user', id, name, login, tokenName: null, transport: 'ui' } as const;
  const details = { method: session.method, state: session.state };
  const change = { action: 'session.signed_in', resourceId: session.id, resourceName: null, details };
  await appendAudit(tx, auditEntry({ by, at, address }, change));
  return 'signed_in';
}

/** With its row locked; disabled and deleted ones too. */
async function lockIdentity(tx: Transaction, { issuer, subject }: Identity): Promise<User | null> {
  // index: users_oidc_identity
  const [row] = await tx<UserRow[]>`
    select * from users where oidc_issuer = ${issuer} and oidc_subject = ${subject} for update`;
  return row ? userOf(row) : null;
}

async function synced(made: Made, wanted: ProviderWord, user: User, role: RoleName): Promise<User> {
  if (!wanted.syncsRole) return user;
  const { at, address } = wanted;
  return syncRole({ ...made, at, address, occasion: 'sign_in', except: null }, user, role);
}

async function create(
  { tx, appendAudit }: Made,
  { identity, person, at, address }: ProviderSignIn,
  role: RoleName,
): Promise<User> {
  const { login, name, email } = person;
  const [row] = await tx<UserRow[]>`
    insert into users (
      id, version, login, login_folded, name, email, role, source, status, created_at,
      oidc_issuer, oidc_subject, oidc_signed_in_at
    )
    values (
      ${newPublicId('SR')}, 1, ${login}, ${foldLogin(login)}, ${name}, ${email}, ${role}, 'oidc', 'active', ${at},
      ${identity.issuer}, ${identity.subject}, ${at}
    )
    returning *`;
  if (!row) throw new Error('the user was just stored and yet is not there');
  const diff = auditDiff(null, { login, name, email, role });
  const change = { action: 'user.created', resourceId: row.id, resourceName: name, diff };
  await appendAudit(tx, auditEntry(bySystem(at, address), { ...change, details: { source: 'oidc' } }));
  return userOf(row);
}

/** The provider vouches for the user: no refusal stands any more, and its token is kept or the one before is wiped. */
async function takeWord({ tx, sealer }: Made, wanted: ProviderWord, userId: PublicId): Promise<void> {
  const { at, offlineToken } = wanted;
  await tx`
    update users set
      oidc_signed_in_at = ${at},
      oidc_contact_at = ${at},
      oidc_refused_at = null
    where id = ${userId}`;
  if (offlineToken === null) return endWithoutToken(tx, userId, at);
  await keepOfflineToken(tx, sealer, userId, offlineToken, at);
}

export async function keepOfflineToken(
  tx: Transaction,
  sealer: Sealer,
  userId: PublicId,
  offlineToken: string,
  at: Micros,
): Promise<void> {
  await tx`
    update users set
      offline_token = ${sealer.seal('user.offline_token', userId, offlineToken)},
      offline_token_at = ${at},
      oidc_check_at = ${at + CHECK_EVERY}
    where id = ${userId}`;
}

/** Nobody can be asked about the user: what they have open through the provider ends soon. */
export async function endWithoutToken(tx: Transaction, userId: PublicId, at: Micros): Promise<void> {
  await wipeOfflineToken(tx, userId);
  await tx`
    update sessions set expires_at = least(expires_at, ${at + OIDC_FALLBACK_LIFETIME})
    where user_id = ${userId} and method = 'oidc' and ended_at is null`;
}

async function link(made: Made, wanted: ProviderLink): Promise<'linked' | LinkRefusal> {
  const { tx } = made;
  const { userId, sessionId, identity, role, at } = wanted;
  const [row] = await tx<UserRow[]>`
    select * from users where id = ${userId} and status = 'active' and oidc_subject is null for update`;
  if (!row || !(await isOpen(tx, sessionId))) return 'invalid_request';
  const elsewhere = await tx`
    select 1 from users where oidc_issuer = ${identity.issuer} and oidc_subject = ${identity.subject}`;
  if (elsewhere.length > 0) return 'identity_linked_elsewhere';
  if (role === null) return 'no_access';
  await bind(made, wanted);
  await takeWord(made, wanted, userId);
  const lifetime = providerSessionLifetime(wanted.offlineToken !== null);
  await endSessionsOf(tx, userId, 'oidc_linked', at, sessionId);
  await tx`
    update sessions set method = 'oidc', expires_at = least(expires_at, ${at + lifetime})
    where id = ${sessionId} and ended_at is null`;
  const { address } = wanted;
  if (wanted.syncsRole) {
    await syncRole({ ...made, at, address, occasion: 'sign_in', except: sessionId }, userOf(row), role);
  }
  return 'linked';
}

/** Whoever ended the session while the provider was asked has shut out whoever began the link. */
async function isOpen(tx: Transaction, sessionId: PublicId): Promise<boolean> {
  const open = await tx`select 1 from sessions where id = ${sessionId} and ended_at is null`;
  return open.length > 0;
}

/** The identity takes the place of the password, and of every way to set one. */
async function bind({ tx, appendAudit }: Made, wanted: ProviderLink): Promise<void> {
  const { userId, identity, at, address } = wanted;
  const [row] = await tx<UserRow[]>`
    update users set
      oidc_issuer = ${identity.issuer},
      oidc_subject = ${identity.subject},
      oidc_signed_in_at = ${at},
      password_hash = null
    where id = ${userId}
    returning *`;
  if (!row) throw new Error(`user ${userId} is locked and not there`);
  await tx`
    update password_setup_links set ended_at = ${at} where user_id = ${userId} and ended_at is null`;
  const { id, name, login } = row;
  const by = { kind: 'user', id, name, login, tokenName: null, transport: 'ui' } as const;
  const change = { action: 'user.oidc_linked', resourceId: id, resourceName: name };
  await appendAudit(tx, auditEntry({ by, at, address }, { ...change, details: { issuer: identity.issuer } }));
}

/** Of one source at a time: more than people behind one address sign in at once. */
const MOST_OF_ADDRESS = 100;
/** Of one user who links an account. */
const MOST_OF_USER = 10;

export function createOidcRequests(sql: Sql, keyring: Keyring): OidcRequests {
  return {
    open: (request, verifier) =>
      inSealingTransaction(sql, keyring, (tx, sealer) => open(tx, sealer, request, verifier)),

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
  { stateHash, nonce, returnTo, link, expiresAt, source }: OidcRequest,
  verifier: string,
): Promise<void> {
  const hash = Buffer.from(stateHash);
  const sealed = sealer.seal('oidc.pkce_verifier', hash.toString('hex'), verifier);
  await tx`
    insert into oidc_requests (state_hash, nonce, verifier, return_to, user_id, session_id, expires_at, source)
    values (
      ${hash}, ${nonce}, ${sealed}, ${returnTo},
      ${link?.userId ?? null}, ${link?.sessionId ?? null}, ${expiresAt}, ${source}
    )`;
  // index: oidc_requests_of_source. Rows that others give up at this moment are theirs.
  await tx`
    delete from oidc_requests where state_hash in (
      select state_hash from oidc_requests
      where source = ${source}
      order by expires_at desc, state_hash desc
      offset ${link ? MOST_OF_USER : MOST_OF_ADDRESS}
      for update skip locked
    )`;
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
