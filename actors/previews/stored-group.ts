/** A stored Alert Group as templates read it (templates §8). */
import type { StoredGroup } from '../alert-group/reading.ts';
import { isUrgent } from '../alert-group/severity.ts';
import type { Directory } from '../directory.ts';
import type { TemplateAlert, TemplateGroup } from '../templates/data.ts';

export function templateGroup(
  group: StoredGroup,
  alerts: readonly TemplateAlert[],
  { directory, publicUrl }: { readonly directory: Directory; readonly publicUrl: string },
): TemplateGroup {
  const { ownerId } = group;
  return {
    number: group.number,
    title: group.title,
    summary: group.summary,
    status: group.status,
    route: directory.routesById.get(group.routeId)?.name ?? '',
    severityLevel: group.severityLevel,
    urgent: isUrgent(directory, group.routeId, group.severityLevel),
    startedAt: group.startedAt,
    url: `${publicUrl}/alert-groups/${group.id}`,
    reopenCount: group.reopenCount,
    owner: ownerId === null ? null : (directory.usersById.get(ownerId)?.name ?? null),
    alerts,
    groupLabels: group.groupLabels,
    commonLabels: group.commonLabels,
    commonAnnotations: group.commonAnnotations,
    externalUrl: publicUrl,
  };
}
