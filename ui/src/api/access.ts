/** Personal access tokens, Service accounts and Roles (api §4, §5, §8). */
import type { PageRequest } from './alert-groups.ts';
import type { Answer, ApiClient } from './client.ts';
import type { Instant, Items, Page } from './shapes.ts';

export const ROLES = ['admin', 'responder', 'viewer'] as const;
export type RoleName = (typeof ROLES)[number];

export interface ApiToken {
  readonly id: string;
  readonly name: string;
  /** Of a Personal access token; a Service account's may do what its Role may. */
  readonly permissions?: readonly string[];
  readonly expires_at: Instant | null;
  readonly created_at: Instant;
  readonly last_used_at: Instant | null;
  readonly last_used_address: string | null;
}

export interface CreatedApiToken {
  readonly token: ApiToken;
  /** In this answer only. */
  readonly value: string;
}

export interface ApiTokenInput {
  readonly name: string;
  readonly permissions?: readonly string[];
  readonly expires_at: Instant | null;
}

/** The tokens of one owner. */
export interface TokensApi {
  list(): Promise<Answer<Items<ApiToken>>>;
  create(input: ApiTokenInput): Promise<Answer<CreatedApiToken>>;
  revoke(id: string): Promise<Answer<null>>;
}

export interface ServiceAccountInput {
  readonly name: string;
  readonly role: RoleName;
}

export interface ServiceAccount extends ServiceAccountInput {
  readonly id: string;
  readonly status: 'active' | 'disabled';
  readonly token_count: number;
  readonly created_at: Instant;
  readonly etag: string;
}

export interface Role {
  readonly name: RoleName;
  readonly permissions: readonly string[];
}

export type AccessApi = ReturnType<typeof createAccessApi>;

export function createAccessApi(client: ApiClient) {
  const of = (id: string) => `/service-accounts/${id}`;
  return {
    roles: (): Promise<Answer<Items<Role>>> => client.get('/roles'),
    personalTokens: tokensAt(client, '/me/personal-access-tokens'),
    accountTokens: (id: string) => tokensAt(client, `${of(id)}/tokens`),
    accounts: {
      list: (page: PageRequest): Promise<Answer<Page<ServiceAccount>>> =>
        client.get('/service-accounts', { query: { ...page } }),
      create: (body: ServiceAccountInput): Promise<Answer<ServiceAccount>> =>
        client.post('/service-accounts', { body }),
      read: (id: string): Promise<Answer<ServiceAccount>> => client.get(of(id)),
      update: (id: string, body: ServiceAccountInput, ifMatch: string): Promise<Answer<ServiceAccount>> =>
        client.put(of(id), { body, ifMatch }),
      delete: (id: string): Promise<Answer<null>> => client.delete(of(id)),
      disable: (id: string): Promise<Answer<ServiceAccount>> => client.post(`${of(id)}/disable`),
      enable: (id: string): Promise<Answer<ServiceAccount>> => client.post(`${of(id)}/enable`),
    },
  };
}

function tokensAt(client: ApiClient, path: string): TokensApi {
  return {
    list: () => client.get(path),
    create: (body) => client.post(path, { body }),
    revoke: (id) => client.delete(`${path}/${id}`),
  };
}
