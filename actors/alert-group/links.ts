/** Links that the Alerts themselves carry (messages §9): Runbook, Dashboard, Source. */
import { safeUrl } from '../messages/safe-url.ts';
import type { TemplateAlert } from '../templates/data.ts';
import type { GroupAlert } from './rows.ts';

export interface AlertLinks {
  readonly runbookUrl: string | null;
  readonly dashboardUrl: string | null;
  readonly sourceUrl: string | null;
}

/** The first safe URL of each kind, in the order of the Alerts; the Source is that of a firing Alert. */
export function linksOf(alerts: readonly GroupAlert[]): AlertLinks {
  return {
    runbookUrl: firstSafe(alerts, ({ report }) => report.annotations.runbook_url),
    dashboardUrl: firstSafe(alerts, ({ report }) => report.annotations.dashboard_url),
    sourceUrl: firstSafe(alerts, ({ report, state }) => (state === 'firing' ? report.generatorUrl : null)),
  };
}

/** The same of Alerts as templates read them. */
export function templateLinks(alerts: readonly TemplateAlert[]): AlertLinks {
  return {
    runbookUrl: firstSafe(alerts, ({ annotations }) => annotations.runbook_url),
    dashboardUrl: firstSafe(alerts, ({ annotations }) => annotations.dashboard_url),
    sourceUrl: firstSafe(alerts, ({ status, generatorUrl }) => (status === 'firing' ? generatorUrl : null)),
  };
}

function firstSafe<Alert>(
  alerts: readonly Alert[],
  urlOf: (alert: Alert) => string | null | undefined,
): string | null {
  for (const alert of alerts) {
    const url = urlOf(alert);
    const safe = url ? safeUrl(url) : null;
    if (safe) return safe;
  }
  return null;
}
