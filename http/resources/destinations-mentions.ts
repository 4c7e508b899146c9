/** Whom a Destination mentions, as it arrives and as it is answered (delivery §4). */
import * as v from 'valibot';
import type { DestinationFields } from '../../actors/destination/ports.ts';
import type { Directory, MentionSetting, MentionSettings, MentionTargets } from '../../actors/directory.ts';
import { codePoints } from '../../actors/text.ts';
import { duplicates, publicId } from '../fields.ts';
import type { FieldError } from '../problem.ts';

/** In the order in which they are answered. */
const MENTION_SETTINGS = [
  'new_alert_group',
  'new_alerts',
  'reopen',
  'ack_timeout',
  'snooze_ended',
  'rise_to_urgent',
] as const satisfies readonly MentionSetting[];

/** What a type can mention besides people. */
const OFFERED = {
  webhook: { everyone: true, groups: true },
  bridge: { everyone: false, groups: false },
} as const satisfies Record<DestinationFields['type'], Record<'everyone' | 'groups', boolean>>;

const MOST_USERS = 50;
const MOST_GROUPS = 20;
const GROUP_CHARACTERS = 64;

const NOBODY: MentionTargets = { everyone: 'none', user_ids: [], groups: [] };
const NOBODY_EVER: MentionSettings = everySetting(() => NOBODY);

const Everyone = v.picklist(['none', 'all', 'channel', 'here']);

const groupName = v.pipe(
  v.string(),
  v.nonEmpty('too_short'),
  v.check((name) => codePoints(name) <= GROUP_CHARACTERS, 'too_long'),
);

const TargetsInput = v.object({
  everyone: Everyone,
  user_ids: v.pipe(v.array(publicId), v.maxLength(MOST_USERS, 'too_long')),
  groups: v.pipe(v.array(groupName), v.maxLength(MOST_GROUPS, 'too_long')),
});

const TargetsShape = v.object({
  everyone: Everyone,
  user_ids: v.array(v.string()),
  groups: v.array(v.string()),
});

/** All six settings, and no other. */
export const MentionsInput = v.strictObject(settingsOf(TargetsInput));
export type MentionsInput = v.InferOutput<typeof MentionsInput>;

export const MentionsShape = v.object(settingsOf(TargetsShape));

/** 422 of Mentions; left out or null there is nothing to judge. */
export function mentionErrors(
  mentions: MentionsInput | null | undefined,
  type: DestinationFields['type'],
  { usersById }: Pick<Directory, 'usersById'>,
): readonly FieldError[] {
  if (!mentions) return [];
  return MENTION_SETTINGS.flatMap((setting) => {
    const { user_ids: userIds, groups } = mentions[setting];
    const pointer = `/mentions/${setting}`;
    const unknown = userIds.flatMap((id, index): FieldError[] => {
      const user = usersById.get(id);
      if (user && user.status !== 'deleted') return [];
      const detail = 'There is no such user. Choose another one.';
      return [{ pointer: `${pointer}/user_ids/${index}`, code: 'unknown_id', detail }];
    });
    return [
      ...unofferedErrors(mentions[setting], type, pointer),
      ...unknown,
      ...duplicates(userIds, `${pointer}/user_ids`),
      ...duplicates(groups, `${pointer}/groups`),
    ];
  });
}

/** Left out, they stay; null is nobody (seed 2 §2.1 rule 4). */
export function changedMentions(
  mentions: MentionsInput | null | undefined,
  current: MentionSettings | undefined,
): MentionSettings {
  return mentions === undefined ? (current ?? NOBODY_EVER) : (mentions ?? NOBODY_EVER);
}

export function mentionsBody(mentions: MentionSettings): v.InferOutput<typeof MentionsShape> {
  return everySetting((setting) => {
    const { everyone, user_ids: userIds, groups } = mentions[setting];
    return { everyone, user_ids: [...userIds], groups: [...groups] };
  });
}

function unofferedErrors(
  { everyone, groups }: MentionTargets,
  type: DestinationFields['type'],
  pointer: string,
): readonly FieldError[] {
  const offered = OFFERED[type];
  const detail = 'This type of Destination can mention single people only.';
  return [
    ...(everyone === 'none' || offered.everyone
      ? []
      : [{ pointer: `${pointer}/everyone`, code: 'unsupported', detail } as const]),
    ...(groups.length === 0 || offered.groups
      ? []
      : [{ pointer: `${pointer}/groups`, code: 'unsupported', detail } as const]),
  ];
}

function everySetting<Value>(value: (setting: MentionSetting) => Value): Record<MentionSetting, Value> {
  const entries = MENTION_SETTINGS.map((setting) => [setting, value(setting)]);
  return Object.fromEntries(entries) as Record<MentionSetting, Value>;
}

function settingsOf<Value>(value: Value): Record<MentionSetting, Value> {
  return everySetting(() => value);
}
