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
  /** Null: of the list, whose code and texts come with the first load (shell/Outlet.svelte). */
  readonly load: (() => Promise<{ readonly default: Component<Record<string, never>> }>) | null;
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
  | 'wall'
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
  ...pagesOf('alert-groups', 'alert-groups:read', {
    '/alert-groups': collection(null),
    '/alert-groups/:id': object(() => import('../pages/alert-group/AlertGroupPage.svelte')),
  }),
  ...pagesOf('statistics', 'alert-groups:read', {
    '/statistics': collection(() => import('../pages/statistics/StatisticsPage.svelte')),
  }),
  ...pagesOf('wall', 'alert-groups:read', {
    '/wall': collection(() => import('../pages/wall/WallPage.svelte')),
  }),
  ...pagesOf('integrations', 'integrations:write', {
    '/integrations/new': collection(() => import('../pages/integrations/IntegrationCreatePage.svelte')),
    '/integrations/:id/edit': object(() => import('../pages/integrations/IntegrationEditPage.svelte')),
  }),
  ...pagesOf('integrations', 'integrations:read', {
    '/integrations': collection(() => import('../pages/integrations/IntegrationListPage.svelte')),
    '/integrations/:id': object(() => import('../pages/integrations/IntegrationPage.svelte')),
  }),
  ...pagesOf('integrations', 'stored-snapshots:read', {
    '/integrations/:id/snapshots/:snapshot': object(
      () => import('../pages/integrations/SnapshotPage.svelte'),
    ),
  }),
  ...pagesOf('routes', 'routes:write', {
    '/routes/new': collection(() => import('../pages/routes/RouteCreatePage.svelte')),
  }),
  ...pagesOf('routes', 'routes:read', {
    '/routes': collection(() => import('../pages/routes/RouteListPage.svelte')),
    '/routes/:id': object(() => import('../pages/routes/RoutePage.svelte')),
  }),
  ...pagesOf('connections', 'connections:write', {
    '/connections/new': collection(() => import('../pages/connections/ConnectionCreatePage.svelte')),
    '/connections/:id/edit': object(() => import('../pages/connections/ConnectionEditPage.svelte')),
  }),
  ...pagesOf('connections', 'connections:read', {
    '/connections': collection(() => import('../pages/connections/ConnectionListPage.svelte')),
    '/connections/:id': object(() => import('../pages/connections/ConnectionPage.svelte')),
    '/connections/:id/request-log': object(() => import('../pages/request-log/RequestLogPage.svelte')),
    '/connections/:id/request-log/:record': object(() => import('../pages/request-log/RequestPage.svelte')),
    '/connections/checks/:run': object(() => import('../pages/connections/CheckRunPage.svelte')),
    '/connections/checks/:run/:record': object(() => import('../pages/request-log/RequestPage.svelte')),
  }),
  ...pagesOf('destinations', 'destinations:write', {
    '/destinations/new': collection(() => import('../pages/destinations/DestinationCreatePage.svelte')),
    '/destinations/:id/edit': object(() => import('../pages/destinations/DestinationEditPage.svelte')),
  }),
  ...pagesOf('destinations', 'destinations:read', {
    '/destinations': collection(() => import('../pages/destinations/DestinationListPage.svelte')),
    '/destinations/:id': object(() => import('../pages/destinations/DestinationPage.svelte')),
    '/destinations/:id/request-log': object(() => import('../pages/request-log/RequestLogPage.svelte')),
    '/destinations/:id/request-log/:record': object(() => import('../pages/request-log/RequestPage.svelte')),
  }),
  ...pagesOf('link-rules', 'link-rules:write', {
    '/admin/link-rules/new': collection(() => import('../pages/link-rules/LinkRuleForm.svelte')),
  }),
  ...pagesOf('link-rules', 'link-rules:read', {
    '/admin/link-rules': collection(() => import('../pages/link-rules/LinkRuleListPage.svelte')),
    '/admin/link-rules/:id': object(() => import('../pages/link-rules/LinkRulePage.svelte')),
  }),
  ...pagesOf('lookup-tables', 'lookup-tables:write', {
    '/admin/lookup-tables/new': collection(() => import('../pages/lookup-tables/LookupTableForm.svelte')),
  }),
  ...pagesOf('lookup-tables', 'lookup-tables:read', {
    '/admin/lookup-tables': collection(() => import('../pages/lookup-tables/LookupTableListPage.svelte')),
    '/admin/lookup-tables/:id': object(() => import('../pages/lookup-tables/LookupTablePage.svelte')),
  }),
  ...pagesOf('template-preview', 'templates:preview', {
    '/template-preview': collection(() => import('../pages/template-preview/TemplatePreviewPage.svelte')),
  }),
  ...pagesOf('audit-log', 'audit-log:read', {
    '/admin/audit-log': collection(() => import('../pages/audit-log/AuditLogPage.svelte')),
  }),
  ...pagesOf('system-status', 'system-status:read', {
    '/admin/system-status': collection(() => import('../pages/system-status/SystemStatusPage.svelte')),
  }),
  ...pagesOf('users', 'users:write', {
    '/admin/users/new': collection(() => import('../pages/users/UserCreatePage.svelte')),
  }),
  ...pagesOf('users', 'users:read', {
    '/admin/users': collection(() => import('../pages/users/UserListPage.svelte')),
    '/admin/users/:id': object(() => import('../pages/users/UserPage.svelte')),
  }),
  ...pagesOf('service-accounts', 'service-accounts:write', {
    '/admin/service-accounts/new': collection(
      () => import('../pages/service-accounts/ServiceAccountForm.svelte'),
    ),
  }),
  ...pagesOf('service-accounts', 'service-accounts:read', {
    '/admin/service-accounts': collection(
      () => import('../pages/service-accounts/ServiceAccountListPage.svelte'),
    ),
    '/admin/service-accounts/:id': object(
      () => import('../pages/service-accounts/ServiceAccountPage.svelte'),
    ),
  }),
  ...pagesOf('oidc', 'oidc:read', {
    '/admin/oidc': collection(() => import('../pages/oidc/OidcPage.svelte')),
  }),
  ...pagesOf('organization', 'organization:read', {
    '/admin/organization/:id': object(() => import('../pages/organization/OrganizationPage.svelte')),
  }),
  ...pagesOf('roles', 'users:read', {
    '/admin/roles': collection(() => import('../pages/roles/RolesPage.svelte')),
  }),
  ...pagesOf('profile', null, {
    '/profile': collection(() => import('../pages/profile/ProfilePage.svelte')),
  }),
  ...pagesOf('machines', null, {
    '/machines': collection(() => import('../pages/machines/MachinesPage.svelte')),
    '/machines/:kind': object(() => import('../pages/machines/MachinesPage.svelte')),
  }),
  ...pagesOf('machines', 'system-status:read', {
    '/machines/:kind/:key': object(() => import('../pages/machines/ActorPage.svelte')),
  }),
];

function collection(load: CollectionPage['load']) {
  return { of: 'collection', load } as const;
}

function object(load: ObjectPage['load']) {
  return { of: 'object', load } as const;
}

/** @param pages by pattern; one that stands before another wins where both match */
function pagesOf(
  section: Section,
  permission: string | null,
  pages: Readonly<Record<string, ReturnType<typeof collection> | ReturnType<typeof object>>>,
): readonly PageEntry[] {
  return Object.entries(pages).map(([pattern, page]) => ({ pattern, section, permission, ...page }));
}

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
    | 'screen'
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
    | 'nav.wall'
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
    section: 'wall',
    href: '/wall',
    permission: 'alert-groups:read',
    icon: 'screen',
    text: 'nav.wall',
    key: 'w',
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
