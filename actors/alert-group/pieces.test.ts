/** The small pure pieces of an Alert Group, each by its table. */
import { describe, expect, test } from 'vitest';
import type { PublicId } from '../../runtime/public-id.ts';
import type { MentionSettings, MentionTargets } from '../directory.ts';
import type { GroupStatus, SymbolicMention } from '../model.ts';
import { resolveMentions } from './announcements.ts';
import { allowedCommands, type Commanded } from './commands/allowed-commands.ts';
import { replacementFinder } from './ingestion/firings.ts';
import { createContestedAlerts } from './ports.ts';
import {
  commonOf,
  cutTitle,
  intersect,
  type Portrait,
  portrayed,
  sharedAlertname,
  titleFromKey,
} from './reading/alert-summary.ts';
import { type GroupAlert, keyOf } from './rows.ts';

describe('allowed Commands', () => {
  const group = (status: GroupStatus, more: Partial<Commanded> = {}): Commanded => ({
    status,
    ownerId: status === 'acknowledged' ? 'ann' : null,
    unresolvable: false,
    reminderPending: false,
    ...more,
  });
  const all = { may: () => true };
  test.each<[string, Commanded, string | null, string[]]>([
    ['firing', group('firing'), 'bob', ['acknowledge', 'resolve', 'snooze', 'add_note']],
    [
      'acknowledged, for another',
      group('acknowledged'),
      'bob',
      ['acknowledge', 'unacknowledge', 'resolve', 'snooze', 'add_note'],
    ],
    [
      'acknowledged, for the Owner',
      group('acknowledged'),
      'ann',
      ['unacknowledge', 'resolve', 'snooze', 'add_note'],
    ],
    [
      'a Reminder waits for the Owner',
      group('acknowledged', { reminderPending: true }),
      'ann',
      ['unacknowledge', 'resolve', 'snooze', 'still_on_it', 'add_note'],
    ],
    [
      'but not for others',
      group('acknowledged', { reminderPending: true }),
      null,
      ['unacknowledge', 'resolve', 'snooze', 'add_note'],
    ],
    ['snoozed', group('snoozed'), 'bob', ['acknowledge', 'resolve', 'snooze', 'unsnooze', 'add_note']],
    ['resolved by the system', group('resolved'), 'bob', ['add_note']],
    [
      'resolved by a person within its Grace period',
      group('resolved', { unresolvable: true }),
      'bob',
      ['unresolve', 'add_note'],
    ],
    ['a Service account never owns', group('firing'), null, ['resolve', 'snooze', 'add_note']],
  ])('%s', (_, commanded, userId, expected) => {
    expect(allowedCommands(commanded, { ...all, userId })).toEqual(expected);
  });

  test('only with the Permission', () => {
    const noter = { userId: 'bob', may: (command: string) => command === 'add_note' };
    expect(allowedCommands(group('firing'), noter)).toEqual(['add_note']);
  });
});

describe('Replacement', () => {
  const INSTANCE = ['pod', 'instance'];
  const before = { alertname: 'P', pod: 'p1', instance: 'i1' };
  test.each<[string, Record<string, string>, string | null]>([
    ['another pod', { ...before, pod: 'p2' }, 'pod'],
    ['another instance', { ...before, instance: 'i2' }, 'instance'],
    ['the first Instance label that differs is named', { ...before, pod: 'p2', instance: 'i2' }, 'pod'],
    ['one that is missing differs', { alertname: 'P', instance: 'i1' }, 'pod'],
    ['the very same labels replace nothing', before, null],
    ['another label differs', { ...before, zone: 'b', pod: 'p2' }, null],
  ])('%s', (_, arriving, label) => {
    expect(replacementFinder([before], INSTANCE)(arriving)).toBe(label);
  });
});

