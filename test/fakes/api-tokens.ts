/** API tokens in memory, for tests of the HTTP layer. */
import { randomBytes } from 'node:crypto';
import {
  type ApiTokens,
  apiTokenHash,
  type FoundToken,
  newApiToken,
} from '../../actors/access/api-tokens.ts';
import type { RoleName, User } from '../../actors/access/user.ts';
import type { Micros } from '../../runtime/clock.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';

export interface MemoryTokens extends ApiTokens {
  /** A token of a user, narrowed to these Permissions. @returns its value */
  issuePersonal(userId: PublicId, permissions: readonly string[], expiresAt?: Micros): string;
  /** A token of a new Service account. @returns its value */
  issueServiceAccount(role: RoleName, change?: { readonly isActive?: boolean }): string;
  readonly uses: readonly { readonly id: PublicId; readonly address: string; readonly at: Micros }[];
}

export function createMemoryTokens(userOf: (id: PublicId) => User | null): MemoryTokens {
  const known = new Map<string, () => FoundToken | null>();
  const uses: { id: PublicId; address: string; at: Micros }[] = [];
  const keyOf = (hash: Uint8Array) => Buffer.from(hash).toString('hex');
  const issue = (kind: 'personal' | 'service_account', found: () => FoundToken | null) => {
    const value = newApiToken(kind, randomBytes);
    const hash = apiTokenHash(value);
    if (!hash) throw new Error('a new token has the form of one');
    known.set(keyOf(hash), found);
    return value;
  };

  return {
    uses,
    find: async (hash) => known.get(keyOf(hash))?.() ?? null,
    used: (id, address, at) => void uses.push({ id, address, at }),
    issuePersonal(userId, permissions, expiresAt) {
      const token = { id: newPublicId('PT'), name: 'ci', permissions, expiresAt: expiresAt ?? null };
      return issue('personal', () => {
        const user = userOf(userId);
        return user && { token, owner: { kind: 'user', user }, graceSeconds: 604_800 };
      });
    },
    issueServiceAccount(role, { isActive = true } = {}) {
      const token = { id: newPublicId('ST'), name: 'ci', permissions: null, expiresAt: null };
      const id = newPublicId('SA');
      const owner = { kind: 'service_account', id, name: 'deploy-bot', role, isActive } as const;
      return issue('service_account', () => ({ token, owner, graceSeconds: 604_800 }));
    },
  };
}
