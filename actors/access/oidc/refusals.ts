/** Whom the provider vouched for and this service refused, as the Audit log tells it (access §6.4). */
import type { Micros } from '../../../runtime/clock.ts';
import { cutToBytes } from '../../../runtime/secrets/masking.ts';
import { auditEntry } from '../../audit.ts';
import type { AuditEntry } from '../../effects.ts';
import type { User } from '../user.ts';

const MOST_GROUPS = 100;
const GROUP_BYTES = 200;

interface Occasion {
  readonly now: Micros;
  readonly address: string;
}

export function signInRefused(
  login: string,
  { now: at, address }: Occasion,
  reason: string,
  groups: readonly string[],
): AuditEntry {
  const by = { kind: 'system', id: null, name: 'system' } as const;
  const details = { reason, login, groups: shownGroups(groups) };
  const change = { action: 'session.oidc_refused', resourceId: null, resourceName: null, details };
  return auditEntry({ by, at, address }, change);
}

export function linkRefused(
  { id, name, login }: User,
  { now: at, address }: Occasion,
  reason: string,
  groups: readonly string[],
): AuditEntry {
  const by = { kind: 'user', id, name, login, tokenName: null, transport: 'ui' } as const;
  const details = { reason, groups: shownGroups(groups) };
  const change = { action: 'user.oidc_link_refused', resourceId: id, resourceName: name, details };
  return auditEntry({ by, at, address }, change);
}

function shownGroups(groups: readonly string[]): readonly string[] {
  return groups.slice(0, MOST_GROUPS).map((group) => {
    const cut = cutToBytes(storable(group), GROUP_BYTES);
    return cut.length < group.length ? `${cut}…` : cut;
  });
}

/** The database stores no U+0000, even inside JSON. */
function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD');
}
