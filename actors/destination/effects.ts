/** What a Destination asks for with a turn. Its store writes the records, its performer does the rest. */
import type { PerformedEffect, RecordedEffect } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Delivery, DeliveryState } from './delivery/delivery.ts';

/** A waiting event changed its state. The last record of an event in a batch is its present state. */
export interface WebhookProgress extends RecordedEffect {
  readonly type: 'webhook.progress';
  readonly eventId: string;
  readonly state: 'waiting' | 'sending' | 'delivered' | 'not_delivered';
  /** Calls started so far, those of spent budgets included. */
  readonly calls: number;
  readonly attempts: number;
  readonly firstFailedAt: Micros | null;
  /** Not before this; for `sending`, when the call counts as lost. */
  readonly nextAttemptAt: Micros | null;
  /** `nextAttemptAt` is what the receiver asked for. */
  readonly exact: boolean;
  /** Masked. */
  readonly error: string | null;
  readonly at: Micros;
}

/** A recovery: every event still waiting starts its attempts afresh. */
export interface WebhookBudgetsRenewed extends RecordedEffect {
  readonly type: 'webhook.budgets_renewed';
  readonly destinationId: PublicId;
  readonly at: Micros;
}

/** Health as reads show it. */
export interface DestinationHealthRecorded extends RecordedEffect {
  readonly type: 'destination.health';
  readonly destinationId: PublicId;
  readonly health: DestinationHealth;
  readonly failing: DestinationFailing | null;
  readonly templateError: DestinationTemplateError | null;
}

/**
 * The Destination takes no events any more: whatever still waits ends as Not delivered, also an event that another commit
 * stored beside the save or the deletion.
 */
export interface WebhookEventsEnded extends RecordedEffect {
  readonly type: 'webhook.events_ended';
  readonly destinationId: PublicId;
  readonly error: string;
  readonly at: Micros;
}

export type DestinationRecord =
  | WebhookProgress
  | WebhookBudgetsRenewed
  | WebhookEventsEnded
  | DestinationHealthRecorded;

export type DestinationHealth =
  | { readonly state: 'healthy' }
  /** `reason` is masked and has at most 1,000 characters. */
  | { readonly state: 'broken'; readonly since: Micros; readonly reason: string };

/**
 * Every call since then failed; the first success ends it (delivery §7.5). Independent of Broken, which comes later.
 */
export interface DestinationFailing {
  /** When the first of these calls failed. */
  readonly since: Micros;
  /** Of the newest call; masked, at most 1,000 characters. */
  readonly error: string;
}

export interface DestinationTemplateError {
  /** `events`, or the role of a request in template mode. */
  readonly request: string;
  readonly since: Micros;
  readonly error: string;
}

/** The state that reads show changed: for the log and for open browsers. `failing` goes to browsers alone. */
export interface DestinationHealthChanged extends PerformedEffect {
  readonly type: 'destination.health_changed';
  readonly destinationId: PublicId;
  readonly change: 'destination_broken' | 'destination_recovered' | 'template_error' | 'failing';
  readonly reason: string | null;
}

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
  /** The group had another Root message here before. */
  readonly replaces: boolean;
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
