/** Alert Groups to try templates on: what was received lately, or the built-in example (templates §8, §10). */
import { setImmediate } from 'node:timers/promises';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Directory, RouteConfig } from '../directory.ts';
import { parseSnapshot } from '../feed/snapshot.ts';
import type { StoredSnapshotReader } from '../feed/stored-snapshots.ts';
import { withStaticLabels } from '../integration/static-labels.ts';
import type { Labels } from '../model.ts';
import { compileRoutes, routeFor } from '../route/evaluate.ts';
import type { TemplateAlert, TemplateGroup } from '../templates/data.ts';
import type { SampleBody, SampleSnapshots } from './ports.ts';
import { exampleGroup, receivedGroup } from './sample-group.ts';

/** Snapshots that a template is tried on (`template.dry_run_sample`). */
const MOST_SAMPLES = 20;

export interface SampleMoment {
  readonly directory: Directory;
  readonly now: Micros;
}

export interface SampleReader {
  /** Of the last Snapshots of the whole Organization, newest first. */
  newest(at: SampleMoment): Promise<readonly TemplateGroup[]>;
  /** Of the last Snapshots of which the Route took an Alert, with the Alerts that it took; newest first. */
  ofRoute(routeId: PublicId, at: SampleMoment): Promise<readonly TemplateGroup[]>;
  /** Null when there is no such Stored Snapshot, or when it cannot be read as one. */
  ofSnapshot(id: PublicId, route: RouteConfig, at: SampleMoment): Promise<TemplateGroup | null>;
  /** @param route null: the Default route */
  example(route: RouteConfig | null, at: SampleMoment): TemplateGroup;
}

export interface SampleReaderDeps {
  readonly snapshots: SampleSnapshots;
  readonly stored: Pick<StoredSnapshotReader, 'read'>;
  readonly publicUrl: string;
}

export function createSampleReader({ snapshots, stored, publicUrl }: SampleReaderDeps): SampleReader {
  const made = (alerts: readonly TemplateAlert[], route: RouteConfig, { directory, now }: SampleMoment) =>
    receivedGroup(alerts, { route, directory, publicUrl, now });

  /** Until enough groups are made; Snapshots of which `keep` takes nothing are passed over. */
  const collect = async (
    at: SampleMoment,
    routeOf: (labels: Labels) => RouteConfig,
    keep: (labels: Labels) => boolean,
  ): Promise<readonly TemplateGroup[]> => {
    const groups: TemplateGroup[] = [];
    const live = [...at.directory.integrationsById.values()].filter(({ deleted }) => !deleted);
    const ids = live.map(({ id }) => id);
    for await (const sample of snapshots.newest(ids, at.now)) {
      // Between bodies everybody else gets a turn.
      await setImmediate();
      const alerts = alertsOf(sample, at.directory)?.filter(({ labels }) => keep(labels)) ?? [];
      const [first] = alerts;
      if (first) groups.push(made(alerts, routeOf(first.labels), at));
      if (groups.length === MOST_SAMPLES) break;
    }
    return groups;
  };

  return {
    newest(at) {
      const table = compileRoutes(at.directory);
      return collect(
        at,
        (labels) => routeFor(table, labels),
        () => true,
      );
    },
    async ofRoute(routeId, at) {
      const table = compileRoutes(at.directory);
      const route = at.directory.routesById.get(routeId);
      if (!route || route.deleted) return [];
      return collect(
        at,
        () => route,
        (labels) => routeFor(table, labels).id === routeId,
      );
    },
    async ofSnapshot(id, route, at) {
      const found = await stored.read(id, at.now);
      const alerts = found && alertsOf(found, at.directory);
      return alerts && alerts.length > 0 ? made(alerts, route, at) : null;
    },
    example: (route, at) => {
      const { directory, now } = at;
      return exampleGroup({ route: route ?? defaultRoute(at), directory, publicUrl, now });
    },
  };
}

export function defaultRoute({ directory }: Pick<SampleMoment, 'directory'>): RouteConfig {
  const route = directory.routes.find(({ isDefault }) => isDefault);
  if (!route) throw new Error('there is no Default route');
  return route;
}

/** Null for a body that is no Snapshot. Static labels are those of now, as with every preview. */
function alertsOf(
  { integrationId, body }: SampleBody,
  directory: Directory,
): readonly TemplateAlert[] | null {
  const parsed = parseSnapshot(body);
  if (!parsed.ok) return null;
  const staticLabels = directory.integrationsById.get(integrationId)?.staticLabels ?? {};
  return parsed.snapshot.entries.map(({ fingerprint, status, startsAt, generatorUrl, ...entry }) => ({
    fingerprint,
    status,
    labels: withStaticLabels(entry.labels, staticLabels).labels,
    annotations: entry.annotations,
    startsAt,
    endsAt: status === 'firing' ? null : startsAt,
    generatorUrl,
  }));
}
