/** Pages of one Alert Group, bounded in bytes: Alerts, Timeline, Notes, related groups; and Alerts for templates. */
import type {
  AlertsQuery,
  GroupReader,
  KeyedPage,
  PageOf,
  StoredAlert,
  StoredGroup,
  TimelineQuery,
} from '../../actors/alert-group/reading/readers.ts';
import type { NoteEntry, TimelineEntry } from '../../actors/alert-group/reading/timeline.ts';
import type { TemplateAlerts } from '../../actors/previews/samples.ts';
import type { TemplateAlert } from '../../actors/templates/data.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { jsonText, textArray } from '../postgres/bulk-parameters.ts';
import type { Sql } from '../postgres/records.ts';
import { inRounds } from '../postgres/rounds.ts';
import { groupColumns, groupOf, type StoredGroupRow } from './group-rows.ts';
import { type AlertRow, alertOf } from './loader.ts';

/**
 * Alerts, firing first, then by newest start. A feed that repeats itself moves only its own time, so "last seen" is the
 * later of the row's and of the feeds that list the Alert. Indexes: group_alerts_pkey, feeds_pkey.
 */
export async function readAlerts(sql: Sql, query: AlertsQuery): Promise<KeyedPage<StoredAlert>> {
  const { groupId, state, after, limit } = query;
  const rank = sql`(case a.state when 'firing' then 0 else 1 end)`;
  const rows = await sql<(AlertRow & { moved_to_number: number | null })[]>`
    select a.*, m.number as moved_to_number, greatest(a.last_seen_at, heard.at) as last_seen_at
    from group_alerts a
    join alert_groups g on g.id = a.group_id and not g.details_removed
    left join alert_groups m on m.id = a.moved_to
    left join lateral (
      select max(f.last_received_at) as at
      from jsonb_each(a.feeds) as said (feed, presence)
      join feeds f on f.key = said.feed
      where said.presence ->> 'state' = 'listed'
    ) heard on true
    where a.group_id = ${groupId}
      and ${state === null ? sql`true` : sql`a.state = ${state}`}
      and ${
        after
          ? sql`(${rank}, -a.starts_at, a.fingerprint collate "C", a.integration_id collate "C")
              > (${Number(after[0])}::bigint, ${-Number(after[1])}::bigint, ${String(after[2])}, ${String(after[3])})`
          : sql`true`
      }
    order by ${rank}, -a.starts_at, a.fingerprint collate "C", a.integration_id collate "C"
    limit ${limit + 1}`;
  const items = rows.map((row) => ({ ...alertOf(row), movedToNumber: row.moved_to_number }));
  return pageOf(items, limit, (alert) => [
    alert.state === 'firing' ? 0 : 1,
    alert.startsAt,
    alert.report.fingerprint,
    alert.integrationId,
  ]);
}

interface EntryRow<Entry> {
  readonly at: number;
  readonly place: number;
  readonly id: string;
  readonly entry: Entry;
}

/** Entries and Notes in one order. Indexes: timeline_entries_group, notes_group. */
export async function readTimeline(sql: Sql, query: TimelineQuery): Promise<KeyedPage<TimelineEntry>> {
  const { groupId, kinds, descending, limit } = query;
  const order = descending ? sql`desc` : sql`asc`;
  const others = kinds.filter((kind) => kind !== 'notes');
  const after = afterEntry(sql, query, descending);
  const entries = sql`
    select e.at, e.place, e.id, e.entry from timeline_entries e
    join alert_groups g on g.id = e.group_id and not g.details_removed
    where e.group_id = ${groupId} and ${kinds.length === 0 ? sql`true` : sql`e.kind = any(${others}::text[])`}`;
  const notes = sql`
    select n.at, n.place, n.id, n.entry from notes n
    where n.group_id = ${groupId} and ${kinds.length === 0 || kinds.includes('notes')}`;
  const rows = await sql<EntryRow<TimelineEntry>[]>`
    select * from (${entries} union all ${notes}) as line
    where ${after}
    order by at ${order}, place ${order}, id collate "C" ${order}
    limit ${limit + 1}`;
  return entryPage(rows, limit);
}

/** Newest first. Index: notes_group. */
export async function readNotes(sql: Sql, query: PageOf): Promise<KeyedPage<NoteEntry>> {
  const rows = await sql<EntryRow<NoteEntry>[]>`
    select at, place, id, entry from notes
    where group_id = ${query.groupId} and ${afterEntry(sql, query, true)}
    order by at desc, place desc, id collate "C" desc
    limit ${query.limit + 1}`;
  return entryPage(rows, query.limit);
}

function afterEntry(sql: Sql, { after }: PageOf, descending: boolean) {
  if (!after) return sql`true`;
  const key = sql`(${Number(after[0])}::bigint, ${Number(after[1])}::bigint, ${String(after[2])})`;
  return descending ? sql`(at, place, id collate "C") < ${key}` : sql`(at, place, id collate "C") > ${key}`;
}

function entryPage<Entry>(rows: readonly EntryRow<Entry>[], limit: number): KeyedPage<Entry> {
  const page = pageOf(rows, limit, ({ at, place, id }) => [at, place, id]);
  return { items: page.items.map(({ entry }) => entry), next: page.next };
}

