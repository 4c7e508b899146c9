import { describe, expect, it } from 'vitest';
import { en } from '../../i18n/en.ts';
import type { I18n, Key } from '../../i18n/i18n.svelte.ts';
import { formatMessage } from '../../i18n/message.ts';
import {
  ACTIONS,
  type AuditFilters,
  auditQuery,
  filtersToQuery,
  NO_FILTERS,
  pageOfResource,
  parseAuditFilters,
  phrasesOf,
} from './audit-filters.ts';

const plurals = new Intl.PluralRules('en');
const numbers = new Intl.NumberFormat('en');
const t = (key: string, values: Record<string, string | number> = {}) =>
  formatMessage(en[key as Key], values, plurals, numbers);
const word = (family: string, code: string) => {
  const key = `${family}.${code}`;
  return key in en ? t(key) : code;
};
const i18n = { t, word, locale: 'en-GB' } as unknown as I18n;
const ADA = { id: 'SRADA000000000', name: 'Ada' };
const say = (filters: Partial<AuditFilters>) =>
  phrasesOf({ ...NO_FILTERS, ...filters }, [ADA], i18n, 'Europe/Berlin').map(({ text }) => text);

describe('the address', () => {
  it('gives back what was chosen', () => {
    const chosen: AuditFilters = {
      ...{ period: 'custom', from: '2026-11-01T00:00:00Z', to: '2026-11-02T00:00:00Z' },
      ...{ actor: ADA.id, action: 'route.updated', type: 'route', resource: 'RT0000000000AB' },
    };
    expect(parseAuditFilters(filtersToQuery(chosen).toString())).toEqual({ filters: chosen, dropped: [] });
  });

  it('is plain for the plain list', () => {
    expect(filtersToQuery(NO_FILTERS).toString()).toBe('');
  });

  it('names what it says that cannot be asked', () => {
    const search = '?period=9y&from=x&to=y&actor=Ada&action=x&resource_type=X&resource_id=%00';
    expect(parseAuditFilters(search)).toEqual({
      filters: NO_FILTERS,
      dropped: ['period', 'from', 'to', 'actor', 'action', 'resource_type', 'resource_id'],
    });
  });
});

it.each<[Partial<AuditFilters>, Record<string, string>]>([
  [{}, { from: '2026-11-15T12:00:00.000Z' }],
  [{ period: '24h' }, { from: '2026-11-21T12:00:00.000Z' }],
  [{ period: 'all', from: '2026-01-01T00:00:00Z' }, {}],
  [
    { period: 'custom', to: '2026-01-01T00:00:00Z' },
    { from: '', to: '2026-01-01T00:00:00Z' },
  ],
])('the period of %j is asked as %j', (filters, range) => {
  const { from, to } = auditQuery({ ...NO_FILTERS, ...filters }, Date.parse('2026-11-22T12:00:00Z'));
  expect({ ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }).toEqual(range);
});

it.each<[Partial<AuditFilters>, readonly string[]]>([
  [{}, []],
  [{ period: 'all' }, ['All that is kept']],
  [{ actor: ADA.id }, ['by Ada']],
  [{ actor: 'SA0000000000AB' }, ['by SA0000000000AB']],
  [{ action: 'route.updated' }, ['Route: changed']],
  [{ action: 'lamp.rubbed' }, ['lamp: rubbed']],
  [{ type: 'route', resource: 'RT0000000000AB' }, ['about: Route', 'about RT0000000000AB']],
])('%j reads as %j', (filters, phrases) => {
  expect(say(filters)).toEqual(phrases);
});

it('every known action has words', () => {
  const codes = Object.entries(ACTIONS).flatMap(([area, verbs]) => [
    `auditArea.${area}`,
    ...verbs.map((verb) => `auditVerb.${verb}`),
  ]);
  expect(codes.filter((code) => !(code in en))).toEqual([]);
});

it.each([
  ['route', 'RT0000000000AB', '/routes/RT0000000000AB'],
  ['session', 'SN0000000000AB', null],
  ['route', null, null],
])('the page of %s %s is %s', (type, id, page) => {
  expect(pageOfResource(type, id)).toBe(page);
});
