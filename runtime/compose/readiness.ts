import type { NotReady } from '../../http/app.ts';
import { isDiskFull } from '../../storage/postgres/connection.ts';
import type { Sql } from '../../storage/postgres/records.ts';
import { type Clock, type Micros, SECOND } from '../clock.ts';

/** How long the database may take to answer the probe, µs (operations §4). */
const PATIENCE: Micros = SECOND;

export interface Readiness {
  /** Null when the service may get requests. */
  check(): Promise<NotReady | null>;
  ready(): void;
  shuttingDown(): void;
  /** A write that shows whether the disk of the database has room; passes its outcome on. */
  watched<T>(write: Promise<T>): Promise<T>;
}

/**
 * Says whether requests should come here: started, not stopping, the database answers, and its disk has room. A full
 * disk is noticed by the write that fails, because reading still works; from then on each check writes, until that
 * succeeds. What such writes take is given back with their transaction.
 */
export function readiness(sql: Sql, clock: Clock): Readiness {
  let state: 'starting' | 'ready' | 'shutting down' = 'starting';

  let isFull = false;
  let writing: Promise<void> | null = null;

  const inTime = (answer: PromiseLike<unknown>) =>
    new Promise<'answered' | 'failed' | 'late'>((resolve) => {
      const timer = clock.after(PATIENCE, () => resolve('late'));
      answer.then(
        () => resolve('answered'),
        () => resolve('failed'),
      );
      answer.then(timer.cancel, timer.cancel);
    });
  /** One at a time, however many ask. */
  const tryWriting = () => {
    writing ??= writeSomething(sql)
      .then(
        () => {
          isFull = false;
        },
        // Another failure says nothing about the room.
        () => undefined,
      )
      .finally(() => {
        writing = null;
      });
    return writing;
  };

  return {
    async check() {
      if (state !== 'ready') return state;
      if (isFull) await inTime(tryWriting());
      if (isFull) return 'database disk full';
      return (await inTime(sql`select 1`)) === 'answered' ? null : 'database unavailable';
    },
    ready() {
      state = 'ready';
    },
    shuttingDown() {
      state = 'shutting down';
    },
    async watched(write) {
      try {
        return await write;
      } catch (error) {
        if (isDiskFull(error)) isFull = true;
        throw error;
      }
    },
  };
}

/** Takes a megabyte of the disk for the length of a transaction. */
async function writeSomething(sql: Sql): Promise<void> {
  await sql.begin(
    (tx) => tx`
      create temporary table room_on_disk on commit drop
      as select repeat('x', 1000) as text from generate_series(1, 1000)`,
  );
}
