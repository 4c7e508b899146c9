/** Permissions and what each Role holds. The order is the one permission arrays are answered in. */
export const PERMISSIONS = [
  'alert-groups:read',
  'alert-groups:acknowledge',
  'alert-groups:resolve',
  'alert-groups:snooze',
  'alert-groups:note',
  'alerts:read',
  'integrations:read',
  'integrations:write',
  'stored-snapshots:read',
  'routes:read',
  'routes:write',
  'connections:read',
  'connections:write',
  'destinations:read',
  'destinations:write',
  'destinations:test',
  'link-rules:read',
  'link-rules:write',
  'lookup-tables:read',
  'lookup-tables:write',
  'templates:preview',
  'users:read',
  'users:write',
  'oidc:read',
  'oidc:write',
  'service-accounts:read',
  'service-accounts:write',
  'organization:write',
  'organization:read',
  'audit-log:read',
  'system-status:read',
] as const;

export type Permission = (typeof PERMISSIONS)[number];

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
