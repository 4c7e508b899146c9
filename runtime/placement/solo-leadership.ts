import type { Placement } from '../actor/index.ts';
import type { Leadership } from './leadership.ts';

/** Of a single process: it leads while it acts, and acts for everything or for nothing (operations §5.1). */
export function soloLeadership(placement: Pick<Placement, 'owned' | 'onChange'>): Leadership {
  return {
    get isLeader() {
      return placement.owned().length > 0;
    },
    onChange: (listener) => placement.onChange(listener),
  };
}
