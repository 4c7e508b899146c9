/** What on the System status asks for somebody's attention: the gravest first, nothing when everything works. */
import type { SystemStatus } from '../../api/system.ts';
import type { Translate } from '../../i18n/i18n.svelte.ts';

/** What waits or fails for longer than this is not just passing, ms. */
const WAITS_MS = 60_000;

export type FindingCode =
  | 'no_leader'
  | 'without_owner'
  | 'redis_away'
  | 'broken'
  | 'failing'
  | 'snapshots_wait'
  | 'messages_wait'
  | 'integrations'
  | 'templates'
  | 'storms'
  | 'heartbeat_failed'
  | 'versions_differ'
  | 'recovering';

export interface Finding {
  readonly code: FindingCode;
  readonly count: number;
  readonly isGrave: boolean;
  /** Id of the section of the page that shows it. */
  readonly section: 'replicas' | 'queues' | 'deliveries' | 'integrations' | 'recovery' | 'heartbeat';
}

export function findingsOf(status: SystemStatus): readonly Finding[] {
  const { coordination, replicas, recovery, outgoing_heartbeat: heartbeat } = status;
  const { shards, queues } = coordination;
  // Not the browser's clock, which may be anything.
  const now = Date.parse(coordination.read_at);
  const versions = new Set(coordination.replicas.map(({ version }) => version));
  const isLong = (since: string) => now - Date.parse(since) > WAITS_MS;
  const waiting = (queue: (typeof queues)['inbox']) =>
    queue.oldest_at !== null && isLong(queue.oldest_at) ? queue.waiting : 0;
  const failingLong = status.failing_destinations.filter(({ since }) => isLong(since)).length;

  // One Integration may have several issues.
  const integrations = new Set(status.integrations_attention.map(({ integration }) => integration.id));

  const grave = (code: FindingCode, section: Finding['section'], count: number): Finding[] =>
    count > 0 ? [{ code, section, count, isGrave: true }] : [];
  const mild = (code: FindingCode, section: Finding['section'], count: number): Finding[] =>
    count > 0 ? [{ code, section, count, isGrave: false }] : [];

  return [
    ...grave('no_leader', 'replicas', replicas.some(({ leader }) => leader) ? 0 : 1),
    ...grave('without_owner', 'replicas', shards.without_owner),
    ...grave('redis_away', 'replicas', coordination.redis_up === false ? 1 : 0),
    ...grave('broken', 'deliveries', status.broken_destinations.length),
    ...grave('failing', 'deliveries', failingLong),
    ...grave('snapshots_wait', 'queues', waiting(queues.snapshots)),
    ...grave('messages_wait', 'queues', waiting(queues.inbox)),
    ...grave('integrations', 'integrations', integrations.size),
    ...mild('failing', 'deliveries', status.failing_destinations.length - failingLong),
    ...mild('templates', 'deliveries', status.template_errors.length),
    ...mild('storms', 'deliveries', status.active_storms.length),
    ...mild('heartbeat_failed', 'heartbeat', heartbeat.last_ok === false ? 1 : 0),
    ...mild('versions_differ', 'replicas', versions.size > 1 ? versions.size : 0),
    ...mild('recovering', 'recovery', recovery.active ? 1 : 0),
  ];
}

/** A finding in words. */
export function sentenceOf({ code, count }: Finding, t: Translate): string {
  switch (code) {
    case 'no_leader':
      return t('systemStatus.found.noLeader');
    case 'without_owner':
      return t('systemStatus.found.withoutOwner', { count });
    case 'redis_away':
      return t('systemStatus.found.redisAway');
    case 'broken':
      return t('systemStatus.found.broken', { count });
    case 'failing':
      return t('systemStatus.found.failing', { count });
    case 'snapshots_wait':
      return t('systemStatus.found.snapshotsWait', { count });
    case 'messages_wait':
      return t('systemStatus.found.messagesWait', { count });
    case 'integrations':
      return t('systemStatus.found.integrations', { count });
    case 'templates':
      return t('systemStatus.found.templates', { count });
    case 'storms':
      return t('systemStatus.found.storms', { count });
    case 'heartbeat_failed':
      return t('systemStatus.found.heartbeatFailed');
    case 'versions_differ':
      return t('systemStatus.found.versionsDiffer', { count });
    case 'recovering':
      return t('systemStatus.found.recovering');
  }
}
