/** What every start makes sure of: the Organization and its first Admin (operations §2.2 rules 1 and 3). */
import { ORGANIZATION_DEFAULTS } from '../../actors/access/organization.ts';
import { passwordFault } from '../../actors/access/passwords.ts';
import { foldLogin } from '../../actors/access/user.ts';
import type { AuditEntry } from '../../actors/effects.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { newPublicId } from '../../runtime/public-id.ts';
import type { Transaction } from '../postgres/records.ts';
import type { AppendAudit } from '../postgres/transaction.ts';

/** The first Admin as configured: a login that may be an email address, and a password. */
export interface BootstrapAdmin {
  readonly login: string;
  readonly password: string;
  /** Made up for a first start: that it is not needed later is no news. */
  readonly isMadeUp?: true;
}

export interface EnsureAccess {
  /** From SVC_BOOTSTRAP_ADMIN_EMAIL and its password, or made up by quickstart; null when neither. */
  readonly bootstrap: BootstrapAdmin | null;
  readonly hash: (password: string) => Promise<string>;
  readonly appendAudit: AppendAudit;
  readonly now: Micros;
  readonly log: Log;
}

/** The configured first Admin cannot be created; the start stops with the message. */
export class BootstrapError extends Error {
  override readonly name = 'BootstrapError';
}

/**
 * Idempotent; runs inside the start-up lock. The Organization is created with the defaults of organization §2, the
 * bootstrap Admin while there is no active Admin.
 * @returns whether the Admin was created now
 * @throws {BootstrapError} the password is too short, or the login is taken
 */
export async function ensureAccess(
  tx: Transaction,
  ensure: EnsureAccess,
): Promise<{ adminCreated: boolean }> {
  await ensureOrganization(tx, ensure.log);
  const adminCreated = await ensureAdmin(tx, ensure);
  return { adminCreated };
}

async function ensureOrganization(tx: Transaction, log: Log): Promise<void> {
  const settings = JSON.stringify(ORGANIZATION_DEFAULTS);
  const created = await tx`
    insert into organization (id, version, settings)
    values (${newPublicId('RG')}, 1, ${settings}::text::jsonb)
    on conflict (single) do nothing
    returning id`;
  if (created.length > 0) log('organization_created');
}

async function ensureAdmin(tx: Transaction, ensure: EnsureAccess): Promise<boolean> {
  const admins = await tx`select 1 from users where role = 'admin' and status = 'active' limit 1`;
  const { bootstrap, log } = ensure;
  if (admins.length > 0) {
    if (bootstrap && !bootstrap.isMadeUp) log('bootstrap_admin_ignored');
    return false;
  }
  if (!bootstrap) {
    log('bootstrap_admin_missing');
    return false;
  }
  if (passwordFault(bootstrap.password)) {
    throw new BootstrapError('SVC_BOOTSTRAP_ADMIN_PASSWORD must have 12 to 1,024 characters');
  }
  await createAdmin(tx, ensure, bootstrap);
  return true;
}

async function createAdmin(tx: Transaction, ensure: EnsureAccess, bootstrap: BootstrapAdmin): Promise<void> {
  const { login } = bootstrap;
  const id = newPublicId('SR');
  const name = login.split('@', 1)[0] || login;
  const email = login.includes('@') ? login : null;
  const created = await tx`
    insert into users
      (id, version, login, login_folded, name, email, role, source, status, password_hash, created_at)
    values (
      ${id}, 1, ${login}, ${foldLogin(login)}, ${name}, ${email}, 'admin', 'bootstrap', 'active',
      ${await ensure.hash(bootstrap.password)}, ${ensure.now}
    )
    on conflict (login_folded) do nothing
    returning id`;
  if (created.length === 0)
    throw new BootstrapError(`SVC_BOOTSTRAP_ADMIN_EMAIL: the login ${login} is in use`);
  await ensure.appendAudit(tx, bootstrapEntry(id, { login, name, email }, ensure.now));
}

function bootstrapEntry(
  id: string,
  made: { login: string; name: string; email: string | null },
  now: Micros,
): AuditEntry {
  const fields = { email: made.email, login: made.login, name: made.name, role: 'admin' };
  return {
    at: now,
    actor: { kind: 'bootstrap', id: null, name: 'bootstrap' },
    action: 'user.created',
    resourceType: 'user',
    resourceId: id,
    resourceName: made.name,
    address: null,
    diff: Object.entries(fields)
      .filter(([, after]) => after !== null)
      .map(([field, after]) => ({ pointer: `/${field}`, after })),
    details: {},
  };
}
