/**
 * What the Leader keeps in order: partitions ahead of time, and what nobody needs any more (organization §8). Parts are
 * independent: what one could not do, its next round does.
 */
import { Counter, type Registry } from 'prom-client';
import { pruneAccess } from '../../storage/access/access.ts';
import { pruneLinkRequests } from '../../storage/access/account-link-tokens.ts';
import { createChangePruning } from '../../storage/alert-groups/recent/recent-groups.ts';
import { readOrganization } from '../../storage/configuration/organization.ts';
import { pruneCopies } from '../../storage/delivery/channel-copies.ts';
import { pruneLooseMessages, pruneStormDeliveries } from '../../storage/delivery/deliveries.ts';
import { pruneDeliveryHours } from '../../storage/delivery/delivery-hours.ts';
import { pruneRequestRecords } from '../../storage/delivery/request-log.ts';
import { rerenderOldButtons } from '../../storage/delivery/rerender.ts';
import { pruneWebhookEvents } from '../../storage/delivery/webhook-events.ts';
import { foldStateChanges, recountStates } from '../../storage/engine/actor-states.ts';
import { pruneExchange } from '../../storage/engine/announcements.ts';
import { pruneReplicaRecords } from '../../storage/engine/replica-records.ts';
import { ensurePartitions } from '../../storage/postgres/partitions.ts';
import type { Sql } from '../../storage/postgres/records.ts';
import {
  PARTITIONED_TABLES,
  RETENTION_STEPS,
  removeGroupDetails,
  removeGroups,
  trimTimeline,
} from '../../storage/postgres/retention.ts';
import { inTransaction } from '../../storage/postgres/transaction.ts';
import { type Clock, DAY, formatInstant, HOUR, MINUTE, SECOND } from '../clock.ts';
import { type LeaderTask, untilNext } from '../leader-tasks.ts';
import type { Log } from '../log.ts';

/** Rows removed by one statement. */
const PRUNE_BATCH = 1_000;

export interface HousekeepingMetrics {
  pruned(table: string, rows: number): void;
}

export function createHousekeepingMetrics(registry: Registry): HousekeepingMetrics {
  const pruned = new Counter({
    name: 'svc_short_lived_rows_pruned_total',
    help: 'Rows of short-lived tables that were removed.',
    labelNames: ['table'],
    registers: [registry],
  });
  return { pruned: (table, rows) => pruned.inc({ table }, rows) };
}

export interface HousekeepingDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: HousekeepingMetrics;
  /** Makes those who act for actors look into the inbox. */
  readonly poke: () => void;
}

export function housekeepingTasks(deps: HousekeepingDeps): readonly LeaderTask[] {
  const { sql, clock } = deps;
  const pruneChanges = createChangePruning(sql);
  return [
    { ...RETENTION, name: 'housekeeping', run: (goesOn) => retain(deps, 'schedule', goesOn) },
    retentionChanges(deps),
    {
      // Every minute: at the rate of requests between replicas an hour of them would be worth reading around.
      name: 'exchange_pruning',
      every: MINUTE,
      run: async () => countPruned(deps, { ...(await pruneExchange(sql, clock.now())) }),
    },
    { name: 'actor_state_folding', every: 10 * SECOND, run: () => foldStateChanges(sql) },
    {
      name: 'group_change_pruning',
      every: MINUTE,
      run: async () => countPruned(deps, { changed_alert_groups: await pruneChanges() }),
    },
  ];
}

/** What a shorter period concerns is hidden at its next round: that is soon, not in an hour (organization §8). */
function retentionChanges(deps: HousekeepingDeps): LeaderTask {
  let known: string | null = null;
  return {
    name: 'retention_changes',
    every: MINUTE,
    async run(goesOn) {
      const { settings } = await readOrganization(deps.sql);
      const before = known;
      known = JSON.stringify(settings.retention);
      if (before !== null && before !== known) await retain(deps, 'period_changed', goesOn);
    },
  };
}

/** At each full hour (UTC), and when a Leader takes over (organization §8 rule 1). */
const RETENTION = { every: HOUR, isAligned: true } as const;

/** Runs every part of retention once and logs what it removed, table by table. */
async function retain(
  deps: HousekeepingDeps,
  reason: 'schedule' | 'period_changed',
  goesOn: () => boolean,
): Promise<void> {
  const began = deps.clock.now();
  const removed: Record<string, number> = {};
  const dropped: string[] = [];
  const counting: Removing = {
    ...deps,
    removedRows(table, rows) {
      if (rows > 0) removed[table] = (removed[table] ?? 0) + rows;
    },
    droppedPartitions: (names) => void dropped.push(...names),
  };
  const complete = await inTurn(counting, goesOn);
  const now = deps.clock.now();
  deps.log('retention_finished', {
    ...{ reason, removed, complete },
    partitions_dropped: dropped,
    duration_ms: Math.round((now - began) / 1000),
    next_at: formatInstant(now + untilNext(RETENTION, now)),
  });
}

interface Removing extends HousekeepingDeps {
  removedRows(table: string, rows: number): void;
  droppedPartitions(names: readonly string[]): void;
}

/**
 * Its parts one after the other: whoever has just taken the lead needs the connections for its actors.
 * @returns whether every part was done
 */
