/** What everybody should know right now, and the state of the service as a whole (api §18, internal-alerts §6, §8). */
import * as v from 'valibot';
import { INTEGRATION_ISSUES } from '../../../actors/integration/heartbeat.ts';
import { activeNotices, isRecovering } from '../../../actors/system/downtime.ts';
import type { Queue, SystemStatus, SystemStatusReader } from '../../../actors/system/ports.ts';
import { SHARDS } from '../../../runtime/actor/index.ts';
import { formatInstant, formatInstantOrNull, type Micros } from '../../../runtime/clock.ts';
import type { Version } from '../../../runtime/version.ts';
import { type Operation, operation } from '../../operation.ts';
import * as d from '../../schema/described.ts';
import { EntityRef, itemsOf } from '../../schema/shapes.ts';

export interface SystemStatusDeps {
  readonly reader: SystemStatusReader;
  readonly version: Version;
  readonly coordination: {
    readonly mode: 'single' | 'redis';
    /** Whether the answering replica reaches Redis; null without Redis. */
    redisUp(): boolean | null;
  };
}

const NoticeShape = d.named(
  'SystemNotice',
  v.object({
    kind: d.described(
      v.picklist(['recovering_after_downtime', 'no_replica_leading']),
      '`recovering_after_downtime`: data may be incomplete; `no_replica_leading`: scheduled work stands still.',
    ),
    audience: d.described(v.picklist(['all', 'admins']), 'Who sees it: `all` people, or `admins` only.'),
    since: d.time('Since when. With `no_replica_leading`: last sign of life of the Leader.'),
    until: v.nullable(d.time('Until when; null when that is open.')),
  }),
  'Something that people should know now.',
);

const QueueShape = d.named(
  'QueueStatus',
  v.object({
    waiting: d.count('How many wait.'),
    oldest_at: v.nullable(d.time('Since when the oldest waits; null when none does.')),
  }),
  'A queue.',
);

