import { setTimeout } from 'node:timers/promises';
import { type Micros, type Monotonic, SECOND } from '../runtime/clock.ts';
import type { DatabaseSettings } from '../runtime/config.ts';
import { isUnavailable, openSession } from './connection.ts';

/** How long a start waits for the database, and how long between two tries (operations §1.3). */
const PATIENCE: Micros = 30 * SECOND;
const PAUSE_MS = 500;

export interface ReachOptions {
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  readonly monotonic: Monotonic;
  readonly patience?: Micros;
}

/**
 * Waits until the database answers.
 * @throws {Error} for people, with host, port and cause: it did not in time, or it refuses this user
 */
export async function reachDatabase(settings: DatabaseSettings, options: ReachOptions): Promise<void> {
  const { monotonic, patience = PATIENCE } = options;
  const end = monotonic() + patience;
  for (;;) {
    const failure = await tryOnce(settings, options.applicationName);
    if (failure === null) return;
    if (!isUnavailable(failure) || monotonic() >= end) throw unreachable(settings, failure);
    // Nothing else keeps the process alive meanwhile: a wait of the clock would let it end.
    await setTimeout(PAUSE_MS);
  }
}

async function tryOnce(settings: DatabaseSettings, applicationName: string): Promise<unknown> {
  const session = openSession(settings, { applicationName });
  try {
    await session`select 1`;
    return null;
  } catch (error) {
    return error;
  } finally {
    await session.end({ timeout: 1 });
  }
}

function unreachable({ host, port }: DatabaseSettings, cause: unknown): Error {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new Error(`The database at ${host}, port ${port}, cannot be used: ${why}`, { cause });
}
