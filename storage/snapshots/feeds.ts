/** What feeds own and ask: their rows, the presences in them, the homes of Alerts and the groups of Slots. */
import type { FeedHeard, PresencesChanged } from '../../actors/feed/effects.ts';
import { FEED } from '../../actors/feed/messages.ts';
import type { AskedPlace, FoundPlaces, Home, Places } from '../../actors/feed/ports.ts';
import type { FeedRows, Presence } from '../../actors/feed/rows.ts';
import type { AlertHistory } from '../../actors/model.ts';
import type { Micros } from '../../runtime/clock.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import { numberArray, textArray, wordArray } from '../postgres/bulk-parameters.ts';
import type { RecordWriter, RowLoader, Sql, Transaction } from '../postgres/records.ts';
import { inRounds } from '../postgres/rounds.ts';
import { together } from '../postgres/transaction.ts';

/** Keeps the row of each feed: made when first heard, then only its time moves. */
export const heardFeeds: RecordWriter = {
  types: ['feed.heard'],
  async write(tx, effects) {
    const heard = effects as readonly FeedHeard[];
    const first = heard.filter((effect) => effect.first);
    await together(first.length > 0 ? insertFeeds(tx, first) : Promise.resolve(), touchFeeds(tx, heard));
  },
};

async function insertFeeds(tx: Transaction, heard: readonly FeedHeard[]): Promise<void> {
  await tx`
    insert into feeds (key, integration_id, group_key, route_path, last_received_at)
    select * from unnest(
      ${wordArray(heard.map(({ feed }) => feed))}::text[],
      ${wordArray(heard.map(({ integrationId }) => integrationId))}::text[],
      ${textArray(heard.map(({ groupKey }) => groupKey))}::text[],
      ${textArray(heard.map(({ routePath }) => routePath))}::text[],
      ${numberArray(heard.map(({ receivedAt }) => receivedAt))}::bigint[]
    )
    on conflict (key) do nothing`;
}

async function touchFeeds(tx: Transaction, heard: readonly FeedHeard[]): Promise<void> {
  const latest = new Map<string, Micros>();
  for (const { feed, receivedAt } of heard) {
    latest.set(feed, Math.max(receivedAt, latest.get(feed) ?? receivedAt));
  }
  await tx`
    update feeds f set last_received_at = h.received_at
    from unnest(
      ${wordArray([...latest.keys()])}::text[],
      ${numberArray([...latest.values()])}::bigint[]
    ) as h (key, received_at)
    where f.key = h.key and f.last_received_at < h.received_at`;
}

/** Of a large commit. */
const PRESENCES_OF_PART = 500;

/** Writes presences; of several changes of one in a batch the last counts. */
export const feedPresences: RecordWriter = {
  types: ['feed.presences'],
  *parts(effects) {
    for (const { saved, removed, ...change } of effects as readonly PresencesChanged[]) {
      for (let from = 0; from < removed.length; from += PRESENCES_OF_PART)
        yield [
          {
            ...change,
            saved: [],
            removed: removed.slice(from, from + PRESENCES_OF_PART),
          } as PresencesChanged,
        ];
      for (let from = 0; from < saved.length; from += PRESENCES_OF_PART)
        yield [
          { ...change, saved: saved.slice(from, from + PRESENCES_OF_PART), removed: [] } as PresencesChanged,
        ];
    }
  },
  async write(tx, effects) {
    const latest = new Map<string, { feed: string; fingerprint: string; presence: Presence | null }>();
    for (const { feed, saved, removed } of effects as readonly PresencesChanged[]) {
      for (const presence of saved) {
        const { fingerprint } = presence;
        latest.set(`${feed} ${fingerprint}`, { feed, fingerprint, presence });
      }
      for (const fingerprint of removed) {
        latest.set(`${feed} ${fingerprint}`, { feed, fingerprint, presence: null });
      }
    }
    const saved: (Presence & { readonly feed: string })[] = [];
    const removed: { readonly feed: string; readonly fingerprint: string }[] = [];
    for (const { feed, fingerprint, presence } of latest.values()) {
      if (presence === null) removed.push({ feed, fingerprint });
      else saved.push({ ...presence, feed });
    }
    await together(
      saved.length > 0 ? savePresences(tx, saved) : Promise.resolve(),
      removed.length > 0 ? removePresences(tx, removed) : Promise.resolve(),
    );
  },
};

