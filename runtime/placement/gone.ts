import { memberText } from './coordination.ts';
import type { LeasedPlacement } from './leased.ts';

/** Calls back when a replica is gone, whether it stopped, died or was cut off. Returns the way to stop. */
export function whenGone(
  placement: Pick<LeasedPlacement, 'picture' | 'onMembers'>,
  listener: () => void,
): () => void {
  const present = () => new Set(placement.picture()?.replicas.map(memberText));
  let known = present();
  return placement.onMembers(() => {
    const before = known;
    known = present();
    if ([...before].some((member) => !known.has(member))) listener();
  });
}
