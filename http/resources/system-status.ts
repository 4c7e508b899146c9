/** What everybody should know right now, and the state of the service as a whole (api §18, internal-alerts §6, §8). */
import * as v from 'valibot';
import { activeNotices, isRecovering } from '../../actors/system/notices.ts';
import type { Queue, SystemStatus, SystemStatusReader } from '../../actors/system/ports.ts';
import { SHARDS } from '../../runtime/actor/index.ts';
import { formatInstant, formatInstantOrNull, type Micros } from '../../runtime/clock.ts';
import type { Version } from '../../runtime/version.ts';
import { type Operation, operation } from '../operation.ts';
import { EntityRef, itemsOf } from '../shapes.ts';

export interface SystemStatusDeps {
  readonly reader: SystemStatusReader;
  readonly version: Version;
  readonly coordination: {
    readonly mode: 'single' | 'redis';
    /** Whether the answering replica reaches Redis; null without Redis. */
    redisUp(): boolean | null;
  };
}

const NoticeShape = v.object({
  kind: v.picklist(['recovering_after_downtime', 'no_replica_leading']),
  audience: v.picklist(['all', 'admins']),
  since: v.string(),
  until: v.nullable(v.string()),
});

const QueueShape = v.object({ waiting: v.number(), oldest_at: v.nullable(v.string()) });

const StatusShape = v.object({
  version: v.string(),
  commit: v.string(),
  replicas: v.array(
    v.object({
      id: v.string(),
      leader: v.boolean(),
      key_ids: v.array(v.string()),
      refreshed_at: v.string(),
    }),
  ),
  coordination: v.object({
    mode: v.picklist(['single', 'redis']),
    redis_up: v.nullable(v.boolean()),
    read_at: v.string(),
    replicas: v.array(
      v.object({ id: v.string(), version: v.string(), started_at: v.string(), shards: v.number() }),
    ),
    shards: v.object({ total: v.number(), without_owner: v.number(), taken_last_hour: v.number() }),
    queues: v.object({ snapshots: QueueShape, inbox: QueueShape }),
  }),
  recovery: v.object({
    active: v.boolean(),
    period_from: v.nullable(v.string()),
    period_to: v.nullable(v.string()),
    until: v.nullable(v.string()),
  }),
  delivery_queues: v.array(v.object({ destination: EntityRef, queued: v.number() })),
  broken_destinations: v.array(v.object({ destination: EntityRef, since: v.string(), reason: v.string() })),
  integrations_attention: v.array(
    v.object({
      integration: EntityRef,
      issue: v.picklist(['heartbeat_lost', 'snapshot_truncated']),
      since: v.string(),
    }),
  ),
  template_errors: v.array(
    v.object({
      subject_kind: v.picklist(['route', 'destination']),
      subject: EntityRef,
      template: v.picklist(['root_message', 'line', 'ack_timeout_notice', 'webhook_request']),
      since: v.string(),
      error: v.string(),
    }),
  ),
  active_storms: v.array(v.object({ route: EntityRef, since: v.string(), alert_group_count: v.number() })),
  outgoing_heartbeat: v.object({
    configured: v.boolean(),
    last_attempt_at: v.nullable(v.string()),
    last_ok: v.nullable(v.boolean()),
    last_error: v.nullable(v.string()),
  }),
});

export function systemStatusOperations(deps: SystemStatusDeps): readonly Operation[] {
  return [
    operation({
      id: 'listSystemNotices',
      method: 'GET',
      path: '/system-notices',
      tag: 'System',
      summary: 'List what everybody should know right now',
      needs: 'authenticated',
      answers: { 200: { description: 'Notices', schema: itemsOf(NoticeShape) } },
      async handle({ identity, now }) {
        const isAdmin = identity?.permissions.has('system-status:read') ?? false;
        const notices = activeNotices(await deps.reader.pulse(), now);
        const items = notices
          .filter(({ audience }) => audience === 'all' || isAdmin)
          .map(({ since, until, ...notice }) => ({
            ...notice,
            since: formatInstant(since),
            until: formatInstantOrNull(until),
          }));
        return { status: 200, body: { items } };
      },
    }),
    operation({
      id: 'getSystemStatus',
      method: 'GET',
      path: '/system-status',
      tag: 'System',
      summary: 'Read the state of the service',
      needs: 'system-status:read',
      answers: { 200: { description: 'The System status', schema: StatusShape } },
      handle: async ({ now }) => ({
        status: 200,
        body: statusBody(await deps.reader.status(now), deps, now),
      }),
    }),
  ];
}

function statusBody(
  status: SystemStatus,
  { version, coordination }: SystemStatusDeps,
  now: Micros,
): v.InferOutput<typeof StatusShape> {
  const { replicas, downtime, outgoingHeartbeat: heartbeat } = status;
  return {
    version: version.version,
    commit: version.commit,
    replicas: replicas.map(({ id, isLeader, keyIds, refreshedAt }) => ({
      id,
      leader: isLeader,
      key_ids: [...keyIds],
      refreshed_at: formatInstant(refreshedAt),
    })),
    coordination: {
      mode: coordination.mode,
      redis_up: coordination.redisUp(),
      read_at: formatInstant(now),
      replicas: replicas.map((replica) => ({
        id: replica.id,
        version: replica.version,
        started_at: formatInstant(replica.startedAt),
        shards: replica.shards,
      })),
      shards: {
        total: SHARDS,
        without_owner: status.shardsWithoutOwner,
        taken_last_hour: status.shardsTakenLastHour,
      },
      queues: { snapshots: queueBody(status.snapshots), inbox: queueBody(status.inbox) },
    },
    recovery: {
      active: isRecovering(downtime, now),
      period_from: formatInstantOrNull(downtime?.startedAt ?? null),
      period_to: formatInstantOrNull(downtime?.endedAt ?? null),
      until: formatInstantOrNull(downtime?.recoversUntil ?? null),
    },
    delivery_queues: [...status.deliveryQueues],
    broken_destinations: status.brokenDestinations.map((broken) => ({
      ...broken,
      since: formatInstant(broken.since),
    })),
    integrations_attention: status.integrationsAttention.map((attention) => ({
      ...attention,
      since: formatInstant(attention.since),
    })),
    template_errors: status.templateErrors.map(({ subjectKind, subject, template, since, error }) => ({
      subject_kind: subjectKind,
      ...{ subject, template, error },
      since: formatInstant(since),
    })),
    active_storms: status.activeStorms.map(({ route, since, alertGroupCount }) => ({
      route,
      since: formatInstant(since),
      alert_group_count: alertGroupCount,
    })),
    outgoing_heartbeat: {
      configured: heartbeat.isConfigured,
      last_attempt_at: formatInstantOrNull(heartbeat.lastAttemptAt),
      last_ok: heartbeat.lastOk,
      last_error: heartbeat.lastError,
    },
  };
}

function queueBody({ waiting, oldestAt }: Queue): v.InferOutput<typeof QueueShape> {
  return { waiting, oldest_at: formatInstantOrNull(oldestAt) };
}
