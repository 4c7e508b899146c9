/** The Request log (api §17): what was asked of receivers and messengers, and what they answered. */
import type { PageRequest } from './alert-groups.ts';
import type { Answer, ApiClient, Query } from './client.ts';
import type { AlertGroupRef, EntityRef, Instant, Page } from './shapes.ts';

/** Everything in it but times, ids and words of the service is untrusted text. */
export interface RequestItem {
  readonly id: string;
  readonly at: Instant;
  readonly direction: 'outbound' | 'inbound';
  readonly operation: string;
  readonly method: string;
  readonly url: string;
  readonly status: number | null;
  readonly latency_ms: number;
  readonly via: 'direct' | 'proxy' | null;
  readonly attempt: number;
  readonly error_class: string | null;
  readonly error_code: string | null;
  readonly error: string | null;
  readonly check: string | null;
  readonly destination: EntityRef | null;
  readonly alert_group: AlertGroupRef | null;
  readonly request_body_bytes: number | null;
  readonly request_body_truncated: boolean;
  readonly response_body_bytes: number | null;
  readonly response_body_truncated: boolean;
}

export interface RecordedHeader {
  readonly name: string;
  readonly value: string;
}

export interface RequestDetail extends RequestItem {
  readonly request_headers: readonly RecordedHeader[];
  readonly request_body: string | null;
  readonly response_headers: readonly RecordedHeader[] | null;
  readonly response_body: string | null;
}

export type RequestLogApi = ReturnType<typeof createRequestLogApi>;

export function createRequestLogApi(client: ApiClient) {
  return {
    /** `query` names one Connection, one Destination, or a run. */
    list: (query: Query, page: PageRequest): Promise<Answer<Page<RequestItem>>> =>
      client.get('/request-records', { query: { ...query, ...page } }),
    read: (id: string): Promise<Answer<RequestDetail>> => client.get(`/request-records/${id}`),
  };
}
