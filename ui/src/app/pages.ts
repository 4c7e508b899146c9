/** Every page: its path, the Permission it needs, and the code that is loaded when it is first shown. */
import type { Component } from 'svelte';
import { matchPath } from '../router/pattern.ts';

export interface PageProps {
  /** The parameter of the path; several are joined by slashes. */
  readonly id: string;
}

interface PageBase {
  readonly pattern: string;
  /** Null: for everybody who is signed in. */
  readonly permission: string | null;
  readonly section: Section;
}

/** A page of a whole collection. */
export interface CollectionPage extends PageBase {
  readonly of: 'collection';
  readonly load: () => Promise<{ readonly default: Component<Record<string, never>> }>;
}

/** A page of one object. */
export interface ObjectPage extends PageBase {
  readonly of: 'object';
  readonly load: () => Promise<{ readonly default: Component<PageProps> }>;
}

export type PageEntry = CollectionPage | ObjectPage;

export type Section =
  | 'alert-groups'
  | 'statistics'
  | 'integrations'
  | 'routes'
  | 'connections'
  | 'destinations'
  | 'link-rules'
  | 'lookup-tables'
  | 'template-preview'
  | 'users'
  | 'service-accounts'
  | 'oidc'
  | 'organization'
  | 'roles'
  | 'audit-log'
  | 'system-status'
  | 'machines'
  | 'profile';

