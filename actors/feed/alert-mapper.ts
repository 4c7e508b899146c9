/** How an entry is sent to an Alert Group: with Static labels, severity and the Slot it would start a firing in. */
import { hash } from 'node:crypto';
import type { PublicId } from '../../runtime/public-id.ts';
import type { FiringEntry, PresenceChange, ResolvedEntry, Withdrawal } from '../alert-group/messages.ts';
import type { Directory, IntegrationConfig } from '../directory.ts';
import { internalSeverity } from '../internal-alerts/registry.ts';
import type { AlertReport, Slot } from '../model.ts';
import {
  compileRoutes,
  type RouteTable,
  routeFor,
  severityOf,
  slotFor,
  withStaticLabels,
} from '../route/evaluate.ts';
import type { SnapshotEntry } from './snapshot.ts';

export interface MappedAlert {
  readonly report: AlertReport;
  readonly slot: Slot;
}

/** One Integration under one picture of the configuration. */
export interface AlertMapper {
  readonly integration: IntegrationConfig;
  /** Changes with the Static labels, so that a listing after an edit is sent again. */
  readonly edition: string;
  map(entry: SnapshotEntry): MappedAlert;
}

/** Creates {@link AlertMapper}s and caches them until the Directory changes. */
export function createAlertMappers(): (directory: Directory, integrationId: string) => AlertMapper | null {
  let current: { directory: Directory; routes: RouteTable; mappers: Map<string, AlertMapper | null> } | null =
    null;
  return (directory, integrationId) => {
    if (current?.directory !== directory) {
      current = { directory, routes: compileRoutes(directory), mappers: new Map() };
    }
    const known = current.mappers.get(integrationId);
    if (known !== undefined) return known;
    const mapper = createAlertMapper(directory, current.routes, integrationId);
    current.mappers.set(integrationId, mapper);
    return mapper;
  };
}

/** Null for an Integration that is unknown, or deleted and done with. */
function createAlertMapper(
  directory: Directory,
  routes: RouteTable,
  integrationId: string,
): AlertMapper | null {
  const integration = directory.integrationsById.get(integrationId);
  if (!integration || integration.ended) return null;
  const { staticLabels, builtin } = integration;
  return {
    integration,
    edition: editionOf(staticLabels),
    map(entry) {
      const { labels, conflicts } = withStaticLabels(entry.labels, staticLabels);
      const own = builtin ? internalSeverity(labels) : null;
      const severity = own ? { level: own, raw: null } : severityOf(labels, directory.organization);
      return {
        report: {
          fingerprint: entry.fingerprint,
          labels,
          annotations: entry.annotations,
          startsAt: entry.startsAt,
          generatorUrl: entry.generatorUrl,
          severityLevel: severity.level,
          severityRaw: severity.raw,
          labelConflicts: conflicts,
        },
        slot: slotFor(routeFor(routes, labels), labels),
      };
    },
  };
}

const EDITION_LENGTH = 8;

function editionOf(staticLabels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(staticLabels);
  if (pairs.length === 0) return '';
  return `.${hash('sha256', JSON.stringify(pairs), 'base64url').slice(0, EDITION_LENGTH)}`;
}

/** Collects the part of one Snapshot that concerns each Alert Group. */
export interface GroupPart {
  readonly groupId: PublicId;
  readonly firing: FiringEntry[];
  readonly resolved: ResolvedEntry[];
  readonly groupWideResolved: string[];
  readonly withdrawn: Withdrawal[];
  readonly presences: PresenceChange[];
}

export interface Parts {
  /** The part of one group, made when first asked for. */
  of(groupId: PublicId): GroupPart;
  /** In the order in which the groups were first asked for. */
  list(): readonly GroupPart[];
}

export function createParts(): Parts {
  const byGroup = new Map<PublicId, GroupPart>();
  return {
    of(groupId) {
      const known = byGroup.get(groupId);
      if (known) return known;
      const part = { groupId, firing: [], resolved: [], groupWideResolved: [], withdrawn: [], presences: [] };
      byGroup.set(groupId, part);
      return part;
    },
    list: () => [...byGroup.values()],
  };
}
