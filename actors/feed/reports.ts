/** How an entry is told to an Alert Group: with Static labels, severity and the Slot it would start a firing in. */
import { hash } from 'node:crypto';
import type { Directory, IntegrationConfig } from '../directory.ts';
import { withStaticLabels } from '../integration/static-labels.ts';
import { internalSeverity } from '../internal-alerts/registry.ts';
import type { AlertReport, Slot } from '../model.ts';
import { compileRoutes, type RouteTable, routeFor } from '../route/evaluate.ts';
import { slotFor } from '../route/group-key.ts';
import { severityOf } from '../route/severity.ts';
import type { SnapshotEntry } from './snapshot.ts';

export interface Told {
  readonly report: AlertReport;
  readonly slot: Slot;
}

/** One Integration under one picture of the configuration. */
export interface Teller {
  readonly integration: IntegrationConfig;
  /** Changes with the Static labels, so that a listing after an edit is told again. */
  readonly edition: string;
  tell(entry: SnapshotEntry): Told;
}

/** Makes {@link Teller}s and keeps them for as long as the Directory is the current one. */
export function createTellers(): (directory: Directory, integrationId: string) => Teller | null {
  let current: { directory: Directory; routes: RouteTable; tellers: Map<string, Teller | null> } | null =
    null;
  return (directory, integrationId) => {
    if (current?.directory !== directory) {
      current = { directory, routes: compileRoutes(directory), tellers: new Map() };
    }
    const known = current.tellers.get(integrationId);
    if (known !== undefined) return known;
    const teller = createTeller(directory, current.routes, integrationId);
    current.tellers.set(integrationId, teller);
    return teller;
  };
}

/** Null for an Integration that is unknown, or deleted and done with. */
function createTeller(directory: Directory, routes: RouteTable, integrationId: string): Teller | null {
  const integration = directory.integrationsById.get(integrationId);
  if (!integration || integration.ended) return null;
  const { staticLabels, builtin } = integration;
  return {
    integration,
    edition: editionOf(staticLabels),
    tell(entry) {
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