describe('title', () => {
  test.each<[string, Record<string, string>[], string | null]>([
    ['shared', [{ alertname: 'A' }, { alertname: 'A' }], 'A'],
    ['differs', [{ alertname: 'A' }, { alertname: 'B' }], null],
    ['missing', [{ alertname: 'A' }, {}], null],
    ['empty', [{ alertname: '' }], null],
  ])('alertname %s', (_, labels, expected) => {
    expect(sharedAlertname(labels)).toBe(expected);
  });

  test('by key leaves empty values out, and falls back to the Route', () => {
    expect(titleFromKey({ b: 'x', a: '', c: 'y' }, 'R')).toBe('b=x, c=y');
    expect(titleFromKey({ a: '' }, 'R')).toBe('R');
  });

  test('has at most 500 code points', () => {
    expect(cutTitle('😀'.repeat(500))).toBe('😀'.repeat(500));
    expect(cutTitle('😀'.repeat(501))).toBe(`${'😀'.repeat(499)}…`);
  });
});

describe('common labels', () => {
  test('are those that all sets share with the same value', () => {
    expect(commonOf([{ a: '1', b: '2' }, { a: '1', b: '3' }, { a: '1' }])).toEqual({ a: '1' });
    expect(commonOf([])).toEqual({});
  });

  test('stay the same object while nothing falls away', () => {
    const common = { a: '1' };
    expect(intersect(common, { a: '1', b: '2' })).toBe(common);
  });

  test('are not fooled by inherited names', () => {
    expect(intersect({ constructor: 'x' }, {})).toEqual({});
  });
});

test('the beginning of its Alerts stays when they fire again later, and goes back when one began earlier', () => {
  const report = { labels: {}, annotations: {}, severityLevel: 'info', generatorUrl: null };
  const alertAt = (startsAt: number) =>
    new Map([
      [
        'a',
        { integrationId: 'NT1', report, position: 0, state: 'firing', startsAt } as unknown as GroupAlert,
      ],
    ]);
  const frame = { groupLabels: {}, routeName: 'R' };
  const first = portrayed(null, alertAt(600), frame);
  const again = portrayed(first, alertAt(900), frame);
  const earlier = portrayed(again, alertAt(300), frame);
  expect([first, again, earlier].map(({ alertsStartedAt }) => alertsStartedAt)).toEqual([600, 600, 300]);
});

describe('summary', () => {
  /** `a s 5`: Alert a fires since 5 with the summary s, `-` for none; a last `!` for one that ended. */
  const rowsOf = (text: string) => {
    const alerts = text.split(', ').map((alert, position) => {
      const [fingerprint = '', said, startsAt, end] = alert.split(' ');
      const annotations = said === '-' ? { summary: '' } : { summary: said };
      const report = { fingerprint, labels: {}, annotations, severityLevel: 'info', generatorUrl: null };
      const state = end === '!' ? 'resolved' : 'firing';
      const row = { integrationId: 'NT1', report, position, state, startsAt: Number(startsAt) };
      return row as unknown as GroupAlert;
    });
    return new Map(alerts.map((alert) => [keyOf(alert), alert]));
  };
  const frame = { groupLabels: {}, routeName: 'R' };

  test.each<[string, string[], (string | null)[]]>([
    ['of the earliest start, whatever the order of the listing', ['a s 5, b t 3'], ['t']],
    ['of the first listed of equal starts', ['a s 5, b t 5'], ['s']],
    ['passes over Alerts without one', ['a - 1, b t 3'], ['t']],
    ['null without any', ['a - 1'], [null]],
    ['stays when another joins, however early that began', ['a s 5', 'a s 5, b t 3'], ['s', 's']],
    ['stays when its Alert goes on with a newer start', ['a s 5, b t 6', 'a s 9, b t 6'], ['s', 's']],
    ['follows the annotation of its Alert', ['a s 5, b t 6', 'a z 5, b t 6'], ['s', 'z']],
    ['leaves an Alert whose annotation is removed', ['a s 5, b t 6', 'a - 5, b t 6'], ['s', 't']],
    [
      'becomes that of the one that fires longest when its Alert ends',
      ['a s 5, b t 7, c u 6', 'a s 5 !, b t 7, c u 6'],
      ['s', 'u'],
    ],
    [
      'stays there when the first one fires again',
      ['a s 5, b t 6', 'a s 5 !, b t 6', 'a s 9, b t 6'],
      ['s', 't', 't'],
    ],
    ['null when those that fire on have none', ['a s 5, b - 6', 'a s 5 !, b - 6'], ['s', null]],
    ['found again after none had one', ['a - 5', 'a - 5, b t 6', 'a s 5, b t 6'], [null, 't', 't']],
    ['stays while none fires', ['a s 5, b t 6', 'a s 5 !, b t 6 !'], ['s', 's']],
    [
      'at a Reopen of the Alert that fires again',
      ['a s 5, b t 6', 'a s 5 !, b t 6 !', 'a s 5 !, b t 9'],
      ['s', 's', 't'],
    ],
    [
      'at a Reopen of the same Alert if that fires again, too',
      ['a s 5, b t 6', 'a s 5 !, b t 6 !', 'a s 9, b t 8'],
      ['s', 's', 's'],
    ],
    ['at a Reopen after retention removed the others', ['a s 5', 'a s 5 !', 'b t 9'], ['s', 's', 't']],
  ])('%s', (_, steps, expected) => {
    let portrait: Portrait | null = null;
    const shown = steps.map((step) => {
      portrait = portrayed(portrait, rowsOf(step), frame);
      return portrait.summary;
    });
    expect(shown).toEqual(expected);
  });

  test('is chosen anew where its Alert is not known, and stays while none fires', () => {
    const { summaryFrom: _, ...stored } = portrayed(null, rowsOf('a s 5, b t 6'), frame);
    expect(portrayed(stored, rowsOf('a s 5 !, b t 6'), frame).summary).toBe('t');
    expect(portrayed(stored, rowsOf('a s 5 !, b t 6 !'), frame).summary).toBe('s');
  });

  test('is found among 1,000 Alerts whose first ends', () => {
    const many = Array.from({ length: 1_000 }, (_, at) => `n${at} s${at} ${at}`);
    const before = portrayed(null, rowsOf(many.join(', ')), frame);
    expect(portrayed(before, rowsOf([`${many[0]} !`, ...many.slice(1)].join(', ')), frame).summary).toBe(
      's1',
    );
  });
});

