/** Which Role the groups of a person give (access §6.4 step 10). */
import type { RoleName } from '../user.ts';
import type { OidcFields } from './settings.ts';

const HIGHEST_FIRST: readonly RoleName[] = ['admin', 'responder', 'viewer'];

/** The highest Role of the matching mappings, whatever their order; null refuses the person. */
export function roleOf(
  { group_mappings, unmatched_role }: Pick<OidcFields, 'group_mappings' | 'unmatched_role'>,
  groups: readonly string[],
): RoleName | null {
  const given = new Set(group_mappings.filter(({ group }) => groups.includes(group)).map(({ role }) => role));
  const highest = HIGHEST_FIRST.find((role) => given.has(role));
  if (highest) return highest;
  return unmatched_role === 'none' ? null : unmatched_role;
}
