/** The Organization's outbound address policy (outbound-http §2). */
import { type Authorship, auditDiff, auditEntry } from '../actors/audit.ts';
import type { OutboundPolicy } from '../runtime/outbound/address-policy.ts';
import type { AppendAudit } from './access.ts';
import type { Sql, Transaction } from './records.ts';
import { inTransaction } from './transaction.ts';

export interface VersionedPolicy {
  readonly version: number;
  readonly policy: OutboundPolicy;
}

export type PolicyUpdate =
  | { readonly outcome: 'saved' | 'unchanged'; readonly stored: VersionedPolicy }
  | { readonly outcome: 'stale' };

export interface OutboundPolicyStore {
  read(): Promise<VersionedPolicy>;
  /** `policy` holds normalised entries. */
  update(
    policy: OutboundPolicy,
    isCurrent: (version: number) => boolean,
    author: Authorship,
  ): Promise<PolicyUpdate>;
}

export function createOutboundPolicyStore(sql: Sql, appendAudit: AppendAudit): OutboundPolicyStore {
  return {
    read: () => readOutboundPolicy(sql),
    update: (policy, isCurrent, author) =>
      inTransaction(sql, async (tx) => {
        await tx`select 1 from organization_outbound_policy for update`;
        const stored = await readOutboundPolicy(tx);
        if (!isCurrent(stored.version)) return { outcome: 'stale' };
        const diff = auditDiff(stored.policy, policy);
        if (diff.length === 0) return { outcome: 'unchanged', stored };
        await tx`
          update organization_outbound_policy set
            version = version + 1,
            policy = ${policy.policy},
            allowed = ${JSON.stringify(policy.allowed)}::text::jsonb,
            denied = ${JSON.stringify(policy.denied)}::text::jsonb`;
        const entry = { action: 'outbound_policy.updated', resourceId: null, resourceName: null, diff };
        await appendAudit(tx, auditEntry(author, entry));
        return { outcome: 'saved', stored: { version: stored.version + 1, policy } };
      }),
  };
}

export async function readOutboundPolicy(sql: Sql | Transaction): Promise<VersionedPolicy> {
  const [row] = await sql<(OutboundPolicy & { version: number })[]>`
    select version, policy, allowed, denied from organization_outbound_policy`;
  if (!row) throw new Error('the outbound policy has no row: the schema is incomplete');
  const { version, policy, allowed, denied } = row;
  return { version, policy: { policy, allowed, denied } };
}
