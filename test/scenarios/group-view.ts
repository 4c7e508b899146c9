/** An Alert Group as the tables of expectations write it. */
import type { Json } from '../harness/api.ts';

export interface GroupView {
  readonly status: string;
  readonly title: string;
  readonly summary: string | null;
  /** Firing and resolved Alerts, `2/0`. */
  readonly counts: string;
  readonly severity: string;
  readonly urgent: boolean;
  /** Names of people and Routes. */
  readonly owner: string | null;
  readonly route: string;
  /** `t30 Ann`, `no end Ann`. */
  readonly snooze: string | null;
  /** `user Bob`, `system gone`. */
  readonly resolution: string | null;
  /** `ack_timeout t15`. */
  readonly next_notice: string | null;
  readonly unclaimed: boolean;
  readonly reopen_count: number;
  /** `alerts_still_firing 1`, `newer_alert_group_exists #2`. */
  readonly notices: readonly string[];
  readonly allowed_commands: readonly string[];
}

export interface Frame {
  moment(instant: string): string;
  number(number: number): number;
}

export function viewOf(group: Json, frame: Frame): GroupView {
  const { next_notice: next, snoozed_by: snoozer, snooze_until: until } = group;
  return {
    status: group.status,
    title: group.title,
    summary: group.summary,
    counts: `${group.firing_alert_count}/${group.resolved_alert_count}`,
    severity: group.severity_level,
    urgent: group.urgent,
    owner: group.owner?.name ?? null,
    // Routes of a scenario carry its time behind their name.
    route: group.route.name.replace(/ \d+$/, ''),
    snooze: snoozer && `${until ? frame.moment(until) : 'no end'} ${snoozer.name}`,
    resolution: group.resolution && resolutionText(group.resolution),
    next_notice: next && `${next.kind} ${frame.moment(next.at)}`,
    unclaimed: group.unclaimed,
    reopen_count: group.reopen_count,
    notices: group.notices.map((notice: Json) => noticeText(notice, frame)),
    allowed_commands: group.allowed_commands,
  };
}

function resolutionText({ by, actor, reason }: Json): string {
  return `${by} ${by === 'user' ? actor?.name : reason}`;
}

function noticeText(
  { kind, count, label, resolved_number: number, related_alert_group: related }: Json,
  frame: Frame,
) {
  if (related) return `${kind} #${frame.number(related.number)}`;
  if (number) return `${kind} #${frame.number(number)}`;
  return [kind, count ?? label ?? ''].join(' ').trim();
}
