/** The configuration that turns are decided with, kept in memory and read anew after every save. */
import { type OrganizationRecord, organizationSettings } from '../../actors/access/organization.ts';
import type {
  ConnectionConfig,
  DestinationConfig,
  Directory,
  DirectorySource,
  IntegrationConfig,
  Matcher,
  RouteConfig,
  RoutePolicy,
  UserConfig,
} from '../../actors/directory.ts';
import { matcherProblems } from '../../actors/route/matcher.ts';
import { type Clock, type Micros, SECOND, type Timer } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { shareNext } from '../../runtime/share-next.ts';
import type { Sql, Transaction } from '../postgres/records.ts';

export interface DirectoryDeps {
  readonly sql: Sql;
  /** For the wait before a failed reload is repeated. */
  readonly clock: Clock;
  readonly log: Log;
}

const RETRY_PAUSE = SECOND;
/** A read without an answer for longer is left behind, as a look at the configuration is. */
const SHARED_FOR = 1.5 * SECOND;

/** The Directory as one process keeps it. */
export interface StoredDirectory extends DirectorySource {
  /** How often the stored configuration had changed when {@link current} was read. */
  version(): number;
  /** Reads again unless {@link current} is of that version or a later one. */
  reach(version: number): Promise<void>;
  /** Repeats nothing any more. */
  stop(): void;
}

/**
 * Reload it once before anything asks for {@link DirectorySource.current}.
 *
 * Callers that come while a read is under way share the next one, so each sees what was stored when it called. A
 * failed reload rejects, keeps the last picture, and is repeated until one succeeds: a change may be stored already
 * that this process does not see yet.
 */
export function createDirectory({ sql, clock, log }: DirectoryDeps): StoredDirectory {
  let present: StoredPicture | null = null;
  let retry: Timer | null = null;
  let isStopped = false;
  const reportBroken = brokenMatcherLog(log);

  const read = async () => {
    try {
      const found = await readDirectory(sql);
      // A read that was left behind may end after a later one.
      if (present !== null && found.version < present.version) return;
      present = found;
      reportBroken(found.directory);
    } catch (error) {
      if (present) repeatLater();
      throw error;
    }
  };
  const reload = shareNext(read, { clock, longest: SHARED_FOR });

  const repeatLater = () => {
    if (isStopped) return;
    retry ??= clock.after(RETRY_PAUSE, () => {
      retry = null;
      // A failure here has arranged for the next repetition, and nobody waits for this one.
      reload().catch(() => undefined);
    });
  };

  const known = (): StoredPicture => {
    if (!present) throw new Error('the Directory was asked before it was first read');
    return present;
  };

  return {
    reload,
    current: () => known().directory,
    version: () => known().version,
    async reach(version) {
      if (known().version < version) await reload();
    },
    stop() {
      isStopped = true;
      retry?.cancel();
    },
  };
}

/** Names each stored expression that no longer compiles, once while it stays as it is (routes §1.1). */
function brokenMatcherLog(log: Log): (directory: Directory) => void {
  let known: ReadonlySet<string> = new Set();
  return ({ routes }) => {
    const broken = new Set<string>();
    for (const route of routes) {
      for (const { index } of matcherProblems(route.matchers)) {
        const key = `${route.id}/${index}/${route.matchers[index]?.value}`;
        broken.add(key);
        if (!known.has(key)) log('route_matcher_invalid', { route: route.id, index });
      }
    }
    known = broken;
  };
}

/** The Directory at one moment. */
interface StoredPicture {
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