async function inTurn(deps: Removing, goesOn: () => boolean): Promise<boolean> {
  const { sql, clock, log, poke } = deps;
  let complete = true;
  const parts: Readonly<Record<string, () => Promise<void>>> = {
    partitions: () => keepPartitions(deps, goesOn),
    access_pruning: async () => countPruned(deps, { ...(await pruneAccess(sql, clock.now())) }),
    link_pruning: async () => countPruned(deps, { ...(await pruneLinkRequests(sql, clock.now())) }),
    // A replica that did not know the new active key yet may have signed with the one before.
    button_signing: async () => {
      const told = await inTransaction(sql, (tx) => rerenderOldButtons(tx, clock.now()));
      if (told > 0) poke();
    },
    event_pruning: async () => {
      countPruned(deps, await pruneDeliveries(deps, goesOn));
      countPruned(deps, { channel_copies: await pruneCopies(sql, clock.now()) });
    },
    request_log_pruning: async () => {
      const prune = (limit: number) => pruneRequestRecords(sql, clock.now(), limit);
      countPruned(deps, { request_records: await inBatches(prune, goesOn) });
      countPruned(deps, { delivery_hours: await pruneDeliveryHours(sql, clock.now()) });
    },
    group_retention: () => keepGroups(deps, goesOn),
    timeline_trimming: async () => {
      const { settings } = await readOrganization(sql);
      const rows = await trimTimeline(sql, settings.retention, clock.now(), goesOn);
      countPruned(deps, { timeline_entries: rows });
    },
    actor_recount: () => recountStates(sql),
    replica_pruning: async () => {
      const replicas = await pruneReplicaRecords(sql, clock.now());
      if (replicas.length > 0) log('replicas_pruned', { replicas });
    },
  };
  for (const [task, run] of Object.entries(parts)) {
    if (!goesOn()) return false;
    try {
      await run();
    } catch (error) {
      // What is left over costs nothing but room; the next hour tries again.
      if (goesOn()) log('leader_task_failed', { task, error: String(error) });
      complete = false;
    }
  }
  return complete;
}

function countPruned(deps: HousekeepingDeps | Removing, tables: Readonly<Record<string, number>>): void {
  const { metrics, log } = deps;
  for (const [table, rows] of Object.entries(tables)) {
    if (rows === 0) continue;
    if ('removedRows' in deps) deps.removedRows(table, rows);
    metrics.pruned(table, rows);
    log('short_lived_pruned', { table, rows });
  }
}

async function keepPartitions(deps: Removing, goesOn: () => boolean): Promise<void> {
  const { sql, clock, log } = deps;
  /** Names of what was made or dropped; none when it failed. */
  const maintain = async (work: () => Promise<string[]>): Promise<string[]> => {
    if (!goesOn()) return [];
    try {
      return await work();
    } catch (error) {
      // Partitions reach days ahead, and old ones only take room; the next hour tries again.
      if (goesOn()) log('partition_maintenance_failed', { error: String(error) });
      return [];
    }
  };
  const created = await maintain(() => ensurePartitions(sql, clock.now(), PARTITIONED_TABLES));
  const dropped: string[] = [];
  for (const step of RETENTION_STEPS) {
    dropped.push(
      ...(await maintain(async () => {
        const { settings } = await readOrganization(sql);
        return step(sql, settings.retention, clock.now());
      })),
    );
  }
  deps.droppedPartitions(dropped);
  if (created.length + dropped.length > 0) log('partitions_maintained', { created, dropped });
}

/** What was sent or given up is known as long as the details of Alert Groups; what waits for ever. */
async function pruneDeliveries(
  { sql, clock }: HousekeepingDeps,
  goesOn: () => boolean,
): Promise<Readonly<Record<string, number>>> {
  const { settings } = await readOrganization(sql);
  const before = clock.now() - settings.retention.alert_details_days * DAY;
  return {
    webhook_events: await inBatches((limit) => pruneWebhookEvents(sql, before, limit), goesOn),
    deliveries: await inBatches((limit) => pruneStormDeliveries(sql, before, limit), goesOn),
    delivered_messages: await inBatches((limit) => pruneLooseMessages(sql, before, limit), goesOn),
  };
}

/** Resolved Alert Groups lose their details after some months and are forgotten after years. */
async function keepGroups(deps: Removing, goesOn: () => boolean): Promise<void> {
  const { sql, clock, log } = deps;
  const { settings } = await readOrganization(sql);
  const { alert_details_days: detailed, alert_group_summaries_days: known } = settings.retention;
  const ago = (days: number) => clock.now() - days * DAY;
  const emptied = await inBatches((limit) => removeGroupDetails(sql, ago(detailed), limit), goesOn);
  const removed = await inBatches((limit) => removeGroups(sql, ago(known), limit), goesOn);
  deps.removedRows('alert_group_details', emptied);
  deps.removedRows('alert_groups', removed);
  if (emptied + removed > 0) log('alert_groups_purged', { details: emptied, summaries: removed });
}

/** @returns rows in all, once a batch was not full */
async function inBatches(prune: (limit: number) => Promise<number>, goesOn: () => boolean): Promise<number> {
  let rows = 0;
  let gone = PRUNE_BATCH;
  while (gone === PRUNE_BATCH && goesOn()) {
    gone = await prune(PRUNE_BATCH);
    rows += gone;
  }
  return rows;
}
