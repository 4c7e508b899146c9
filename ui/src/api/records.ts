/** The Audit log (api §9): who changed what, when and from where. */

import type { Answer, ApiClient, Query } from './client.ts';
import type { Page, PageRequest, Schemas } from './shapes.ts';

export type AuditChange = AuditEntry['diff'][number];

/** Names and values in it are untrusted text; a newer server may know more kinds and actions. */
export type AuditEntry = Schemas['AuditEntry'];

export type AuditLogApi = ReturnType<typeof createAuditLogApi>;

export function createAuditLogApi(client: ApiClient) {
  return {
    list: (query: Query, page: PageRequest): Promise<Answer<Page<AuditEntry>>> =>
      client.get('/audit-log', { query: { ...query, ...page } }),
  };
}

/** Everything in it but times, ids and words of the service is untrusted text. */
export type RequestItem = Schemas['RequestRecord'];

export type RecordedHeader = RequestDetail['request_headers'][number];

export type RequestDetail = Schemas['RequestRecordDetail'];

export type RequestLogApi = ReturnType<typeof createRequestLogApi>;

export function createRequestLogApi(client: ApiClient) {
  return {
    /** `query` names one Connection, one Destination, or a run. */
    list: (query: Query, page: PageRequest): Promise<Answer<Page<RequestItem>>> =>
      client.get('/request-records', { query: { ...query, ...page } }),
    read: (id: string): Promise<Answer<RequestDetail>> => client.get(`/request-records/${id}`),
  };
}
