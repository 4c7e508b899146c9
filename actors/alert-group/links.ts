/** Links that the Alerts themselves carry (messages §9): Runbook, Dashboard, Source. */
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

const URL_LIMIT = 2048;
const UNFIT = /[\s\p{Cc}\p{Cf}\uE000-\uE002]/u;

/**
 * A text that somebody else wrote as a link: an absolute http or https URL with a host and without user information,
 * white space or invisible characters, at most 2,048 characters. Null for anything else (messages §9.1).
 */
export function safeUrl(text: string): string | null {
  const trimmed = text.trim();
  if (trimmed.length > URL_LIMIT || UNFIT.test(trimmed) || !/^https?:\/\//i.test(trimmed)) return null;
  const url = URL.parse(trimmed);
  return url?.host && url.username === '' && url.password === '' ? trimmed : null;
}

function firstSafe(
  alerts: readonly GroupAlert[],
  urlOf: (alert: GroupAlert) => string | null | undefined,
): string | null {
  for (const alert of alerts) {
    const url = urlOf(alert);
    const safe = url ? safeUrl(url) : null;
    if (safe) return safe;
  }
  return null;
}
