/** What the service measures about the installation as a whole (operations §8). */
import { Gauge, type Registry } from 'prom-client';
import type { Leadership } from '../../runtime/placement/leadership.ts';
import type { DirectorySource } from '../directory.ts';
import type { GaugeReadings } from './ports.ts';

const OPEN = ['firing', 'acknowledged', 'snoozed'] as const;

export interface SystemMetricsSource {
  readonly leadership: Leadership;
  readonly directory: Pick<DirectorySource, 'current'>;
}

export interface SystemMetrics {
  /** Makes the gauges show this installation; to be called once. */
  watch(source: SystemMetricsSource): void;
  /**
   * Shows readings until the next ones. Only the Leader exports them: without the lead they are dropped, and with the lead
   * the series disappear.
   */
  show(readings: GaugeReadings): void;
}

/** Registers `svc_leader`, the gauges that only the Leader exports, and the names of what is configured. */
export function createSystemMetrics(registry: Registry): SystemMetrics {
  let source: SystemMetricsSource | null = null;
  let shown: GaugeReadings | null = null;
  const directory = () => source?.directory.current();
  showLeader(registry, () => source?.leadership.isLeader ?? false);
  showBacklog(registry, () => shown);
  showHeartbeats(registry, () => shown);
  showOutgoingHeartbeat(registry, () => shown);
  showGroups(registry, {
    readings: () => shown,
    routes: () => directory()?.routes ?? [],
  });
  showDestinations(registry, () => shown);
  showStorms(registry, { readings: () => shown, routes: () => directory()?.routes ?? [] });
  showNames(registry, 'integration', () => directory()?.integrationsById.values() ?? []);
  showNames(registry, 'route', () => directory()?.routes ?? []);
  showNames(registry, 'destination', () => directory()?.destinationsById.values() ?? []);
  showNames(registry, 'connection', () => directory()?.connectionsById.values() ?? []);
  return {
    watch(it) {
      source = it;
      it.leadership.onChange(() => {
        if (!it.leadership.isLeader) shown = null;
      });
    },
    show(readings) {
      if (source?.leadership.isLeader) shown = readings;
    },
  };
}

function showLeader(registry: Registry, isLeader: () => boolean): void {
  new Gauge({
    name: 'svc_leader',
    help: '1 on the replica that leads, 0 elsewhere.',
    registers: [registry],
    collect() {
      this.set(isLeader() ? 1 : 0);
    },
  });
}

function showBacklog(registry: Registry, readings: () => GaugeReadings | null): void {
  new Gauge({
    name: 'svc_ingest_backlog',
    help: 'Stored Snapshots waiting to be processed. Only from the Leader.',
    registers: [registry],
    collect() {
      const shown = readings();
      if (shown) this.set(shown.snapshotsWaiting);
      else this.remove();
    },
  });
}

function showHeartbeats(registry: Registry, readings: () => GaugeReadings | null): void {
  new Gauge({
    name: 'svc_heartbeat_lost',
    help: '1 while the Heartbeat of the Integration is lost. Only from the Leader.',
    labelNames: ['integration'] as const,
    registers: [registry],
    collect() {
      this.reset();
      for (const { id, isLost } of readings()?.integrations ?? [])
        this.set({ integration: id }, isLost ? 1 : 0);
    },
  });
}

function showOutgoingHeartbeat(registry: Registry, readings: () => GaugeReadings | null): void {
  new Gauge({
    name: 'svc_outgoing_heartbeat_lost',
    help: '1 while the last attempt of the outgoing heartbeat failed, absent while it is off. Only from the Leader.',
    registers: [registry],
    collect() {
      const lost = readings()?.isOutgoingHeartbeatLost ?? null;
      if (lost === null) this.remove();
      else this.set(lost ? 1 : 0);
    },
  });
}

interface GroupSource {
  readings(): GaugeReadings | null;
  /** Live Routes: each has all its series, also while it has no open group. */
  routes(): readonly { readonly id: string }[];
}

function showGroups(registry: Registry, { readings, routes }: GroupSource): void {
  new Gauge({
    name: 'svc_alert_groups',
    help: 'Open Alert Groups. Only from the Leader.',
    labelNames: ['route', 'status'] as const,
    registers: [registry],
    collect() {
      this.reset();
      const shown = readings();
      if (!shown) return;
      for (const { id } of routes()) {
        for (const status of OPEN) this.set({ route: id, status }, 0);
      }
      for (const { route, status, count } of shown.groups) this.set({ route, status }, count);
    },
  });
}

function showDestinations(registry: Registry, readings: () => GaugeReadings | null): void {
  const gauge = (
    name: string,
    help: string,
    read: (reading: GaugeReadings['destinations'][number]) => number,
  ) =>
    new Gauge({
      name,
      help,
      labelNames: ['destination'] as const,
      registers: [registry],
      collect() {
        this.reset();
        for (const reading of readings()?.destinations ?? [])
          this.set({ destination: reading.id }, read(reading));
      },
    });
  gauge('svc_delivery_queue', 'Deliveries waiting. Only from the Leader.', ({ queued }) => queued);
  gauge(
    'svc_destination_broken',
    '1 while the Destination is Broken. Only from the Leader.',
    ({ isBroken }) => (isBroken ? 1 : 0),
  );
}

function showStorms(registry: Registry, { readings, routes }: GroupSource): void {
  new Gauge({
    name: 'svc_storm_active',
    help: '1 while a Storm of the Route lasts. Only from the Leader.',
    labelNames: ['route'] as const,
    registers: [registry],
    collect() {
      this.reset();
      const shown = readings();
      if (!shown) return;
      for (const { id } of routes()) this.set({ route: id }, shown.storms.includes(id) ? 1 : 0);
    },
  });
}

interface Named {
  readonly id: string;
  readonly name: string;
  readonly deleted?: boolean;
}

function showNames(
  registry: Registry,
  kind: 'integration' | 'route' | 'destination' | 'connection',
  all: () => Iterable<Named>,
): void {
  new Gauge({
    name: `svc_${kind}_info`,
    help: `Always 1; names the ${kind}s that are configured.`,
    labelNames: [kind, 'name'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { id, name, deleted } of all()) {
        if (!deleted) this.set({ [kind]: id, name }, 1);
      }
    },
  });
}
