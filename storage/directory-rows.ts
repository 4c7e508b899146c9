/** Reads the whole Directory in one statement, so that all of it is of one moment. */
import { type OrganizationRecord, organizationSettings } from '../actors/access/organization.ts';
import type {
  ConnectionConfig,
  DestinationConfig,
  Directory,
  IntegrationConfig,
  Matcher,
  RouteConfig,
  RoutePolicy,
  UserConfig,
} from '../actors/directory.ts';
import type { Micros } from '../runtime/clock.ts';
import type { PublicId } from '../runtime/public-id.ts';
import type { Sql, Transaction } from './records.ts';

/** The Directory at one moment. */
export interface StoredPicture {
  readonly directory: Directory;
  /** Of `configuration_versions` at that moment. */
  readonly version: number;
}

interface DirectoryRow {
  readonly version: number;
  readonly organization: OrganizationRecord | null;
  readonly routes: readonly RouteRow[];
  readonly integrations: readonly IntegrationRow[];
  readonly destinations: readonly DestinationConfig[];
  readonly connections: readonly ConnectionConfig[];
  readonly users: readonly UserRow[];
}

interface RouteRow {
  readonly id: PublicId;
  readonly name: string;
  readonly is_default: boolean;
  readonly deleted: boolean;
  readonly matchers: readonly Matcher[];
  readonly urgent: boolean;
  readonly group_key: readonly string[];
  readonly destination_ids: readonly PublicId[];
  readonly policy: RoutePolicy;
}

interface IntegrationRow {
  readonly id: PublicId;
  readonly name: string;
  readonly builtin: boolean;
  readonly deleted_at: Micros | null;
  readonly ended_at: Micros | null;
  readonly static_labels: Readonly<Record<string, string>>;
  readonly duplicate_window_seconds: number;
  readonly heartbeat_enabled: boolean;
  readonly heartbeat_timeout_seconds: number;
}

interface UserRow {
  readonly id: PublicId;
  readonly name: string;
  readonly login: string;
  readonly status: UserConfig['status'];
  readonly time_zone: string | null;
}

/** @throws when the ensure steps never ran on this database */
export async function readDirectory(sql: Sql | Transaction): Promise<StoredPicture> {
  const [row] = await sql<DirectoryRow[]>`
    select
      (select directory from configuration_versions) as version,
      (
        select jsonb_build_object('id', id, 'version', version, 'settings', settings) from organization
      ) as organization,
      (
        select coalesce(jsonb_agg(r order by r.is_default, r.position), '[]')
        from (
          select
            id, name, is_default, deleted_at is not null as deleted, matchers, urgent, group_key, destination_ids,
            policy, position
          from routes
        ) r
      ) as routes,
      (
        select coalesce(jsonb_agg(i), '[]')
        from (
          select
            id, name, builtin, deleted_at, ended_at, static_labels, duplicate_window_seconds,
            heartbeat_enabled, heartbeat_timeout_seconds
          from integrations
        ) i
      ) as integrations,
      (
        select coalesce(jsonb_agg(d), '[]')
        from (
          select id, name, type, mode, connection_id as "connectionId", target, limiter, mentions
          from destinations where deleted_at is null
        ) d
      ) as destinations,
      (
        select coalesce(jsonb_agg(c), '[]')
        from (select id, name, type from connections where deleted_at is null) c
      ) as connections,
      (
        select coalesce(jsonb_agg(u), '[]')
        from (select id, name, login, status, time_zone from users) u
      ) as users`;
  if (!row?.organization) throw new Error('the Organization is missing: the ensure steps have not run');
  return { directory: directoryOf(row, row.organization), version: row.version };
}

function directoryOf(row: DirectoryRow, organization: OrganizationRecord): Directory {
  const destinationsById = byId(row.destinations);
  const routes = row.routes.map((route) => routeConfig(route, destinationsById));
  return {
    organization: organizationSettings(organization),
    routes: routes.filter((route) => !route.deleted),
    routesById: byId(routes),
    integrationsById: byId(row.integrations.map(integrationConfig)),
    destinationsById,
    connectionsById: byId(row.connections),
    usersById: byId(row.users.map(userConfig)),
  };
}

function byId<Item extends { readonly id: PublicId }>(items: readonly Item[]): ReadonlyMap<string, Item> {
  return new Map(items.map((item) => [item.id, item]));
}

function routeConfig(row: RouteRow, destinationsById: ReadonlyMap<string, DestinationConfig>): RouteConfig {
  return {
    id: row.id,
    name: row.name,
    isDefault: row.is_default,
    deleted: row.deleted,
    matchers: row.matchers,
    urgent: row.urgent,
    groupKey: row.group_key,
    destinationIds: row.destination_ids.filter((id) => destinationsById.has(id)),
    policy: row.policy,
  };
}

function integrationConfig(row: IntegrationRow): IntegrationConfig {
  return {
    id: row.id,
    name: row.name,
    builtin: row.builtin,
    deleted: row.deleted_at !== null,
    deletedAt: row.deleted_at,
    ended: row.ended_at !== null,
    staticLabels: row.static_labels,
    duplicateWindowSeconds: row.duplicate_window_seconds,
    heartbeat: { enabled: row.heartbeat_enabled, timeoutSeconds: row.heartbeat_timeout_seconds },
  };
}

function userConfig(row: UserRow): UserConfig {
  return { id: row.id, name: row.name, login: row.login, status: row.status, timeZone: row.time_zone };
}
