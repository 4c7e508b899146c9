/** Replays Stored Snapshots: settled ones wait in the queue once more (ingestion §9). */
import { type Authorship, auditEntry } from '../actors/audit.ts';
import { DAY, type Micros } from '../runtime/clock.ts';
import type { PublicId } from '../runtime/public-id.ts';
import type { AppendAudit } from './access.ts';
import type { Sql, Transaction } from './records.ts';
import { keptSince } from './stored-snapshots.ts';
import { inTransaction } from './transaction.ts';

export interface Replay {
  /** Those received from here on, µs. */
  readonly since: Micros;
  /** The period as it was asked for, for the Audit log. */
  readonly period: string;
  /** Name of the Integration whose Snapshots are meant; null: of all. */
  readonly integration: string | null;
  readonly author: Authorship;
}

/** `unknown`: there is no Integration of that name, and nothing was changed. */
export type ReplayOutcome = { readonly count: number } | 'unknown';

/**
 * In one transaction, with its entry in the Audit log. Safe while the service runs, which finds them with its next
 * look through the queue, and while it is stopped. Those that wait already are left alone.
 */
export function replaySnapshots(sql: Sql, appendAudit: AppendAudit, replay: Replay): Promise<ReplayOutcome> {
  return inTransaction(sql, async (tx) => {
    const { integration: name, author } = replay;
    const integration = name === null ? null : await integrationNamed(tx, name);
    if (name !== null && integration === null) return 'unknown';
    const since = Math.max(replay.since, await keptSince(tx, author.at));
    const count = await takeBack(tx, since, integration);
    const details = { since: replay.period, integration: name, count };
    const resourceId = integration;
    await appendAudit(
      tx,
      auditEntry(author, { action: 'ingest.replayed', resourceId, resourceName: name, details }),
    );
    return { count };
  });
}

/** The live one of that name, else the one that had it last. */
async function integrationNamed(tx: Transaction, name: string): Promise<PublicId | null> {
  const [found] = await tx<{ id: PublicId }[]>`
    select id from integrations where name = ${name}
    order by deleted_at desc nulls first limit 1`;
  return found?.id ?? null;
}

/**
 * They are numbered anew, in the order of their receipt, so that whoever reads the queue takes them for newly arrived;
 * receipt itself is kept. A row whose body is gone stays as it is. Index: stored_snapshots_list for one Integration.
 */
async function takeBack(tx: Transaction, since: Micros, integration: PublicId | null): Promise<number> {
  const taken = await tx`
    with taken as (
      delete from stored_snapshots s
      where s.received_at >= ${since} and ${integration === null ? tx`true` : tx`s.integration_id = ${integration}`}
        and exists (
          select from snapshot_bodies b where b.day = s.received_at / ${DAY}::bigint and b.hash = s.body_hash
        )
      returning *
    )
    insert into snapshot_queue (
      id, integration_id, received_at, body_hash, size_bytes, content_type, is_replay, replay_of_processed
    )
    select
      id, integration_id, received_at, body_hash, size_bytes, content_type, true,
      processed_before or processing_error is null
    from (select * from taken order by received_at, seq) as in_order`;
  return taken.count;
}
