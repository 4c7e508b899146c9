/** What a Destination asks for with a turn. Its store writes the records, its performer does the rest. */
import type { PerformedEffect, RecordedEffect } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { LifecycleEventName } from '../model.ts';

/** A waiting event moved on. The last record of an event in a batch says how it stands. */
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
  readonly templateError: DestinationTemplateError | null;
}

export type DestinationRecord = WebhookProgress | WebhookBudgetsRenewed | DestinationHealthRecorded;

export type DestinationHealth =
  | { readonly state: 'healthy' }
  /** `reason` is masked and has at most 1,000 characters. */
  | { readonly state: 'broken'; readonly since: Micros; readonly reason: string };

export interface DestinationTemplateError {
  /** `events`, or the role of a request in template mode. */
  readonly request: string;
  readonly since: Micros;
  readonly error: string;
}

/** One request, made once the state that says `sending` is committed. */
export interface WebhookSend extends PerformedEffect {
  readonly type: 'webhook.send';
  readonly destinationId: PublicId;
  readonly eventId: string;
  readonly groupId: PublicId;
  readonly event: LifecycleEventName;
  readonly urgent: boolean;
  readonly occurredAt: Micros;
  /** Number of this call among all calls of the event, from 1. */
  readonly call: number;
  /** 1 for the first request of the event since its budget began. */
  readonly attempt: number;
  /** The one request by which a Broken Destination is tried. */
  readonly isProbe: boolean;
}

/** The Destination became Broken or healthy: for the log and for open browsers. */
export interface DestinationHealthChanged extends PerformedEffect {
  readonly type: 'destination.health_changed';
  readonly destinationId: PublicId;
  readonly change: 'destination_broken' | 'destination_recovered' | 'template_error';
  readonly reason: string | null;
}
