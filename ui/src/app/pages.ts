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
  /** Second key after `g`. */
  readonly key: string;
}

interface NavGroup {
  /** What its pages are about. Null: of what people do all day. */
  readonly heading: 'nav.routing' | 'nav.delivery' | 'nav.people' | 'nav.shared' | 'nav.system' | null;
  readonly entries: readonly NavEntry[];
}

export const NAV_GROUPS: readonly NavGroup[] = [
  navGroup(
    null,
    navEntry('alert-groups', 'nav.alertGroups', 'alarm', 'a'),
    navEntry('statistics', 'nav.statistics', 'chart', 's', '/statistics', 'alert-groups:read'),
    navEntry('wall', 'nav.wall', 'screen', 'w', '/wall', 'alert-groups:read'),
  ),
  navGroup(
    'nav.routing',
    navEntry('integrations', 'nav.integrations', 'integration', 'i'),
    navEntry('routes', 'nav.routes', 'route', 'r'),
  ),
  navGroup(
    'nav.delivery',
    navEntry('connections', 'nav.connections', 'connection', 'c'),
    navEntry('destinations', 'nav.destinations', 'destination', 'd'),
  ),
  navGroup(
    'nav.people',
    navEntry('users', 'nav.users', 'person', 'e', '/admin/users'),
    navEntry('service-accounts', 'nav.serviceAccounts', 'robot', 'b', '/admin/service-accounts'),
    navEntry('roles', 'nav.roles', 'check', 'h', '/admin/roles', 'users:read'),
    navEntry('oidc', 'nav.oidc', 'key', 'n', '/admin/oidc'),
  ),
  navGroup(
    'nav.shared',
    navEntry('organization', 'nav.organization', 'settings', 'o', '/admin/organization/general'),
    navEntry('link-rules', 'nav.linkRules', 'link', 'l', '/admin/link-rules'),
    navEntry('lookup-tables', 'nav.lookupTables', 'table', 't', '/admin/lookup-tables'),
    navEntry(
      'template-preview',
      'nav.templatePreview',
      'search',
      'p',
      '/template-preview',
      'templates:preview',
    ),
  ),
  navGroup(
    'nav.system',
    navEntry('audit-log', 'nav.auditLog', 'list', 'u', '/admin/audit-log'),
    navEntry('system-status', 'nav.systemStatus', 'pulse', 'y', '/admin/system-status'),
  ),
];

export const NAVIGATION: readonly NavEntry[] = NAV_GROUPS.flatMap(({ entries }) => entries);

function navGroup(heading: NavGroup['heading'], ...entries: readonly NavEntry[]): NavGroup {
  return { heading, entries };
}

function navEntry(
  section: Section,
  text: NavEntry['text'],
  icon: NavEntry['icon'],
  key: string,
  href = `/${section}`,
  permission = `${section}:read`,
): NavEntry {
  return { section, text, icon, key, href, permission };
}
