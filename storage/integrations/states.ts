/** What Integrations own and show: their state, what they learned of route paths, and feeds whose lists are cut. */
import { groupKeyHash } from '../../actors/feed/identity.ts';
import type {
  IntegrationEnded,
  IntegrationSaved,
  RoutesLearned,
  TruncationsChanged,
} from '../../actors/integration/effects.ts';
import { INTEGRATION } from '../../actors/integration/messages.ts';
import type { AlertmanagerRoute } from '../../actors/integration/ports.ts';
import {
  emptyIntegrationRows,
  type IntegrationRows,
  type LearnedRoute,
  type TruncatedFeed,
} from '../../actors/integration/rows.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { numberArray, textArray, wordArray } from '../postgres/bulk-parameters.ts';
import type { RecordWriter, RowLoader, Sql, Transaction } from '../postgres/records.ts';
import { together } from '../postgres/transaction.ts';

/** The writers of everything an Integration records. */
export const integrationWriters: readonly RecordWriter[] = [
  {
    types: ['integration.saved'],
    write: (tx, effects) => saveStates(tx, effects as readonly IntegrationSaved[]),
  },
  {
    types: ['integration.routes'],
    write: (tx, effects) => saveRoutes(tx, effects as readonly RoutesLearned[]),
  },
  {
    types: ['integration.truncations'],
    write: (tx, effects) => saveTruncations(tx, effects as readonly TruncationsChanged[]),
  },
  {
    types: ['integration.ended'],
    write: (tx, effects) => endIntegrations(tx, effects as readonly IntegrationEnded[]),
  },
];

/** Of several changes of one in a batch the last counts. */
async function saveStates(tx: Transaction, effects: readonly IntegrationSaved[]): Promise<void> {
  const saved = [...new Map(effects.map((effect) => [effect.integrationId, effect])).values()];
  await tx`
    insert into integration_states (
      integration_id, configuration_version, lost_since, truncated_since, truncated_groups
    )
    select * from unnest(
      ${wordArray(saved.map(({ integrationId }) => integrationId))}::text[],
      ${numberArray(saved.map(({ version }) => version))}::bigint[],
      ${numberArray(saved.map(({ lostSince }) => lostSince))}::bigint[],
      ${numberArray(saved.map(({ truncatedSince }) => truncatedSince))}::bigint[],
      ${numberArray(saved.map(({ truncatedGroups }) => truncatedGroups))}::integer[]
    )
    on conflict (integration_id) do update set
      configuration_version = excluded.configuration_version, lost_since = excluded.lost_since,
      truncated_since = excluded.truncated_since, truncated_groups = excluded.truncated_groups`;
}

/** What is there after a batch: the last change of each key, null when it is gone. */
function lastChanges<Item>(
  effects: readonly {
    readonly integrationId: string;
    readonly saved: readonly Item[];
    readonly removed: readonly string[];
  }[],
  keyOf: (item: Item) => string,
): { readonly saved: (readonly [string, Item])[]; readonly removed: (readonly [string, string])[] } {
  const latest = new Map<string, readonly [string, string, Item | null]>();
  for (const { integrationId, saved, removed } of effects) {
    for (const item of saved)
      latest.set(`${integrationId} ${keyOf(item)}`, [integrationId, keyOf(item), item]);
    for (const key of removed) latest.set(`${integrationId} ${key}`, [integrationId, key, null]);
  }
  const saved: (readonly [string, Item])[] = [];
  const removed: (readonly [string, string])[] = [];
  for (const [integrationId, key, item] of latest.values()) {
    if (item === null) removed.push([integrationId, key]);
    else saved.push([integrationId, item]);
  }
  return { saved, removed };
}

async function saveRoutes(tx: Transaction, effects: readonly RoutesLearned[]): Promise<void> {
  const { saved, removed } = lastChanges(effects, ({ path }) => path);
  await together(
    saved.length > 0 ? insertRoutes(tx, saved) : Promise.resolve(),
    removed.length > 0
      ? tx`
        delete from learned_repeats l
        using unnest(
          ${wordArray(removed.map(([integrationId]) => integrationId))}::text[],
          ${wordArray(removed.map(([, path]) => groupKeyHash(path)))}::text[]
        ) as r (integration_id, path_hash)
        where l.integration_id = r.integration_id and l.path_hash = r.path_hash`.execute()
      : Promise.resolve(),
  );
}

/** Samples travel as JSON, because arrays of different lengths do not fit into one of two dimensions. */
async function insertRoutes(
  tx: Transaction,
  saved: readonly (readonly [string, LearnedRoute])[],
): Promise<void> {
  const routes = saved.map(([, route]) => route);
  await tx`
    insert into learned_repeats (integration_id, path_hash, route_path, samples, repeat_interval, heard_at)
    select
      integration_id, path_hash, route_path,
      array(select value::bigint from jsonb_array_elements_text(samples::jsonb) with ordinality as s (value, place) order by place),
      repeat_interval, heard_at
    from unnest(
      ${wordArray(saved.map(([integrationId]) => integrationId))}::text[],
      ${wordArray(routes.map(({ path }) => groupKeyHash(path)))}::text[],
      ${textArray(routes.map(({ path }) => path))}::text[],
      ${textArray(routes.map(({ samples }) => JSON.stringify(samples)))}::text[],
      ${numberArray(routes.map(({ interval }) => interval))}::bigint[],
      ${numberArray(routes.map(({ heardAt }) => heardAt))}::bigint[]
    ) as r (integration_id, path_hash, route_path, samples, repeat_interval, heard_at)
    on conflict (integration_id, path_hash) do update set
      samples = excluded.samples, repeat_interval = excluded.repeat_interval, heard_at = excluded.heard_at`;
}