export const PAGES: readonly PageEntry[] = [
  {
    pattern: '/alert-groups',
    of: 'collection',
    permission: 'alert-groups:read',
    section: 'alert-groups',
    load: () => import('../pages/alert-group-list/AlertGroupListPage.svelte'),
  },
  {
    pattern: '/alert-groups/:id',
    of: 'object',
    permission: 'alert-groups:read',
    section: 'alert-groups',
    load: () => import('../pages/alert-group/AlertGroupPage.svelte'),
  },
  {
    pattern: '/statistics',
    of: 'collection',
    permission: 'alert-groups:read',
    section: 'statistics',
    load: () => import('../pages/statistics/StatisticsPage.svelte'),
  },
  {
    pattern: '/integrations',
    of: 'collection',
    permission: 'integrations:read',
    section: 'integrations',
    load: () => import('../pages/integrations/IntegrationListPage.svelte'),
  },
  {
    pattern: '/integrations/new',
    of: 'collection',
    permission: 'integrations:write',
    section: 'integrations',
    load: () => import('../pages/integrations/IntegrationCreatePage.svelte'),
  },
  {
    pattern: '/integrations/:id',
    of: 'object',
    permission: 'integrations:read',
    section: 'integrations',
    load: () => import('../pages/integrations/IntegrationPage.svelte'),
  },
  {
    pattern: '/integrations/:id/edit',
    of: 'object',
    permission: 'integrations:write',
    section: 'integrations',
    load: () => import('../pages/integrations/IntegrationEditPage.svelte'),
  },
  {
    pattern: '/integrations/:id/snapshots/:snapshot',
    of: 'object',
    permission: 'stored-snapshots:read',
    section: 'integrations',
    load: () => import('../pages/integrations/SnapshotPage.svelte'),
  },
  {
    pattern: '/routes',
    of: 'collection',
    permission: 'routes:read',
    section: 'routes',
    load: () => import('../pages/routes/RouteListPage.svelte'),
  },
  {
    pattern: '/routes/new',
    of: 'collection',
    permission: 'routes:write',
    section: 'routes',
    load: () => import('../pages/routes/RouteCreatePage.svelte'),
  },
  {
    pattern: '/routes/:id',
    of: 'object',
    permission: 'routes:read',
    section: 'routes',
    load: () => import('../pages/routes/RoutePage.svelte'),
  },
  {
    pattern: '/connections',
    of: 'collection',
    permission: 'connections:read',
    section: 'connections',
    load: () => import('../pages/connections/ConnectionListPage.svelte'),
  },
  {
    pattern: '/connections/new',
    of: 'collection',
    permission: 'connections:write',
    section: 'connections',
    load: () => import('../pages/connections/ConnectionCreatePage.svelte'),
  },
  {
    pattern: '/connections/:id',
    of: 'object',
    permission: 'connections:read',
    section: 'connections',
    load: () => import('../pages/connections/ConnectionPage.svelte'),
  },
  {
    pattern: '/connections/:id/edit',
    of: 'object',
    permission: 'connections:write',
    section: 'connections',
    load: () => import('../pages/connections/ConnectionEditPage.svelte'),
  },
  {
    pattern: '/connections/:id/request-log',
    of: 'object',
    permission: 'connections:read',
    section: 'connections',
    load: () => import('../pages/request-log/RequestLogPage.svelte'),
  },
  {
    pattern: '/connections/:id/request-log/:record',
    of: 'object',
    permission: 'connections:read',
    section: 'connections',
    load: () => import('../pages/request-log/RequestPage.svelte'),
  },
  {
    pattern: '/connections/checks/:run',
    of: 'object',
    permission: 'connections:read',
    section: 'connections',
    load: () => import('../pages/connections/CheckRunPage.svelte'),
  },
  {
    pattern: '/connections/checks/:run/:record',
    of: 'object',
    permission: 'connections:read',
    section: 'connections',
    load: () => import('../pages/request-log/RequestPage.svelte'),
  },
  {
    pattern: '/destinations',
    of: 'collection',
    permission: 'destinations:read',
    section: 'destinations',
    load: () => import('../pages/destinations/DestinationListPage.svelte'),
  },
  {
    pattern: '/destinations/new',
    of: 'collection',
    permission: 'destinations:write',
    section: 'destinations',
    load: () => import('../pages/destinations/DestinationCreatePage.svelte'),
  },
  {
    pattern: '/destinations/:id',
    of: 'object',
    permission: 'destinations:read',
    section: 'destinations',
    load: () => import('../pages/destinations/DestinationPage.svelte'),
  },
  {
    pattern: '/destinations/:id/edit',
    of: 'object',
    permission: 'destinations:write',
    section: 'destinations',
    load: () => import('../pages/destinations/DestinationEditPage.svelte'),
  },
  {
    pattern: '/admin/link-rules',
    of: 'collection',
    permission: 'link-rules:read',
    section: 'link-rules',
    load: () => import('../pages/link-rules/LinkRuleListPage.svelte'),
  },
  {
    pattern: '/admin/link-rules/new',
    of: 'collection',
    permission: 'link-rules:write',
    section: 'link-rules',
    load: () => import('../pages/link-rules/LinkRuleCreatePage.svelte'),
  },
  {
    pattern: '/admin/link-rules/:id',
    of: 'object',
    permission: 'link-rules:read',
    section: 'link-rules',
    load: () => import('../pages/link-rules/LinkRulePage.svelte'),
  },
  {
    pattern: '/admin/lookup-tables',
    of: 'collection',
    permission: 'lookup-tables:read',
    section: 'lookup-tables',
    load: () => import('../pages/lookup-tables/LookupTableListPage.svelte'),
  },
  {
    pattern: '/admin/lookup-tables/new',
    of: 'collection',
    permission: 'lookup-tables:write',
    section: 'lookup-tables',
    load: () => import('../pages/lookup-tables/LookupTableCreatePage.svelte'),
  },
  {
    pattern: '/admin/lookup-tables/:id',
    of: 'object',
    permission: 'lookup-tables:read',
    section: 'lookup-tables',
    load: () => import('../pages/lookup-tables/LookupTablePage.svelte'),
  },
  {
    pattern: '/template-preview',
    of: 'collection',
    permission: 'templates:preview',
    section: 'template-preview',
    load: () => import('../pages/template-preview/TemplatePreviewPage.svelte'),
  },
  {
    pattern: '/destinations/:id/request-log',
    of: 'object',
    permission: 'destinations:read',
    section: 'destinations',
    load: () => import('../pages/request-log/RequestLogPage.svelte'),
  },
  {
    pattern: '/destinations/:id/request-log/:record',
    of: 'object',
    permission: 'destinations:read',
    section: 'destinations',
    load: () => import('../pages/request-log/RequestPage.svelte'),
  },
  {
    pattern: '/admin/audit-log',
    of: 'collection',
    permission: 'audit-log:read',
    section: 'audit-log',
    load: () => import('../pages/audit-log/AuditLogPage.svelte'),
  },
  {
    pattern: '/admin/system-status',
    of: 'collection',
    permission: 'system-status:read',
    section: 'system-status',
    load: () => import('../pages/system-status/SystemStatusPage.svelte'),
  },
  {
    pattern: '/admin/users',
    of: 'collection',
    permission: 'users:read',
    section: 'users',
    load: () => import('../pages/users/UserListPage.svelte'),
  },
  {
    pattern: '/admin/users/new',
    of: 'collection',
    permission: 'users:write',
    section: 'users',
    load: () => import('../pages/users/UserCreatePage.svelte'),
  },
  {
    pattern: '/admin/users/:id',
    of: 'object',
    permission: 'users:read',
    section: 'users',
    load: () => import('../pages/users/UserPage.svelte'),
  },
  {
    pattern: '/admin/service-accounts',
    of: 'collection',
    permission: 'service-accounts:read',
    section: 'service-accounts',
    load: () => import('../pages/service-accounts/ServiceAccountListPage.svelte'),
  },
  {
    pattern: '/admin/service-accounts/new',
    of: 'collection',
    permission: 'service-accounts:write',
    section: 'service-accounts',
    load: () => import('../pages/service-accounts/ServiceAccountCreatePage.svelte'),
  },
  {
    pattern: '/admin/service-accounts/:id',
    of: 'object',
    permission: 'service-accounts:read',
    section: 'service-accounts',
    load: () => import('../pages/service-accounts/ServiceAccountPage.svelte'),
  },
  {
    pattern: '/admin/oidc',
    of: 'collection',
    permission: 'oidc:read',
    section: 'oidc',
    load: () => import('../pages/oidc/OidcPage.svelte'),
  },
  {
    pattern: '/admin/organization/:id',
    of: 'object',
    permission: 'organization:read',
    section: 'organization',
    load: () => import('../pages/organization/OrganizationPage.svelte'),
  },
  {
    pattern: '/admin/roles',
    of: 'collection',
    permission: 'users:read',
    section: 'roles',
    load: () => import('../pages/roles/RolesPage.svelte'),
  },
  {
    pattern: '/profile',
    of: 'collection',
    permission: null,
    section: 'profile',
    load: () => import('../pages/profile/ProfilePage.svelte'),
  },
  {
    pattern: '/machines',
    of: 'collection',
    permission: null,
    section: 'machines',
    load: () => import('../pages/machines/MachinesPage.svelte'),
  },
  {
    pattern: '/machines/:kind',
    of: 'object',
    permission: null,
    section: 'machines',
    load: () => import('../pages/machines/MachinesPage.svelte'),
  },
  {
    pattern: '/machines/:kind/:key',
    of: 'object',
    permission: 'system-status:read',
    section: 'machines',
    load: () => import('../pages/machines/ActorPage.svelte'),
  },
];

