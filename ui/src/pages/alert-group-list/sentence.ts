/** The active filters as the phrases of a sentence; each phrase knows the filters without it (ui §3). */
import type { EntityRef } from '../../api/shapes.ts';
import type { I18n } from '../../i18n/i18n.svelte.ts';
import { formatDateTime } from '../../time/format.ts';
import { FLAGS, type GroupFilters } from './filters.ts';

export interface Phrase {
  readonly key: string;
  readonly text: string;
  readonly without: Partial<GroupFilters>;
  /** Position among the label matchers, for what the service says about one of them. */
  readonly label?: number;
}

/** Who and what ids stand for, as far as known. */
export interface KnownNames {
  readonly routes: readonly EntityRef[] | null;
  readonly integrations: readonly EntityRef[] | null;
  readonly people: readonly EntityRef[];
}

export function phrasesOf(
  filters: GroupFilters,
  names: KnownNames,
  i18n: I18n,
  timeZone: string,
): readonly Phrase[] {
  const { t } = i18n;
  const either = new Intl.ListFormat(i18n.locale, { type: 'disjunction' });
  const named = (known: readonly EntityRef[] | null, ids: readonly string[]) =>
    either.format(ids.map((id) => nameOf(known, id, t('pick.gone'))));
  const phrases: Phrase[] = [];

  if (filters.number !== null) {
    phrases.push({ key: 'number', text: `#${filters.number}`, without: { number: null } });
  }
  if (filters.notStatuses.length > 0) {
    const statuses = either.format(filters.notStatuses.map((status) => i18n.word('status', status)));
    phrases.push({ key: 'status', text: t('phrase.notStatus', { statuses }), without: { notStatuses: [] } });
  }
  if (filters.q !== '') {
    phrases.push({ key: 'q', text: t('phrase.text', { text: filters.q }), without: { q: '' } });
  }
  if (filters.severities.length > 0) {
    const levels = either.format(filters.severities.map((level) => i18n.word('severity', level)));
    phrases.push({ key: 'severity', text: t('phrase.severity', { levels }), without: { severities: [] } });
  }
  for (const flag of FLAGS) {
    const wanted = filters.flags[flag];
    if (wanted === undefined) continue;
    const { [flag]: _, ...flags } = filters.flags;
    phrases.push({ key: flag, text: wanted ? t(`flag.${flag}`) : t(`flagNot.${flag}`), without: { flags } });
  }
  if (filters.owner !== null) {
    phrases.push({
      key: 'owner',
      text: ownerText(filters.owner, names.people, i18n),
      without: { owner: null },
    });
  }
  if (filters.routes.length > 0) {
    const text = t('phrase.route', { names: named(names.routes, filters.routes) });
    phrases.push({ key: 'route', text, without: { routes: [] } });
  }
  if (filters.integrations.length > 0) {
    const text = t('phrase.integration', { names: named(names.integrations, filters.integrations) });
    phrases.push({ key: 'integration', text, without: { integrations: [] } });
  }
  filters.labels.forEach((matcher, index) => {
    const without = { labels: filters.labels.filter((each) => each !== matcher) };
    phrases.push({ key: `label ${matcher}`, text: matcher, without, label: index });
  });
  if (filters.resolvedBy !== null) {
    const text = t('phrase.resolvedBy', { by: t(`resolver.${filters.resolvedBy}`) });
    phrases.push({ key: 'resolved', text, without: { resolvedBy: null } });
  }
  if (filters.range !== '7d') {
    const text = rangeText(filters, i18n, timeZone);
    phrases.push({ key: 'range', text, without: { range: '7d', from: null, to: null } });
  }
  return phrases;
}

/** The name behind an id. While names are not known the id stands for itself; one that is not among them is gone. */
export function nameOf(known: readonly EntityRef[] | null, id: string, gone: string): string {
  if (known === null) return id;
  return known.find((each) => each.id === id)?.name ?? `${id} ${gone}`;
}

function ownerText(owner: string, people: readonly EntityRef[], { t }: I18n): string {
  if (owner === 'me' || owner === 'none') return t(`phrase.owner.${owner}`);
  return t('phrase.owner.person', { name: people.find((each) => each.id === owner)?.name ?? owner });
}

function rangeText({ range, from, to }: GroupFilters, i18n: I18n, timeZone: string): string {
  const { t } = i18n;
  if (range !== 'custom') return t(`range.${range}`);
  const at = (instant: string | null) =>
    instant === null ? '…' : formatDateTime(Date.parse(instant), i18n.locale, timeZone);
  return t('phrase.between', { from: at(from), to: at(to) });
}
