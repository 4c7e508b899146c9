/** What an Alert Group shows of its Alerts: worked out from the rows after each step (Alert Group chapter §4.3). */
import type { PublicId } from '../../runtime/public-id.ts';
import type { Labels, SeverityLevel } from '../model.ts';
import { commonOf, intersect } from './common-labels.ts';
import { type AlertLinks, linksOf } from './links.ts';
import type { GroupAlert, GroupRows } from './rows.ts';
import { highestLevel } from './severity.ts';
import { cutTitle, firstSummary, sharedAlertname, titleFromKey } from './title.ts';

export interface Portrait extends AlertLinks {
  readonly title: string;
  /** The Alerts share no alertname; the title comes from the key and stays. */
  readonly titledByKey: boolean;
  readonly summary: string | null;
  /** Of every Alert that ever was in the group; only shrinks. */
  readonly commonLabels: Labels;
  /** Of the latest annotations. */
  readonly commonAnnotations: Labels;
  /** In order of first appearance. */
  readonly integrationIds: readonly PublicId[];
  /** The highest among firing Alerts; kept at its last value while none fires. */
  readonly severityLevel: SeverityLevel;
  readonly firingCount: number;
  readonly resolvedCount: number;
}

export interface PortraitFrame {
  readonly groupLabels: Labels;
  readonly routeName: string;
}

/** The Portrait of a group with at least one Alert, after `before` (null at its start). */
export function portrayed(before: Portrait | null, rows: GroupRows, frame: PortraitFrame): Portrait {
  const alerts = [...rows.values()].sort((left, right) => left.position - right.position);
  const firing = alerts.filter(({ state }) => state === 'firing');
  const level = highestLevel(firing.map(({ report }) => report.severityLevel));
  return {
    ...titleOf(before, alerts, frame),
    summary: before?.summary ?? firstSummary(alerts.map(({ report }) => report.annotations)),
    commonLabels: alerts.reduce(
      (common, { report }) => intersect(common, report.labels),
      before?.commonLabels ?? alerts[0]?.report.labels ?? {},
    ),
    commonAnnotations: commonOf(alerts.map(({ report }) => report.annotations)),
    integrationIds: [...new Set(alerts.map(({ integrationId }) => integrationId))],
    severityLevel: level ?? before?.severityLevel ?? 'info',
    firingCount: firing.length,
    resolvedCount: alerts.length - firing.length,
    ...linksOf(alerts),
  };
}

/** A title by key is for good; one by alertname lasts while all Alerts share it. */
function titleOf(
  before: Portrait | null,
  alerts: readonly GroupAlert[],
  { groupLabels, routeName }: PortraitFrame,
): Pick<Portrait, 'title' | 'titledByKey'> {
  if (before?.titledByKey) return { title: before.title, titledByKey: true };
  const alertname = sharedAlertname(alerts.map(({ report }) => report.labels));
  if (alertname !== null) return { title: cutTitle(alertname), titledByKey: false };
  return { title: titleFromKey(groupLabels, routeName), titledByKey: true };
}
