/** Alert Groups that Storms hold, as the actor of a Route reads them. Implemented in storage/storms.ts. */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';

export interface HeldGroup {
  readonly id: PublicId;
  /** #N */
  readonly number: number;
}

export interface HeldGroups {
  /** In order of #N, those above `after`. Committed data only. */
  page(query: {
    readonly routeId: PublicId;
    /** Start of the Storm, µs. */
    readonly since: Micros;
    readonly after: number;
    readonly limit: number;
  }): Promise<readonly HeldGroup[]>;
}
