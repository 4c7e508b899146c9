/** Alerts that begin to fire in this group: created, reopened, replaced, added; then a rise (Alert Group chapter §2). */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { EventActor, Slot } from '../model.ts';
import { groupBy } from './group-by.ts';
import type { Acceptance } from './placing.ts';
import { riseToUrgentText } from './reasons.ts';
import { replacementFinder } from './replacement.ts';
import { firingAlerts, type GroupAlert, keyOf } from './rows.ts';
import { isHigher, isUrgent } from './severity.ts';
import { contextOf, isOpen } from './state.ts';
import { tellRouteOfCreation } from './storm.ts';
import type { GroupTurn } from './turn.ts';

export const BY_ALERT: EventActor = { kind: 'system', reason: 'alert' };
const BY_GRACE_END: EventActor = { kind: 'system', reason: 'grace_period_ended' };

export interface Firing {
  /** As the group keeps them from now on. */
  readonly alerts: readonly GroupAlert[];
  readonly slot: Slot;
  /** Receipt of the Snapshot, or end of the Grace period, µs. */
  readonly receivedAt: Micros;
  /** For tails: #N of the group that a person had resolved. Tails are never Replacements. */
  readonly tailsOf: number | null;
}

/** An Alert at the beginning of a firing; its place in the group's order is kept when it was here before. */
export function newlyFiring(
  turn: GroupTurn,
  known: GroupAlert | undefined,
  firing: Pick<
    GroupAlert,
    'integrationId' | 'report' | 'endedStart' | 'lastSeenAt' | 'feeds' | 'senderGroups'
  > & { readonly continuedAt?: Micros | null },
  place: { readonly position: number; readonly routeId: PublicId },
): GroupAlert {
  return {
    ...firing,
    position: known?.position ?? turn.rows.size + place.position,
    state: 'firing',
    routeId: place.routeId,
    startsAt: firing.report.startsAt,
    continuedAt: firing.continuedAt ?? null,
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
