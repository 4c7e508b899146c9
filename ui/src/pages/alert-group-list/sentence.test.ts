import { expect, it } from 'vitest';
import { en } from '../../i18n/en.ts';
import type { I18n, Key } from '../../i18n/i18n.svelte.ts';
import { formatMessage } from '../../i18n/message.ts';
import { filtersToQuery, type GroupFilters, NO_FILTERS, parseFilters } from './filters.ts';
import { phrasesOf } from './sentence.ts';

const plurals = new Intl.PluralRules('en');
const numbers = new Intl.NumberFormat('en');
const t = (key: string, values: Record<string, string | number> = {}) =>
  formatMessage(en[key as Key], values, plurals, numbers);
const i18n = {
  t,
  word: (family: string, code: string) => t(`${family}.${code}`),
  locale: 'en-GB',
} as unknown as I18n;

const ROUTE = { id: 'RTA00000000000', name: 'Payments' };
const NAMES = { routes: [ROUTE], integrations: null, people: [{ id: 'SRADA000000000', name: 'Ada' }] };
const say = (filters: Partial<GroupFilters>) =>
  phrasesOf({ ...NO_FILTERS, ...filters }, NAMES, i18n, 'Europe/Berlin').map(({ text }) => text);

it.each<[Partial<GroupFilters>, readonly string[]]>([
  [{}, []],
  [{ severities: ['critical', 'warning'] }, ['of severity Critical or Warning']],
  [{ flags: { urgent: true, unclaimed: false } }, ['Urgent', 'not Unclaimed']],
  [{ owner: 'me' }, ['owned by me']],
  [{ owner: 'none' }, ['without an Owner']],
  [{ owner: 'SRADA000000000' }, ['owned by Ada']],
  [{ routes: [ROUTE.id, 'RTB00000000000'] }, ['of Route Payments or RTB00000000000 (deleted)']],
  [{ integrations: ['NTA00000000000'] }, ['from Integration NTA00000000000']],
  [{ labels: ['a="b"', 'c!~"d"'] }, ['a="b"', 'c!~"d"']],
  [{ range: '24h', q: 'disk' }, ['with “disk”', 'Last 24 hours']],
  [{ range: 'custom', from: '2026-11-22T08:00:00Z', to: null }, ['between 22 Nov 2026, 09:00 and …']],
])('%j says %j', (filters, phrases) => {
  expect(say(filters)).toEqual(phrases);
});

it('takes away each phrase alone', () => {
  const search =
    'q=disk&severity=info&urgent=true&unclaimed=false&owner=me&route=RTA00000000000&integration=NTA00000000000&label=a%3D%22b%22&label=c%3D%22d%22&resolved=gone&range=1h';
  const { filters } = parseFilters(search);
  const phrases = phrasesOf(filters, NAMES, i18n, 'UTC');
  expect(phrases).toHaveLength(11);
  for (const phrase of phrases) {
    const rest = { ...filters, ...phrase.without };
    expect(phrasesOf(rest, NAMES, i18n, 'UTC').map(({ key }) => key)).toEqual(
      phrases.map(({ key }) => key).filter((key) => key !== phrase.key),
    );
  }
  const rest = Object.assign({}, filters, ...phrases.map(({ without }) => without), {
    flags: {},
    labels: [],
  });
  expect(filtersToQuery(rest).toString()).toBe('');
});
