/** Alert Groups that are not there, for templates to be tried on (templates §8). */
import { MINUTE, type Micros } from '../../runtime/clock.ts';
import { commonOf } from '../alert-group/common-labels.ts';
import { highestLevel } from '../alert-group/severity.ts';
import { cutTitle, firstSummary, sharedAlertname, titleFromKey } from '../alert-group/title.ts';
import type { Directory, RouteConfig } from '../directory.ts';
import { groupLabelsFor } from '../route/group-key.ts';
import { severityOf } from '../route/severity.ts';
import { inMessageOrder, type TemplateAlert, type TemplateGroup } from '../templates/data.ts';

export interface SampleFrame {
  /** The Route that takes the Alerts. */
  readonly route: RouteConfig;
  readonly directory: Directory;
  readonly publicUrl: string;
  readonly now: Micros;
}

/** So many Alerts of a group can templates see. */
const MOST_ALERTS = 1_000;

/** What some Alerts, at least one, would make if they were Alert Group #1. */
export function receivedGroup(received: readonly TemplateAlert[], frame: SampleFrame): TemplateGroup {
  const { route, directory, publicUrl } = frame;
  const alerts = inMessageOrder(received).slice(0, MOST_ALERTS);
  const firing = alerts.filter(({ status }) => status === 'firing');
  const levels = (firing.length > 0 ? firing : alerts).map(
    ({ labels }) => severityOf(labels, directory.organization).level,
  );
  const severityLevel = highestLevel(levels) ?? 'info';
  const groupLabels = groupLabelsFor(route.groupKey, alerts[0]?.labels ?? {});
  const alertname = sharedAlertname(alerts.map(({ labels }) => labels));
  return {
    number: 1,
    title: alertname === null ? titleFromKey(groupLabels, route.name) : cutTitle(alertname),
    summary: firstSummary(alerts.map(({ annotations }) => annotations)),
    status: firing.length > 0 ? 'firing' : 'resolved',
    route: route.name,
    severityLevel,
    urgent: route.urgent || (severityLevel === 'critical' && directory.organization.criticalIsUrgent),
    startedAt: Math.min(...alerts.map(({ startsAt }) => startsAt)),
    url: `${publicUrl}/alert-groups`,
    reopenCount: 0,
    owner: null,
    alerts,
    groupLabels,
    commonLabels: commonOf(alerts.map(({ labels }) => labels)),
    commonAnnotations: commonOf(alerts.map(({ annotations }) => annotations)),
    externalUrl: publicUrl,
  };
}

/** The built-in example: two firing Alerts, whatever was received. */
export function exampleGroup(frame: SampleFrame): TemplateGroup {
  const startsAt = frame.now - 10 * MINUTE;
  const alerts = ['billing-7f', 'billing-9c'].map((pod) => exampleAlert(pod, startsAt));
  return { ...receivedGroup(alerts, frame), severityLevel: 'critical' };
}

function exampleAlert(pod: string, startsAt: Micros): TemplateAlert {
  return {
    fingerprint: pod,
    status: 'firing',
    labels: { alertname: 'ApiErrors', cluster: 'prod-1', namespace: 'billing', pod, severity: 'critical' },
    annotations: {
      summary: '5xx rate above 2 %',
      runbook_url: 'https://runbooks.example.org/api-errors',
    },
    startsAt,
    endsAt: null,
    generatorUrl: 'https://prometheus.example.org/graph?g0.expr=up',
  };
}
