/** Removes what sign-in leaves behind (access §3.8). Called hourly by whoever leads; two runs at once do no harm. */
import { ENDED_LINK_KEPT } from '../actors/access/password-policy.ts';
import { ENDED_SESSION_KEPT, SESSION_IDLE_TIMEOUT } from '../actors/access/session.ts';
import { FORGOTTEN_AFTER } from '../actors/access/throttle.ts';
import { HOUR, type Micros } from '../runtime/clock.ts';
import type { Sql } from './records.ts';

const BATCH = 1_000;
/** A sign-in through the provider that came to nothing is forgotten this long after its end. */
const ENDED_REQUEST_KEPT = HOUR;

export interface Pruned {
  readonly sessions: number;
  readonly login_throttles: number;
  readonly password_setup_links: number;
  readonly oidc_requests: number;
}

/** @returns how many rows of each table went */
export async function pruneAccess(sql: Sql, now: Micros): Promise<Pruned> {
  return {
    sessions: await inBatches(() => pruneSessions(sql, now)),
    login_throttles: await inBatches(() => pruneThrottles(sql, now)),
    password_setup_links: await inBatches(() => pruneSetupLinks(sql, now)),
    oidc_requests: await inBatches(() => pruneOidcRequests(sql, now)),
  };
}

/** Each batch is a transaction of its own; the last one is short. */
async function inBatches(remove: () => Promise<number>): Promise<number> {
  let total = 0;
  let removed = BATCH;
  while (removed === BATCH) {
    removed = await remove();
    total += removed;
  }
  return total;
}

async function pruneSessions(sql: Sql, now: Micros): Promise<number> {
  const removed = await sql`
    delete from sessions where id in (
      select id from sessions
      where coalesce(ended_at, least(expires_at, last_used_at + ${SESSION_IDLE_TIMEOUT}))
        <= ${now - ENDED_SESSION_KEPT}
      limit ${BATCH}
    )`;
  return removed.count;
}

async function pruneThrottles(sql: Sql, now: Micros): Promise<number> {
  // index: login_throttles_old
  const removed = await sql`
    delete from login_throttles where key in (
      select key from login_throttles where last_failure_at <= ${now - FORGOTTEN_AFTER} limit ${BATCH}
    )`;
  return removed.count;
}

async function pruneSetupLinks(sql: Sql, now: Micros): Promise<number> {
  // index: password_setup_links_old
  const removed = await sql`
    delete from password_setup_links where hash in (
      select hash from password_setup_links where expires_at <= ${now - ENDED_LINK_KEPT} limit ${BATCH}
    )`;
  return removed.count;
}

async function pruneOidcRequests(sql: Sql, now: Micros): Promise<number> {
  // index: oidc_requests_old
  const removed = await sql`
    delete from oidc_requests where state_hash in (
      select state_hash from oidc_requests where expires_at <= ${now - ENDED_REQUEST_KEPT} limit ${BATCH}
    )`;
  return removed.count;
}
