/** Statuses of a service with nothing to report, and with every kind of trouble. */
import type { SystemStatus } from '../../api/system.ts';

const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString();

/** Three replicas and nothing to tell. */
export function calmStatus(): SystemStatus {
  return {
    version: '0.2.0',
    commit: '9f3c1de',
    replicas: ['tocsin-1', 'tocsin-0', 'tocsin-2'].map((id, index) => ({
      id,
      leader: index === 0,
      key_ids: ['k-630dcd2966c43366'],
      refreshed_at: ago(4 + index * 9),
    })),
    coordination: {
      mode: 'redis',
      redis_up: true,
      read_at: ago(0),
      replicas: ['tocsin-1', 'tocsin-0', 'tocsin-2'].map((id, index) => ({
        id,
        version: '0.2.0',
        started_at: ago(7_200 + index * 90_000),
        shards: [89, 81, 86][index]!,
      })),
      shards: {
        total: 256,
        without_owner: 0,
        taken_last_hour: 0,
        owners: Array.from({ length: 256 }, (_, shard) => (shard < 89 ? 0 : shard < 170 ? 1 : 2)),
        moved: [],
      },
      queues: { snapshots: { waiting: 0, oldest_at: null }, inbox: { waiting: 2, oldest_at: ago(0.4) } },
    },
    recovery: { active: false, period_from: null, period_to: null, until: null },
    delivery_queues: [],
    broken_destinations: [],
    failing_destinations: [],
    integrations_attention: [],
    template_errors: [],
    active_storms: [],
    outgoing_heartbeat: { configured: false, last_attempt_at: null, last_ok: null, last_error: null },
  };
}

/** Everything at once. */
export function troubledStatus(): SystemStatus {
  const calm = calmStatus();
  const relay = { id: 'DS000000000001', name: 'Phone relay' };
  const tickets = { id: 'DS000000000002', name: 'Ticket system' };
  return {
    ...calm,
    replicas: calm.replicas.slice(1).map((replica) => ({ ...replica, leader: false })),
    coordination: {
      ...calm.coordination,
      redis_up: false,
      replicas: calm.coordination.replicas.slice(1).map((replica, index) => ({
        ...replica,
        version: index === 0 ? '0.2.0' : '0.1.9',
      })),
      shards: {
        total: 256,
        without_owner: 89,
        taken_last_hour: 167,
        owners: Array.from({ length: 256 }, (_, shard) => (shard < 89 ? null : shard < 170 ? 0 : 1)),
        moved: Array.from({ length: 167 }, (_, index) => 89 + index),
      },
      queues: {
        snapshots: { waiting: 48_211, oldest_at: ago(312) },
        inbox: { waiting: 1_204, oldest_at: ago(75) },
      },
    },
    recovery: { active: true, period_from: ago(1_500), period_to: ago(600), until: ago(-300) },
    delivery_queues: [
      { destination: tickets, queued: 128 },
      { destination: relay, queued: 1 },
    ],
    broken_destinations: [
      { destination: tickets, since: ago(4_000), reason: '403: this token may not open tickets any more' },
    ],
    failing_destinations: [
      { destination: relay, since: ago(480), error: 'connect ECONNREFUSED 10.0.4.7:443', waiting: 1 },
    ],
    integrations_attention: [
      {
        integration: { id: 'NT000000000001', name: 'prod-eu' },
        issue: 'heartbeat_lost',
        since: ago(900),
      },
    ],
    template_errors: [
      {
        subject_kind: 'destination',
        subject: relay,
        template: 'webhook_request',
        since: ago(120),
        error: 'line 3, column 14: the alert has no label "team"',
      },
    ],
    active_storms: [
      { route: { id: 'RT000000000001', name: 'Production' }, since: ago(240), alert_group_count: 214 },
    ],
    outgoing_heartbeat: {
      configured: true,
      last_attempt_at: ago(31),
      last_ok: false,
      last_error: 'The receiver answered 503.',
    },
  };
}
