/** The state of the service as a whole, and Integrations in need of attention: the store behind actors/system/ports.ts. */
import type { IntegrationIssue } from '../../actors/integration/heartbeat.ts';
import type { RouteTemplateKind } from '../../actors/route/policy.ts';
import type {
  GaugeReadings,
  Queue,
  ReplicaStatus,
  ShardStatus,
  SystemSigns,
  SystemStatus,
  SystemStatusReader,
} from '../../actors/system/ports.ts';
import { DAY, HOUR, type Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { readActiveStorms } from '../delivery/storms.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { inSnapshot } from '../postgres/transaction.ts';
import { countWaitingSnapshots } from './backlog.ts';
import { LIVE_FOR } from './replica-records.ts';
import { readHeartbeatStatus, readPulse } from './signs-of-life.ts';

export function createSystemStatusReader(sql: Sql): SystemStatusReader {
  return {
    pulse: () => readPulse(sql),
    status: (now) => inSnapshot(sql, (tx) => readStatus(tx, now)),
    signs: (now) => inSnapshot(sql, (tx) => readSigns(tx, now)),
  };
}

/** What the Leader's gauges show, with 100,000 open Alert Groups in a fraction of a second. */
export async function readGauges(sql: Sql): Promise<GaugeReadings> {
  const snapshotsWaiting = await countWaitingSnapshots(sql);
  // index: alert_groups_route
  const groups = await sql<GaugeReadings['groups'][number][]>`
    select route_id as route, status, count(*)::int as count
    from alert_groups
    where status <> 'resolved'
    group by route_id, status`;
  const destinations = await readDestinations(sql);
  const beat = await readHeartbeatStatus(sql);
  return {
    snapshotsWaiting,
    isOutgoingHeartbeatLost: beat.isConfigured && beat.lastOk !== null ? !beat.lastOk : null,
    integrations: await readLostHeartbeats(sql),
    groups,
    destinations: destinations.map(({ id, queued, broken_since }) => ({
      id,
      queued,
      isBroken: broken_since !== null,
    })),
    storms: (await readActiveStorms(sql)).map(({ route }) => route.id),
  };
}

async function readStatus(tx: Transaction, now: Micros): Promise<SystemStatus> {
  const { downtime } = await readPulse(tx);
  const replicas = await readReplicas(tx, now);
  const [snapshots] = await tx<QueueRow[]>`
    select count(*)::int as waiting, min(received_at) as oldest_at from snapshot_queue`;
  const [inbox] = await tx<QueueRow[]>`
    select count(*)::int as waiting, min(created_at) as oldest_at from inbox`;
  return {
    replicas: replicas.map(({ owner: _, ...replica }) => replica),
    downtime,
    shards: await readShards(tx, replicas, now),
    snapshots: queueOf(snapshots),
    inbox: queueOf(inbox),
    ...destinationsOf(await readDestinations(tx), await readRouteTemplateErrors(tx)),
    integrationsAttention: await readIntegrationAttention(tx),
    activeStorms: await readActiveStorms(tx),
    outgoingHeartbeat: await readHeartbeatStatus(tx),
  };
}

async function readSigns(tx: Transaction, now: Micros): Promise<SystemSigns> {
  const pulse = await readPulse(tx);
  const replicas = await readReplicas(tx, now);
  const troubles = await tx<
    { id: PublicId; broken_since: Micros | null; template_error_since: Micros | null }[]
  >`
    select id, broken_since, template_error_since from destinations
    where deleted_at is null and (broken_since is not null or template_error_since is not null)
    order by id`;
  return {
    pulse,
    replicas: replicas.map(({ id, isLeader }) => ({ id, isLeader })),
    troubles: troubles.map((row) => ({
      id: row.id,
      brokenSince: row.broken_since,
      templateErrorSince: row.template_error_since,
    })),
  };
}

/** A replica with the name that its present run owns shards under. */
type LiveReplica = ReplicaStatus & { readonly owner: string };

/**
 * Of a replica that came back under its id only the newest run: the runs before are over. A Leader that died says in its
 * record that it leads until that lapses; whoever leads now has given the last sign of life.
 */
async function readReplicas(tx: Transaction, now: Micros): Promise<readonly LiveReplica[]> {
  const rows = await tx<
    {
      id: string;
      is_leader: boolean;
      key_ids: readonly string[];
      version: string;
      started_at: Micros;
      refreshed_at: Micros;
      owner: string;
    }[]
  >`
    with newest as (
      select distinct on (id) * from replicas
      where refreshed_at >= ${now - LIVE_FOR}
      order by id, started_at desc
    )
    select
      id, key_ids, version, started_at, refreshed_at, id || '/' || boot as owner,
      is_leader and exists (select 1 from alive_mark where replica = id || '/' || boot) as is_leader
    from newest
    order by is_leader desc, id`;
  return rows.map((row) => ({
    id: row.id,
    isLeader: row.is_leader,
    keyIds: row.key_ids,
    version: row.version,
    startedAt: row.started_at,
    refreshedAt: row.refreshed_at,
    owner: row.owner,
  }));
}

async function readShards(
  tx: Transaction,
  replicas: readonly LiveReplica[],
  now: Micros,
): Promise<readonly ShardStatus[]> {
  const index = new Map(replicas.map(({ owner }, place) => [owner, place]));
  const rows = await tx<{ owner: string | null; taken_at: Micros | null }[]>`
    select owner, taken_at from shards order by shard`;
  return rows.map(({ owner, taken_at: takenAt }) => ({
    owner: (owner === null ? undefined : index.get(owner)) ?? null,
    isMoved: takenAt !== null && takenAt > now - HOUR,
  }));
}

interface QueueRow {
  readonly waiting: number;
  readonly oldest_at: Micros | null;
}

function queueOf(row: QueueRow | undefined): Queue {
  return { waiting: row?.waiting ?? 0, oldestAt: row?.oldest_at ?? null };
}

interface DestinationRow {
  readonly id: PublicId;
  readonly name: string;
  readonly queued: number;
  readonly broken_since: Micros | null;
  readonly broken_reason: string | null;
  readonly failing_since: Micros | null;
  readonly failing_error: string | null;
  readonly template_error: string | null;
  readonly template_error_since: Micros | null;
}

/** Every live Destination with how many of its events and messages wait. */
function readDestinations(sql: Sql | Transaction): Promise<readonly DestinationRow[]> {
  // indexes: webhook_events_waiting, deliveries_wanted
  return sql<DestinationRow[]>`
    with waiting as (
      select destination_id, count(*)::int as queued
      from (
        select destination_id from webhook_events where finished_at is null
        union all
        select destination_id from deliveries where wanted
      ) each
      group by 1
    )
    select
      d.id, d.name, coalesce(w.queued, 0) as queued, d.broken_since, d.broken_reason, d.failing_since,
      d.failing_error, d.template_error, d.template_error_since
    from destinations d
    left join waiting w on w.destination_id = d.id
    where d.deleted_at is null
    order by d.id`;
}

/** Templates of live Routes that fail. */
async function readRouteTemplateErrors(tx: Transaction): Promise<SystemStatus['templateErrors']> {
  const rows = await tx<
    { id: PublicId; name: string; template: RouteTemplateKind; since: Micros; error: string }[]
  >`
    select r.id, r.name, e.template, e.since, e.error
    from route_template_errors e
    join routes r on r.id = e.route_id and r.deleted_at is null
    order by e.route_id, e.template`;
  return rows.map(({ id, name, ...failed }) => ({ subjectKind: 'route', subject: { id, name }, ...failed }));
}

function requestErrorOf(row: DestinationRow): SystemStatus['templateErrors'] {
  const { id, name, template_error: error, template_error_since: since } = row;
  if (error === null || since === null) return [];
  return [{ subjectKind: 'destination', subject: { id, name }, template: 'webhook_request', since, error }];
}

function destinationsOf(
  rows: readonly DestinationRow[],
  ofRoutes: SystemStatus['templateErrors'],
): Pick<SystemStatus, 'deliveryQueues' | 'brokenDestinations' | 'failingDestinations' | 'templateErrors'> {
  const oldestFirst = (one: { since: Micros }, other: { since: Micros }) => one.since - other.since;
  const ref = ({ id, name }: DestinationRow) => ({ id, name });
  return {
    deliveryQueues: rows
      .filter(({ queued }) => queued > 0)
      .map((row) => ({ destination: ref(row), queued: row.queued }))
      .sort((one, other) => other.queued - one.queued),
    brokenDestinations: rows
      .flatMap((row) =>
        row.broken_since === null
          ? []
          : [{ destination: ref(row), since: row.broken_since, reason: row.broken_reason ?? '' }],
      )
      .sort(oldestFirst),
    failingDestinations: rows
      .flatMap((row) =>
        row.failing_since === null || row.broken_since !== null
          ? []
          : [
              {
                destination: ref(row),
                since: row.failing_since,
                error: row.failing_error ?? '',
                waiting: row.queued,
              },
            ],
      )
      .sort(oldestFirst),
    templateErrors: [...ofRoutes, ...rows.flatMap(requestErrorOf)].sort(oldestFirst),
  };
}

/** Integrations that deserve attention, as the System status and the metrics show them (ingestion §11, §14). */
export interface IntegrationAttention {
  readonly integration: { readonly id: PublicId; readonly name: string };
  readonly issue: IntegrationIssue;
  readonly since: Micros;
}

interface HealthRow {
  readonly id: PublicId;
  readonly name: string;
  readonly lost_since: Micros | null;
  readonly truncated_since: Micros | null;
  /** Receipt of the newest body that was no Snapshot, within the day before the last one. */
  readonly failed_since: Micros | null;
}

/** The oldest first. */
export async function readIntegrationAttention(
  sql: Sql | Transaction,
): Promise<readonly IntegrationAttention[]> {
  const attention = (await readHealth(sql)).flatMap(({ id, name, ...health }) => {
    const integration = { id, name };
    const found = (issue: IntegrationIssue, since: Micros | null): IntegrationAttention[] =>
      since === null ? [] : [{ integration, issue, since }];
    return [
      ...found('heartbeat_lost', health.lost_since),
      ...found('snapshot_truncated', health.truncated_since),
      ...found('snapshot_failed', health.failed_since),
    ];
  });
  return attention.sort((one, other) => one.since - other.since);
}

/** Whether the Heartbeat of each Integration is lost. */
async function readLostHeartbeats(
  sql: Sql | Transaction,
): Promise<readonly { readonly id: PublicId; readonly isLost: boolean }[]> {
  return (await readHealth(sql)).map(({ id, lost_since }) => ({ id, isLost: lost_since !== null }));
}

/** A signal that is stored, or a Heartbeat that was switched off, counts before the actor has heard of it. */
function readHealth(sql: Sql | Transaction): Promise<readonly HealthRow[]> {
  return sql<HealthRow[]>`
    select
      i.id, i.name, s.truncated_since,
      case when i.heartbeat_enabled and i.last_signal_at <= s.lost_since then s.lost_since end as lost_since,
      case when failed.received_at > (
        select max(last_snapshot_at) from (
          select last_snapshot_at from integration_counters where integration_id = i.id
          union all
          select last_snapshot_at from integration_counter_slots where integration_id = i.id
        ) part
      ) - ${DAY}::bigint then failed.received_at end as failed_since
    from integrations i
    left join integration_states s on s.integration_id = i.id
    -- Index: stored_snapshots_failed.
    left join lateral (
      select received_at from stored_snapshots
      where integration_id = i.id and processing_error is not null
      order by received_at desc
      limit 1
    ) failed on true
    where i.deleted_at is null and not i.builtin
    order by i.id`;
}
