/** Connections to messengers (api §14). */

import type { Answer, ApiClient } from './client.ts';
import type { Items, Page, PageRequest, Schemas } from './shapes.ts';

export type ConnectionType = Schemas['ConnectionType'];

/** How events of a bridge or updates of a channel bot arrive. */
export type InboundMode = 'poll' | 'push' | 'long_polling' | 'webhook';

/** What a bridge says of itself. */
export type BridgeInfo = Schemas['BridgeInfo'];

/** What a chat server calls a channel that its bot has joined. */
export interface ServerChannel {
  readonly id: string;
  readonly name: string;
  readonly display_name: string;
  readonly team_id: string;
  readonly team_name: string;
  readonly type: 'open' | 'private' | 'direct' | 'group';
  readonly archived: boolean;
}

type Bridge = Schemas['BridgeConnection'];
type OfBridge = Pick<Bridge, 'base_url' | 'event_mode' | 'push_secret_status' | 'info' | 'info_updated_at'>;

export interface ConnectionWarning {
  readonly kind: string;
  readonly field: string | null;
}

/** A Connection of any type: what all have, and what one of them has. */
export type Connection = Omit<Bridge, 'type' | 'warnings' | keyof OfBridge> &
  Partial<OfBridge> & {
    readonly type: ConnectionType;
    readonly warnings: readonly ConnectionWarning[];
    readonly server_url?: string;
    readonly bot_api_base_url?: string;
    readonly update_mode?: InboundMode;
  };

/** The address and the mode are named as the type names them. */
export type ConnectionInput = Omit<Schemas['ConnectionInput'], 'event_mode'> & {
  readonly [field: string]: unknown;
};

export type ConnectionCheckInput = Schemas['ConnectionCheckInput'] & { readonly [field: string]: unknown };

export interface CheckStep {
  readonly name: string;
  readonly ok: boolean;
  readonly skipped: boolean;
  readonly latency_ms: number | null;
  readonly via: string;
  readonly message: string | null;
}

export type ConnectionCheck = Omit<Schemas['ConnectionCheck'], 'steps' | 'warnings'> & {
  readonly steps: readonly CheckStep[];
  readonly warnings: readonly ConnectionWarning[];
};

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
    channels: (id: string, q: string): Promise<Answer<Items<ServerChannel>>> =>
      client.get(`${of(id)}/channels`, { query: q === '' ? {} : { q } }),
  };
}
