/** What narrows the Audit log: all of it is in the address and can be said as a sentence (ui §1.3, §11.5). Pure. */
import type { Query } from '../../api/client.ts';
import type { EntityRef } from '../../api/shapes.ts';
import type { I18n } from '../../i18n/i18n.svelte.ts';
import { formatDateTime } from '../../time/format.ts';

export const PERIODS = ['24h', '7d', '30d', 'all', 'custom'] as const;
export type Period = (typeof PERIODS)[number];

/** Empty texts narrow nothing. */
export interface AuditFilters {
  readonly period: Period;
  /** RFC 3339; only with the period `custom`. */
  readonly from: string;
  readonly to: string;
  /** Id of a user or a Service account. */
  readonly actor: string;
  readonly action: string;
  readonly type: string;
  readonly resource: string;
}

export const NO_FILTERS: AuditFilters = {
  ...{ period: '7d', from: '', to: '' },
  ...{ actor: '', action: '', type: '', resource: '' },
};

const DAY_MS = 86_400_000;
const DAYS = { '24h': 1, '7d': 7, '30d': 30 } as const;
const ACTOR = /^(SR|SA)[0-9A-Z]{12}$/;
const CODE = /^[a-z_]{1,64}$/;
const ACTION = /^[a-z_]{1,64}\.[a-z_]{1,64}$/;
const RESOURCE = /^[\w-]{1,64}$/;
const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/;

/** Reads the query string. Parameters that say nothing sensible are left out and named in `dropped`. */
export function parseAuditFilters(search: string): {
  filters: AuditFilters;
  dropped: readonly string[];
} {
  const params = new URLSearchParams(search);
  const dropped: string[] = [];
  const read = (name: string, fits: (value: string) => boolean) => {
    const value = params.get(name) ?? '';
    if (value === '' || fits(value)) return value;
    dropped.push(name);
    return '';
  };
  const isInstant = (value: string) => INSTANT.test(value) && !Number.isNaN(Date.parse(value));
  const period = read('period', (value) => PERIODS.some((each) => each === value));
  const filters: AuditFilters = {
    period: PERIODS.find((each) => each === period) ?? NO_FILTERS.period,
    from: read('from', isInstant),
    to: read('to', isInstant),
    actor: read('actor', (value) => ACTOR.test(value)),
    action: read('action', (value) => ACTION.test(value)),
    type: read('resource_type', (value) => CODE.test(value)),
    resource: read('resource_id', (value) => RESOURCE.test(value)),
  };
  return { filters, dropped };
}

/** As the address says it; the default period is left out. */
export function filtersToQuery({ period, from, to, actor, action, type, resource }: AuditFilters) {
  const said = {
    ...{ period: period === NO_FILTERS.period ? '' : period },
    ...(period === 'custom' ? { from, to } : {}),
    ...{ actor, action, resource_type: type, resource_id: resource },
  };
  return new URLSearchParams(Object.entries(said).filter(([, value]) => value !== ''));
}

/** As the API is asked. @param now ms since the epoch */
export function auditQuery(filters: AuditFilters, now: number): Query {
  const { actor, action, type, resource } = filters;
  return { ...rangeOf(filters, now), actor, action, resource_type: type, resource_id: resource };
}

function rangeOf({ period, from, to }: AuditFilters, now: number): Query {
  if (period === 'custom') return { from, to };
  if (period === 'all') return {};
  return { from: new Date(now - DAYS[period] * DAY_MS).toISOString() };
}

export interface Phrase {
  readonly key: string;
  readonly text: string;
  /** What the filters become without it. */
  readonly without: Partial<AuditFilters>;
}

