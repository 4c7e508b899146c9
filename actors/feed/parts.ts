/** Collects what one Snapshot has to tell each Alert Group. */
import type { PublicId } from '../../runtime/public-id.ts';
import type { FiringEntry, PresenceChange, ResolvedEntry, Withdrawal } from '../alert-group/messages.ts';

export interface GroupPart {
  readonly groupId: PublicId;
  readonly firing: FiringEntry[];
  readonly resolved: ResolvedEntry[];
  readonly groupWideResolved: string[];
  readonly withdrawn: Withdrawal[];
  readonly presences: PresenceChange[];
}

export interface Parts {
  /** The part of one group, made when first asked for. */
  of(groupId: PublicId): GroupPart;
  /** In the order in which the groups were first asked for. */
  list(): readonly GroupPart[];
}

export function createParts(): Parts {
  const byGroup = new Map<PublicId, GroupPart>();
  return {
    of(groupId) {
      const known = byGroup.get(groupId);
      if (known) return known;
      const part = { groupId, firing: [], resolved: [], groupWideResolved: [], withdrawn: [], presences: [] };
      byGroup.set(groupId, part);
      return part;
    },
    list: () => [...byGroup.values()],
  };
}
