/** What the deliveries of a Destination ask of storage. Committed data only, each answer a moment old at most. */
import type { Micros } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { DestinationConfig } from '../../directory.ts';
import type { GroupStatus } from '../../model.ts';
import type { Delivery, DeliveryState } from './delivery.ts';
import type { Work } from './work.ts';

export interface DeliveryPage {
  readonly deliveries: readonly Delivery[];
  /** Further ones are in storage alone. */
  readonly more: boolean;
}

/** An open Alert Group, as far as a Destination that joins its Route has to know it. */
export interface OpenGroup {
  readonly groupId: PublicId;
  /** #N */
  readonly number: number;
  readonly urgent: boolean;
  readonly status: GroupStatus;
  /** A Storm holds it back. */
  readonly held: boolean;
  /** Time of its newest lifecycle event, µs. */
  readonly changedAt: Micros;
  readonly startedAt: Micros;
}

export interface DeliveryReads {
  /** Those with something to do (`wanted`), Urgent first, then by #N; not the ones named by `deliveryKey`. */
  page(destinationId: PublicId, except: readonly string[], limit: number): Promise<DeliveryPage>;
  /** Every delivery of these subjects (`subjectText`), whatever target. */
  read(destinationId: PublicId, subjects: readonly string[]): Promise<readonly Delivery[]>;
  /** The summary of a Storm that stands there as this message; nothing when there is none. */
  summary(destinationId: PublicId, messageId: string): Promise<readonly Delivery[]>;
  /** Those with the state `pending`, in the order of (subject text, target), after the one named. */
  waiting(query: {
    readonly destinationId: PublicId;
    readonly after: { readonly subject: string; readonly target: number } | null;
    readonly limit: number;
  }): Promise<readonly Delivery[]>;
  /** Those that are not over, of one Route or of all, in the order of (subject text, target), after the one named. */
  open(query: {
    readonly destinationId: PublicId;
    readonly routeId: PublicId | null;
    readonly after: { readonly subject: string; readonly target: number } | null;
    readonly limit: number;
  }): Promise<readonly Delivery[]>;
  /** Open Alert Groups of a Route, Urgent first, then by #N, after the one named; and its Storm. */
  openGroups(query: {
    readonly routeId: PublicId;
    readonly after: { readonly urgent: boolean; readonly number: number } | null;
    readonly limit: number;
  }): Promise<{
    readonly groups: readonly OpenGroup[];
    /** The Storm of the Route that lasts, and when it began. */
    readonly stormSince: Micros | null;
  }>;
}

/** Delivery state of an Alert Group at one Destination (delivery §11). Implemented in storage/delivery/group-deliveries.ts. */
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
  /** Where its statechart stands. */
  readonly machine: Pick<Delivery, 'root' | 'thread'>;
  readonly threadNotAttached: boolean;
  readonly possibleDuplicate: boolean;
  /** Of the Root message, where the messenger has such links. */
  readonly messageUrl: string | null;
  /** Masked: of the last failed attempt while pending, of what failed for good while not delivered. */
  readonly error: string | null;
  readonly updatedAt: Micros;
  /** Of the message that is kept up to date; null while there is none, and for events. */
  readonly postedAt: Micros | null;
  /** When the messenger accepted the last edit of it; null before the first. */
  readonly editedAt: Micros | null;
  /** What is due next, unless it is being sent or the Destination is Broken. It may wait for the limiter besides. */
  readonly next: { readonly kind: Work['kind']; readonly at: Micros } | null;
}
