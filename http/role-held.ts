/** Nobody hands out more than they hold (seed 2 §5 rule 4). */
import type { Identity } from './operation.ts';
import { ROLE_PERMISSIONS, type Role } from './permissions.ts';
import { type FieldError, refuse } from './problem.ts';

/** 422 of a `role`: a token may assign only a Role of which it holds every Permission. Web sessions may assign any. */
export function roleErrors(identity: Identity | null, role: Role): readonly FieldError[] {
  if (holds(identity, role)) return [];
  return [{ pointer: '/role', code: 'permission_not_held', detail: 'This token holds less than that Role.' }];
}

/** 403 of a link that sets a password, or null: whoever has it is that user, and may do all that their Role holds. */
export function linkRefusal(identity: Identity | null, role: Role) {
  return holds(identity, role) ? null : LESS_THAN_USER;
}

const LESS_THAN_USER = refuse({
  status: 403,
  type: 'forbidden',
  detail: 'This token holds less than the Role of that user.',
});

function holds(identity: Identity | null, role: Role): boolean {
  if (!identity?.token) return true;
  return [...ROLE_PERMISSIONS[role]].every((permission) => identity.permissions.has(permission));
}
