/** What happens once a commit is durable: each kind of performed effect has one place where it goes. */
import type { GroupPerformed, StatusChanged } from '../../actors/alert-group/effects.ts';
import type { AlertGroupMetrics } from '../../actors/alert-group/metrics.ts';
import type { DestinationProbe, MessageSend } from '../../actors/channels/calls.ts';
import type { ConnectionPerformed, PollBegun } from '../../actors/connection/effects.ts';
import type { DeliveryHappened, DestinationHealthChanged } from '../../actors/destination/effects.ts';
import type { Directory, DirectorySource } from '../../actors/directory.ts';
import type { HintBus, HintSent } from '../../actors/effects.ts';
import type { InternalAlertReported, SnapshotReported } from '../../actors/feed/effects.ts';
import type { HeartbeatChanged, IntegrationPerformed } from '../../actors/integration/effects.ts';
import type { StormChanged } from '../../actors/route/effects.ts';
import type { IngestMetrics } from '../../http/ingest/index.ts';
import type { Performer } from '../actor/index.ts';
import { formatInstantOrNull } from '../clock.ts';
import type { Log } from '../log.ts';

type Performed =
  | GroupPerformed
  | HintSent
  | ConnectionPerformed
  | DestinationPerformed
  | SnapshotReported
  | InternalAlertReported
  | IntegrationPerformed
  | StormChanged;

export interface PerformerDeps {
  readonly hints: HintBus;
  readonly sendMessage: (effect: MessageSend | DestinationProbe) => void;
  readonly performForConnection: (effect: ConnectionPerformed) => void;
  readonly reported: (effect: SnapshotReported) => void;
  readonly ingestMetrics: IngestMetrics;
  readonly groupMetrics: AlertGroupMetrics;
  readonly directory: DirectorySource;
  readonly log: Log;
}

export function createPerformer(deps: PerformerDeps): Performer {
  const { hints, ingestMetrics } = deps;
  const performForDestination = createDestinationPerformer(deps);
  /** Integrations whose pages know that Snapshots come: told by the first one that this process sees. */
  const heard = new Set<string>();
  const tellFirst = (id: string) => {
    if (heard.has(id)) return;
    heard.add(id);
    hints.send({ type: 'integration', id });
  };
  return (effect) => {
    const performed = effect as Performed;
    switch (performed.type) {
      case 'hint':
        return hints.send(performed.hint);
      case 'message.send':
      case 'message.probe':
      case 'delivery.happened':
      case 'destination.health_changed':
        return performForDestination(performed);
      case 'connection.poll':
      case 'connection.poll_failed':
      case 'connection.poll_conflict':
      case 'connection.event_given_up':
        return deps.performForConnection(performed);
      case 'snapshot.reported':
        tellFirst(performed.integrationId);
        return deps.reported(performed);
      case 'internal_alert.reported':
        return logInternalAlert(deps.log, performed);
      case 'integration.heartbeat_changed':
        return logHeartbeat(deps.log, performed);
      case 'integration.alerts_stale':
        return deps.log('alerts_stale', {
          integration: performed.integrationId,
          groups: performed.groups,
          alerts: performed.alerts,
        });
      case 'alerts.resolved':
        return ingestMetrics.alertsResolved.inc(
          { integration: performed.integrationId, reason: performed.reason },
          performed.count,
        );
      case 'alerts.resolve_dropped':
        return ingestMetrics.dropped(performed.integrationId, performed.count);
      case 'route.storm_changed':
        return deps.log(performed.change, { route: performed.routeId, count: performed.count });
      case 'group.status_changed':
        deps.groupMetrics.statusChanged(performed);
        return logStatus(deps.log, performed);
      default:
        throw new Error(`Nothing performs ${JSON.stringify(performed satisfies never)}`);
    }
  };
}

function logInternalAlert(
  log: Log,
  { change, alertname, fingerprint, entityId }: InternalAlertReported,
): void {
  log(`internal_alert_${change}`, { alertname, fingerprint, entity: entityId });
}

function logHeartbeat(log: Log, { integrationId, state, lastSignalAt }: HeartbeatChanged): void {
  const fields = { integration: integrationId, last_signal_at: formatInstantOrNull(lastSignalAt) };
  log(state === 'live' ? 'heartbeat_live' : 'heartbeat_lost', fields);
}

/** The one log line about a change of status. */
function logStatus(log: Log, change: StatusChanged): void {
  log('alert_group_status_changed', {
    group: change.groupId,
    route: change.routeId,
    from: change.from,
    to: change.to,
    reason: change.reason,
    transport: change.transport,
  });
}

/** Performs what committed turns of Connections asked for. */
export interface ConnectionPerformerDeps {
  readonly poll: (effect: PollBegun) => void;
  readonly log: Log;
}

export function createConnectionPerformer({
  poll,
  log,
}: ConnectionPerformerDeps): (effect: ConnectionPerformed) => void {
  return (effect) => {
    const { connectionId: connection } = effect;
    switch (effect.type) {
      case 'connection.poll':
        poll(effect);
        break;
      case 'connection.poll_failed':
        log('poll_failed', { connection, error: effect.error });
        break;
      case 'connection.poll_conflict':
        log('poll_conflict', { connection, backoff_ms: effect.pause / 1_000 });
        break;
      case 'connection.event_given_up':
        log('update_failed', { connection, event_id: effect.eventId });
        break;
      default:
        effect satisfies never;
    }
  };
}

/** Performs what committed turns of Destinations asked for. */
export interface DestinationPerformerDeps {
  readonly sendMessage: (effect: MessageSend | DestinationProbe) => void;
  readonly log: Log;
  readonly hints: HintBus;
  readonly directory: { current(): Pick<Directory, 'routes'> };
}

type DestinationPerformed = MessageSend | DestinationProbe | DeliveryHappened | DestinationHealthChanged;

function createDestinationPerformer(deps: DestinationPerformerDeps): (effect: DestinationPerformed) => void {
  return (effect) => {
    switch (effect.type) {
      case 'message.send':
      case 'message.probe':
        return deps.sendMessage(effect);
      case 'delivery.happened':
        return happened(deps, effect);
      case 'destination.health_changed':
        return healthChanged(deps, effect);
    }
  };
}

/** What a message came to changes nothing that its Alert Group shows but the state of its deliveries. */
function happened(
  { log, hints }: DestinationPerformerDeps,
  { destinationId: destination, groupId, event }: DeliveryHappened,
): void {
  if (event === 'possible_duplicate') log('delivery_possible_duplicate', { destination, group: groupId });
  if (groupId !== null) hints.send({ type: 'alert-group', id: groupId });
}

function healthChanged(
  { log, hints, directory }: DestinationPerformerDeps,
  effect: DestinationHealthChanged,
): void {
  const { destinationId: id, change, reason } = effect;
  if (change === 'destination_broken' || change === 'destination_recovered')
    log(change, { destination: id, reason });
  hints.send({ type: 'destination', id });
  hints.send({ type: 'system-status', id: null });
  for (const route of directory.current().routes) {
    if (route.destinationIds.includes(id)) hints.send({ type: 'route', id: route.id });
  }
}
