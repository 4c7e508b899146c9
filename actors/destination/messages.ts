/** Everything a Destination accepts. */
import type { Address } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { LifecycleEventName } from '../model.ts';

export const DESTINATION = 'destination';

export function destinationAddress(id: PublicId): Address {
  return { kind: DESTINATION, key: id };
}

export type DestinationMessage =
  | EventRecorded
  | AttemptFinished
  | { readonly type: 'saved' }
  | { readonly type: 'deleted' }
  | SecretsLost
  | { readonly type: 'resume' }
  | { readonly type: 'wake' };

/** What it needs to be reached was wiped: nothing is sent until somebody enters it again (secrets §5.1). */
export interface SecretsLost {
  readonly type: 'secrets_lost';
}

/** An events-mode webhook has one more event to send. Sent by the Alert Group in the turn that recorded it. */
export interface EventRecorded {
  readonly type: 'event_recorded';
  /** The `webhook-id`. */
  readonly eventId: string;
  readonly groupId: PublicId;
  readonly sequence: number;
  readonly event: LifecycleEventName;
  readonly urgent: boolean;
  readonly occurredAt: Micros;
}

/** What an outbound call came to. */
export interface AttemptFinished {
  readonly type: 'attempt_finished';
  readonly eventId: string;
  /** Which call of the event this tells about, as its perform said. */
  readonly call: number;
  readonly outcome: AttemptOutcome;
  /** When the answer came, µs. */
  readonly at: Micros;
}

export type AttemptOutcome =
  | { readonly class: 'ok'; readonly status: number }
  | { readonly class: 'retry_after'; readonly until: Micros; readonly error: string }
  | { readonly class: 'transient'; readonly error: string }
  /** The Destination is Broken: refused credentials or address. */
  | { readonly class: 'fatal'; readonly error: string }
  /** This event can never succeed. */
  | { readonly class: 'unknown'; readonly error: string }
  | { readonly class: 'template_error'; readonly error: string }
  /** No request was made: the Destination had just refused another one, or the event could not be read. */
  | { readonly class: 'not_sent'; readonly because: 'just_refused' | 'unreadable' };

/** What became of a request, or of making one. */
export type SentOutcome = Exclude<AttemptOutcome, { readonly class: 'not_sent' }>;
