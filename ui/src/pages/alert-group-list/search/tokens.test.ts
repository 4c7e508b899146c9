import { expect, it } from 'vitest';
import { type GroupFilters, NO_FILTERS } from '../filters.ts';
import { type KnownLabels, knownLabels, labelNames } from '../known-labels.ts';
import { completionsAt, labelAt } from './completions.ts';
import { MAX_SEARCH, readSearch, says, searchText, unsaidLabels } from './tokens.ts';

const NAMES = {
  routes: [
    { id: 'RT00000000000A', name: 'Payments team' },
    { id: 'RT00000000000B', name: 'twice' },
    { id: 'RT00000000000C', name: 'Twice' },
  ],
  integrations: [{ id: 'IN00000000000A', name: 'eu-1' }],
  people: [{ id: 'SR00000000000A', name: 'Ada', login: 'ada' }],
};

/** What a text changes of the plain list. */
function read(text: string): Partial<GroupFilters> | string {
  const reading = readSearch(text, NAMES);
  if (!reading.ok) return `${reading.fault.code} ${reading.fault.from}-${reading.fault.to}`;
  return Object.fromEntries(
    Object.entries(reading.filters).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(NO_FILTERS[name as keyof GroupFilters]),
    ),
  );
}

/** Texts that are written the same way for the filters that they say. */
it.each<[string, Partial<GroupFilters>]>([
  ['', {}],
  ['disk full', { q: 'disk full' }],
  ['severity:critical namespace:payments', { severities: ['critical'], labels: ['namespace="payments"'] }],
  ['-status:snoozed', { notStatuses: ['snoozed'] }],
  ['status:resolved', { tab: 'resolved' }],
  ['status:all -status:resolved', { tab: 'all', notStatuses: ['resolved'] }],
  ['-cluster:eu', { labels: ['cluster!="eu"'] }],
  ['pod=~"api-.*"', { labels: ['pod=~"api-.*"'] }],
  ['title:"a \\"b\\""', { labels: ['title="a \\"b\\""'] }],
  ['severity="page"', { labels: ['severity="page"'] }],
  ['"a.b"="c"', { labels: ['"a.b"="c"'] }],
  ['is:urgent -is:unclaimed', { flags: { urgent: true, unclaimed: false } }],
  ['owner:me', { owner: 'me' }],
  ['owner:ada', { owner: 'SR00000000000A' }],
  ['route:"Payments team"', { routes: ['RT00000000000A'] }],
  ['route:RT00000000000C', { routes: ['RT00000000000C'] }],
  ['integration:eu-1', { integrations: ['IN00000000000A'] }],
  ['"http://x y"', { q: 'http://x y' }],
])('%j says %j, and is what says it', (text, filters) => {
  expect(read(text)).toEqual(filters);
  expect(searchText({ ...NO_FILTERS, ...filters }, NAMES)).toBe(text);
});

it.each<[string, Partial<GroupFilters>]>([
  ['status:firing status:snoozed', { notStatuses: ['acknowledged'] }],
  ['status:firing status:resolved', { tab: 'all', notStatuses: ['acknowledged', 'snoozed'] }],
  ['-severity:info', { severities: ['critical', 'warning'] }],
  ['pod:~api', { labels: ['pod=~"api"'] }],
  ['-pod:~api', { labels: ['pod!~"api"'] }],
  ['-a!=b', { labels: ['a="b"'] }],
  ['severity:critical "disk full" now', { severities: ['critical'], q: 'disk full now' }],
])('%j says %j', (text, filters) => {
  expect(read(text)).toEqual(filters);
});

it.each([
  ['ok severity:hot', 'severity 3-15'],
  ['status:off', 'status 0-10'],
  ['is:odd', 'is 0-6'],
  ['owner:eve x', 'owner 0-9'],
  ['route:none', 'route 0-10'],
  ['integration:none', 'integration 0-16'],
  ['a namespace:', 'value 2-12'],
  ['severity:', 'value 0-9'],
  ['a "b c', 'quote 2-6'],
  ['-word', 'negation 0-5'],
  ['-owner:me', 'negation 0-9'],
  ['severity:info -severity:info', 'nothing 14-28'],
  ['status:firing -status:firing', 'nothing 0-28'],
  [`a ${'b'.repeat(201)}`, 'words 2-203'],
  [Array.from({ length: 21 }, (_, n) => `l${n}:1`).join(' '), 'labels 110-115'],
  ['x'.repeat(MAX_SEARCH + 1), `long ${MAX_SEARCH}-${MAX_SEARCH + 1}`],
])('%j is wrong at its place: %s', (text, fault) => {
  expect(read(text)).toBe(fault);
});

it('what is no matcher stays outside of the text', () => {
  const labels = ['nonsense', 'cluster="eu"', 'a="b" x'];
  expect(searchText({ ...NO_FILTERS, labels }, NAMES)).toBe('cluster:eu');
  expect(unsaidLabels(labels)).toEqual(['nonsense', 'a="b" x']);
  expect(says('cluster:eu', { ...NO_FILTERS, labels }, NAMES)).toBe(true);
  expect(says('cluster:us', { ...NO_FILTERS, labels }, NAMES)).toBe(false);
});

const of = (common_labels: Record<string, string>) => ({ common_labels }) as never;
const KNOWN = knownLabels([
  of({ namespace: 'shop', pod: 'a' }),
  of({ namespace: 'pay' }),
  of({ namespace: 'pay', node: 'n 1' }),
]);

const optionsOf = (
  text: string,
  known: KnownLabels = KNOWN,
  found: ReadonlyMap<string, number> = new Map(),
) => completionsAt(text, text.length, known, labelNames(found, known), NAMES).options;

it.each([
  ['disk n', ['namespace:', 'node:']],
  ['s', ['severity:', 'status:']],
  ['sh', ['namespace:shop ']],
  ['disk -pa', ['-namespace:pay ']],
  ['-name', ['-namespace:']],
  ['namespace:', ['namespace:pay ', 'namespace:shop ']],
  ['namespace:ho', ['namespace:shop ']],
  ['node:"n', ['node:"n 1" ']],
  ['status:re', ['status:resolved ']],
  ['owner:a', ['owner:ada ']],
  ['route:pay', ['route:"Payments team" ']],
  ['is:un', ['is:unclaimed ', 'is:undelivered ']],
])('%j can become %j', (text, options) => {
  expect(optionsOf(text).map((each) => each.text)).toEqual(options);
});

it.each(['te', 'Te', 'TE'])('%j can become a label with capitals', (text) => {
  const known = knownLabels([of({ Team: 'shop' })]);
  expect(optionsOf(text, known).map((each) => each.text)).toEqual(['Team:']);
});

it('names that the service found come before those of the loaded rows, with its counts', () => {
  const found = new Map([
    ['node', 70],
    ['nic', 40],
    ['n.x', 30],
    ['namespace', 20],
  ]);
  expect(optionsOf('n', KNOWN, found)).toEqual([
    { text: 'node:', groups: 70 },
    { text: 'nic:', groups: 40 },
    { text: 'namespace:', groups: 20 },
  ]);
  expect(optionsOf('n', KNOWN, new Map([['nic', 40]]))).toEqual([
    { text: 'nic:', groups: 40 },
    { text: 'namespace:', groups: 3 },
    { text: 'node:', groups: 1 },
  ]);
});

it.each([
  ['disk pod:a', 'pod'],
  ['-pod:', 'pod'],
  ['pod:a ', null],
  ['status:f', null],
  ['pod', null],
])('the label whose value is typed in %j is %j', (text, label) => {
  expect(labelAt(text, text.length)).toBe(label);
});
