import { expect, it } from 'vitest';
import { fromBridgeDraft, newBridge, toBridgeDraft } from './bridge-input.ts';
import { fromMentionsDraft, mentionsSomebody, NOBODY_EVER, toMentionsDraft } from './mentions-draft.ts';

it('sends what was read when nothing was typed', () => {
  const input = { ...newBridge('CN1'), name: 'prod', channel_id: 'alerts > prod' };
  expect(fromBridgeDraft(toBridgeDraft(input))).toEqual(input);
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
