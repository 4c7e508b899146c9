/** Removes what replicas told each other and nobody asked for any more. Two runs at once do no harm. */
import { MINUTE, type Micros } from '../runtime/clock.ts';
import type { Sql } from './records.ts';

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
