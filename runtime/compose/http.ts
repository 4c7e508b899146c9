/** The highest layer of the composition root: what requests reach, ingestion first. */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { createPasswords } from '../../actors/access/passwords.ts';
import { createRefusedProofs, type RefusedProofs } from '../../actors/access/refused-proofs.ts';
import { integrationAddress } from '../../actors/integration/messages.ts';
import { createHttp, type Http } from '../../http/index.ts';
import { createIngest, type Ingest } from '../../http/ingest/index.ts';
import { clientAddresses } from '../../http/server/exchange.ts';
import { createAccessStore } from '../../storage/access/access.ts';
import { createApiTokens } from '../../storage/access/api-tokens.ts';
import { appendAudit } from '../../storage/access/audit.ts';
import { recordLimited } from '../../storage/access/throttle.ts';
import { createPeople } from '../../storage/access/users.ts';
import { createHeartbeatSignals } from '../../storage/integrations/integrations.ts';
import { isUnavailable } from '../../storage/postgres/connection.ts';
import { createSnapshotQueue } from '../../storage/snapshots/queue.ts';
import { createSnapshotWriter } from '../../storage/snapshots/writer.ts';
import { csrfToken, verifyCsrfToken } from '../secrets/signed-tokens.ts';
import type { Channels } from './channels.ts';
import type { Engine } from './engine.ts';
import type { Ground } from './ground.ts';
import { createOidc, type Oidc } from './oidc.ts';
import { resourceOperations } from './resources.ts';

const RUNBOOKS_FOLDER = path.resolve(import.meta.dirname, '..', '..', 'docs', 'runbooks');
const UI_FOLDER = path.resolve(import.meta.dirname, '..', '..', 'ui', 'dist');

export interface HttpLayer {
  readonly http: Http;
  readonly ingest: Ingest;
  readonly oidc: Oidc;
}

/** Puts requests, pages and ingestion together; the listeners are opened by {@link Http.start}. */
export async function createHttpLayer(
  ground: Ground,
  engine: Engine,
  channels: Channels,
): Promise<HttpLayer> {
  const { settings, database, clock, log, registry, directory, outbound, wake } = ground;
  const { main: sql, keyring } = database;
  const { caller } = outbound;
  const { internalAlerts, hints } = engine;
  const refusedProofs = createRefusedProofs({
    record: (entry, limit) => recordLimited(sql, appendAudit, entry, limit),
    ...{ clock, log },
  });
  const ingest = ingestOf(ground, engine, refusedProofs);
  ground.ports.intake.fill(ingest);
  const access = createAccessStore({ sql, appendAudit, keyring, log });
  const { publicUrl } = settings;
  const oidc = createOidc({
    ...{ database, access, internalAlerts, caller, registry, clock, log, publicUrl },
  });
  const http = await createHttp({
    ...{
      publicUrl,
      listen: settings.listen,
      ingestFraming: settings.ingestFraming,
      engine: settings.httpEngine,
    },
    trustedProxies: settings.trustedProxies,
    ...{ clock, log, registry, access, directory, hints, isUnavailable, ingest, refusedProofs },
    uiFolder: UI_FOLDER,
    runbooksFolder: RUNBOOKS_FOLDER,
    version: ground.version.version,
    random: (size) => randomBytes(size),
    singleSignOn: oidc.singleSignOn,
    people: createPeople({ sql, appendAudit, keyring, log }),
    tokens: createApiTokens({ sql, log }),
    passwords: createPasswords(clock),
    csrf: {
      issue: (session) => csrfToken(keyring, session),
      verify: (session, token) => verifyCsrfToken(keyring, session, token),
    },
    upToDate: engine.watch.look,
    poke: wake.everyone,
    operations: operationsOf(ground, engine, channels, oidc),
    readiness: ground.state.check,
    callbacks: channels.connections.callbacks,
  });
  return { http, ingest, oidc };
}

function ingestOf(ground: Ground, engine: Engine, refusedProofs: RefusedProofs): Ingest {
  const { system, placement, calls, others } = engine;
  const { settings, database, clock, log, tokens, state, wake } = ground;
  const snapshots = createSnapshotWriter(database.accepts);
  return createIngest({
    ...{ tokens, system, placement, clock, log, isUnavailable, refusedProofs },
    clientAddress: clientAddresses(settings.trustedProxies),
    signals: createHeartbeatSignals(database.main, (id) => wake.owner(integrationAddress(id))),
    writer: { write: (received) => state.watched(snapshots.write(received)) },
    queue: createSnapshotQueue(database.main),
    others: calls && others && { ...others, call: calls.snapshotsWait },
    metrics: ground.ingestMetrics,
    logsInfo: settings.logLevel === 'info',
  });
}

function operationsOf(ground: Ground, engine: Engine, channels: Channels, oidc: Oidc) {
  const { version, outbound, wake, webhooks } = ground;
  const { others } = engine;
  return resourceOperations({
    ...{ ...ground, ...engine, ...engine.saving, ...channels, webhooks },
    caller: outbound.caller,
    messagesWait: wake.everyone,
    oidc: oidc.forSettings,
    systemStatus: {
      reader: engine.systemStatus,
      version,
      coordination: others
        ? { mode: 'redis', redisUp: () => others.signals.isUp }
        : { mode: 'single', redisUp: () => null },
    },
  });
}
