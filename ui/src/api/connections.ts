/** Connections to messengers (api §14). */

import type { Answer, ApiClient } from './client.ts';
import type { Page, PageRequest, Schemas } from './shapes.ts';

export type EventMode = Connection['event_mode'];

/** What a bridge says of itself. */
export type BridgeInfo = Schemas['BridgeInfo'];

export type ConnectionWarning = Schemas['ConnectionWarning'];

export type Connection = Schemas['Connection'];

export type ConnectionInput = Schemas['ConnectionInput'];

export type ConnectionCheckInput = Schemas['ConnectionCheckInput'];

export type CheckStep = Schemas['ConnectionCheckStep'];

export type ConnectionCheck = Schemas['ConnectionCheck'];

export function createConnectionsApi(client: ApiClient) {
  const of = (id: string) => `/connections/${id}`;
  return {
    list: (page: PageRequest): Promise<Answer<Page<Connection>>> =>
      client.get('/connections', { query: { ...page } }),
    create: (body: ConnectionInput): Promise<Answer<Connection>> =>
      client.post('/connections', { body, long: true }),
    read: (id: string): Promise<Answer<Connection>> => client.get(of(id)),
    update: (id: string, body: ConnectionInput, ifMatch: string): Promise<Answer<Connection>> =>
      client.put(of(id), { body, ifMatch, long: true }),
    delete: (id: string): Promise<Answer<null>> => client.delete(of(id), { long: true }),
    check: (body: ConnectionCheckInput): Promise<Answer<ConnectionCheck>> =>
      client.post('/connections/checks', { body, long: true, harmless: true }),
  };
}
