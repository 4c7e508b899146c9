/** Alerts that begin to fire in this group, and Alerts that stop (alert-groups §2, §3.1; ingestion §7). */
import { type Micros, SECOND } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { AlertResolver, EventActor, Labels, Slot } from '../../model.ts';
import { isHigher, isUrgent } from '../reading/alert-summary.ts';
import { reasonOf, resolveReasonText, riseToUrgentText } from '../reading/timeline.ts';
import { ended, firingAlerts, type GroupAlert, groupBy, keyOf, sameLabels } from '../rows.ts';
import { contextOf, isOpen } from '../state.ts';
import { tellRouteOfCreation } from '../storm.ts';
import type { GroupTurn } from '../turn.ts';
import type { Acceptance } from './placing.ts';

export const BY_ALERT: EventActor = { kind: 'system', reason: 'alert' };
const BY_GRACE_END: EventActor = { kind: 'system', reason: 'grace_period_ended' };

export interface Firing {
  /** The Alerts of the group after the step. */
  readonly alerts: readonly GroupAlert[];
  readonly slot: Slot;
  /** Receipt of the Snapshot, or end of the Grace period, µs. */
  readonly receivedAt: Micros;
  /** For tails: #N of the group that a person had resolved. Tails are never Replacements. */
  readonly tailsOf: number | null;
}

/** An Alert at the start of a firing; an Alert that was here before keeps its position in the group. */
export function newlyFiring(
  turn: GroupTurn,
  known: GroupAlert | undefined,
  firing: Pick<
    GroupAlert,
    'integrationId' | 'report' | 'endedStart' | 'lastSeenAt' | 'feeds' | 'senderGroups'
  >,
  place: { readonly position: number; readonly routeId: PublicId },
): GroupAlert {
  return {
    ...firing,
    position: known?.position ?? turn.rows.size + place.position,
    state: 'firing',
    routeId: place.routeId,
    startsAt: firing.report.startsAt,
    lastSeenAt: Math.max(firing.lastSeenAt, known?.lastSeenAt ?? 0),
    resolvedAt: null,
    resolvedBy: null,
    movedTo: null,
  };
}

/** Lets Alerts fire in a group that accepts them. */
export function fire(turn: GroupTurn, firing: Firing, acceptance: Exclude<Acceptance, 'none'>): void {
  switch (acceptance) {
    case 'create':
      create(turn, firing);
      break;
    case 'reopen':
      reopen(turn, firing);
      break;
    case 'join':
      join(turn, firing);
      break;
  }
}

function create(turn: GroupTurn, { alerts, slot, tailsOf }: Firing): void {
  for (const alert of alerts) turn.saveAlert(alert);
  turn.create(slot, tailsOf === null ? BY_ALERT : BY_GRACE_END, detailsOf(alerts), tailsOf);
  tellRouteOfCreation(turn);
}

function reopen(turn: GroupTurn, { alerts, receivedAt }: Firing): void {
  for (const alert of alerts) turn.saveAlert(alert);
  const { prior } = contextOf(turn.group);
  const owner = prior?.status === 'acknowledged' ? turn.directory.usersById.get(prior.owner.id) : undefined;
  turn.step(
    {
      type: 'reopen',
      at: turn.now,
      receivedAt,
      alerts: alerts.map(keyOf),
      ownerActive: owner?.status === 'active',
    },
    BY_ALERT,
    detailsOf(alerts),
  );
  const { severityLevel } = turn.portray();
  rise(turn, severityLevel);
}

function join(turn: GroupTurn, { alerts, tailsOf }: Firing): void {
  const replacedLabelOf =
    tailsOf === null
      ? replacementFinder(
          firingAlerts(turn.rows).map(({ report }) => report.labels),
          turn.directory.organization.instanceLabels,
        )
      : () => null;
  const byLabel = groupBy(alerts, ({ report }) => replacedLabelOf(report.labels));
  for (const alert of alerts) turn.saveAlert(alert);
  const { severityLevel } = turn.portray();
  for (const [replacedLabel, replacing] of byLabel) {
    if (replacedLabel === null) continue;
    turn.amend({ replacedLabel });
    turn.step({ type: 'replace', at: turn.now, alerts: replacing.map(keyOf) }, BY_ALERT, {
      ...detailsOf(replacing),
      replacedLabel,
    });
  }
  const added = byLabel.get(null) ?? [];
  if (added.length > 0) {
    turn.step({ type: 'join', at: turn.now, alerts: added.map(keyOf) }, BY_ALERT, detailsOf(added));
  }
  rise(turn, severityLevel);
}

/** At most one rise a step, judged by the level before it with the settings of now. */
function rise(turn: GroupTurn, before: GroupAlert['report']['severityLevel']): void {
  const { portrait } = turn.group;
  const after = portrait.severityLevel;
  if (!isOpen(turn.group) || !isHigher(after, before)) return;
  const { id, policy } = turn.route;
  const details = { fromSeverityLevel: before, toSeverityLevel: after };
  const becomesUrgent = !isUrgent(turn.directory, id, before) && isUrgent(turn.directory, id, after);
  if (!becomesUrgent) {
    turn.step({ type: 'severity_rises', at: turn.now }, BY_ALERT, details);
    return;
  }
  turn.step(
    {
      type: 'rises_to_urgent',
      at: turn.now,
      removesAcknowledgement: policy.urgent_rise_removes_ack,
    },
    BY_ALERT,
    { ...details, reason: 'rise_to_urgent', reasonText: riseToUrgentText(after) },
  );
}

function detailsOf(alerts: readonly GroupAlert[]) {
  return {
    fingerprints: alerts.map(({ report }) => report.fingerprint),
    labelConflicts: [...new Set(alerts.flatMap(({ report }) => report.labelConflicts))],
  };
}

/**
 * Finds the Alert that an arriving Alert replaces among the Alerts that fired before.
 * @returns for an arriving Alert's labels the first Instance label whose value differs, or null when it replaces none
 */
export function replacementFinder(
  firingBefore: Iterable<Labels>,
  instanceLabels: readonly string[],
): (arriving: Labels) => string | null {
  const byRest = new Map<string, Labels[]>();
  for (const labels of firingBefore) {
    const rest = withoutInstance(labels, instanceLabels);
    const known = byRest.get(rest);
    if (known) known.push(labels);
    else byRest.set(rest, [labels]);
  }
  return (arriving) => {
    const candidates = byRest.get(withoutInstance(arriving, instanceLabels)) ?? [];
    const replaced = candidates.find((labels) => !sameLabels(labels, arriving));
    if (!replaced) return null;
    return instanceLabels.find((name) => (replaced[name] ?? '') !== (arriving[name] ?? '')) ?? null;
  };
}

function withoutInstance(labels: Labels, instanceLabels: readonly string[]): string {
  const rest = Object.entries(labels).filter(([name]) => !instanceLabels.includes(name));
  return JSON.stringify(rest.sort(([left], [right]) => (left < right ? -1 : 1)));
}

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
      // Ends what this group has received from the feed. A listing in flight to this group may fire anew (row F6),
      // however early it was received, so the end covers nothing beyond.
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
