/** Connections to messengers (api §14). */
import type { PageRequest } from './alert-groups.ts';
import type { Answer, ApiClient } from './client.ts';
import type { Instant, Limiter, Page, SecretStatus } from './shapes.ts';

export type EventMode = 'poll' | 'push';
export type ProxyType = 'http' | 'https' | 'socks5';

export interface ProxyConfig {
  readonly enabled: boolean;
  readonly type?: ProxyType;
  readonly address?: string;
  readonly username: string | null;
  readonly password_status: SecretStatus;
}

/** What is left out keeps what is stored. */
export interface ProxyInput {
  readonly enabled: boolean;
  readonly type?: ProxyType;
  readonly address?: string;
  readonly username?: string | null;
  /** Null removes it. */
  readonly password?: string | null;
}

export interface BridgePerson {
  readonly external_id: string;
  readonly username: string | null;
  readonly display_name: string | null;
}

/** What a bridge says of itself. */
export interface BridgeInfo {
  readonly bridge: { readonly name: string; readonly version: string; readonly homepage: string | null };
  readonly messenger: {
    readonly name: string;
    readonly version: string | null;
    readonly url: string | null;
    readonly bot: BridgePerson | null;
  };
  readonly capabilities: {
    readonly buttons: boolean;
    readonly quiet_messages: boolean;
    readonly native_mentions: boolean;
    readonly delete: boolean;
    readonly direct_messages: false | { readonly bot_can_start: boolean };
    readonly private_answers: boolean;
    readonly thread_messages: boolean;
    readonly deletion_events: boolean;
  };
  readonly limits: {
    readonly max_body_length: number;
    readonly edit_max_age_seconds: number | null;
  };
  readonly user_lookup: 'none' | 'email' | 'login' | 'username' | 'user_id';
  readonly event_delivery: readonly EventMode[];
}

export interface ConnectionWarning {
  readonly kind: string;
  readonly field: string | null;
}

export interface Connection {
  readonly id: string;
  readonly type: 'chat_server' | 'channel_bot' | 'bridge';
  readonly name: string;
  readonly base_url: string;
  readonly event_mode: EventMode;
  readonly limiter: Limiter;
  readonly proxy: ProxyConfig;
  readonly bot_token_status: SecretStatus;
  readonly push_secret_status: SecretStatus;
  readonly bot_username: string | null;
  readonly destination_count: number;
  readonly account_link_count: number;
  readonly callback_url: string;
  readonly inbound: {
    readonly last_at: Instant | null;
    readonly error: string | null;
    readonly since: Instant | null;
  };
  readonly info: BridgeInfo | null;
  readonly info_updated_at: Instant | null;
  readonly warnings: readonly ConnectionWarning[];
  readonly created_at: Instant;
  readonly etag: string;
}

export interface ConnectionInput {
  readonly type: 'bridge';
  readonly name: string;
  readonly base_url: string;
  readonly event_mode: EventMode;
  readonly limiter: Limiter;
  readonly proxy: ProxyInput;
  readonly bot_token?: string;
  readonly push_secret?: string;
}

export interface ConnectionCheckInput {
  readonly type: 'bridge';
  readonly base_url: string;
  readonly bot_token?: string;
  readonly proxy: ProxyInput;
  readonly connection_id?: string;
}

export interface CheckStep {
  readonly name: 'dry_probe' | 'get_info';
  readonly ok: boolean;
  readonly skipped: boolean;
  readonly latency_ms: number | null;
  readonly via: 'direct' | 'proxy';
  readonly message: string | null;
}

export interface ConnectionCheck {
  readonly ok: boolean;
  readonly steps: readonly CheckStep[];
  readonly warnings: readonly ConnectionWarning[];
  readonly bot_name: string | null;
  readonly info: BridgeInfo | null;
  readonly request_log_run: string | null;
}

export type ConnectionsApi = ReturnType<typeof createConnectionsApi>;

export function createConnectionsApi(client: ApiClient) {
  const of = (id: string) => `/connections/${id}`;
  return {
    list: (page: PageRequest): Promise<Answer<Page<Connection>>> =>
      client.get('/connections', { query: { ...page } }),
    create: (body: ConnectionInput): Promise<Answer<Connection>> => client.post('/connections', { body }),
    read: (id: string): Promise<Answer<Connection>> => client.get(of(id)),
    update: (id: string, body: ConnectionInput, ifMatch: string): Promise<Answer<Connection>> =>
      client.put(of(id), { body, ifMatch }),
    delete: (id: string): Promise<Answer<null>> => client.delete(of(id)),
    check: (body: ConnectionCheckInput): Promise<Answer<ConnectionCheck>> =>
      client.post('/connections/checks', { body }),
  };
}
