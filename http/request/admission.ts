/** Whether a caller may use an operation: refusals in order (api §1.3), and rights that nobody gives beyond their own. */
import type { Principal } from '../../actors/model.ts';
import type { Identity, Needs, OperationShape } from '../operation.ts';
import { PERMISSIONS, type Permission, ROLE_PERMISSIONS, type Role } from '../permissions.ts';
import type { FieldError, Problem } from '../problem.ts';
import type { Schema } from '../schema/described.ts';
import { isSafe, type Request } from '../server/exchange.ts';
import type { CsrfTokens } from './credentials.ts';

type Shape = OperationShape<Schema | undefined, Schema | undefined>;

/** 403 for a mutation that the browser marks as coming from another site; public operations included. */
export function crossSiteFault(request: Request): Problem | null {
  if (isSafe(request.method) || request.header('sec-fetch-site') !== 'cross-site') return null;
  return csrfProblem('This request came from another site.');
}

/** The caller of an operation that needs one: who it is and the bytes behind its cookie. */
export interface Caller {
  readonly identity: Identity;
  readonly session: Buffer | null;
}

/** Everything that is decided by who calls, up to the Permission. Null lets the caller pass. */
export function callerFault(
  operation: Shape,
  caller: Caller,
  request: Request,
  csrf: CsrfTokens,
): Problem | null {
  return (
    limitedFault(operation, caller.identity) ??
    csrfFault(caller, request, csrf) ??
    kindFault(operation, caller.identity)
  );
}

function limitedFault(operation: Shape, { session }: Identity): Problem | null {
  if (!session || session.state === 'active') return null;
  if (operation.needs === 'cookie' || operation.alsoIn?.includes(session.state)) return null;
  return {
    status: 403,
    type: 'forbidden',
    code: session.state,
    detail:
      session.state === 'totp_required'
        ? 'Enter your second factor first.'
        : 'Set up your second factor first.',
  };
}

function csrfFault({ session }: Caller, request: Request, csrf: CsrfTokens): Problem | null {
  if (session === null || isSafe(request.method)) return null;
  const token = request.header('x-csrf-token');
  if (token !== null && csrf.verify(session, token)) return null;
  return csrfProblem('The header X-CSRF-Token is missing or wrong. Read the session again and repeat.');
}

function csrfProblem(detail: string): Problem {
  return { status: 403, type: 'forbidden', code: 'csrf_invalid', detail };
}

function kindFault(operation: Shape, identity: Identity): Problem | null {
  const { needs, credential } = operation;
  const sessionOnly = needs === 'session' || needs === 'cookie' || credential === 'session';
  if (sessionOnly && !identity.session) {
    return {
      status: 403,
      type: 'forbidden',
      code: 'session_required',
      detail: 'Sign in to the web interface for this; a token is not enough.',
    };
  }
  return needs === 'user' ? serviceAccountFault(identity) : null;
}

/** 403 when the Permission that the operation names is not held, or held by a Service account that may not use it. */
export function permissionFault(operation: Shape, identity: Identity): Problem | null {
  const { needs, credential } = operation;
  if (isPermission(needs) && !identity.permissions.has(needs)) {
    return { status: 403, type: 'forbidden', detail: `This needs the permission ${needs}.` };
  }
  return credential === 'user' ? serviceAccountFault(identity) : null;
}

function serviceAccountFault({ kind }: Identity): Problem | null {
  if (kind !== 'service_account') return null;
  return {
    status: 403,
    type: 'forbidden',
    code: 'service_account_not_allowed',
    detail: 'Service accounts cannot do this.',
  };
}

const KNOWN: ReadonlySet<string> = new Set(PERMISSIONS);

export function isPermission(needs: Needs): needs is Permission {
  return KNOWN.has(needs);
}

/** The caller as actors and the Audit log record it. */
export function principalOf(identity: Identity): Principal {
  const { id, name, token, transport } = identity;
  const tokenName = token?.name ?? null;
  const by = { id, name, transport, ...(token ? { tokenId: token.id } : {}) };
  if (identity.user) return { ...by, kind: 'user', login: identity.user.login, tokenName };
  if (tokenName === null) throw new Error('a Service account calls with a token');
  return { ...by, kind: 'service_account', tokenName };
}

/**
 * Nobody gives rights that they do not hold themselves (access §9.1). The one place of the rule:
 * 422 `permission_not_held` at the pointer unless the caller holds every Permission that the change gives to somebody:
 * those of a Role, or the listed ones. A token holds what it was made for, a session what the Role of its user holds.
 * @param pointer the field that gives; `/path/<name>` where the path names who receives
 */
export function unheldErrors(
  identity: Identity | null,
  pointer: string,
  given: Role | readonly Permission[],
): readonly FieldError[] {
  const permissions = typeof given === 'string' ? [...ROLE_PERMISSIONS[given]] : given;
  if (identity && permissions.every((permission) => identity.permissions.has(permission))) return [];
  return [{ pointer, code: 'permission_not_held', detail: 'This gives more than you hold yourself.' }];
}
