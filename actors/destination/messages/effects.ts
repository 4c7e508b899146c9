/** What the deliveries of a Destination record and perform, besides their calls (`calls.ts`). Written by storage. */
import type { PerformedEffect, RecordedEffect } from '../../../runtime/actor/index.ts';
import type { Micros } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { Delivery, DeliveryState } from './delivery.ts';

/** A delivery as it stands; the last record of one in a batch counts. What is not told apart here is in `delivery`. */
export interface DeliverySaved extends RecordedEffect {
  readonly type: 'delivery.saved';
  readonly destinationId: PublicId;
  readonly delivery: Delivery;
  readonly state: DeliveryState;
  /** Of an Alert Group or Storm that is not over. */
  readonly isOpen: boolean;
  /** Masked. */
  readonly error: string | null;
  /** It has to be in memory while its Destination is. */
  readonly wanted: boolean;
  readonly at: Micros;
}

/** A message stands in the messenger. A Root message takes the place of the earlier one of its group. */
export interface MessagePosted extends RecordedEffect {
  readonly type: 'delivery.message_posted';
  readonly destinationId: PublicId;
  readonly connectionId: PublicId;
  readonly messageId: string;
  readonly kind: 'root' | 'reply' | 'storm_summary';
  readonly groupId: PublicId | null;
  readonly at: Micros;
}

export type DeliveryRecord = DeliverySaved | MessagePosted;

/** Something about a delivery that operators may look for: for the log, and a hint to open pages. */
export interface DeliveryHappened extends PerformedEffect {
  readonly type: 'delivery.happened';
  readonly destinationId: PublicId;
  readonly groupId: PublicId | null;
  readonly event: 'storm_summary' | 'not_delivered' | 'deleted_in_messenger' | 'possible_duplicate' | 'state';
  readonly error: string | null;
}
