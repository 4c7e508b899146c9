/** The tabs of an Integration, and what narrows the lists in them; all of it is in the address (ui §1.3). Pure. */
import type { Query } from '../../api/client.ts';
import type { Integration, SnapshotState } from '../../api/shapes.ts';

export const TABS = ['overview', 'alerts', 'sender-routes', 'tokens', 'snapshots'] as const;
export type Tab = (typeof TABS)[number];

/** Those that the person may see; the built-in Integration has neither sender nor tokens. */
export function tabsOf(
  { builtin }: Pick<Integration, 'builtin'>,
  may: (permission: string) => boolean,
): readonly Tab[] {
  return TABS.filter((tab) => {
    if (tab === 'alerts') return may('alerts:read');
    if (tab === 'snapshots') return may('stored-snapshots:read');
    return tab === 'overview' || !builtin;
  });
}

/** The tab that the address asks for; the first one when it asks for none or for one that is not there. */
export function tabOf(search: string, tabs: readonly Tab[]): Tab {
  const asked = new URLSearchParams(search).get('tab');
  return tabs.find((tab) => tab === asked) ?? 'overview';
}

export const ALERT_STATES = ['firing', 'resolved', 'all'] as const;
export const ALERT_SORTS = ['-last_seen_at', 'last_seen_at', '-starts_at', 'starts_at'] as const;

export interface AlertFilters {
  readonly state: (typeof ALERT_STATES)[number];
  readonly sort: (typeof ALERT_SORTS)[number];
  readonly q: string;
  /** Matchers in the text form of the API. */
  readonly labels: readonly string[];
}

export function parseAlertFilters(search: string): AlertFilters {
  const query = new URLSearchParams(search);
  return {
    state: ALERT_STATES.find((each) => each === query.get('state')) ?? 'firing',
    sort: ALERT_SORTS.find((each) => each === query.get('sort')) ?? '-last_seen_at',
    q: query.get('q') ?? '',
    labels: [...new Set(query.getAll('label'))],
  };
}

/** The address of these filters; what nobody chose is left out. */
export function alertFiltersToQuery({ state, sort, q, labels }: AlertFilters): URLSearchParams {
  const query = new URLSearchParams({ tab: 'alerts' });
  if (state !== 'firing') query.set('state', state);
  if (sort !== '-last_seen_at') query.set('sort', sort);
  if (q !== '') query.set('q', q);
  for (const label of labels) query.append('label', label);
  return query;
}

/** What the API is asked. */
export function alertQuery({ state, sort, q, labels }: AlertFilters): Query {
  return { state: state === 'all' ? null : state, sort, q: q.trim(), label: labels };
}

export const SNAPSHOT_STATES = ['pending', 'processed', 'failed'] as const satisfies SnapshotState[];

export function parseSnapshotState(search: string): SnapshotState | null {
  const asked = new URLSearchParams(search).get('state');
  return SNAPSHOT_STATES.find((state) => state === asked) ?? null;
}