/** The filters as the phrases of a sentence. @param people as far as they are known by name */
export function phrasesOf(
  filters: AuditFilters,
  people: readonly EntityRef[],
  i18n: I18n,
  timeZone: string,
): readonly Phrase[] {
  const { t } = i18n;
  const { period, actor, action, type, resource } = filters;
  const phrases: Phrase[] = [];
  if (period !== NO_FILTERS.period) {
    const without = { period: NO_FILTERS.period, from: '', to: '' };
    phrases.push({ key: 'period', text: periodText(filters, i18n, timeZone), without });
  }
  if (actor !== '') {
    const name = people.find(({ id }) => id === actor)?.name ?? actor;
    phrases.push({ key: 'actor', text: t('by', { name }), without: { actor: '' } });
  }
  if (action !== '') {
    phrases.push({ key: 'action', text: actionText(action, i18n), without: { action: '' } });
  }
  if (type !== '') {
    const text = t('audit.phrase.type', { type: i18n.word('auditArea', type) });
    phrases.push({ key: 'type', text, without: { type: '' } });
  }
  if (resource !== '') {
    const text = t('audit.phrase.resource', { id: resource });
    phrases.push({ key: 'resource', text, without: { resource: '' } });
  }
  return phrases;
}

function periodText({ period, from, to }: AuditFilters, i18n: I18n, timeZone: string): string {
  if (period !== 'custom') return i18n.t(`auditPeriod.${period}`);
  const at = (instant: string) =>
    instant === '' ? '…' : formatDateTime(Date.parse(instant), i18n.locale, timeZone);
  return i18n.t('phrase.between', { from: at(from), to: at(to) });
}

/** An action in words; codes that this build does not know stand for themselves. */
export function actionText(action: string, i18n: I18n): string {
  const [area = '', verb = ''] = action.split('.', 2);
  return `${i18n.word('auditArea', area)}: ${i18n.word('auditVerb', verb)}`;
}

/** What the Audit log can tell of, by area; an action is `<area>.<verb>` (access §11). */
const CRUD = ['created', 'updated', 'deleted'] as const;

export const ACTIONS = {
  session: ['signed_in', 'sign_in_failed', 'second_factor_failed', 'signed_out', 'ended_all', 'oidc_refused'],
  user: [
    ...CRUD,
    ...['role_changed', 'disabled', 'enabled', 'profile_updated', 'password_changed', 'password_set'],
    ...['password_setup_link_created', 'password_reset', 'unlocked', 'oidc_linked', 'oidc_link_refused'],
    ...[
      'converted_to_local',
      'oidc_refused',
      'role_sync_kept_admin',
      'proof_failed',
      'password_setup_failed',
    ],
  ],
  totp: ['enrolled', 'removed', 'recovery_codes_regenerated', 'reset'],
  api_token: ['created', 'revoked', 'refused'],
  service_account: [...CRUD, 'disabled', 'enabled'],
  oidc_settings: ['updated'],
  organization: ['updated'],
  outbound_policy: ['updated'],
  keyring: ['key_activated', 'reset'],
  integration: ['create', 'update', 'delete'],
  integration_token: ['create', 'revoke', 'refuse'],
  route: [...CRUD, 'reordered', 'open_alert_groups_moved'],
  connection: [...CRUD, 'callback_refused'],
  lookup_table: CRUD,
  link_rule: CRUD,
  saved_view: CRUD,
  destination: [...CRUD, 'tested', 'signing_secret_generated', 'signing_secret_retired'],
  alert_group: [
    ...['acknowledged', 'taken_over', 'unacknowledged', 'resolved', 'unresolved', 'snoozed', 'unsnoozed'],
    ...['note_added', 'reminder_answered'],
  ],
  account_link: ['linked', 'unlinked', 'link_rejected'],
  ingest: ['replayed'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export const AREAS = Object.keys(ACTIONS) as readonly (keyof typeof ACTIONS)[];

/** Where people look at what an entry tells about; null for what has no page. */
const PAGES: Readonly<Record<string, string>> = {
  alert_group: '/alert-groups',
  integration: '/integrations',
  route: '/routes',
  connection: '/connections',
  destination: '/destinations',
  link_rule: '/admin/link-rules',
  lookup_table: '/admin/lookup-tables',
};

export function pageOfResource(type: string | null, id: string | null): string | null {
  const page = type === null || id === null ? undefined : PAGES[type];
  return page === undefined ? null : `${page}/${id}`;
}
