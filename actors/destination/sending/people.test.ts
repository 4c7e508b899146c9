import { expect, test } from 'vitest';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { MentionSettings, MentionTargets, UserConfig } from '../../directory.ts';
import type { SymbolicMention } from '../../model.ts';
import { peopleOf, targetsOf } from './people.ts';

const id = (name: string) => `SR${name.padEnd(12, '0')}` as PublicId;

function user(name: string, status: UserConfig['status'] = 'active'): UserConfig {
  return { id: id(name), name: `${name} Full`, login: name, status, timeZone: null };
}

const USERS = new Map(
  [user('ann'), user('bob'), user('gone', 'deleted'), user('off', 'disabled')].map((one) => [one.id, one]),
);
const NOBODY: MentionTargets = { everyone: 'none', user_ids: [], groups: [] };
const MENTIONS: MentionSettings = {
  new_alert_group: { everyone: 'here', groups: ['sre', 'dba'], user_ids: [id('bob'), id('off'), id('ann')] },
  new_alerts: { ...NOBODY, user_ids: [id('ann'), id('gone')] },
  reopen: NOBODY,
  ack_timeout: { ...NOBODY, groups: ['sre'] },
  snooze_ended: NOBODY,
  rise_to_urgent: NOBODY,
};

const OWNER = { id: id('ann'), name: 'as recorded' };

function written(mentions: readonly SymbolicMention[], owner: typeof OWNER | null = OWNER): string[] {
  return targetsOf(mentions, owner, { mentions: MENTIONS }, USERS).map((target) => {
    if (target.type === 'everyone') return `@${target.as}`;
    return target.type === 'group' ? target.name : target.id;
  });
}

test.each<readonly [string, readonly SymbolicMention[], readonly string[]]>([
  [
    'a setting stands for everyone, then groups, then users as saved, without those who cannot act',
    ['new_alert_group'],
    ['@here', 'sre', 'dba', id('bob'), id('ann')],
  ],
  ['nobody is named twice, and who comes first stays first', ['owner', 'new_alerts'], [id('ann')]],
  ['a previous Owner is whom the event recorded', ['previous_owner'], [id('ann')]],
  ['names of an event go in their order', ['ack_timeout', 'owner'], ['sre', id('ann')]],
  ['a setting without targets names nobody', ['reopen'], []],
])('%s', (_rule, mentions, expected) => {
  expect(written(mentions)).toEqual(expected);
});

test('without a recorded Owner, and with one who was deleted, nobody is named', () => {
  expect(written(['owner'], null)).toEqual([]);
  expect(written(['owner'], { id: id('gone'), name: 'gone' })).toEqual([]);
});

test('people are named as their account at the messenger is, else as in Tocsin, else as they were recorded', () => {
  const account = { externalId: 'u-17', username: 'alice', displayName: 'Alice Smith' };
  const { nameOf, mention } = peopleOf(new Map([[id('ann'), account]]), USERS);
  expect(nameOf(OWNER)).toBe('alice');
  expect(nameOf({ id: id('bob'), name: 'as recorded' })).toBe('bob Full');
  expect(nameOf({ id: id('nobody'), name: 'as recorded' })).toBe('as recorded');
  expect(mention({ type: 'user', id: id('ann') })).toEqual({ type: 'user', name: 'alice', account });
  expect(mention({ type: 'user', id: id('bob') })).toEqual({ type: 'user', name: 'bob Full', account: null });
});
