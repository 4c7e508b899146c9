/** Alerts that stop firing: the last of a step's changes (Alert Group chapter §2, §3.1). */
import { type Micros, SECOND } from '../../runtime/clock.ts';
import type { AlertResolver } from '../model.ts';
import { groupBy } from './group-by.ts';
import { reasonOf, resolveReasonText } from './reasons.ts';
import { ended, firingAlerts, type GroupAlert } from './rows.ts';
import { isOpen } from './state.ts';
import type { GroupTurn } from './turn.ts';

/** One Alert that resolves, in the order of application: listed resolutions first, then absences. */
export interface Ending {
  readonly alert: GroupAlert;
  readonly resolver: Exclude<AlertResolver, 'moved'>;
  /** `startsAt` that the sender gave with the resolution; null otherwise. */
  readonly startsAt: Micros | null;
}

/** Ends firings at `at` µs and records them: one `alert_resolved` a reason, or one `resolved` when none fires on. */
export function endFirings(turn: GroupTurn, endings: readonly Ending[], at: Micros): void {
  const last = endings.at(-1);
  if (!last) return;
  for (const { alert, resolver, startsAt } of endings) {
    turn.saveAlert(ended(alert, at, resolver, startsAt ?? alert.startsAt));
    for (const [feed, { state, since }] of Object.entries(alert.feeds)) {
      if (state !== 'listed' && state !== 'missed') continue;
      // What this group heard of the feed is over. What it told meanwhile is under way here and may fire anew (row F6),
      // however early it was received, so nothing beyond that is named.
      turn.tellEnded(feed, alert.report.fingerprint, since);
    }
  }
  turn.portray();
  countResolved(turn, endings);
  const remaining = firingAlerts(turn.rows).length;
  if (isOpen(turn.group) && remaining === 0) {
    recordEnd(turn, endings, last, 0);
    return;
  }
  let unrecorded = endings.length;
  for (const batch of groupBy(endings, ({ resolver }) => reasonOf(resolver)).values()) {
    unrecorded -= batch.length;
    recordEnd(turn, batch, batch[0] ?? last, remaining + unrecorded);
  }
}

/** `by` gives the reason of the whole batch. */
function recordEnd(turn: GroupTurn, batch: readonly Ending[], by: Ending, remaining: number): void {
  const { integrationId } = by.alert;
  const reason = reasonOf(by.resolver);
  const name = turn.directory.integrationsById.get(integrationId)?.name ?? integrationId;
  const reasonText = resolveReasonText(reason, name);
  const reopenWindow = turn.route.policy.reopen_window_seconds * SECOND;
  turn.step(
    { type: 'alerts_resolve', at: turn.now, remaining, reason, reasonText, reopenWindow },
    { kind: 'system', reason },
    { reason, reasonText, fingerprints: batch.map(({ alert }) => alert.report.fingerprint) },
  );
}

function countResolved(turn: GroupTurn, endings: readonly Ending[]): void {
  const byIntegration = groupBy(endings, ({ alert }) => alert.integrationId);
  for (const [integrationId, batch] of byIntegration) {
    for (const [reason, { length }] of groupBy(batch, ({ resolver }) => reasonOf(resolver))) {
      turn.perform({ type: 'alerts.resolved', integrationId, reason, count: length });
    }
  }
}
