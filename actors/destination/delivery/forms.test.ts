/** Every row of delivery §2: what each lifecycle event of a published Alert Group becomes. */
import { expect, test } from 'vitest';
import type { ReplyFacts } from '../../channels/calls.ts';
import type { GroupEvent } from '../messages.ts';
import { createMessageWorld } from './world.fixture.ts';

const ANN = { id: 'US1', name: 'Ann', login: 'ann' } as unknown as NonNullable<GroupEvent['owner']>;

type Change = Partial<Pick<GroupEvent, 'status' | 'loudness' | 'mentions' | 'by'>> & {
  readonly facts?: ReplyFacts;
};
const added: ReplyFacts = { event: 'alerts_added', fingerprints: ['f1'] };
const by = { by: 'person' } as const;

const ROWS: readonly [GroupEvent['event'], Change, readonly string[]][] = [
  [
    'alerts_added',
    { status: 'firing', mentions: ['new_alerts'], facts: added },
    ['edit A', 'reply A alerts_added 1 L [new_alerts]'],
  ],
  ['alerts_added', { status: 'acknowledged', facts: added }, ['edit A', 'reply A alerts_added 1 Q']],
  ['alerts_added', { status: 'snoozed', facts: added }, ['edit A']],
  [
    'alert_replaced',
    { facts: { event: 'alert_replaced', label: 'pod' } },
    ['edit A', 'reply A alert_replaced Q'],
  ],
  ['alert_resolved', {}, ['edit A']],
  ['alert_continued', {}, ['edit A']],
  ['annotations_changed', {}, ['edit A']],
  ['severity_raised', {}, ['edit A']],
  [
    'urgency_raised',
    {
      mentions: ['owner', 'rise_to_urgent'],
      facts: { event: 'urgency_raised', level: 'critical', formerOwner: ANN },
    },
    ['edit A', 'reply A urgency_raised L [owner, rise_to_urgent]'],
  ],
  [
    'urgency_raised',
    { facts: { event: 'urgency_raised', level: 'critical', formerOwner: null } },
    ['edit A'],
  ],
  [
    'reopened',
    { mentions: ['reopen'], facts: { event: 'reopened', owner: null } },
    ['edit A', 'reply A reopened L [reopen]'],
  ],
  [
    'reopened',
    { status: 'acknowledged', mentions: ['owner'], facts: { event: 'reopened', owner: ANN } },
    ['edit A', 'reply A reopened L [owner]'],
  ],
  ['reopened', { status: 'snoozed', facts: { event: 'reopened', owner: null } }, ['edit A']],
  [
    'snooze_ended',
    { mentions: ['snooze_ended'], facts: { event: 'snooze_ended', fingerprints: [] } },
    ['edit A', 'reply A snooze_ended L [snooze_ended]'],
  ],
  [
    'resolved',
    { status: 'resolved', facts: { event: 'resolved', reason: 'gone' } },
    ['edit A', 'reply A resolved Q'],
  ],
  ['resolved', { status: 'resolved', ...by }, ['edit A']],
  ['acknowledged', { status: 'acknowledged', ...by }, ['edit A']],
  [
    'takeover',
    {
      status: 'acknowledged',
      mentions: ['previous_owner'],
      facts: { event: 'takeover', owner: ANN, formerOwner: ANN },
      ...by,
    },
    ['edit A', 'reply A takeover L [previous_owner]'],
  ],
  ['unacknowledged', by, ['edit A']],
  [
    'unacknowledged',
    { loudness: 'loud', facts: { event: 'unacknowledged', reason: 'owner_disabled', formerOwner: ANN } },
    ['edit A', 'reply A unacknowledged L []'],
  ],
  ['unresolved', by, ['edit A']],
  ['snoozed', { status: 'snoozed', ...by }, ['edit A']],
  ['unsnoozed', by, ['edit A']],
  ['note_added', by, []],
  [
    'ack_timeout',
    { mentions: ['ack_timeout'], facts: { event: 'ack_timeout', last: false } },
    ['reply A ack_timeout L [ack_timeout]'],
  ],
  ['unclaimed', {}, ['edit A']],
  [
    'reminder',
    { mentions: ['owner'], facts: { event: 'reminder', owner: ANN } },
    ['reply A reminder L [owner]'],
  ],
  ['reminder_answered', by, []],
  [
    'auto_unacknowledged',
    { mentions: ['owner'], facts: { event: 'auto_unacknowledged', formerOwner: ANN } },
    ['edit A', 'reply A auto_unacknowledged L [owner]'],
  ],
  [
    'notices_missed',
    { mentions: ['ack_timeout'], facts: { event: 'notices_missed', kind: 'ack_timeout', count: 2 } },
    ['reply A notices_missed L [ack_timeout]'],
  ],
];

test.each(ROWS)('%s %o', async (event, change, expected) => {
  const world = createMessageWorld();
  await world.begin();
  await world.create('A');
  expect(world.calls()).toEqual(['publish A L [new_alert_group]']);
  await world.event('A', event, change);
  expect(world.calls()).toEqual(expected);
});
