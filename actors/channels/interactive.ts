/** The part of the port that a person starts and waits for: checks, test messages, previews (delivery §13). */
import type { PublicId } from '../../runtime/public-id.ts';
import type { TokenGrant } from '../connection/tokens.ts';
import type { DestinationFields } from '../destination/ports.ts';
import type { DestinationTrial } from '../destination/trials/trial.ts';

/** What a person starts and waits for. Every call takes an interactive limiter token first. */
export interface Interactive {
  /** Checks a place in steps with words, and posts nothing. Null: a test message has to serve. */
  readonly check: ((place: Place, run: PublicId) => Promise<CheckedPlace | Busy>) | null;
  readonly trial: DestinationTrial;
}

/** The place behind a Destination that is checked; `destinationId` is null before it is created. */
export interface Place {
  readonly destinationId: PublicId | null;
  readonly fields: DestinationFields;
}

/** No limiter token within the time that a person waits. */
export type Busy = Exclude<TokenGrant, 'granted'>;

/** What the check of a place found. It posted nothing. */
export interface CheckedPlace {
  readonly ok: boolean;
  /** In order; those after a failed one are left out. */
  readonly checks: readonly CheckedStep[];
  /** What the messenger calls it; null when it was not learned. */
  readonly channelName: string | null;
}

export interface CheckedStep {
  readonly name: 'token' | 'channel_exists';
  readonly ok: boolean;
  /** For people; masked. The words of the other side are not to be trusted. */
  readonly message: string | null;
}
