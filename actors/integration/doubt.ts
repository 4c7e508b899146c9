/** What is made of a Heartbeat whose time is up: it is lost, unless the silence is explained (ingestion §12). */
import type { Micros } from '../../runtime/clock.ts';
import { TOLERATED } from '../system/downtime.ts';
import { lostAt } from './state.ts';
import type { IntegrationTurn } from './turn.ts';

export interface HeartbeatEvidence {
  /** The newest signal that is stored; its message may still be on its way. */
  readonly storedSignalAt: Micros | null;
  /** The Leader's last sign of life; null before there was one. */
  readonly markedAt: Micros | null;
  /** When somebody led again after the last downtime; null when there never was one. */
  readonly downtimeEndedAt: Micros | null;
}

/**
 * The service's own outage makes nothing lost. A downtime that is over is on record; one that is just ending is not yet,
 * and shows in the Leader's sign of life, which is old.
 */
export function doubtHeartbeat(turn: IntegrationTurn, evidence: HeartbeatEvidence): void {
  const deadline = lostAt(turn.state);
  if (deadline === null || turn.now <= deadline) return;
  const { storedSignalAt, markedAt, downtimeEndedAt } = evidence;
  const { lastSignalAt, awaitedAt, excusedUntil } = turn.state.snapshot.context;
  const isEnding = markedAt !== null && turn.now - markedAt > TOLERATED;
  const until = Math.max(excusedUntil ?? 0, downtimeEndedAt ?? 0, isEnding ? turn.now : 0);
  const awaited = Math.max(awaitedAt ?? 0, storedSignalAt ?? 0);
  turn.step({
    type: 'excused',
    awaitedAt: awaited > (lastSignalAt ?? 0) ? awaited : null,
    until: until > (lastSignalAt ?? 0) ? until : null,
  });
  const next = lostAt(turn.state);
  if (next !== null && turn.now > next) turn.step({ type: 'silence' });
}
