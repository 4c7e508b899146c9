/**
 * Writes Request log records to the database asynchronously; callers never wait (outbound-http §4.1). Its memory is
 * bounded; records that do not fit or cannot be written are dropped and counted.
 */
import { type Clock, type Micros, SECOND, type Timer } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { OutboundMetrics } from '../metrics.ts';
import type { RequestRecord } from './record.ts';

/** Records are batched for this long after the first of them. */
const GATHERED_FOR: Micros = SECOND / 4;
/** Between attempts while the database is unavailable. */
const AGAIN_AFTER: Micros = SECOND;
const MOST_RECORDS = 2_000;
const MOST_CHARACTERS = 16 * 1024 * 1024;
/** Records of one statement. */
const BATCH = 200;

export interface RequestLogStore {
  /** Stores records and removes the superseded ones. Records of deleted owners are left out. */
  write(records: readonly RequestRecord[], superseded: readonly Superseded[]): Promise<void>;
}

/** A stored record that a newer one replaces. */
export type Superseded = Pick<RequestRecord, 'at' | 'id'>;

export interface RequestRecorder {
  /** Makes a record later, and keeps or drops it. Never waits and never throws, even when `make` throws. */
  record(make: () => RequestRecord): void;
  /** Writes the remaining records once, if the database answers. */
  stop(): Promise<void>;
}

export interface RecorderDeps {
  readonly store: RequestLogStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<OutboundMetrics, 'recorded'>;
  /** Whether another attempt may succeed after this error. */
  readonly isUnavailable: (error: unknown) => boolean;
}

export function createRequestRecorder(deps: RecorderDeps): RequestRecorder {
  const { store, clock, log, metrics } = deps;
  let waiting: RequestRecord[] = [];
  let superseded: RequestRecord[] = [];
  /** By Connection: its newest poll, if that was empty. */
  const emptyPolls = new Map<string, RequestRecord>();
  let characters = 0;
  let timer: Timer | null = null;
  let writing: Promise<void> | null = null;
  let isStopping = false;

  const isFull = (): boolean => waiting.length >= MOST_RECORDS || characters >= MOST_CHARACTERS;

  const arm = (delay: Micros): void => {
    if (isStopping || writing !== null) return;
    timer ??= clock.after(delay, () => {
      timer = null;
      writing = flush().then((pause) => {
        writing = null;
        if (waiting.length > 0) arm(pause);
      });
    });
  };

  /** Writes everything that waits, in batches. @returns how long to wait before the next run */
  const flush = async (): Promise<Micros> => {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH);
      const later = new Set(waiting.slice(BATCH));
      const replaced = superseded.filter((record) => !later.has(record));
      try {
        await store.write(batch, replaced);
        metrics.recorded('written', batch.length);
      } catch (error) {
        if (deps.isUnavailable(error) && !isStopping) return AGAIN_AFTER;
        lose(batch.length, error);
      }
      const done = new Set<unknown>([...batch, ...replaced]);
      waiting = waiting.filter((record) => !done.has(record));
      superseded = superseded.filter((record) => !done.has(record));
      characters = waiting.reduce((sum, record) => sum + sizeOf(record), 0);
    }
    return GATHERED_FOR;
  };

  const lose = (count: number, error: unknown): void => {
    metrics.recorded('lost', count);
    log('request_records_lost', { count, error: error instanceof Error ? error.message : String(error) });
  };

  /** Of consecutive empty polls only the newest is kept, even when the one before was written already. */
  const supersede = (record: RequestRecord): void => {
    const key = `${record.connectionId} ${record.operation}`;
    const before = emptyPolls.get(key);
    if (!record.isEmptyPoll) return void emptyPolls.delete(key);
    emptyPolls.set(key, record);
    if (before) superseded.push(before);
  };

  const take = (make: () => RequestRecord): void => {
    try {
      const record = make();
      supersede(record);
      waiting.push(record);
      characters += sizeOf(record);
      arm(GATHERED_FOR);
    } catch (error) {
      // A record that cannot be made is dropped; the request that it describes is not affected.
      lose(1, error);
    }
  };

  return {
    record(make) {
      if (isFull() || isStopping) metrics.recorded('lost', 1);
      else setImmediate(take, make);
    },
    async stop() {
      timer?.cancel();
      await new Promise((resolve) => setImmediate(resolve));
      await writing;
      isStopping = true;
      await flush();
    },
  };
}

function sizeOf({ url, request, response }: RequestRecord): number {
  return url.length + (request.body?.length ?? 0) + (response?.body?.length ?? 0);
}
