/**
 * Every encrypted value of the database (secrets §3.2). The one list: rotation, reset and the test that looks for columns
 * of the type `sealed` read it.
 */
export interface SealedField {
  /** Part of what a value is bound to. */
  readonly field: string;
  readonly table: string;
  readonly column: string;
  /** SQL for the other part: the id of the row that owns the value. */
  readonly owner: string;
  /** When the value was set; emptied with it. Null where the time belongs to more than the value. */
  readonly setAt: string | null;
}

export const SEALED_FIELDS = [
  { field: 'keyring.canary', table: 'keyring', column: 'canary', owner: `'keyring'`, setAt: null },
  {
    field: 'destination.secret',
    table: 'destination_secrets',
    column: 'value',
    owner: `destination_id || '/' || name`,
    setAt: null,
  },
  {
    field: 'destination.signing_secret',
    table: 'destinations',
    column: 'signing_secret',
    owner: 'id',
    setAt: 'signing_secret_at',
  },
  {
    field: 'destination.signing_secret_previous',
    table: 'destinations',
    column: 'signing_secret_previous',
    owner: 'id',
    setAt: 'signing_secret_previous_at',
  },
  {
    field: 'destination.proxy_password',
    table: 'destinations',
    column: 'proxy_password',
    owner: 'id',
    setAt: 'proxy_password_at',
  },
  {
    field: 'connection.bridge_token',
    table: 'connections',
    column: 'bridge_token',
    owner: 'id',
    setAt: 'bridge_token_at',
  },
  {
    field: 'connection.bridge_push_secret',
    table: 'connections',
    column: 'bridge_push_secret',
    owner: 'id',
    setAt: 'bridge_push_secret_at',
  },
  {
    field: 'connection.webhook_secret_token',
    table: 'connections',
    column: 'webhook_secret',
    owner: 'id',
    setAt: 'webhook_secret_at',
  },
  {
    field: 'connection.proxy_password',
    table: 'connections',
    column: 'proxy_password',
    owner: 'id',
    setAt: 'proxy_password_at',
  },
  {
    field: 'oidc.client_secret',
    table: 'oidc_settings',
    column: 'client_secret',
    owner: `'oidc'`,
    setAt: 'client_secret_at',
  },
  {
    field: 'oidc.proxy_password',
    table: 'oidc_settings',
    column: 'proxy_password',
    owner: `'oidc'`,
    setAt: 'proxy_password_at',
  },
  {
    field: 'oidc.pkce_verifier',
    table: 'oidc_requests',
    column: 'verifier',
    owner: `encode(state_hash, 'hex')`,
    setAt: null,
  },
  {
    field: 'user.offline_token',
    table: 'users',
    column: 'offline_token',
    owner: 'id',
    setAt: 'offline_token_at',
  },
  {
    field: 'user.totp_seed',
    table: 'users',
    column: 'totp_seed',
    owner: 'id',
    setAt: 'totp_enrolled_at',
  },
  {
    field: 'user.totp_pending_seed',
    table: 'users',
    column: 'totp_pending_seed',
    owner: 'id',
    setAt: null,
  },
  {
    field: 'organization.heartbeat_url',
    table: 'organization',
    column: 'heartbeat_url',
    owner: 'id',
    setAt: 'heartbeat_url_at',
  },
  {
    field: 'organization.heartbeat_proxy_password',
    table: 'organization',
    column: 'heartbeat_proxy_password',
    owner: 'id',
    setAt: 'heartbeat_proxy_password_at',
  },
] as const satisfies readonly SealedField[];

export type SealedFieldName = (typeof SEALED_FIELDS)[number]['field'];
