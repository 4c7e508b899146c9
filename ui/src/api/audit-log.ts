/** The Audit log (api §9): who changed what, when and from where. */
import type { PageRequest } from './alert-groups.ts';
import type { Answer, ApiClient, Query } from './client.ts';
import type { Instant, Page } from './shapes.ts';

export type AuditChange =
  | { readonly pointer: string; readonly before?: unknown; readonly after: unknown }
  | { readonly pointer: string; readonly secret_changed: true };

/** Names and values in it are untrusted text; a newer server may know more kinds and actions. */
export interface AuditEntry {
  readonly id: string;
  readonly at: Instant;
  readonly actor: { readonly kind: string; readonly id: string | null; readonly name: string };
  readonly token_id: string | null;
  readonly token_name: string | null;
  readonly transport: string;
  readonly action: string;
  readonly resource_type: string | null;
  readonly resource_id: string | null;
  readonly resource_name: string | null;
  readonly address: string | null;
  readonly diff: readonly AuditChange[];
  readonly details: Readonly<Record<string, unknown>>;
}

export type AuditLogApi = ReturnType<typeof createAuditLogApi>;

export function createAuditLogApi(client: ApiClient) {
  return {
    list: (query: Query, page: PageRequest): Promise<Answer<Page<AuditEntry>>> =>
      client.get('/audit-log', { query: { ...query, ...page } }),
  };
}
