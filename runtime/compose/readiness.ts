import type { NotReady } from '../../http/app.ts';
import type { Sql } from '../../storage/records.ts';
import { type Clock, type Micros, SECOND } from '../clock.ts';

/** How long the database may take to answer the probe, µs (operations §4). */
const PATIENCE: Micros = SECOND;

export interface Readiness {
  /** Null when the service may get requests. */
  check(): Promise<NotReady | null>;
  ready(): void;
  shuttingDown(): void;
}

/** Says whether requests should come here: started, not stopping, and the database answers. */
export function readiness(sql: Sql, clock: Clock): Readiness {
  let state: 'starting' | 'ready' | 'shutting down' = 'starting';

  const databaseAnswers = () =>
    new Promise<boolean>((resolve) => {
      const timer = clock.after(PATIENCE, () => resolve(false));
      sql`select 1`
        .then(
          () => resolve(true),
          () => resolve(false),
        )
        .finally(() => timer.cancel());
    });

  return {
    async check() {
      if (state !== 'ready') return state;
      return (await databaseAnswers()) ? null : 'database unavailable';
    },
    ready() {
      state = 'ready';
    },
    shuttingDown() {
      state = 'shutting down';
    },
  };
}
