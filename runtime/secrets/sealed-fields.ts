/**
 * Every encrypted value of the database (secrets §3.2). The one list: rotation and the test that looks for columns of
 * the type `sealed` read it.
 */
export interface SealedField {
  /** Part of what a value is bound to. */
  readonly field: string;
  readonly table: string;
  readonly column: string;
  /** SQL for the other part: the id of the row that owns the value. */
  readonly owner: string;
}

export const SEALED_FIELDS = [
  { field: 'keyring.canary', table: 'keyring', column: 'canary', owner: `'keyring'` },
  {
    field: 'destination.secret',
    table: 'destination_secrets',
    column: 'value',
    owner: `destination_id || '/' || name`,
  },
  { field: 'destination.signing_secret', table: 'destinations', column: 'signing_secret', owner: 'id' },
  {
    field: 'destination.signing_secret_previous',
    table: 'destinations',
    column: 'signing_secret_previous',
    owner: 'id',
  },
  { field: 'destination.proxy_password', table: 'destinations', column: 'proxy_password', owner: 'id' },
  { field: 'connection.bridge_token', table: 'connections', column: 'bridge_token', owner: 'id' },
  { field: 'connection.bridge_push_secret', table: 'connections', column: 'bridge_push_secret', owner: 'id' },
  { field: 'connection.proxy_password', table: 'connections', column: 'proxy_password', owner: 'id' },
] as const satisfies readonly SealedField[];

export type SealedFieldName = (typeof SEALED_FIELDS)[number]['field'];