export interface PageMatch {
  readonly entry: PageEntry;
  readonly id: string;
}

/** The page of a path; a literal pattern wins over one with a parameter, because it stands first. */
export function findPage(path: string): PageMatch | null {
  for (const entry of PAGES) {
    const params = matchPath(entry.pattern, path);
    if (params !== null) return { entry, id: Object.values(params).join('/') };
  }
  return null;
}

export interface NavEntry {
  readonly section: Section;
  readonly href: string;
  readonly permission: string;
  readonly icon:
    | 'alarm'
    | 'chart'
    | 'integration'
    | 'route'
    | 'connection'
    | 'destination'
    | 'link'
    | 'table'
    | 'search'
    | 'list'
    | 'person'
    | 'key'
    | 'robot'
    | 'settings'
    | 'check'
    | 'pulse';
  readonly text:
    | 'nav.alertGroups'
    | 'nav.statistics'
    | 'nav.integrations'
    | 'nav.routes'
    | 'nav.connections'
    | 'nav.destinations'
    | 'nav.linkRules'
    | 'nav.lookupTables'
    | 'nav.templatePreview'
    | 'nav.users'
    | 'nav.serviceAccounts'
    | 'nav.oidc'
    | 'nav.organization'
    | 'nav.roles'
    | 'nav.auditLog'
    | 'nav.systemStatus';
  /** Shown below the heading Admin. */
  readonly isAdmin?: true;
  /** Second key after `g`. */
  readonly key: string;
}