const StatusShape = d.named(
  'SystemStatus',
  v.object({
    version: d.text('Version of the build that answers.'),
    commit: d.text('Commit of the build that answers.'),
    replicas: d.described(
      v.array(
        v.object({
          id: d.text('Id of the replica.'),
          leader: d.flag('Whether it is the Leader.'),
          key_ids: d.described(v.array(v.string()), 'Ids of the master keys it holds.'),
          refreshed_at: d.time('Its last sign of life.'),
        }),
      ),
      'Those seen within 2 minutes, the Leader first.',
    ),
    coordination: d.described(
      v.object({
        mode: d.described(
          v.picklist(['single', 'redis']),
          '`single`: one process without Redis; `redis`: replicas meet in Redis.',
        ),
        redis_up: d.described(
          v.nullable(v.boolean()),
          'Whether the replica that answers reaches Redis; null without.',
        ),
        read_at: d.time('When all of this was read.'),
        replicas: d.described(
          v.array(
            v.object({
              id: d.text('Id of the replica.'),
              version: d.text('Its version.'),
              started_at: d.time('When it started.'),
              shards: d.count('Shards it owns.'),
            }),
          ),
          'The same replicas.',
        ),
        shards: d.described(
          v.object({
            total: d.count('All of them.'),
            without_owner: d.count('Those that none of the replicas owns.'),
            taken_last_hour: d.count('Those with a new owner within the last hour.'),
            owners: d.described(
              v.array(v.nullable(v.pipe(v.number(), v.integer(), v.minValue(0)))),
              'By number of the shard: index of its owner in `coordination.replicas`; null without one.',
            ),
            moved: d.described(
              v.array(v.pipe(v.number(), v.integer(), v.minValue(0))),
              'Numbers of those with a new owner within the last hour.',
            ),
          }),
          'The shards that actors are spread over.',
        ),
        queues: d.described(
          v.object({
            snapshots: d.described(QueueShape, 'Snapshots that wait to be processed.'),
            inbox: d.described(QueueShape, 'Messages between replicas.'),
          }),
          'What waits.',
        ),
      }),
      'How replicas work together.',
    ),
    recovery: d.described(
      v.object({
        active: d.flag('Whether data may still be incomplete because of it.'),
        period_from: v.nullable(d.time('When it began; null when there never was one.')),
        period_to: v.nullable(d.time('When it ended; null when there never was one.')),
        until: v.nullable(d.time('Until when data may be incomplete; null when there never was one.')),
      }),
      'The last downtime.',
    ),
    delivery_queues: d.described(
      v.array(
        v.object({
          destination: EntityRef,
          queued: d.count('How many wait.'),
        }),
      ),
      'Destinations with deliveries that wait, the longest queue first.',
    ),
    broken_destinations: d.described(
      v.array(
        v.object({
          destination: EntityRef,
          since: d.time('Since when.'),
          reason: d.text('Why, masked.'),
        }),
      ),
      'Broken Destinations, the oldest first.',
    ),
    failing_destinations: d.described(
      v.array(
        v.object({
          destination: EntityRef,
          since: d.time('Since when every delivery has failed.'),
          error: d.text('What the last one failed with, masked.'),
          waiting: d.count('How many deliveries wait.'),
        }),
      ),
      'Destinations where every delivery fails and that are not Broken.',
    ),
    integrations_attention: d.described(
      v.array(
        v.object({
          integration: EntityRef,
          issue: d.described(
            v.picklist(INTEGRATION_ISSUES),
            '`heartbeat_lost`: no signal; `snapshot_truncated`: Alerts cut off; `snapshot_failed`: no Snapshots.',
          ),
          since: d.time('Since when.'),
        }),
      ),
      'Integrations that need attention.',
    ),
    template_errors: d.described(
      v.array(
        v.object({
          subject_kind: d.described(
            v.picklist(['route', 'destination']),
            'Whether it is of a `route` or of a `destination`.',
          ),
          subject: EntityRef,
          template: d.described(
            v.picklist(['root_message', 'line', 'ack_timeout_notice', 'webhook_request']),
            '`root_message`, `line`, `ack_timeout_notice`: of a Route; `webhook_request`: of a webhook.',
          ),
          since: d.time('Since when it fails.'),
          error: d.text('What is wrong.'),
        }),
      ),
      'Templates that fail.',
    ),
    active_storms: d.described(
      v.array(
        v.object({
          route: EntityRef,
          since: d.time('Since when.'),
          alert_group_count: d.count('How many Alert Groups began since then.'),
        }),
      ),
      'Routes in a Storm, the oldest first.',
    ),
    outgoing_heartbeat: d.described(
      v.object({
        configured: d.flag('Whether one is sent.'),
        last_attempt_at: v.nullable(d.time('When it was last tried; null before the first attempt.')),
        last_ok: d.described(
          v.nullable(v.boolean()),
          'Whether that succeeded; null before the first attempt.',
        ),
        last_error: d.textOrNull('What went wrong; null when nothing did.'),
      }),
      'The signal to a watcher elsewhere.',
    ),
  }),
  'The state of the service at one moment.',
);

export function systemStatusOperations(deps: SystemStatusDeps): readonly Operation[] {
  return [
    operation({
      id: 'listSystemNotices',
      method: 'GET',
      path: '/system-notices',
      tag: 'System',
      summary: 'List what everybody should know right now',
      description: 'Those for Admins only with `system-status:read`.',
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
      description: 'Read from the database, as any replica sees it.',
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
  const { replicas, shards, downtime, outgoingHeartbeat: heartbeat } = status;
  const ownedBy = (replica: number | null) => shards.filter(({ owner }) => owner === replica).length;
  const moved = shards.flatMap(({ isMoved }, shard) => (isMoved ? [shard] : []));
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
      replicas: replicas.map((replica, index) => ({
        id: replica.id,
        version: replica.version,
        started_at: formatInstant(replica.startedAt),
        shards: ownedBy(index),
      })),
      shards: {
        total: SHARDS,
        without_owner: ownedBy(null),
        taken_last_hour: moved.length,
        owners: shards.map(({ owner }) => owner),
        moved,
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
    failing_destinations: status.failingDestinations.map((failing) => ({
      ...failing,
      since: formatInstant(failing.since),
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
