/**
 * Brings records to the database behind everybody's back (outbound-http §4.1): nobody waits for it, its memory is
 * bounded, and what does not fit or cannot be written is lost and counted.
 */
import { type Clock, type Micros, SECOND, type Timer } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { OutboundMetrics } from '../metrics.ts';
import type { RequestRecord } from './record.ts';

/** Records are written together this long after the first of them. */
const GATHERED_FOR: Micros = SECOND / 4;
/** Between attempts while the database is away. */
const AGAIN_AFTER: Micros = SECOND;
const MOST_RECORDS = 2_000;
const MOST_CHARACTERS = 16 * 1024 * 1024;
/** Of one statement. */
const BATCH = 200;

export interface RequestLogStore {
  /** Stores records, those of owners that were deleted left out, in place of some that it has. */
  write(records: readonly RequestRecord[], superseded: readonly Superseded[]): Promise<void>;
}

/** A stored record that a newer one takes the place of. */
export type Superseded = Pick<RequestRecord, 'at' | 'id'>;

export interface RequestRecorder {
  /** Makes a record in a moment, and keeps or loses it. Never waits and never throws, whatever making it does. */
  record(make: () => RequestRecord): void;
  /** What is left is written once more, if the database answers. */
  stop(): Promise<void>;
}

export interface RecorderDeps {
  readonly store: RequestLogStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<OutboundMetrics, 'recorded'>;
  /** Whether an error means that trying again may help. */
  readonly isUnavailable: (error: unknown) => boolean;
}

export function createRequestRecorder(deps: RecorderDeps): RequestRecorder {
  const { store, clock, log, metrics } = deps;
  let waiting: RequestRecord[] = [];
  let superseded: RequestRecord[] = [];
  /** The newest poll of each Connection that brought nothing, while no other came after it. */
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

  /** Everything that waits, in batches. @returns how long to wait before the next time */
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

  /** Of polls in a row that brought nothing only the newest is kept, whether or not the one before was written. */
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
      // A record that cannot be made is lost; the request that it tells of is none of its business.
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
