import { describe, expect, it } from 'vitest';
import type { TimelineEntry } from '../../api/shapes.ts';
import { en } from '../../i18n/en.ts';
import type { I18n, Key } from '../../i18n/i18n.svelte.ts';
import { formatMessage } from '../../i18n/message.ts';
import {
  actorText,
  entryDetails,
  entryText,
  foldDeliveries,
  reasonText,
  timelineText,
} from './timeline-words.ts';

const plurals = new Intl.PluralRules('en');
const numbers = new Intl.NumberFormat('en');
const text = (key: string, values: Record<string, string | number> = {}) =>
  formatMessage(en[key as Key], values, plurals, numbers);
const i18n = {
  t: (key: string, values?: Record<string, string | number>) => text(key, values),
  language: 'en',
  word: (family: string, code: string) => (`${family}.${code}` in en ? text(`${family}.${code}`) : code),
} as unknown as I18n;

const LIFECYCLE_EVENTS = [
  'created',
  'alerts_added',
  'alert_replaced',
  'alert_resolved',
  'alert_continued',
  'annotations_changed',
  'severity_raised',
  'urgency_raised',
  'reopened',
  'snooze_ended',
  'resolved',
  'moved_to_default_route',
  'acknowledged',
  'takeover',
  'unacknowledged',
  'unresolved',
  'snoozed',
  'unsnoozed',
  'note_added',
  'ack_timeout',
  'unclaimed',
  'reminder',
  'reminder_answered',
  'auto_unacknowledged',
  'notices_missed',
];
const SYSTEM_EVENTS = ['service_unavailable', 'fallback_template_used', 'template_value_missing'];

const entry = (fields: Partial<TimelineEntry>): TimelineEntry => ({
  id: 'TE1',
  at: '2026-11-21T09:00:00Z',
  kind: 'status',
  actor: { kind: 'system', reason: 'alert' },
  ...fields,
});
const say = (fields: Partial<TimelineEntry>) => entryText(entry(fields), i18n, (instant) => instant);

describe('the Timeline in words', () => {
  it.each(LIFECYCLE_EVENTS)('has a sentence for %s', (event) => {
    expect(say({ event })).toMatch(/^[A-Z0-9 ].* ?\w/);
    expect(say({ event })).not.toBe(event);
  });

  it.each(SYSTEM_EVENTS)('has a sentence for %s', (system_event) => {
    expect(say({ kind: 'system', system_event })).not.toBe(system_event);
  });

  it('shows the code of an event it does not know', () => {
    expect(say({ event: 'teleported' })).toBe('teleported');
  });

  it('counts Alerts and names people', () => {
    expect(say({ kind: 'alerts', event: 'alerts_added', fingerprints: ['a', 'b'] })).toBe('2 new Alerts');
    const ada = { id: 'SR1', name: 'Ada', login: 'ada', deactivated: false };
    const linus = { ...ada, name: 'Linus' };
    expect(say({ event: 'takeover', owner: linus, previous_owner: ada })).toBe('Linus took over from Ada');
  });

  it('says by which way a person acted, and why the system did', () => {
    expect(actorText({ kind: 'user', name: 'Ada', transport: 'bridge' }, i18n)).toBe('by Ada, bridge');
    expect(actorText({ kind: 'user', name: 'Ada', transport: 'api', token_name: 'ci' }, i18n)).toBe(
      'by Ada with the token “ci”, API',
    );
    expect(actorText({ kind: 'system', reason: 'timer' }, i18n)).toBe('by the system: timer');
  });
});

describe('timers in words', () => {
  const ada = { id: 'SR1', name: 'Ada', login: 'ada', deactivated: false };
  it.each<[Partial<TimelineEntry>, string]>([
    [{ event: 'ack_timeout', notice_number: 2 }, 'Nobody acknowledged: notice 2'],
    [{ event: 'reminder', notice_number: 3 }, 'Reminder 3 to the Owner'],
    [{ event: 'reminder_answered' }, 'Still on it'],
    [{ event: 'notices_missed', missed_count: 3 }, '3 notices were missed during the downtime'],
    [{ event: 'notices_missed', missed_count: 1 }, '1 notice was missed during the downtime'],
    [
      { event: 'auto_unacknowledged', previous_owner: ada },
      'Unacknowledged automatically, the Owner was Ada',
    ],
    [{ event: 'unacknowledged', previous_owner: ada }, 'Unacknowledged, the Owner was Ada'],
    [{ event: 'snooze_ended', fingerprints: ['a'] }, 'Snooze ended, 1 Alert joined meanwhile'],
    [{ event: 'snooze_ended', fingerprints: [] }, 'Snooze ended'],
    [
      { kind: 'system', system_event: 'service_unavailable', period_from: 'one', period_to: 'two' },
      'Tocsin was away from one to two',
    ],
  ])('%j', (fields, sentence) => {
    expect(say(fields)).toBe(sentence);
  });

  it('say why and who is to be mentioned, not that anybody was: a setting may name nobody', () => {
    const details = entryDetails(
      entry({
        reason: 'gone',
        reason_text: 'No Snapshot lists it',
        mentions: ['owner', 'ack_timeout', 'sms'],
      }),
      i18n,
    );
    expect(details).toEqual(['No Snapshot lists it', 'Mentions: the Owner, as set for the ack timeout, sms']);
  });
});

describe('a reason', () => {
  const russian = { ...i18n, language: 'ru' } as I18n;
  it.each([
    ['is the service’s sentence in English', i18n, 'gone', 'Exact words', 'Exact words'],
    ['is translated elsewhere', russian, 'gone', 'Exact words', 'Gone from the Snapshots'],
    ['that is not known stays the service’s', russian, 'new_reason', 'Exact words', 'Exact words'],
    ['without a code stays the service’s', russian, null, 'moved to #2', 'moved to #2'],
    ['without anything is nothing', i18n, null, null, null],
  ] as const)('%s', (_, words, code, sentence, text) => {
    expect(reasonText(code, sentence, words)).toBe(text);
  });
});

it('is copied as text, oldest first also within one instant, with Notes in full', () => {
  const note = { id: 'NE1', body: 'first\nsecond', author: {}, transport: 'ui', created_at: '' };
  const at = '2026-11-21T09:05:00Z';
  const newestFirst = [
    entry({ id: 'c', at, event: 'urgent' }),
    entry({ id: 'b', at, kind: 'notes', event: 'note_added', note: note as never }),
    entry({ id: 'a', at: '2026-11-21T09:00:00Z', event: 'created', fingerprints: ['x'] }),
  ];
  const text = timelineText(newestFirst, 'desc', i18n, (instant) => instant);
  expect(text).toMatch(
    /^2026-11-21T09:00:00Z {2}Created with 1 Alert \(.*\n.*09:05:00Z {2}Note \(.*\n {4}first\n {4}second\n.*09:05:00Z.*\n$/,
  );
  expect(timelineText(newestFirst.toReversed(), 'asc', i18n, (instant) => instant)).toBe(text);
});

it('folds neighbouring deliveries only', () => {
  const delivery = (id: string) => entry({ id, kind: 'delivery' });
  const rows = foldDeliveries([delivery('a'), delivery('b'), entry({ id: 'c' }), delivery('d')]);
  expect(
    rows.map((row) => (row.kind === 'entry' ? row.entry.id : row.entries.map((each) => each.id))),
  ).toEqual([['a', 'b'], 'c', ['d']]);
});
