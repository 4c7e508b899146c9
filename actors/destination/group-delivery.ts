/** How an Alert Group stands at one Destination, as reads show it (delivery §11). Implemented in storage/group-deliveries.ts. */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { DestinationConfig } from '../directory.ts';
import type { DeliveryState } from './messages/delivery.ts';

export interface GroupDelivery {
  /** Deleted ones as well, with the health they had. */
  readonly destination: {
    readonly id: PublicId;
    readonly name: string;
    readonly type: DestinationConfig['type'];
    readonly brokenSince: Micros | null;
    readonly brokenReason: string | null;
  };
  readonly state: DeliveryState | 'waiting_for_broken_destination';
  readonly threadNotAttached: boolean;
  readonly possibleDuplicate: boolean;
  /** Of the Root message, where the messenger has such links. */
  readonly messageUrl: string | null;
  /** Masked: of the last failed attempt while pending, of what failed for good while not delivered. */
  readonly error: string | null;
  readonly updatedAt: Micros;
}