describe('Mentions', () => {
  const id = (name: string) => name as PublicId;
  const nobody: MentionTargets = { everyone: 'none', user_ids: [], groups: [] };
  const settings = (targets: Partial<Record<SymbolicMention, MentionTargets>>): MentionSettings => ({
    new_alert_group: nobody,
    new_alerts: nobody,
    reopen: nobody,
    ack_timeout: nobody,
    snooze_ended: nobody,
    rise_to_urgent: nobody,
    ...targets,
  });
  const user = (name: string, status: 'active' | 'disabled' | 'deleted' = 'active') =>
    [name, { id: id(name), name, login: name, status, timeZone: null }] as const;
  const usersById = new Map([user('ann'), user('bob'), user('gone', 'deleted'), user('off', 'disabled')]);
  const ann = { id: id('ann'), name: 'ann', login: 'ann' };
  const named = (user: string) => ({ type: 'user', id: user, name: user, login: user });

  test('the Owner first, then everyone, groups and users as saved; nobody twice, nobody who left', () => {
    const rise_to_urgent: MentionTargets = {
      everyone: 'channel',
      groups: ['ops'],
      user_ids: [id('bob'), id('gone'), id('off'), id('ann')],
    };
    const destination = { mentions: settings({ rise_to_urgent }) };
    const event = { loudness: 'loud', mentions: ['rise_to_urgent', 'owner'], ownerBefore: ann } as const;
    expect(resolveMentions(event, destination, { usersById })).toEqual([
      named('ann'),
      { type: 'everyone' },
      { type: 'group', name: 'ops' },
      named('bob'),
    ]);
  });

  test('a Quiet event names nobody', () => {
    const destination = { mentions: settings({ new_alerts: { ...nobody, everyone: 'all' } }) };
    const event = { loudness: 'quiet', mentions: ['new_alerts'], ownerBefore: ann } as const;
    expect(resolveMentions(event, destination, { usersById })).toEqual([]);
  });
});

test('contested Alerts are forgotten, oldest first, not kept for ever', () => {
  const contested = createContestedAlerts();
  for (let index = 0; index <= 10_000; index++) contested.mark(`NT/${index}`);
  expect([contested.has('NT/0'), contested.has('NT/1'), contested.has('NT/10000')]).toEqual([
    false,
    true,
    true,
  ]);
});
