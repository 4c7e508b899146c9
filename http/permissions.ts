/** Permissions and what each Role holds. The order is the one permission arrays are answered in. */
export const PERMISSION_MEANINGS = {
  'alert-groups:read': 'See Alert Groups.',
  'alert-groups:acknowledge': 'Acknowledge, give back, answer Reminders.',
  'alert-groups:resolve': 'Resolve and unresolve.',
  'alert-groups:snooze': 'Snooze and unsnooze.',
  'alert-groups:note': 'Write Notes.',
  'alerts:read': 'See Alerts.',
  'integrations:read': 'See Integrations and their tokens, without values.',
  'integrations:write': 'Change them and their tokens.',
  'stored-snapshots:read': 'See bodies as they were received.',
  'routes:read': 'See Routes.',
  'routes:write': 'Change them, their order and what is in them.',
  'connections:read': 'See Connections.',
  'connections:write': 'Change and check them.',
  'destinations:read': 'See Destinations.',
  'destinations:write': 'Change them and their Secrets.',
  'destinations:test': 'Check them, send test messages, preview messages.',
  'link-rules:read': 'See Link rules.',
  'link-rules:write': 'Change them.',
  'lookup-tables:read': 'See Lookup tables.',
  'lookup-tables:write': 'Change them.',
  'templates:preview': 'Render templates.',
  'users:read': 'See users and Roles.',
  'users:write': 'Change users and how they sign in.',
  'oidc:read': 'See the settings of single sign-on.',
  'oidc:write': 'Change and check them.',
  'service-accounts:read': 'See Service accounts and their tokens, without values.',
  'service-accounts:write': 'Change them and their tokens.',
  'organization:write': 'Change the settings and the outbound policy.',
  'organization:read': 'See the outbound policy, severities that arrived and master keys.',
  'audit-log:read': 'See the Audit log.',
  'system-status:read': 'See the system status and its actors.',
} as const;

export type Permission = keyof typeof PERMISSION_MEANINGS;

export const PERMISSIONS = Object.keys(PERMISSION_MEANINGS) as readonly Permission[];

export const ROLES = ['admin', 'responder', 'viewer'] as const;
export type Role = (typeof ROLES)[number];

const VIEWER: readonly Permission[] = [
  'alert-groups:read',
  'alerts:read',
  'integrations:read',
  'routes:read',
  'connections:read',
  'destinations:read',
  'link-rules:read',
  'lookup-tables:read',
];

/** What people do to Alert Groups, from the UI or from a messenger. */
export const COMMAND_PERMISSIONS: readonly Permission[] = [
  'alert-groups:acknowledge',
  'alert-groups:resolve',
  'alert-groups:snooze',
  'alert-groups:note',
];

const RESPONDER: readonly Permission[] = [...VIEWER, ...COMMAND_PERMISSIONS];

export const ROLE_PERMISSIONS: Readonly<Record<Role, ReadonlySet<Permission>>> = {
  admin: new Set(PERMISSIONS),
  responder: new Set(RESPONDER),
  viewer: new Set(VIEWER),
};

/** A set of Permissions as an array in the catalogue's order. */
export function inCatalogueOrder(held: ReadonlySet<Permission>): Permission[] {
  return PERMISSIONS.filter((permission) => held.has(permission));
}
