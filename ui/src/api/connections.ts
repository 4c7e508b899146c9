/** Connections to messengers (api §14). */

import type { Answer, ApiClient } from './client.ts';
import type { Items, Page, PageRequest, Schemas } from './shapes.ts';

export type ConnectionType = Schemas['ConnectionType'];

/** How events of a bridge or updates of a channel bot arrive. */
export type InboundMode = Schemas['EventMode'] | Schemas['UpdateMode'];

/** What a bridge says of itself. */
export type BridgeInfo = Schemas['BridgeInfo'];

/** What a chat server calls a channel that its bot has joined. */
export type ServerChannel = Schemas['ConnectionChannel'];

type Own<Type extends { readonly type: string }> = Partial<
  Omit<Type, keyof Schemas['ConnectionBase'] | 'type'>
>;

export type ConnectionWarning = Schemas['ConnectionWarning'];

/** A Connection of any type: what all have, and what one of them has. */
export type Connection = Schemas['ConnectionBase'] &
  Own<Schemas['BridgeConnection']> &
  Own<Schemas['ChatServerConnection']> &
  Own<Schemas['ChannelBotConnection']> & { readonly type: ConnectionType };

/** What the forms send besides is named as the type names it. */
export type ConnectionInput = Pick<
  Schemas['BridgeConnectionInput'],
  'name' | 'limiter' | 'proxy' | 'bot_token' | 'push_secret'
> &
  ConnectionCheckInput;

export type ConnectionCheckInput = Pick<Schemas['BridgeConnectionCheckInput'], 'proxy' | 'bot_token'> & {
  readonly type: ConnectionType;
  readonly [field: string]: unknown;
};

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
    channels: (id: string, q: string): Promise<Answer<Items<ServerChannel>>> =>
      client.get(`${of(id)}/channels`, { query: q === '' ? {} : { q } }),
  };
}
