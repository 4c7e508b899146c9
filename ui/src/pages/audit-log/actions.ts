/** What the Audit log can tell of, by area; an action is `<area>.<verb>` (access §11). */
const CRUD = ['created', 'updated', 'deleted'] as const;

export const ACTIONS = {
  session: ['signed_in', 'sign_in_failed', 'second_factor_failed', 'signed_out', 'ended_all', 'oidc_refused'],
  user: [
    ...CRUD,
    ...['role_changed', 'disabled', 'enabled', 'profile_updated', 'password_changed', 'password_set'],
    ...['password_setup_link_created', 'password_reset', 'unlocked', 'oidc_linked', 'oidc_link_refused'],
    ...['converted_to_local', 'oidc_refused', 'role_sync_kept_admin'],
  ],
  totp: ['enrolled', 'removed', 'recovery_codes_regenerated', 'reset'],
  api_token: ['created', 'revoked'],
  service_account: [...CRUD, 'disabled', 'enabled'],
  oidc_settings: ['updated'],
  organization: ['updated'],
  outbound_policy: ['updated'],
  keyring: ['key_activated', 'reset'],
  integration: ['create', 'update', 'delete'],
  integration_token: ['create', 'revoke'],
  route: [...CRUD, 'reordered', 'open_alert_groups_moved'],
  connection: CRUD,
  lookup_table: CRUD,
  link_rule: CRUD,
  destination: [...CRUD, 'tested', 'signing_secret_generated', 'signing_secret_retired'],
  alert_group: [
    ...['acknowledged', 'taken_over', 'unacknowledged', 'resolved', 'unresolved', 'snoozed', 'unsnoozed'],
    ...['note_added', 'reminder_answered'],
  ],
  account_link: ['linked', 'unlinked', 'link_rejected'],
  ingest: ['replayed'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export const AREAS = Object.keys(ACTIONS) as readonly (keyof typeof ACTIONS)[];

/** Where people look at what an entry tells about; null for what has no page. */
const PAGES: Readonly<Record<string, string>> = {
  alert_group: '/alert-groups',
  integration: '/integrations',
  route: '/routes',
  connection: '/connections',
  destination: '/destinations',
  link_rule: '/admin/link-rules',
  lookup_table: '/admin/lookup-tables',
};

export function pageOfResource(type: string | null, id: string | null): string | null {
  const page = type === null || id === null ? undefined : PAGES[type];
  return page === undefined ? null : `${page}/${id}`;
}
