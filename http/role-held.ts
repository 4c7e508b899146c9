/** Nobody hands out more than they hold (seed 2 §5 rule 4). */
import type { Identity } from './operation.ts';
import { ROLE_PERMISSIONS, type Role } from './permissions.ts';
import type { FieldError } from './problem.ts';

/** 422 of a `role`: a token may assign only a Role of which it holds every Permission. Web sessions may assign any. */
export function roleErrors(identity: Identity | null, role: Role): readonly FieldError[] {
  if (!identity?.token) return [];
  const lacks = [...ROLE_PERMISSIONS[role]].some((permission) => !identity.permissions.has(permission));
  if (!lacks) return [];
  return [{ pointer: '/role', code: 'permission_not_held', detail: 'This token holds less than that Role.' }];
}
