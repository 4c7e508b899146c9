/** Samples as messages show them. */
import type { PublicId } from '../../runtime/public-id.ts';
import type { StoredGroup } from '../alert-group/reading/readers.ts';
import type { Directory } from '../directory.ts';
import type { GroupLink } from '../links/evaluate.ts';
import type { GroupMessage, MessageAlert, MessageLink } from '../messages/index.ts';
import type { Principal } from '../model.ts';
import { severityOf } from '../route/evaluate.ts';
import type { TemplateGroup } from '../templates/data.ts';

/** No Alert Group has this id. */
const SAMPLE_ID = 'AG000000000000' as PublicId;

/** @param stored what a sample that is no stored Alert Group lacks */
export function sampleMessage(
  group: TemplateGroup,
  stored: StoredGroup | null,
  links: readonly GroupLink[],
  directory: Directory,
): GroupMessage {
  const firingCount = group.alerts.filter(({ status }) => status === 'firing').length;
  return {
    id: stored?.id ?? SAMPLE_ID,
    number: group.number,
    title: group.title,
    summary: group.summary,
    status: group.status,
    severityLevel: group.severityLevel,
    urgent: group.urgent,
    routeName: group.route,
    startedAt: group.startedAt,
    alertsStartedAt: stored?.alertsStartedAt ?? null,
    owner: group.owner,
    snooze: snoozeOf(stored, directory),
    resolution: resolutionOf(group, stored, directory),
    unclaimed: stored?.unclaimed ?? false,
    reopenCount: group.reopenCount,
    firingAgainAfter: stored?.firesAgainAfter ?? null,
    groupLabels: group.groupLabels,
    commonLabels: group.commonLabels,
    commonAnnotations: group.commonAnnotations,
    firingCount: stored?.firingAlertCount ?? firingCount,
    resolvedCount: stored?.resolvedAlertCount ?? group.alerts.length - firingCount,
    alerts: group.alerts.map((alert) => messageAlert(alert, directory)),
    links: links.map(messageLink),
  };
}

function snoozeOf(stored: StoredGroup | null, directory: Directory): GroupMessage['snooze'] {
  if (stored?.status !== 'snoozed' || stored.snoozedBy === null) return null;
  return { by: nameOf(stored.snoozedBy, directory), until: stored.snoozeUntil };
}

function resolutionOf(
  { status }: TemplateGroup,
  stored: StoredGroup | null,
  directory: Directory,
): GroupMessage['resolution'] {
  if (status !== 'resolved') return null;
  if (stored?.resolver) return { by: 'person', name: nameOf(stored.resolver, directory) };
  return { by: 'system', reason: stored?.resolveReason ?? 'resolved' };
}

function nameOf(principal: Principal, directory: Directory): string {
  return directory.usersById.get(principal.id)?.name ?? principal.name;
}

/** An Alert as templates read it, as messages show it. */
export function messageAlert(
  alert: TemplateGroup['alerts'][number],
  { organization }: Directory,
): MessageAlert {
  const { fingerprint, status: state, labels, annotations, startsAt, endsAt, generatorUrl } = alert;
  const severityLevel = severityOf(labels, organization).level;
  return {
    fingerprint,
    state,
    severityLevel,
    labels,
    annotations,
    startsAt,
    resolvedAt: endsAt,
    generatorUrl,
  };
}

function messageLink({ kind, name, url }: GroupLink): MessageLink {
  return kind === 'link_rule' ? { kind, name, url } : { kind, url };
}