async function saveTruncations(tx: Transaction, effects: readonly TruncationsChanged[]): Promise<void> {
  const { saved, removed } = lastChanges(effects, ({ feed }) => feed);
  const feeds = saved.map(([, feed]) => feed);
  await together(
    saved.length > 0
      ? tx`
        insert into truncated_feeds (integration_id, feed, route_path, since)
        select * from unnest(
          ${wordArray(saved.map(([integrationId]) => integrationId))}::text[],
          ${wordArray(feeds.map(({ feed }) => feed))}::text[],
          ${textArray(feeds.map(({ routePath }) => routePath))}::text[],
          ${numberArray(feeds.map(({ since }) => since))}::bigint[]
        )
        on conflict (integration_id, feed) do update set since = excluded.since`.execute()
      : Promise.resolve(),
    removed.length > 0
      ? tx`
        delete from truncated_feeds t
        using unnest(
          ${wordArray(removed.map(([integrationId]) => integrationId))}::text[],
          ${wordArray(removed.map(([, feed]) => feed))}::text[]
        ) as r (integration_id, feed)
        where t.integration_id = r.integration_id and t.feed = r.feed`.execute()
      : Promise.resolve(),
  );
}

async function endIntegrations(tx: Transaction, effects: readonly IntegrationEnded[]): Promise<void> {
  await tx`
    update integrations i set ended_at = e.at
    from unnest(
      ${wordArray(effects.map(({ integrationId }) => integrationId))}::text[],
      ${numberArray(effects.map(({ at }) => at))}::bigint[]
    ) as e (integration_id, at)
    where i.id = e.integration_id and i.ended_at is null`;
}

/** Indexes: learned_repeats_pkey, truncated_feeds_pkey. */
export const integrationRows: RowLoader = {
  kind: INTEGRATION,
  async load(sql, keys) {
    const [routes, truncated] = await Promise.all([
      sql<RouteRow[]>`
        select integration_id, route_path, samples, repeat_interval, heard_at
        from learned_repeats where integration_id = any(${wordArray(keys)}::text[])`,
      sql<TruncatedRow[]>`
        select integration_id, feed, route_path, since
        from truncated_feeds where integration_id = any(${wordArray(keys)}::text[])`,
    ]);
    const loaded = new Map<string, IntegrationRows>();
    const of = (id: string) => {
      const rows = loaded.get(id) ?? emptyIntegrationRows();
      loaded.set(id, rows);
      return rows;
    };
    for (const row of routes) {
      const { route_path: path, samples, repeat_interval: interval, heard_at: heardAt } = row;
      of(row.integration_id).routes.set(path, { path, samples, interval, heardAt });
    }
    for (const { integration_id, feed, route_path: routePath, since } of truncated) {
      const truncatedFeed: TruncatedFeed = { feed, routePath, since };
      of(integration_id).truncated.set(feed, truncatedFeed);
    }
    return loaded;
  },
};

interface RouteRow {
  readonly integration_id: string;
  readonly route_path: string;
  readonly samples: readonly Micros[];
  readonly repeat_interval: Micros;
  readonly heard_at: Micros;
}

interface TruncatedRow {
  readonly integration_id: string;
  readonly feed: string;
  readonly route_path: string | null;
  readonly since: Micros;
}

/** Route paths that nothing is learned of are as many as a sender makes; so many of them are listed. */
const MOST_UNLEARNED = 1_000;

/**
 * By route path; null when there is no such Integration, or none any more. Indexes: learned_repeats_pkey,
 * truncated_feeds_pkey, feeds_of.
 */
export async function readAlertmanagerRoutes(
  sql: Sql,
  id: PublicId,
): Promise<readonly AlertmanagerRoute[] | null> {
  const [integration] = await sql<{ builtin: boolean }[]>`
    select builtin from integrations where id = ${id} and deleted_at is null`;
  if (!integration) return null;
  if (integration.builtin) return [];
  const rows = await sql<{ route_path: string; repeat_interval: Micros | null; truncated: number }[]>`
    with known as (
      select route_path from learned_repeats where integration_id = ${id}
      union
      select route_path from truncated_feeds where integration_id = ${id} and route_path is not null
    ), listed as (
      select route_path from known
      union
      (
        select distinct route_path from feeds
        where integration_id = ${id} and route_path is not null
        order by route_path limit ${MOST_UNLEARNED}
      )
    )
    select
      listed.route_path, l.repeat_interval,
      (
        select count(*)::int from truncated_feeds t
        where t.integration_id = ${id} and t.route_path = listed.route_path
      ) as truncated
    from listed
    left join learned_repeats l on l.integration_id = ${id} and l.route_path = listed.route_path
    order by listed.route_path collate "C"`;
  return rows.map((row) => ({
    routePath: row.route_path,
    interval: row.repeat_interval,
    truncatedGroups: row.truncated,
  }));
}
