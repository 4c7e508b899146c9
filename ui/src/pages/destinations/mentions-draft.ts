/** Whom a Destination mentions, as its form holds it. */
import type { MentionSetting, Mentions, MentionTargets } from '../../api/shapes.ts';

export const MENTION_SETTINGS = [
  'new_alert_group',
  'new_alerts',
  'reopen',
  'ack_timeout',
  'snooze_ended',
  'rise_to_urgent',
] as const satisfies readonly MentionSetting[];

export interface TargetsDraft {
  everyone: MentionTargets['everyone'];
  userIds: readonly string[];
  /** Names as they are typed: separated by white space or commas. */
  groups: string;
}

export type MentionsDraft = Record<MentionSetting, TargetsDraft>;

const NOBODY: MentionTargets = { everyone: 'none', user_ids: [], groups: [] };

export const NOBODY_EVER: Mentions = {
  new_alert_group: NOBODY,
  new_alerts: NOBODY,
  reopen: NOBODY,
  ack_timeout: NOBODY,
  snooze_ended: NOBODY,
  rise_to_urgent: NOBODY,
};

export function toMentionsDraft(mentions: Mentions): MentionsDraft {
  const of = ({ everyone, user_ids: userIds, groups }: MentionTargets): TargetsDraft => ({
    everyone,
    userIds: [...userIds],
    groups: groups.join(' '),
  });
  return {
    new_alert_group: of(mentions.new_alert_group),
    new_alerts: of(mentions.new_alerts),
    reopen: of(mentions.reopen),
    ack_timeout: of(mentions.ack_timeout),
    snooze_ended: of(mentions.snooze_ended),
    rise_to_urgent: of(mentions.rise_to_urgent),
  };
}

export function fromMentionsDraft(draft: MentionsDraft): Mentions {
  const of = ({ everyone, userIds, groups }: TargetsDraft): MentionTargets => ({
    everyone,
    user_ids: [...userIds],
    groups: groups.split(/[\s,]+/).filter((name) => name !== ''),
  });
  return {
    new_alert_group: of(draft.new_alert_group),
    new_alerts: of(draft.new_alerts),
    reopen: of(draft.reopen),
    ack_timeout: of(draft.ack_timeout),
    snooze_ended: of(draft.snooze_ended),
    rise_to_urgent: of(draft.rise_to_urgent),
  };
}

/** Whether somebody is mentioned at all. */
export function mentionsSomebody({ everyone, user_ids: users, groups }: MentionTargets): boolean {
  return everyone !== 'none' || users.length > 0 || groups.length > 0;
}
