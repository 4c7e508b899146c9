/** How this process stands among others: alone under a lock, or one of several that meet in Redis (operations §5). */
import type { Registry } from 'prom-client';
import type { Hint } from '../../actors/effects.ts';
import type { SystemStatusReader } from '../../actors/system/ports.ts';
import { createSystemWatch } from '../../http/live/hint-bus.ts';
import { createEpochStore, createSessionLock, hasSharedHolders } from '../../storage/engine/placement.ts';
import { createReplicaRecordStore, createReplicaRecords } from '../../storage/engine/replica-records.ts';
import { readDatabaseClock } from '../../storage/postgres/database-check.ts';
import type { Placement } from '../actor/index.ts';
import type { Signals } from '../broadcast.ts';
import { atMost, type Clock, SECOND, systemMonotonic } from '../clock.ts';
import { type ClockSkewMetrics, createClockSkew } from '../clock-skew.ts';
import type { Log } from '../log.ts';
import { createTrust } from '../outbound/trust.ts';
import { type Member, memberText } from '../placement/coordination.ts';
import { createDatabaseAnswers } from '../placement/database-answers.ts';
import { createIsolatedReplicas, whenGone } from '../placement/isolated-replicas.ts';
import { keepLock, type SessionLock } from '../placement/kept-lock.ts';
import { type Leadership, soloLeadership } from '../placement/leadership.ts';
import { createLeasedPlacement } from '../placement/leased.ts';
import { createPlacementMetrics, type PlacementMetrics } from '../placement/metrics.ts';
import { createOwnRecord } from '../placement/replica-record.ts';
import { createSoloPlacement } from '../placement/solo.ts';
import { openRedis } from '../redis/index.ts';
import type { Version } from '../version.ts';
import { applicationName, type Database, type ServiceSettings } from './database.ts';

export interface PlacementDeps {
  readonly settings: ServiceSettings;
  readonly me: Member;
  readonly version: string;
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly registry: Registry;
  /** Whether an outbound call of an actor of the shard is under way. */
  isCalling(shard: number): boolean;
}

/** Placement as the service runs it. */
export interface RunningPlacement extends Placement {
  start(): Promise<void>;
  /** Gives everything to others, as far as there are any who take it. */
  drain(): Promise<void>;
  stop(): Promise<void>;
}

export interface Among {
  readonly placement: RunningPlacement;
  readonly leadership: Leadership;
  /** Null when this process is the only one. */
  readonly others: Others | null;
}

export interface Others {
  readonly signals: Signals;
  /** Whether some replica that lives by its record has no lease: it may not hear signals. */
  hasIsolated(): boolean;
  /** Calls back when a replica is gone, whether it stopped, died or was cut off. Returns the way to stop. */
  onGone(listener: () => void): () => void;
}

/**
 * @throws {Error} Redis cannot be used, or the other processes on this database run in the other mode
 */
export async function openPlacement(
  deps: PlacementDeps,
  onStop: (stop: () => Promise<void>) => void,
): Promise<Among> {
  const metrics = createPlacementMetrics(deps.registry);
  const { redis } = deps.settings;
  return redis === null ? alone(deps, metrics) : among(deps, redis, metrics, onStop);
}

async function alone(deps: PlacementDeps, metrics: PlacementMetrics): Promise<Among> {
  const { database, me, clock, log } = deps;
  if (await hasSharedHolders(database.main)) {
    throw new Error(
      'other replicas run with SVC_REDIS_URL on this database: set it here as well, or stop them first',
    );
  }
  const solo = createSoloPlacement({
    lock: lockOf(deps, false),
    owner: memberText(me),
    epochs: createEpochStore(database.main, clock),
    clock,
    log,
  });
  metrics.watchShards(() => solo.owned().length);
  return { placement: solo, leadership: soloLeadership(solo), others: null };
}

async function among(
  deps: PlacementDeps,
  { url, prefix }: NonNullable<ServiceSettings['redis']>,
  metrics: PlacementMetrics,
  onStop: (stop: () => Promise<void>) => void,
): Promise<Among> {
  const { me, version, database, clock, log, registry } = deps;
  const lock = lockOf(deps, true);
  let release = () => lock.release();
  onStop(() => release());
  if (!(await lock.acquire())) {
    throw new Error(
      'another process runs without SVC_REDIS_URL on this database: set it there as well, or stop it first',
    );
  }
  release = keepLock(lock, clock, log);
  const redis = await openRedis({ url, prefix, clock, log, registry, trust: createTrust() });
  onStop(() => redis.close());
  const records = createReplicaRecords(database.main);
  const answers = createDatabaseAnswers({ ask: () => askOf(database), clock, monotonic: systemMonotonic });
  answers.start();
  onStop(async () => answers.stop());
  const placement = createLeasedPlacement({
    ...{ me, version, clock, log, metrics, records },
    coordination: redis.coordination,
    epochs: createEpochStore(database.main, clock),
    database: answers,
    monotonic: systemMonotonic,
    isCalling: deps.isCalling,
  });
  const isolated = createIsolatedReplicas({ placement, records, clock, log });
  onStop(async () => isolated.stop());
  const onGone = (listener: () => void) => whenGone(placement, listener);
  const others = { signals: redis.signals, hasIsolated: isolated.any, onGone };
  return { placement, leadership: placement.leadership, others };
}

/** Whichever answers first: either may be busy with work that takes long, and still the database is there. */
export function askOf({ main, commits }: Database): Promise<unknown> {
  return Promise.any([main`select 1`, commits`select 1`]);
}

function lockOf({ settings, clock }: PlacementDeps, isShared: boolean): SessionLock {
  return createSessionLock({
    settings: settings.sessionDatabase,
    clock,
    isShared,
    applicationName: applicationName('lock', settings.replicaId),
  });
}

/** A database that does not answer must not hold up the shutdown; the record lapses then. */
const GOODBYE_WITHIN = 2 * SECOND;

export interface PresenceDeps {
  readonly me: Member;
  readonly version: Version;
  readonly database: Database;
  readonly leadership: Leadership;
  /** Null without Redis. */
  readonly signals: Signals | null;
  readonly reader: SystemStatusReader;
  /** The live streams of this process. */
  readonly hints: { send(hint: Hint): void };
  readonly metrics: ClockSkewMetrics;
  readonly clock: Clock;
  readonly log: Log;
  /** Told which master key is active, with every record. */
  readonly activeKey: (keyId: string) => void;
}

export interface Presence {
  start(): void;
  /** Removes the record of this run; to be called when it acts for nothing any more. */
  stop(): Promise<void>;
}

export function createPresence(deps: PresenceDeps): Presence {
  const { version, clock, log } = deps;
  const { main: sql, keyring } = deps.database;
  const record = createOwnRecord({
    ...deps,
    version: version.version,
    revision: version.commit,
    keyIds: keyring.heldKeyIds,
    store: createReplicaRecordStore(sql),
  });
  const skew = createClockSkew({ ...deps, databaseNow: () => readDatabaseClock(sql) });
  const watch = createSystemWatch({ reader: deps.reader, hints: deps.hints, clock, log });
  const parts = [record, skew, watch];
  return {
    start() {
      for (const part of parts) part.start();
    },
    async stop() {
      skew.stop();
      watch.stop();
      await atMost(clock, GOODBYE_WITHIN, record.stop());
    },
  };
}
