/** How this process is seen by others: its record, its clock, and what it tells browsers about the service itself. */
import type { Hint } from '../../actors/effects.ts';
import type { SystemStatusReader } from '../../actors/system/ports.ts';
import { createSystemWatch } from '../../http/system-watch.ts';
import { readDatabaseClock } from '../../storage/database-clock.ts';
import { createReplicaRecordStore } from '../../storage/replica-records.ts';
import { atMost } from '../at-most.ts';
import { type Clock, SECOND } from '../clock.ts';
import { type ClockSkewMetrics, createClockSkew } from '../clock-skew.ts';
import type { Log } from '../log.ts';
import type { Member } from '../placement/coordination.ts';
import type { Leadership } from '../placement/leadership.ts';
import { createOwnRecord } from '../placement/replica-record.ts';
import type { Signals } from '../signals.ts';
import type { Version } from '../version.ts';
import type { Database } from './database.ts';

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
