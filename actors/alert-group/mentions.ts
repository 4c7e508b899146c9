/** Whom a Loud event names at one Destination (webhooks §3.3, seed 3 §6). */
import type { DestinationConfig, Directory, MentionTargets } from '../directory.ts';
import type { ResolvedMention } from '../effects.ts';
import type { LifecycleEvent } from '../lifecycle.ts';
import type { SymbolicMention, UserRef } from '../model.ts';

/**
 * The symbolic Mentions of an event for one Destination: the Owner first, then everyone, groups and users in the order
 * in which they were saved. Nobody twice; users who are disabled or deleted are left out. Empty for a Quiet event.
 */
export function resolveMentions(
  event: Pick<LifecycleEvent, 'loudness' | 'mentions' | 'ownerBefore'>,
  destination: Pick<DestinationConfig, 'mentions'>,
  directory: Pick<Directory, 'usersById'>,
): ResolvedMention[] {
  if (event.loudness === 'quiet') return [];
  const named = new Map<string, ResolvedMention>();
  for (const mention of ownersFirst(event.mentions)) {
    for (const resolved of targetsOf(mention, event.ownerBefore, destination, directory)) {
      const key = keyOf(resolved);
      if (!named.has(key)) named.set(key, resolved);
    }
  }
  return [...named.values()];
}

function ownersFirst(mentions: readonly SymbolicMention[]): SymbolicMention[] {
  const isOwner = (mention: SymbolicMention) => mention === 'owner' || mention === 'previous_owner';
  return [...mentions.filter(isOwner), ...mentions.filter((mention) => !isOwner(mention))];
}

function targetsOf(
  mention: SymbolicMention,
  owner: UserRef | null,
  { mentions }: Pick<DestinationConfig, 'mentions'>,
  { usersById }: Pick<Directory, 'usersById'>,
): ResolvedMention[] {
  if (mention === 'owner' || mention === 'previous_owner')
    return owner ? userMention(owner.id, usersById) : [];
  return settingTargets(mentions[mention], usersById);
}

function settingTargets(targets: MentionTargets, usersById: Directory['usersById']): ResolvedMention[] {
  return [
    ...(targets.everyone === 'none' ? [] : [{ type: 'everyone' } as const]),
    ...targets.groups.map((name) => ({ type: 'group', name }) as const),
    ...targets.user_ids.flatMap((id) => userMention(id, usersById)),
  ];
}

function userMention(id: string, usersById: Directory['usersById']): ResolvedMention[] {
  const user = usersById.get(id);
  if (user?.status !== 'active') return [];
  return [{ type: 'user', id: user.id, name: user.name, login: user.login }];
}

function keyOf(mention: ResolvedMention): string {
  switch (mention.type) {
    case 'everyone':
      return 'everyone';
    case 'group':
      return `group ${mention.name}`;
    case 'user':
      return `user ${mention.id}`;
  }
}
