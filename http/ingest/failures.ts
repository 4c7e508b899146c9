/** Settles Snapshots whose body is no Snapshot, many in one transaction (ingestion §4.2). */
import type { FailedSnapshot, SnapshotQueue } from '../../actors/feed/ports.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { IngestMetrics } from './metrics.ts';
import { createPauses } from './pauses.ts';

const BATCH = 500;

export interface FailuresDeps {
  readonly queue: Pick<SnapshotQueue, 'fail'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: IngestMetrics;
}

export interface Failures {
  /** Resolves when the Snapshot is failed; a lost connection only delays that. */
  settle(failure: FailedSnapshot, integrationId: PublicId, snapshotId: PublicId): Promise<void>;
  /** How many are not settled yet. */
  waiting(): number;
}

interface Noted extends FailedSnapshot {
  readonly integrationId: PublicId;
  readonly snapshotId: PublicId;
  readonly done: () => void;
}

export function createFailures({ queue, clock, log, metrics }: FailuresDeps): Failures {
  let waiting: Noted[] = [];
  let isWriting = false;

  return {
    settle(failure, integrationId, snapshotId) {
      return new Promise((done) => {
        waiting.push({ ...failure, integrationId, snapshotId, done });
        if (!isWriting) void writeAll();
      });
    },
    waiting: () => waiting.length,
  };

  async function writeAll(): Promise<void> {
    isWriting = true;
    const pauses = createPauses(clock);
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH);
      try {
        await queue.fail(batch);
      } catch (error) {
        log('ingest_failed', { error: String(error) });
        await pauses.next();
        continue;
      }
      pauses.reset();
      waiting = waiting.slice(batch.length);
      for (const noted of batch) report(noted);
    }
    isWriting = false;
  }

  function report({ integrationId, snapshotId, error, done }: Noted): void {
    metrics.failed(integrationId);
    log('snapshot_failed', { integration: integrationId, stored_snapshot: snapshotId, error });
    done();
  }
}
