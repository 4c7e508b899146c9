/** The whole service as `serve` composes it, in this process, on a scenario's clock and one database. */
import { type Database, openDatabase, type ServiceSettings } from '../../runtime/compose/database.ts';
import { type Service, startService } from '../../runtime/compose/service.ts';
import type { DatabaseSettings } from '../../runtime/config.ts';
import type { Log } from '../../runtime/log.ts';
import { masterKey } from '../../runtime/secrets/keyring.ts';
import { HTTP_ENGINE } from '../harness/prepared.ts';
import type { ScenarioClock } from './scenario-clock.ts';

export interface RunningService {
  readonly service: Service;
  readonly database: Database;
  readonly appUrl: string;
  readonly ingestUrl: string;
  readonly internalUrl: string;
  /** As after SIGTERM. */
  stop(): Promise<void>;
}

const ANY_PORT = { host: '127.0.0.1', port: 0 } as const;
const MASTER_KEY = masterKey(Buffer.alloc(32, 7));

export function settingsOn(database: DatabaseSettings): ServiceSettings {
  return {
    listen: { app: ANY_PORT, ingest: ANY_PORT, internal: ANY_PORT },
    publicUrl: 'https://tocsin.example',
    ingestUrl: 'https://ingest.example',
    ingestFraming: 'strict',
    httpEngine: HTTP_ENGINE,
    trustedProxies: [],
    runbookBaseUrl: 'https://r.example',
    database,
    sessionDatabase: database,
    prepareStatements: true,
    poolMax: 4,
    masterKeys: [MASTER_KEY],
    bootstrap: null,
    bootstrapIntegrationToken: null,
    redis: null,
    replicaId: 'scenario',
    logLevel: 'info',
    processing: 'on',
  };
}

/** Resolves once the service acts and answers. */
export async function runService(
  settings: DatabaseSettings,
  clock: ScenarioClock,
  log: Log,
): Promise<RunningService> {
  const database = await openDatabase({ settings: settingsOn(settings), migrate: false, clock, log });
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const one of stops.toReversed()) await one();
    await database.close();
    clock.forgetWaits();
  };
  try {
    const version = { version: '1.4.2', commit: 'unknown' };
    const deps = { settings: settingsOn(settings), version, database, clock, log };
    const service = await startService(deps, (one) => stops.push(one));
    const url = ({ port }: { port: number }) => `http://127.0.0.1:${port}`;
    const { app, ingest, internal } = service.bound;
    return {
      ...{ service, database, stop },
      appUrl: url(app),
      ingestUrl: url(ingest),
      internalUrl: url(internal),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
