/** What narrows the list of users, as it stands in the URL. */
import { ROLES } from '../../api/people.ts';

export const STATUSES = ['active', 'disabled', 'deleted'] as const;
export const SOURCES = ['local', 'oidc', 'bootstrap'] as const;

export interface UserFilters {
  readonly q: string;
  /** Empty: any. */
  readonly role: string;
  readonly status: string;
  readonly source: string;
}

export const NO_USER_FILTERS: UserFilters = { q: '', role: '', status: '', source: '' };

/** Values that mean nothing here are dropped and named. */
export function parseUserFilters(search: string): {
  readonly filters: UserFilters;
  readonly dropped: readonly string[];
} {
  const query = new URLSearchParams(search);
  const dropped: string[] = [];
  const oneOf = (name: string, known: readonly string[]) => {
    const value = query.get(name) ?? '';
    if (value === '' || known.includes(value)) return value;
    dropped.push(name);
    return '';
  };
  const filters = {
    q: query.get('q') ?? '',
    role: oneOf('role', ROLES),
    status: oneOf('status', STATUSES),
    source: oneOf('source', SOURCES),
  };
  for (const name of query.keys()) {
    if (!Object.hasOwn(NO_USER_FILTERS, name)) dropped.push(name);
  }
  return { filters, dropped };
}

/** Without what says nothing. */
export function userFiltersToQuery(filters: UserFilters): URLSearchParams {
  return new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== ''));
}