/** Index: alert_groups_slot. */
export async function readRelated(sql: Sql, query: PageOf): Promise<KeyedPage<StoredGroup>> {
  const { groupId, after, limit } = query;
  const rows = await sql<StoredGroupRow[]>`
    select ${groupColumns(sql)}
    from alert_groups self
    join alert_groups g on g.original_route_id = self.original_route_id and g.key_hash = self.key_hash
      and g.number < ${after ? sql`${Number(after[0])}::bigint` : sql`self.number`}
    where self.id = ${groupId} and g.number < self.number
    order by g.number desc
    limit ${limit + 1}`;
  return pageOf(rows.map(groupOf), limit, ({ number }) => [number]);
}

export async function readNote(sql: Sql, groupId: PublicId, id: PublicId): Promise<NoteEntry | null> {
  const [row] = await sql<{ entry: NoteEntry }[]>`
    select entry from notes where id = ${id} and group_id = ${groupId}`;
  return row?.entry ?? null;
}

/** Cuts what was read with one row to spare. */
function pageOf<Item>(
  rows: readonly Item[],
  limit: number,
  keyOf: (item: Item) => readonly (string | number)[],
): KeyedPage<Item> {
  const items = rows.slice(0, rowsOfPage(rows, limit));
  const last = items.at(-1);
  return { items, next: rows.length > items.length && last !== undefined ? keyOf(last) : null };
}

/** Characters of JSON that the items of a page take together, unless one item alone takes more. */
export const PAGE_CHARACTERS = 4 * 1024 * 1024;

/** Of the JSON of an item, nearly: what is around it, and how it is shown, counts for little. */
export function charactersOf(row: unknown): number {
  return JSON.stringify(row).length;
}

/**
 * How many of the rows, `limit` at most, a page holds: as many as stay within {@link PAGE_CHARACTERS}, and at least one. The
 * rest is for the next page.
 */
export function rowsOfPage(rows: readonly unknown[], limit: number): number {
  let characters = 0;
  for (const [index, row] of rows.entries()) {
    characters += charactersOf(row);
    if (index === limit || (index > 0 && characters > PAGE_CHARACTERS)) return index;
  }
  return rows.length;
}

/** Alerts that a template can see. */
const MOST_TEMPLATE_ALERTS = 1_000;

/** Alert Groups that one statement reads with their Alerts: each may have {@link MOST_TEMPLATE_ALERTS}. */
const GROUPS_AT_ONCE = 8;

/**
 * Alert Groups with the Alerts that templates see. A group and its Alerts asked for at the same moment are one reading,
 * and so are groups of several messages.
 */
export function createTemplateGroups(sql: Sql): Pick<GroupReader, 'read'> & TemplateAlerts {
  const columns = () => sql`
    a.fingerprint, a.state as status, a.labels, a.annotations, a.starts_at as "startsAt",
    a.resolved_at as "endsAt", a.generator_url as "generatorUrl"`;
  const order = () => sql`(a.state <> 'firing'), a.starts_at desc, a.fingerprint collate "C"`;
  /** Asked for, and not yet by a statement: who else wants the group gets the same answer. */
  const waiting = new Map<PublicId, Promise<TemplateGroupRow | undefined>>();
  const ask = inRounds<PublicId, TemplateGroupRow | undefined>({
    most: GROUPS_AT_ONCE,
    sizeOf: () => 1,
    async ask(ids) {
      for (const id of ids) waiting.delete(id);
      // Indexes: alert_groups_pkey, group_alerts_pkey. The planner counts no JSON: one plan serves lists of any length.
      const rows = await sql<TemplateGroupRow[]>`
        select ${groupColumns(sql)}, (
          select coalesce(json_agg(seen), '[]') from (
            select ${columns()} from group_alerts a
            where a.group_id = g.id and not g.details_removed
            order by ${order()}
            limit ${MOST_TEMPLATE_ALERTS}
          ) seen
        ) as template_alerts
        from json_array_elements_text(${jsonText([...ids])}::text::json) as wanted (id)
        cross join lateral (select * from alert_groups where id = wanted.id limit 1) g`;
      const found = new Map(rows.map((row) => [row.id, row]));
      return ids.map((id) => found.get(id));
    },
  });
  const read = (id: PublicId): Promise<TemplateGroupRow | undefined> => {
    const row = waiting.get(id) ?? ask(id);
    waiting.set(id, row);
    return row;
  };
  return {
    async read(id) {
      const row = await read(id);
      return row ? groupOf(row) : null;
    },
    // Index: group_alerts_pkey.
    async ofEach(groupIds) {
      const rows = await sql<(TemplateAlert & { readonly groupId: PublicId })[]>`
        select a.group_id as "groupId", ${columns()}
        from alert_groups g
        cross join lateral (
          select * from group_alerts a where a.group_id = g.id order by ${order()} limit ${MOST_TEMPLATE_ALERTS}
        ) a
        where g.id = any(${textArray([...groupIds])}::text[]) and not g.details_removed
        order by a.group_id, ${order()}`;
      const byGroup = new Map<PublicId, TemplateAlert[]>(groupIds.map((id) => [id, []]));
      for (const { groupId, ...alert } of rows) byGroup.get(groupId)?.push(alert);
      return byGroup;
    },
    of: async (id) => (await read(id))?.template_alerts ?? [],
    // Index: group_alerts_pkey.
    named: (groupId, fingerprints) => sql<TemplateAlert[]>`
      select ${columns()} from group_alerts a
      join alert_groups g on g.id = a.group_id and not g.details_removed
      where a.group_id = ${groupId} and a.fingerprint = any(${textArray([...fingerprints])}::text[])
      limit ${MOST_TEMPLATE_ALERTS}`,
  };
}

interface TemplateGroupRow extends StoredGroupRow {
  readonly template_alerts: readonly TemplateAlert[];
}