async function savePresences(
  tx: Transaction,
  saved: readonly (Presence & { readonly feed: string })[],
): Promise<void> {
  await tx`
    insert into presences (feed, fingerprint, group_id, state, since, listed_at, starts_at, digest)
    select * from unnest(
      ${wordArray(saved.map(({ feed }) => feed))}::text[],
      ${textArray(saved.map(({ fingerprint }) => fingerprint))}::text[],
      ${wordArray(saved.map(({ groupId }) => groupId))}::text[],
      ${wordArray(saved.map(({ state }) => state))}::text[],
      ${numberArray(saved.map(({ since }) => since))}::bigint[],
      ${numberArray(saved.map(({ listedAt }) => listedAt))}::bigint[],
      ${numberArray(saved.map(({ startsAt }) => startsAt))}::bigint[],
      ${textArray(saved.map(({ digest }) => digest))}::text[]
    )
    on conflict (feed, fingerprint) do update set
      group_id = excluded.group_id, state = excluded.state, since = excluded.since,
      listed_at = excluded.listed_at, starts_at = excluded.starts_at, digest = excluded.digest`;
}

async function removePresences(
  tx: Transaction,
  removed: readonly { readonly feed: string; readonly fingerprint: string }[],
): Promise<void> {
  await tx`
    delete from presences p
    using unnest(
      ${wordArray(removed.map(({ feed }) => feed))}::text[],
      ${textArray(removed.map(({ fingerprint }) => fingerprint))}::text[]
    ) as r (feed, fingerprint)
    where p.feed = r.feed and p.fingerprint = r.fingerprint`;
}

/** Presences by feed. Index: presences_pkey. */
export const feedRows: RowLoader = {
  kind: FEED,
  async load(sql, keys) {
    const rows = await sql<PresenceRow[]>`
      select feed, fingerprint, group_id, state, since, listed_at, starts_at, digest
      from presences where feed = any(${wordArray(keys)}::text[])`;
    const loaded = new Map<string, FeedRows>();
    for (const row of rows) {
      const presences = loaded.get(row.feed) ?? new Map<string, Presence>();
      loaded.set(row.feed, presences);
      presences.set(row.fingerprint, {
        fingerprint: row.fingerprint,
        groupId: row.group_id,
        state: row.state,
        since: row.since,
        listedAt: row.listed_at,
        startsAt: row.starts_at,
        digest: row.digest,
      });
    }
    return loaded;
  },
};

interface PresenceRow {
  readonly feed: string;
  readonly fingerprint: string;
  readonly group_id: PublicId;
  readonly state: Presence['state'];
  readonly since: Micros;
  readonly listed_at: Micros | null;
  readonly starts_at: Micros;
  readonly digest: string;
}

/** Alerts that one statement looks up. */
const LOOKED_UP = 500;

/** Homes as committed in the rows of Alert Groups, and the Alert Groups that Slots name. */
export function createPlaces(sql: Sql, newId: () => PublicId = () => newPublicId('AG')): Places {
  const find = inRounds<Asking, FoundPlaces>({
    most: LOOKED_UP,
    sizeOf: ({ asked }) => asked.length,
    ask: (all) => findPlaces(sql, all, newId),
  });
  return { find: (integrationId, asked) => find({ integrationId, asked }) };
}

interface Asking {
  readonly integrationId: PublicId;
  readonly asked: readonly AskedPlace[];
}

async function findPlaces(
  sql: Sql,
  all: readonly Asking[],
  newId: () => PublicId,
): Promise<readonly FoundPlaces[]> {
  const found = placesIn(all, await readPlaces(sql, all, newId));
  if (found.every(({ isWhole }) => isWhole)) return found;
  // Another process reserved some Slots at the same moment: what is there now counts.
  const again = placesIn(all, await readPlaces(sql, all, newId));
  if (!again.every(({ isWhole }) => isWhole)) throw new Error('a Slot that was just reserved is not there');
  return again;
}

type SlotKey = NonNullable<AskedPlace['slot']>;

function slotText({ routeId, keyHash }: SlotKey): string {
  return `${routeId}.${keyHash}`;
}

function placesIn(
  all: readonly Asking[],
  rows: readonly (HomeRow | SlotRow)[],
): (FoundPlaces & { readonly isWhole: boolean })[] {
  const homes = all.map(() => new Map<string, Home>());
  const named = new Map<string, SlotRow>();
  for (const row of rows) {
    if (row.place === null) named.set(slotText({ routeId: row.route_id, keyHash: row.key_hash }), row);
    else homes[row.place]?.set(row.fingerprint, homeOf(row));
  }
  return all.map(({ asked }, place) => {
    const known = homes[place] ?? new Map<string, Home>();
    const homeless = asked.flatMap(({ fingerprint, slot }) =>
      slot && !known.get(fingerprint)?.live ? [{ fingerprint, named: named.get(slotText(slot)) }] : [],
    );
    return {
      homes: known,
      targets: new Map(
        homeless.flatMap((one) => (one.named ? [[one.fingerprint, one.named.group_id] as const] : [])),
      ),
      fresh: new Set(homeless.flatMap((one) => (one.named?.is_made ? [one.named.group_id] : []))),
      isWhole: homeless.every((one) => one.named !== undefined),
    };
  });
}

