/** Accounts at messengers that belong to people of Tocsin (api §4.1, §5). */
import type { Answer, ApiClient } from './client.ts';
import type { EntityRef, Instant, Items } from './shapes.ts';

export type Messenger = 'chat_server' | 'channel_bot' | 'bridge';
export type LinkMethod = 'token' | 'code';

export interface AccountLink {
  readonly id: string;
  readonly messenger: Messenger;
  /** Null: the Connection it was made through is gone. */
  readonly connection: EntityRef | null;
  readonly external_id: string;
  readonly username: string | null;
  readonly last_used_at: Instant | null;
  readonly created_at: Instant;
}

export interface LinkableConnection {
  readonly id: string;
  readonly name: string;
  readonly messenger: Messenger;
  readonly link_methods: readonly LinkMethod[];
  /** What names a person there, for a code. */
  readonly handle_kind: 'email' | 'login' | 'username' | 'user_id' | null;
}

/** A text that the person brings to the bot. Told once. */
export interface LinkToken {
  readonly token: string;
  readonly deep_link: string | null;
  readonly expires_at: Instant;
}

/** A code was sent to the account. */
export interface LinkCode {
  readonly request_id: string;
  readonly expires_at: Instant;
  readonly attempts_remaining: number;
}

export type AccountLinksApi = ReturnType<typeof createAccountLinksApi>;

/** The links of one person. */
export interface LinksOf {
  list(): Promise<Answer<Items<AccountLink>>>;
  remove(id: string): Promise<Answer<null>>;
}

export function createAccountLinksApi(client: ApiClient) {
  const of = (path: string): LinksOf => ({
    list: () => client.get(path),
    remove: (id) => client.delete(`${path}/${id}`),
  });
  const mine = '/me/account-links';
  const bridge = `${mine}/bridge`;
  return {
    mine: of(mine),
    ofUser: (id: string): LinksOf => of(`/users/${id}/account-links`),
    connections: (): Promise<Answer<Items<LinkableConnection>>> => client.get(`${mine}/connections`),
    requestToken: (connectionId: string): Promise<Answer<LinkToken>> =>
      client.post(bridge, { body: { connection_id: connectionId, method: 'token' } }),
    sendCode: (connectionId: string, handle: string): Promise<Answer<LinkCode>> =>
      client.post(bridge, { body: { connection_id: connectionId, method: 'code', handle } }),
    confirm: (requestId: string, code: string): Promise<Answer<AccountLink>> =>
      client.post(`${bridge}/confirmation`, { body: { request_id: requestId, code } }),
  };
}
