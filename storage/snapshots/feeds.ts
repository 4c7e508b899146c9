/** What feeds own and ask: their rows, the presences in them, the homes of Alerts and the groups of Slots. */
import type { FeedHeard, PresencesChanged } from '../../actors/feed/effects.ts';
import { FEED } from '../../actors/feed/messages.ts';
import type { Home, Homes, Slots } from '../../actors/feed/ports.ts';
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

/** Alerts or Slots that one statement looks up. */
const LOOKED_UP = 500;

/** Homes as committed in the rows of Alert Groups. */
export function createHomes(sql: Sql): Homes {
  const find = inRounds<AskedHomes, Map<string, Home>>({
    most: LOOKED_UP,
    sizeOf: ({ fingerprints }) => fingerprints.length,
    ask: (all) => findHomes(sql, all),
  });
  return { find: (integrationId, fingerprints) => find({ integrationId, fingerprints }) };
}

interface AskedHomes {
  readonly integrationId: PublicId;
  readonly fingerprints: readonly string[];
}

async function findHomes(sql: Sql, all: readonly AskedHomes[]): Promise<readonly Map<string, Home>[]> {
  const rows = await sql<HomeRow[]>`
    select distinct on (w.place, a.fingerprint)
      w.place, a.fingerprint, a.group_id, a.state, a.starts_at, a.ended_start, a.resolved_at, a.resolved_by,
      (a.state = 'firing' or (g.status <> 'resolved' and g.moved_from_route_id is null)) as live
    from unnest(
      ${numberArray(all.flatMap(({ fingerprints }, place) => fingerprints.map(() => place)))}::integer[],
      ${wordArray(all.flatMap(({ integrationId, fingerprints }) => fingerprints.map(() => integrationId)))}::text[],
      ${textArray(all.flatMap(({ fingerprints }) => fingerprints))}::text[]
    ) as w (place, integration_id, fingerprint)
    join group_alerts a on a.integration_id = w.integration_id and a.fingerprint = w.fingerprint
    join alert_groups g on g.id = a.group_id
    order by w.place, a.fingerprint, (a.state = 'firing') desc, a.resolved_at desc`;
  const found = all.map(() => new Map<string, Home>());
  for (const row of rows) found[row.place]?.set(row.fingerprint, homeOf(row));
  return found;
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

export function createSlots(sql: Sql, newId: () => PublicId = () => newPublicId('AG')): Slots {
  const ensure = inRounds<readonly SlotKey[], readonly PublicId[]>({
    most: LOOKED_UP,
    sizeOf: (slots) => slots.length,
    async ask(all) {
      const ids = await ensureSlots(sql, all.flat(), newId);
      return all.map((slots) => slots.map((slot) => idOf(ids, slot)));
    },
  });
  return { ensure };
}

async function ensureSlots(
  sql: Sql,
  slots: readonly SlotKey[],
  newId: () => PublicId,
): Promise<Map<string, PublicId>> {
  const wanted = new Map(slots.map((slot) => [slotText(slot), slot]));
  const found = await reserve(sql, [...wanted.values()], newId);
  // Another process may have reserved some at the same moment: what is there counts.
  const others = [...wanted].flatMap(([key, slot]) => (found.has(key) ? [] : [slot]));
  if (others.length === 0) return found;
  return new Map([...found, ...(await reserve(sql, others, newId))]);
}

function idOf(ids: ReadonlyMap<string, PublicId>, slot: SlotKey): PublicId {
  const id = ids.get(slotText(slot));
  if (id === undefined) throw new Error('a Slot that was just reserved is not there');
  return id;
}

type SlotKey = Parameters<Slots['ensure']>[0][number];

function slotText({ routeId, keyHash }: SlotKey): string {
  return `${routeId}.${keyHash}`;
}

/**
 * Reads Slots, and reserves those that are not there. Index: slots_pkey.
 * @returns all but those that somebody else reserved while this read them
 */
async function reserve(
  sql: Sql,
  slots: readonly SlotKey[],
  newId: () => PublicId,
): Promise<Map<string, PublicId>> {
  const rows = await sql<SlotRow[]>`
    with wanted as (
      select * from unnest(
        ${wordArray(slots.map(({ routeId }) => routeId))}::text[],
        ${wordArray(slots.map(({ keyHash }) => keyHash))}::text[],
        ${wordArray(slots.map(newId))}::text[]
      ) as w (route_id, key_hash, group_id)
    ), found as (
      select s.* from wanted w
      cross join lateral (
        select * from slots where route_id = w.route_id and key_hash = w.key_hash limit 1
      ) s
    ), made as (
      insert into slots (route_id, key_hash, group_id)
      select * from wanted w
      where not exists (select from found f where f.route_id = w.route_id and f.key_hash = w.key_hash)
      -- Two who reserve the same Slots never wait for each other.
      order by w.route_id, w.key_hash
      on conflict (route_id, key_hash) do nothing
      returning *
    )
    select route_id, key_hash, group_id from found
    union all
    select route_id, key_hash, group_id from made`;
  return new Map(
    rows.map((row) => [slotText({ routeId: row.route_id, keyHash: row.key_hash }), row.group_id]),
  );
}

interface SlotRow {
  readonly route_id: PublicId;
  readonly key_hash: string;
  readonly group_id: PublicId;
}
