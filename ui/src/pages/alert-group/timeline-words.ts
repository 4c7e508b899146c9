/** The history in words: one sentence for every entry (ui §4 rule 9, alert-groups §5.1). */
import type { TimelineActor, TimelineEntry } from '../../api/shapes.ts';
import type { I18n } from '../../i18n/i18n.svelte.ts';

/** What happened. @param when writes an instant that lies ahead */
export function entryText(entry: TimelineEntry, i18n: I18n, when: (instant: string) => string): string {
  const { t } = i18n;
  if (entry.kind === 'delivery') {
    const event = i18n.word('deliveryEvent', entry.delivery_event ?? '');
    return entry.destination ? `${entry.destination.name}: ${event}` : event;
  }
  const code = entry.event ?? entry.system_event ?? '';
  const count = entry.fingerprints?.length ?? 0;
  switch (code) {
    case 'created':
      return count > 0 ? t('entry.created', { count }) : t('event.created');
    case 'reopened':
      return count > 0 ? t('entry.reopened', { count }) : t('event.reopened');
    case 'alerts_added':
      return t('entry.alertsAdded', { count });
    case 'alert_resolved':
      return t('entry.alertsResolved', { count });
    case 'alert_replaced':
      return t('entry.alertReplaced', { label: entry.replaced_label ?? '' });
    case 'takeover':
      return t('entry.takeover', {
        owner: entry.owner?.name ?? '',
        previous: entry.previous_owner?.name ?? '',
      });
    case 'unacknowledged':
    case 'auto_unacknowledged':
      return entry.previous_owner
        ? t(code === 'unacknowledged' ? 'entry.unacknowledged' : 'entry.autoUnacknowledged', {
            previous: entry.previous_owner.name,
          })
        : i18n.word('event', code);
    case 'snooze_ended':
      return count > 0 ? t('entry.snoozeEnded', { count }) : i18n.word('event', code);
    case 'snoozed':
      return entry.snooze_until
        ? t('entry.snoozedUntil', { until: when(entry.snooze_until) })
        : t('entry.snoozedNoEnd');
    case 'severity_raised':
    case 'urgency_raised':
      return t(code === 'severity_raised' ? 'entry.severityRaised' : 'entry.urgencyRaised', {
        from: i18n.word('severity', entry.from_severity_level ?? ''),
        to: i18n.word('severity', entry.to_severity_level ?? ''),
      });
    case 'ack_timeout':
      return t('entry.ackTimeout', { number: entry.notice_number ?? 1 });
    case 'reminder':
      return t('entry.reminder', { number: entry.notice_number ?? 1 });
    case 'notices_missed':
      return t('entry.noticesMissed', { count: entry.missed_count ?? 0 });
    case 'service_unavailable':
      return t('entry.serviceUnavailable', {
        from: entry.period_from ? when(entry.period_from) : '',
        to: entry.period_to ? when(entry.period_to) : '',
      });
    default:
      return i18n.word('event', code);
  }
}

/** Who did it and by which way; for the system, why. */
export function actorText(actor: TimelineActor, i18n: I18n): string {
  if (actor.kind === 'system') {
    return i18n.t('actor.system', { reason: i18n.word('systemReason', actor.reason ?? '') });
  }
  const transport = i18n.word('transport', actor.transport ?? '');
  const name = actor.name ?? '';
  return actor.token_name
    ? i18n.t('actor.token', { name, token: actor.token_name, transport })
    : i18n.t('actor.person', { name, transport });
}

/** What stands behind the sentence: the reason, who is to be mentioned, an error, labels that clashed. */
export function entryDetails(entry: TimelineEntry, i18n: I18n): readonly string[] {
  const details: string[] = [];
  const reason = reasonText(entry.reason ?? null, entry.reason_text ?? null, i18n);
  if (reason !== null) details.push(reason);
  if (entry.mentions?.length) {
    const who = entry.mentions.map((mention) => i18n.word('mention', mention)).join(', ');
    details.push(i18n.t('entry.mentions', { who }));
  }
  if (entry.error) details.push(entry.error);
  if (entry.detail) details.push(entry.detail);
  if (entry.label_conflicts?.length) {
    details.push(i18n.t('entry.labelConflicts', { labels: entry.label_conflicts.join(', ') }));
  }
  return details;
}

/** A reason in the viewer's language; the service's own sentence, which says more, where that is English too. */
export function reasonText(code: string | null, sentence: string | null, i18n: I18n): string | null {
  if (i18n.language === 'en' && sentence !== null) return sentence;
  const words = code === null ? null : i18n.word('reason', code);
  return words === null || words === code ? sentence : words;
}

/**
 * The history as plain text, oldest first, for a post-mortem.
 * @param entries in the order of the service, which tells what came first within one instant
 * @param when writes an instant with its zone
 */
export function timelineText(
  entries: readonly TimelineEntry[],
  order: 'asc' | 'desc',
  i18n: I18n,
  when: (instant: string) => string,
): string {
  const oldestFirst = order === 'asc' ? entries : entries.toReversed();
  const lines = oldestFirst.flatMap((entry) => [
    `${when(entry.at)}  ${entryText(entry, i18n, when)} (${actorText(entry.actor, i18n)})`,
    ...[...entryDetails(entry, i18n), ...(entry.note?.body.split('\n') ?? [])].map((line) => `    ${line}`),
  ]);
  return `${lines.join('\n')}\n`;
}

export type TimelineRow =
  | { readonly kind: 'entry'; readonly entry: TimelineEntry }
  | { readonly kind: 'deliveries'; readonly id: string; readonly entries: readonly TimelineEntry[] };

/** Folds neighbouring delivery entries into one row. */
export function foldDeliveries(entries: readonly TimelineEntry[]): readonly TimelineRow[] {
  const rows: TimelineRow[] = [];
  for (const entry of entries) {
    const last = rows.at(-1);
    if (entry.kind !== 'delivery') rows.push({ kind: 'entry', entry });
    else if (last?.kind === 'deliveries')
      rows[rows.length - 1] = { ...last, entries: [...last.entries, entry] };
    else rows.push({ kind: 'deliveries', id: entry.id, entries: [entry] });
  }
  return rows;
}
