import { expect, it } from 'vitest';
import { fromChannelDraft, newChannel, toChannelDraft } from './channel-input.ts';
import { fromMentionsDraft, mentionsSomebody, NOBODY_EVER, toMentionsDraft } from './mentions-draft.ts';

it.each([
  { ...newChannel('bridge', 'CN1'), channel_id: 'alerts > prod' },
  { ...newChannel('chat_server', 'CN1'), team_id: 't1', channel_id: 'c1' },
  { ...newChannel('channel_bot', 'CN1'), channel_id: '@alerts' },
])('sends what was read when nothing was typed: $type', (channel) => {
  const input = { ...channel, name: 'prod' };
  expect(fromChannelDraft(toChannelDraft(input))).toEqual(input);
});

it('a Team belongs to channels of chat servers alone', () => {
  expect(
    fromChannelDraft({ ...toChannelDraft(newChannel('bridge', 'CN1')), teamId: 't1' }),
  ).not.toHaveProperty('team_id');
});

it.each([
  [' https://t.me/alerts ', '@alerts'],
  ['https://t.me/alerts/412', '@alerts'],
  ['https://t.me/c/1234567890/412', '-1001234567890'],
  ['https://t.me/+AbCdEf123', 'https://t.me/+AbCdEf123'],
  ['@alerts', '@alerts'],
  ['-1001234567890', '-1001234567890'],
])('a channel of Telegram may be pasted as its link: %s', (typed, sent) => {
  const draft = { ...toChannelDraft(newChannel('channel_bot', 'CN1')), channelId: typed };
  expect(fromChannelDraft(draft).channel_id).toBe(sent);
});

it('takes names of groups apart at spaces and commas', () => {
  const draft = toMentionsDraft(NOBODY_EVER);
  draft.reopen.groups = ' oncall, db-team\nweb ';
  expect(fromMentionsDraft(draft).reopen.groups).toEqual(['oncall', 'db-team', 'web']);
});

it.each([
  [{ everyone: 'none', user_ids: [], groups: [] }, false],
  [{ everyone: 'here', user_ids: [], groups: [] }, true],
  [{ everyone: 'none', user_ids: ['SR1'], groups: [] }, true],
  [{ everyone: 'none', user_ids: [], groups: ['oncall'] }, true],
] as const)('%j mentions somebody: %s', (targets, expected) => {
  expect(mentionsSomebody(targets)).toBe(expected);
});
