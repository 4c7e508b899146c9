/** The body of an events-mode webhook, version 1 (seed 3 §2.3, webhooks §3.3). The order of keys is part of it. */
import { formatInstant, formatInstantOrNull, type Micros } from '../../runtime/clock.ts';
import type { WebhookEventRecorded } from '../effects.ts';
import type { AlertView, GroupView } from '../lifecycle.ts';
import type { EventActor } from '../model.ts';

export type WebhookBodyInput = Pick<WebhookEventRecorded, 'event' | 'group' | 'mentions'>;

/**
 * Renders the body once, when the event is recorded; retries send the same bytes.
 * @param number #N of the Alert Group
 * @param publicUrl address of the UI, without a trailing slash
 */
export function renderWebhookBody(input: WebhookBodyInput, number: number, publicUrl: string): string {
  const { event, group } = input;
  const loud = event.loudness === 'loud';
  return JSON.stringify({
    version: 1,
    event: event.name,
    notify: loud,
    mentions: loud ? input.mentions : [],
    sequence: event.sequence,
    occurred_at: formatInstant(event.at),
    actor: actorShape(event.actor),
    alert_group: groupShape(group, number, publicUrl),
    alerts: group.alerts.map(alertShape),
  });
}

/** The body of a test: Quiet, outside every sequence, by whoever asked for it (webhooks §6). */
export function renderTestBody(
  { actor, at, group }: { readonly actor: EventActor; readonly at: Micros; readonly group: GroupView },
  number: number,
  publicUrl: string,
): string {
  return JSON.stringify({
    version: 1,
    event: 'test',
    notify: false,
    mentions: [],
    sequence: 0,
    occurred_at: formatInstant(at),
    actor: actorShape(actor),
    alert_group: groupShape(group, number, publicUrl),
    alerts: group.alerts.map(alertShape),
    test: true,
  });
}

function actorShape(actor: EventActor): object {
  if (actor.kind === 'system') return { kind: actor.kind, reason: actor.reason };
  const { kind, id, name, transport } = actor;
  if (kind === 'service_account') return { kind, id, name, token_name: actor.tokenName, transport };
  const { login, tokenName } = actor;
  return tokenName === null
    ? { kind, id, name, login, transport }
    : { kind, id, name, login, token_name: tokenName, transport };
}

function groupShape(group: GroupView, number: number, publicUrl: string): object {
  const { owner } = group;
  const owned = group.status === 'acknowledged' && owner;
  return {
    number,
    id: group.id,
    title: group.title,
    summary: group.summary,
    status: group.status,
    ...(owned ? { owner: { id: owner.id, name: owner.name, login: owner.login } } : {}),
    route: { id: group.routeId, name: group.routeName },
    urgent: group.urgent,
    severity_level: group.severityLevel,
    started_at: formatInstant(group.startedAt),
    resolved_at: formatInstantOrNull(group.resolvedAt),
    snooze_until: formatInstantOrNull(group.snoozeUntil),
    reopen_count: group.reopenCount,
    url: `${publicUrl}/alert-groups/${group.id}`,
  };
}

function alertShape(alert: AlertView): object {
  return {
    fingerprint: alert.fingerprint,
    status: alert.state,
    labels: alert.labels,
    annotations: alert.annotations,
    starts_at: formatInstant(alert.startsAt),
    resolved_at: formatInstantOrNull(alert.resolvedAt),
    resolve_reason: alert.resolveReason,
    generator_url: alert.generatorUrl,
  };
}
