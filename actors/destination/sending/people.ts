/** Whom a message names, and whom it calls (delivery §4, messages §3). */
import type { PublicId } from '../../../runtime/public-id.ts';
import type { DestinationConfig, Directory, MentionTargets } from '../../directory.ts';
import type { MessageMention, MessengerAccount } from '../../messages/index.ts';
import type { SymbolicMention } from '../../model.ts';

/** A person as they were recorded. */
export interface NamedPerson {
  readonly id: PublicId;
  readonly name: string;
}

type Users = Directory['usersById'];

export type Target =
  | Exclude<MessageMention, { readonly type: 'user' }>
  | { readonly type: 'user'; readonly id: PublicId };

/**
 * Whom symbolic names stand for at one Destination, in their order; a setting stands for everyone, then groups, then users
 * as they were saved. Nobody twice; users who are disabled or deleted are left out.
 * @param owner whom `owner` and `previous_owner` name, as the event recorded them
 */
export function targetsOf(
  mentions: readonly SymbolicMention[],
  owner: NamedPerson | null,
  destination: Pick<DestinationConfig, 'mentions'>,
  users: Users,
): readonly Target[] {
  const found = new Map<string, Target>();
  for (const mention of mentions) {
    const isOwner = mention === 'owner' || mention === 'previous_owner';
    const targets = isOwner
      ? usersOf(owner ? [owner.id] : [], users)
      : settingOf(destination.mentions[mention], users);
    for (const target of targets) {
      const key = keyOf(target);
      if (!found.has(key)) found.set(key, target);
    }
  }
  return [...found.values()];
}

function settingOf({ everyone, groups, user_ids: ids }: MentionTargets, users: Users): Target[] {
  return [
    ...(everyone === 'none' ? [] : [{ type: 'everyone', as: everyone } as const]),
    ...groups.map((name) => ({ type: 'group', name }) as const),
    ...usersOf(ids, users),
  ];
}

function usersOf(ids: readonly PublicId[], users: Users): Target[] {
  return ids.flatMap((id) => (users.get(id)?.status === 'active' ? [{ type: 'user', id } as const] : []));
}

function keyOf(target: Target): string {
  switch (target.type) {
    case 'everyone':
      return 'everyone';
    case 'group':
      return `group ${target.name}`;
    case 'user':
      return `user ${target.id}`;
  }
}

/** How the messenger of one Destination knows people. */
export interface People {
  /** The user name of their account there, else the name they have in Tocsin. */
  nameOf(person: NamedPerson): string;
  mention(target: Target): MessageMention;
}

export function peopleOf(accounts: ReadonlyMap<PublicId, MessengerAccount>, users: Users): People {
  const nameOf = ({ id, name }: NamedPerson): string =>
    accounts.get(id)?.username ?? users.get(id)?.name ?? name;
  return {
    nameOf,
    mention(target) {
      if (target.type !== 'user') return target;
      const { id } = target;
      return { type: 'user', name: nameOf({ id, name: '' }), account: accounts.get(id) ?? null };
    },
  };
}
