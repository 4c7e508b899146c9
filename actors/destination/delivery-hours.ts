/** What was delivered to Destinations in the last hours (delivery §7.6). Implemented in storage/delivery/delivery-hours.ts. */
import type { Micros } from '../../runtime/clock.ts';

/** The present hour, which has begun, and those before it. */
export const HOURS_SHOWN = 24;

export interface DeliveryHours {
  /** Start of the first hour, µs. */
  readonly from: Micros;
  /** Hours of a Destination in which something was sent, in no order; of deleted ones, too. */
  readonly counts: readonly DeliveryHour[];
}

export interface DeliveryHour {
  readonly destinationId: string;
  /** From 0 to {@link HOURS_SHOWN} - 1. */
  readonly index: number;
  readonly delivered: number;
  readonly failed: number;
}

export interface DeliveryHoursReader {
  read(now: Micros): Promise<DeliveryHours>;
}