/**
 * Reads homes, and the Slots of Alerts without a live one; reserves those Slots that are not there. All but those that
 * somebody else reserves meanwhile are in the answer. Indexes: group_alerts_known, alert_groups_pkey, slots_pkey. `offset`
 * and `limit` keep a plan made while the tables were small from reading all of them.
 */
async function readPlaces(
  sql: Sql,
  all: readonly Asking[],
  newId: () => PublicId,
): Promise<readonly (HomeRow | SlotRow)[]> {
  const asked = all.flatMap(({ integrationId, asked }, place) =>
    asked.map((one) => ({ ...one, integrationId, place })),
  );
  return sql<(HomeRow | SlotRow)[]>`
    with wanted as (
      select * from unnest(
        ${numberArray(asked.map(({ place }) => place))}::integer[],
        ${wordArray(asked.map(({ integrationId }) => integrationId))}::text[],
        ${textArray(asked.map(({ fingerprint }) => fingerprint))}::text[],
        ${textArray(asked.map(({ slot }) => slot?.routeId ?? null))}::text[],
        ${textArray(asked.map(({ slot }) => slot?.keyHash ?? null))}::text[],
        ${textArray(asked.map(({ slot }) => slot && newId()))}::text[]
      ) as w (place, integration_id, fingerprint, route_id, key_hash, group_id)
    ), home as (
      select distinct on (w.place, a.fingerprint)
        w.place, a.fingerprint, a.group_id, a.state, a.starts_at, a.ended_start, a.resolved_at, a.resolved_by,
        (a.state = 'firing' or (g.status <> 'resolved' and g.moved_from_route_id is null)) as live
      from wanted w
      cross join lateral (
        select * from group_alerts where integration_id = w.integration_id and fingerprint = w.fingerprint offset 0
      ) a
      cross join lateral (select * from alert_groups where id = a.group_id limit 1) g
      order by w.place, a.fingerprint, (a.state = 'firing') desc, a.resolved_at desc
    ), slot as (
      select distinct on (w.route_id, w.key_hash) w.route_id, w.key_hash, w.group_id from wanted w
      where w.route_id is not null and not exists (
        select from home h where h.place = w.place and h.fingerprint = w.fingerprint and h.live
      )
      -- Two who reserve the same Slots never wait for each other.
      order by w.route_id, w.key_hash
    ), found as (
      select s.* from slot w
      cross join lateral (
        select * from slots where route_id = w.route_id and key_hash = w.key_hash limit 1
      ) s
    ), made as (
      insert into slots (route_id, key_hash, group_id)
      select * from slot w
      where not exists (select from found f where f.route_id = w.route_id and f.key_hash = w.key_hash)
      order by w.route_id, w.key_hash
      on conflict (route_id, key_hash) do nothing
      returning *
    )
    select h.*, null as route_id, null as key_hash, null::boolean as is_made from home h
    union all
    select null, null, group_id, null, null, null, null, null, null, route_id, key_hash, false from found
    union all
    select null, null, group_id, null, null, null, null, null, null, route_id, key_hash, true from made`;
}

interface HomeRow {
  readonly place: number;
  readonly fingerprint: string;
  readonly group_id: PublicId;
  readonly state: AlertHistory['state'];
  readonly starts_at: Micros;
  readonly ended_start: Micros | null;
  readonly resolved_at: Micros | null;
  readonly resolved_by: AlertHistory['resolvedBy'];
  readonly live: boolean;
}

interface SlotRow {
  readonly place: null;
  readonly route_id: PublicId;
  readonly key_hash: string;
  readonly group_id: PublicId;
  /** Reserved by this statement. */
  readonly is_made: boolean;
}

function homeOf(row: HomeRow): Home {
  return {
    groupId: row.group_id,
    live: row.live,
    history: {
      state: row.state,
      startsAt: row.starts_at,
      endedStart: row.ended_start,
      resolvedAt: row.resolved_at,
      resolvedBy: row.resolved_by,
    },
  };
}
