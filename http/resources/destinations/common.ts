/** What Destinations of every type have in common, mentions included, as it arrives and as it is answered (api §15). */
import * as v from 'valibot';
import { channelOf } from '../../../actors/channels/index.ts';
import type { Limiter } from '../../../actors/destination/limiter.ts';
import type { DestinationFields, StoredDestination } from '../../../actors/destination/ports.ts';
import type {
  Directory,
  MentionSetting,
  MentionSettings,
  MentionTargets,
} from '../../../actors/directory.ts';
import { codePoints } from '../../../actors/text.ts';
import { formatInstant } from '../../../runtime/clock.ts';
import type { FieldError } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import {
  duplicates,
  LimiterShape,
  limiterErrors,
  limiterInput,
  limiterOf,
  name,
  nameErrors,
  publicId,
} from '../../schema/fields.ts';
import { EntityRef, HealthShape } from '../../schema/shapes.ts';

/** In the order in which they are answered. */
const MENTION_SETTINGS = [
  'new_alert_group',
  'new_alerts',
  'reopen',
  'ack_timeout',
  'snooze_ended',
  'rise_to_urgent',
] as const satisfies readonly MentionSetting[];

const MOST_USERS = 50;
const MOST_GROUPS = 20;
const GROUP_CHARACTERS = 64;

const NOBODY: MentionTargets = { everyone: 'none', user_ids: [], groups: [] };
const NOBODY_EVER: MentionSettings = everySetting(() => NOBODY);

const Everyone = d.named(
  'MentionEveryone',
  v.picklist(['none', 'all', 'channel', 'here']),
  'Whether everybody is mentioned: `none`: nobody; `all`: all members; `channel`: those of the channel; `here`: those who are online. A bridge takes `none` only.',
);

const groupName = v.pipe(
  v.string(),
  v.nonEmpty('too_short'),
  v.check((name) => codePoints(name) <= GROUP_CHARACTERS, 'too_long'),
);

const TargetsInput = d.named(
  'MentionTargetsInput',
  v.object({
    everyone: Everyone,
    user_ids: d.described(
      v.pipe(v.array(publicId), v.maxLength(MOST_USERS, 'too_long')),
      'Ids of users, at most 50.',
    ),
    groups: d.described(
      v.pipe(v.array(groupName), v.maxLength(MOST_GROUPS, 'too_long')),
      'Groups of the messenger, at most 20 of 1 to 64 characters. A bridge takes none.',
    ),
  }),
  'Whom to mention.',
);

const TargetsShape = d.named(
  'MentionTargets',
  v.object({
    everyone: Everyone,
    user_ids: d.described(v.array(d.id('SR')), 'Users.'),
    groups: d.described(v.array(v.string()), 'Names of groups of the messenger.'),
  }),
  'Whom to mention.',
);

/** All six settings, and no other. */
const MentionsInput = d.named(
  'MentionsInput',
  v.nullable(v.strictObject(everySetting(() => TargetsInput))),
  'Whom to mention at which event, all six of them. Left out it stays, null mentions nobody.',
);
export type MentionsInput = NonNullable<v.InferOutput<typeof MentionsInput>>;

const MentionsShape = d.named(
  'Mentions',
  v.object(everySetting(() => TargetsShape)),
  'Whom to mention at which event.',
);

/** 422 of Mentions; left out or null there is nothing to judge. */
function mentionErrors(
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

/** Omitted keeps them, null is nobody (api §1.7). */
function changedMentions(
  mentions: MentionsInput | null | undefined,
  current: MentionSettings | undefined,
): MentionSettings {
  return mentions === undefined ? (current ?? NOBODY_EVER) : (mentions ?? NOBODY_EVER);
}

function unofferedErrors(
  { everyone, groups }: MentionTargets,
  type: DestinationFields['type'],
  pointer: string,
): readonly FieldError[] {
  const offered = channelOf(type).mentions;
  const detail = 'This type of Destination can mention single people only.';
  const wrong = [
    ...(everyone === 'none' || offered.everyone ? [] : ['everyone']),
    ...(groups.length === 0 || offered.groups ? [] : ['groups']),
  ];
  const { groupName } = offered;
  return [
    ...wrong.map((field) => ({ pointer: `${pointer}/${field}`, code: 'unsupported', detail }) as const),
    ...groups.flatMap((name, index) =>
      !groupName || groupName.test(name) ? [] : [badGroup(`${pointer}/groups/${index}`)],
    ),
  ];
}

function badGroup(pointer: string): FieldError {
  const detail =
    'A group has letters, digits, dots, dashes and underscores, and begins with a letter or digit.';
  return { pointer, code: 'invalid_format', detail };
}

function everySetting<Value>(value: (setting: MentionSetting) => Value): Record<MentionSetting, Value> {
  const entries = MENTION_SETTINGS.map((setting) => [setting, value(setting)]);
  return Object.fromEntries(entries) as Record<MentionSetting, Value>;
}

export const commonInput = {
  name,
  mentions: v.optional(MentionsInput),
  limiter: limiterInput,
};
const CommonInput = v.object(commonInput);
type CommonInput = v.InferOutput<typeof CommonInput>;

const common = {
  id: d.id('DS'),
  name: d.text('Its name, unique.'),
  mentions: MentionsShape,
  limiter: LimiterShape,
  health: HealthShape,
  failing: d.described(
    v.nullable(
      d.named(
        'DestinationFailing',
        v.object({
          since: d.time('Since when every delivery has failed.'),
          error: d.text('What the last one failed with, masked.'),
        }),
        'A row of failures that did not make it Broken.',
      ),
    ),
    'Since when every delivery has failed; null while they succeed.',
  ),
  waiting: d.count('How many deliveries wait.'),
  routes: d.described(v.array(EntityRef), 'Routes that send to it, by their `destination_ids`.'),
  created_at: d.CREATED_AT,
  etag: d.VERSION,
};
export const CommonShape = d.named(
  'DestinationBase',
  v.object(common),
  'What Destinations of every type answer.',
);

/** 422 of what every type has. */
export function commonErrors(
  input: CommonInput,
  type: DestinationFields['type'],
  directory: Pick<Directory, 'usersById'>,
): readonly FieldError[] {
  return [
    ...nameErrors(input.name),
    ...mentionErrors(input.mentions, type, directory),
    ...limiterErrors(input.limiter),
  ];
}

/** An omitted field keeps its value, null restores the default of its type (api §1.7). */
export function commonFields(input: CommonInput, current: StoredDestination | null, limiter?: Limiter) {
  return {
    name: input.name.trim(),
    mentions: changedMentions(input.mentions, current?.fields.mentions),
    limiter: limiterOf(input.limiter, current?.fields.limiter, limiter),
  };
}

export function commonBody(
  { id, fields, health, failing, waiting, createdAt, version }: StoredDestination,
  directory: Pick<Directory, 'routes'>,
) {
  const routes = directory.routes.filter((route) => route.destinationIds.includes(id));
  return {
    id,
    name: fields.name,
    mentions: everySetting((setting) => fields.mentions[setting]),
    limiter: fields.limiter,
    health: healthBody(health),
    failing: failing && { since: formatInstant(failing.since), error: failing.error },
    waiting,
    routes: routes.map((route) => ({ id: route.id, name: route.name })),
    created_at: formatInstant(createdAt),
    etag: `"${version}"`,
  };
}

export function healthBody(health: StoredDestination['health']): v.InferOutput<typeof HealthShape> {
  if (health.state === 'healthy') return { state: health.state, since: null, reason: null };
  return { state: health.state, since: formatInstant(health.since), reason: health.reason };
}
