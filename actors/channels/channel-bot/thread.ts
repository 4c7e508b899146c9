/**
 * Where the next reply to a post goes (channel-bot §8.2). The delivery keeps this state between replies, as `threadRef` of
 * its message: `wait/<until, µs>`, `copy/<group>/<copy>`, `chain/<group>/<last link>`, `lost/<group>/<last link>`.
 */
import { MINUTE, type Micros, SECOND } from '../../../runtime/clock.ts';
import type { Copy } from '../../connection/ports.ts';

/** The messenger makes a copy within seconds, when it makes one. */
const COPY_WAIT: Micros = MINUTE;
/** Between two looks for the copy, which may be recorded by another replica. */
const LOOK_EVERY: Micros = 2 * SECOND;

export type Thread =
  | { readonly is: 'waiting'; readonly until: Micros }
  | { readonly is: 'attached'; readonly copy: Copy }
  /** `isLost`: the copy was deleted, so none is looked for any more. */
  | { readonly is: 'chain'; readonly groupId: string; readonly last: string; readonly isLost: boolean };

export function beginThread(now: Micros): string {
  return `wait/${now + COPY_WAIT}`;
}

export function attachedTo({ groupId, copyId }: Copy): string {
  return `copy/${groupId}/${copyId}`;
}

export function chainedTo(groupId: string, last: string, isLost: boolean): string {
  return `${isLost ? 'lost' : 'chain'}/${groupId}/${last}`;
}

/** Null: nothing is known, as of a message that was not posted by this version. */
export function readThread(text: string | null): Thread | null {
  const [is, first = '', second = ''] = text?.split('/') ?? [];
  switch (is) {
    case 'wait':
      return { is: 'waiting', until: Number(first) };
    case 'copy':
      return { is: 'attached', copy: { groupId: first, copyId: second } };
    case 'chain':
    case 'lost':
      return { is: 'chain', groupId: first, last: second, isLost: is === 'lost' };
    default:
      return null;
  }
}

/** Where one reply goes: below the copy, to the end of the chain, or as its first link. */
export type Way =
  | { readonly is: 'attached'; readonly groupId: string; readonly to: string }
  | {
      readonly is: 'chained';
      readonly groupId: string;
      readonly to: string | null;
      readonly isLost: boolean;
    };

/**
 * @param groupId the discussion group of now; what was posted in another one is left there
 * @param copy of the post, when one is known
 * @returns when to look again, where the copy may still come
 */
export function nextWay(
  thread: Thread | null,
  groupId: string,
  copy: Copy | null,
  now: Micros,
): Way | { readonly is: 'later'; readonly until: Micros } {
  const known = thread?.is === 'attached' ? thread.copy : copy;
  const isLost = thread?.is === 'chain' && thread.isLost && thread.groupId === groupId;
  if (known?.groupId === groupId && !isLost) return { is: 'attached', groupId, to: known.copyId };
  if (thread?.is === 'waiting' && now < thread.until)
    return { is: 'later', until: Math.min(thread.until, now + LOOK_EVERY) };
  const last = thread?.is === 'chain' && thread.groupId === groupId ? thread.last : null;
  return { is: 'chained', groupId, to: last, isLost };
}

/** After the message that a reply went to turned out to be deleted: the first link of a chain, at once. */
export function wayWithout(way: Way): Way {
  return { is: 'chained', groupId: way.groupId, to: null, isLost: way.is === 'attached' || way.isLost };
}

/** The state behind a reply that was sent. */
export function threadAfter(way: Way, sentId: string): string {
  if (way.is === 'attached') return attachedTo({ groupId: way.groupId, copyId: way.to });
  return chainedTo(way.groupId, sentId, way.isLost);
}
