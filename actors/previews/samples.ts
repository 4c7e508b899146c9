/** Alert Groups to try templates on: what was received lately, or the built-in example (templates §8, §10). */
import { setImmediate } from 'node:timers/promises';
import { MINUTE, type Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import {
  commonOf,
  cutTitle,
  highestLevel,
  isUrgent,
  longestFiring,
  sharedAlertname,
  titleFromKey,
} from '../alert-group/reading/alert-summary.ts';
import type { StoredGroup } from '../alert-group/reading/readers.ts';
import type { Directory, RouteConfig } from '../directory.ts';
import type { StoredSnapshotReader } from '../feed/ports.ts';
import { parseSnapshot } from '../feed/snapshot.ts';
import type { Labels } from '../model.ts';
import { compileRoutes, groupLabelsFor, routeFor, severityOf, withStaticLabels } from '../route/evaluate.ts';
import { inMessageOrder, type TemplateAlert, type TemplateGroup } from '../templates/data.ts';

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

/** Alert Groups that are not there, for templates to be tried on (templates §8). */
export interface SampleFrame {
  /** The Route that takes the Alerts. */
  readonly route: RouteConfig;
  readonly directory: Directory;
  readonly publicUrl: string;
  readonly now: Micros;
}

/** So many Alerts of a group can templates see. */
const MOST_ALERTS = 1_000;

/** What some Alerts, at least one, would make if they were Alert Group #1. */
function receivedGroup(received: readonly TemplateAlert[], frame: SampleFrame): TemplateGroup {
  const { route, directory, publicUrl } = frame;
  const alerts = inMessageOrder(received).slice(0, MOST_ALERTS);
  const firing = received.filter(({ status }) => status === 'firing');
  const deciding = firing.length > 0 ? firing : received;
  const levels = deciding.map(({ labels }) => severityOf(labels, directory.organization).level);
  const summarized = longestFiring(deciding.filter(({ annotations }) => annotations.summary));
  const severityLevel = highestLevel(levels) ?? 'info';
  const groupLabels = groupLabelsFor(route.groupKey, alerts[0]?.labels ?? {});
  const alertname = sharedAlertname(alerts.map(({ labels }) => labels));
  return {
    number: 1,
    title: alertname === null ? titleFromKey(groupLabels, route.name) : cutTitle(alertname),
    summary: summarized?.annotations.summary ?? null,
    status: firing.length > 0 ? 'firing' : 'resolved',
    route: route.name,
    severityLevel,
    urgent: route.urgent || (severityLevel === 'critical' && directory.organization.criticalIsUrgent),
    startedAt: Math.min(...alerts.map(({ startsAt }) => startsAt)),
    url: `${publicUrl}/alert-groups`,
    reopenCount: 0,
    owner: null,
    alerts,
    groupLabels,
    commonLabels: commonOf(alerts.map(({ labels }) => labels)),
    commonAnnotations: commonOf(alerts.map(({ annotations }) => annotations)),
    externalUrl: publicUrl,
  };
}

/** The built-in example: two firing Alerts, whatever was received. */
function exampleGroup(frame: SampleFrame): TemplateGroup {
  const startsAt = frame.now - 10 * MINUTE;
  const alerts = ['billing-7f', 'billing-9c'].map((pod) => exampleAlert(pod, startsAt));
  return { ...receivedGroup(alerts, frame), severityLevel: 'critical' };
}

function exampleAlert(pod: string, startsAt: Micros): TemplateAlert {
  return {
    fingerprint: pod,
    status: 'firing',
    labels: { alertname: 'ApiErrors', cluster: 'prod-1', namespace: 'billing', pod, severity: 'critical' },
    annotations: {
      summary: '5xx rate above 2 %',
      runbook_url: 'https://runbooks.example.org/api-errors',
    },
    startsAt,
    endsAt: null,
    generatorUrl: 'https://prometheus.example.org/graph?g0.expr=up',
  };
}

/** A stored Alert Group as templates read it (templates §8). */
export function templateGroup(
  group: StoredGroup,
  alerts: readonly TemplateAlert[],
  { directory, publicUrl }: { readonly directory: Directory; readonly publicUrl: string },
): TemplateGroup {
  const { ownerId } = group;
  return {
    number: group.number,
    title: group.title,
    summary: group.summary,
    status: group.status,
    route: directory.routesById.get(group.routeId)?.name ?? '',
    severityLevel: group.severityLevel,
    urgent: isUrgent(directory, group.routeId, group.severityLevel),
    startedAt: group.startedAt,
    url: `${publicUrl}/alert-groups/${group.id}`,
    reopenCount: group.reopenCount,
    owner: ownerId === null ? null : (directory.usersById.get(ownerId)?.name ?? null),
    alerts,
    groupLabels: group.groupLabels,
    commonLabels: group.commonLabels,
    commonAnnotations: group.commonAnnotations,
    externalUrl: publicUrl,
  };
}

/** Alerts that a message lists by a line each (`message.alerts_listed`). */
export const MOST_LINES = 10;

/** A body as an Integration sent it. */
interface SampleBody {
  readonly integrationId: PublicId;
  readonly body: Buffer;
}

/** Implemented in storage/snapshots/preview-bodies.ts. */
export interface SampleSnapshots {
  /** What was received last, newest first, each body of an Integration once; only so far back as previews look. */
  newest(integrationIds: readonly PublicId[], now: Micros): AsyncIterable<SampleBody>;
}

/** The Alerts of an Alert Group as templates read them. Implemented in storage/alert-groups/pages.ts. */
export interface TemplateAlerts {
  /** Firing first, newest start first, then by fingerprint; at most 1,000. */
  of(groupId: PublicId): Promise<readonly TemplateAlert[]>;
  /** The same of each of the groups. */
  ofEach(groupIds: readonly PublicId[]): Promise<ReadonlyMap<PublicId, readonly TemplateAlert[]>>;
  /** Those of these fingerprints, in any order. */
  named(groupId: PublicId, fingerprints: readonly string[]): Promise<readonly TemplateAlert[]>;
}
