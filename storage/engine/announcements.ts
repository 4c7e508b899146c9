/** What replicas announce to each other while their signals are away, and how old rows go (operations §5.5). */
import type {
  Announcement,
  AnnouncementCursor,
  AnnouncementPage,
  AnnouncementStore,
} from '../../runtime/broadcast/channels.ts';
import { type Clock, MINUTE, type Micros, SECOND } from '../../runtime/clock.ts';
import { jsonTexts, numberArray, textArray } from '../postgres/bulk-parameters.ts';
import type { Sql } from '../postgres/records.ts';

/** Rows read at once; whoever is further behind passes over the rest. */
const PAGE = 1_000;
/** A number that becomes visible this long after a higher one is still read. An insert takes milliseconds. */
const LATE: Micros = 10 * SECOND;

interface Row extends Announcement {
  readonly seq: number;
}

export function createAnnouncementStore(sql: Sql, clock: Clock): AnnouncementStore {
  return {
    append: (rows) => insert(sql, rows, clock.now()),

    async since(cursor) {
      if (cursor === null) return start(sql, clock.now());
      const { floor, seen } = cursor;
      // index: announcements_pkey
      const rows = await sql<Row[]>`
        select seq, sender, topic, body from announcements
        where seq > ${floor} and seq <> all(${numberArray([...seen.keys()])}::bigint[])
        order by seq limit ${PAGE + 1}`;
      if (rows.length > PAGE) return { ...(await start(sql, clock.now())), isIncomplete: true };
      return { rows, cursor: moved(cursor, rows, clock.now()), isIncomplete: false };
    },
  };
}

async function insert(sql: Sql, rows: readonly Announcement[], now: Micros): Promise<void> {
  await sql`
    insert into announcements (sender, topic, body, at)
    select sender, topic, body::jsonb, ${now}
    from rows from (
      unnest(${textArray(rows.map(({ sender }) => sender))}::text[]),
      unnest(${textArray(rows.map(({ topic }) => topic))}::text[]),
      unnest(string_to_array(${jsonTexts(rows.map(({ body }) => body))}, chr(1)))
    ) with ordinality as said (sender, topic, body, place)
    order by place`;
}

/** After everything that can be seen now. Numbers just below the newest may still be on their way. */
async function start(sql: Sql, now: Micros): Promise<AnnouncementPage> {
  // index: announcements_pkey
  const newest = await sql<{ seq: number }[]>`
    select seq from announcements order by seq desc limit ${PAGE}`;
  const seen = new Map(newest.map(({ seq }) => [seq, now]));
  const floor = Math.max(0, (newest.at(-1)?.seq ?? 1) - 1);
  return { rows: [], cursor: { floor, seen }, isIncomplete: false };
}

/** Numbers are given out in order, so that one seen long ago has nothing below it that is still on its way. */
function moved({ floor, seen }: AnnouncementCursor, rows: readonly Row[], now: Micros): AnnouncementCursor {
  const all = new Map(seen);
  for (const { seq } of rows) all.set(seq, now);
  let settled = floor;
  for (const [seq, at] of all) if (now - at >= LATE) settled = Math.max(settled, seq);
  for (const seq of [...all.keys()]) if (seq <= settled) all.delete(seq);
  return { floor: settled, seen: all };
}

/** Whoever asked has given up long before. */
const REPLIES_KEPT: Micros = MINUTE;
/** Whoever reads announcements reads them every second, and everything anew after a longer pause. */
const ANNOUNCEMENTS_KEPT: Micros = 5 * MINUTE;

/** @returns how many rows of each table went */
export async function pruneExchange(
  sql: Sql,
  now: Micros,
): Promise<{ readonly replies: number; readonly announcements: number }> {
  // index: replies_by_time, announcements_by_time
  const replies = await sql`delete from replies where at < ${now - REPLIES_KEPT}`;
  const announcements = await sql`delete from announcements where at < ${now - ANNOUNCEMENTS_KEPT}`;
  return { replies: replies.count, announcements: announcements.count };
}
