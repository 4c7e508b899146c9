/** The copy of a bridge's Info: how old it may be, and when reading it is tried again (bridge §5.1). Pure. */
import { MINUTE, type Micros, SECOND } from '../../runtime/clock.ts';

const FRESH_FOR: Micros = 5 * MINUTE;
const RETRY_AFTER: Micros = 30 * SECOND;

export interface InfoAge {
  /** Null: there is no copy. */
  readonly readAt: Micros | null;
  /** When reading it failed last, since it was read. */
  readonly failedAt: Micros | null;
}

/** Whether it is to be read before it is used. */
export function isInfoDue({ readAt, failedAt }: InfoAge, now: Micros): boolean {
  if (failedAt !== null && now - failedAt < RETRY_AFTER) return false;
  return readAt === null || now - readAt >= FRESH_FOR;
}