export const NAVIGATION: readonly NavEntry[] = [
  {
    section: 'alert-groups',
    href: '/alert-groups',
    permission: 'alert-groups:read',
    icon: 'alarm',
    text: 'nav.alertGroups',
    key: 'a',
  },
  {
    section: 'statistics',
    href: '/statistics',
    permission: 'alert-groups:read',
    icon: 'chart',
    text: 'nav.statistics',
    key: 's',
  },
  {
    section: 'integrations',
    href: '/integrations',
    permission: 'integrations:read',
    icon: 'integration',
    text: 'nav.integrations',
    key: 'i',
  },
  {
    section: 'routes',
    href: '/routes',
    permission: 'routes:read',
    icon: 'route',
    text: 'nav.routes',
    key: 'r',
  },
  {
    section: 'connections',
    href: '/connections',
    permission: 'connections:read',
    icon: 'connection',
    text: 'nav.connections',
    key: 'c',
  },
  {
    section: 'destinations',
    href: '/destinations',
    permission: 'destinations:read',
    icon: 'destination',
    text: 'nav.destinations',
    key: 'd',
  },
  {
    section: 'users',
    href: '/admin/users',
    permission: 'users:read',
    icon: 'person',
    text: 'nav.users',
    isAdmin: true,
    key: 'e',
  },
  {
    section: 'service-accounts',
    href: '/admin/service-accounts',
    permission: 'service-accounts:read',
    icon: 'robot',
    text: 'nav.serviceAccounts',
    isAdmin: true,
    key: 'b',
  },
  {
    section: 'roles',
    href: '/admin/roles',
    permission: 'users:read',
    icon: 'check',
    text: 'nav.roles',
    isAdmin: true,
    key: 'h',
  },
  {
    section: 'oidc',
    href: '/admin/oidc',
    permission: 'oidc:read',
    icon: 'key',
    text: 'nav.oidc',
    isAdmin: true,
    key: 'n',
  },
  {
    section: 'organization',
    href: '/admin/organization/general',
    permission: 'organization:read',
    icon: 'settings',
    text: 'nav.organization',
    isAdmin: true,
    key: 'o',
  },
  {
    section: 'link-rules',
    href: '/admin/link-rules',
    permission: 'link-rules:read',
    icon: 'link',
    text: 'nav.linkRules',
    isAdmin: true,
    key: 'l',
  },
  {
    section: 'lookup-tables',
    href: '/admin/lookup-tables',
    permission: 'lookup-tables:read',
    icon: 'table',
    text: 'nav.lookupTables',
    isAdmin: true,
    key: 't',
  },
  {
    section: 'template-preview',
    href: '/template-preview',
    permission: 'templates:preview',
    icon: 'search',
    text: 'nav.templatePreview',
    isAdmin: true,
    key: 'p',
  },
  {
    section: 'audit-log',
    href: '/admin/audit-log',
    permission: 'audit-log:read',
    icon: 'list',
    text: 'nav.auditLog',
    isAdmin: true,
    key: 'u',
  },
  {
    section: 'system-status',
    href: '/admin/system-status',
    permission: 'system-status:read',
    icon: 'pulse',
    text: 'nav.systemStatus',
    isAdmin: true,
    key: 'y',
  },
];
