/** Operations of Integrations on a database that was just started on. */
import { expect } from 'vitest';
import type { DirectorySource } from '../../../actors/directory.ts';
import type { IntegrationTokens } from '../../../actors/integration/ports.ts';
import { silentLog } from '../../../runtime/log.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { createIntegrationStore } from '../../../storage/integrations/integrations.ts';
import { readAlertmanagerRoutes } from '../../../storage/integrations/states.ts';
import { createIntegrationTokens } from '../../../storage/integrations/tokens.ts';
import type { Sql } from '../../../storage/postgres/records.ts';
import {
  firstStart,
  internalAlerts,
  readDirectory,
  recordedAudit,
  recordedHints,
  stoppedClock,
} from '../../../test/configuration.ts';
import { type Answered, type OperationClient, operationClient } from '../../../test/operation-client.ts';
import { integrationOperations } from './integrations.ts';
import { alertmanagerRouteOperations } from './received.ts';

export interface IntegrationsStage {
  readonly api: OperationClient;
  readonly audit: ReturnType<typeof recordedAudit>;
  readonly hints: ReturnType<typeof recordedHints>;
  readonly tokens: IntegrationTokens;
  readonly directory: DirectorySource;
  /** How often somebody was told that messages wait. */
  readonly pokes: () => number;
}

export async function startIntegrations(sql: Sql): Promise<IntegrationsStage> {
  await firstStart(sql);
  const audit = recordedAudit();
  const hints = recordedHints();
  let pokes = 0;
  const tokens = createIntegrationTokens({ sql, clock: stoppedClock, log: silentLog, isTrusted: () => true });
  const directory = await readDirectory(sql);
  const store = createIntegrationStore({ sql, appendAudit: audit.appendAudit, internalAlerts });
  const ingestUrl = 'https://ingest.example.org';
  const publicUrl = 'https://tocsin.example.org';
  const deps = { store, tokens, directory, hints, ingestUrl, publicUrl, messageWaits: () => pokes++ };
  const routes = (id: PublicId) => readAlertmanagerRoutes(sql, id);
  const operations = [...integrationOperations(deps), ...alertmanagerRouteOperations({ routes })];
  const api = operationClient({ operations, directory, clock: stoppedClock });
  return { api, audit, hints, tokens, directory, pokes: () => pokes };
}

export const INPUT = {
  name: 'prod-eu',
  connection_mode: 'webhook_only',
  static_labels: { cluster: 'eu' },
  duplicate_window_seconds: 45,
  heartbeat: { enabled: false },
};

/** A new Integration, as it is answered. */
export async function createdIn(api: OperationClient, changes: object = {}) {
  const answer = await api.post('/integrations', { ...INPUT, ...changes });
  expect(answer.status).toBe(201);
  return answer.body;
}

export function errorsOf({ status, body }: Answered) {
  const errors: readonly { pointer: string; code: string }[] = body.errors ?? [];
  return [status, ...errors.map(({ pointer, code }) => `${code} ${pointer}`)];
}
