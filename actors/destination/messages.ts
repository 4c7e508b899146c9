/** Everything a Destination accepts. */
import type { Address } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import { base32, type PublicId } from '../../runtime/public-id.ts';
import type { ReplyFacts, SendFinished } from '../channels/calls.ts';
import type { TokenGranted } from '../connection/messages.ts';
import type { GroupStatus, LifecycleEventName, Loudness, SymbolicMention, UserRef } from '../model.ts';

export const DESTINATION = 'destination';

export function destinationAddress(id: PublicId): Address {
  return { kind: DESTINATION, key: id };
}

export type DestinationMessage =
  | EventRecorded
  | Saved
  | { readonly type: 'deleted' }
  | SecretsLost
  | RightsLost
  | GroupEvent
  | GroupReleased
  | StormTold
  | RoutesChanged
  | Rerender
  | MessageGone
  | PressBegan
  | { readonly type: 'press_ended'; readonly groupId: PublicId }
  | SendFinished
  /** A Connection gives tokens; the sender is its address. */
  | TokenGranted
  /** Somebody waits for a call: asked, answered like a Connection's `take_token`. */
  | { readonly type: 'take_token' }
  /** The token just taken was not used. */
  | { readonly type: 'token_returned' }
  /** The call is over for which somebody took a token. */
  | { readonly type: 'call_ended' }
  | Worked
  | { readonly type: 'resume' }
  | { readonly type: 'wake' };

/** Its settings were saved, or what they refer to: a Broken one is tried, and what failed is tried again, at once. */
export interface Saved {
  readonly type: 'saved';
  /** Its Connection has another token or address: what was asked of the bot before does not hold this one. */
  readonly isOtherAccess?: boolean;
}

/**
 * A lifecycle event for the messages of a Destination (delivery §2). Sent by the Alert Group in the turn that recorded
 * it; `created` comes by way of the Route, which says whether a Storm holds it.
 */
export interface GroupEvent {
  readonly type: 'group_event';
  readonly groupId: PublicId;
  /** #N; null in the step that creates the group. */
  readonly number: number | null;
  /** The present Route, after the event. */
  readonly routeId: PublicId;
  readonly event: LifecycleEventName;
  readonly sequence: number;
  readonly at: Micros;
  readonly loudness: Loudness;
  readonly mentions: readonly SymbolicMention[];
  /** Whom the Mentions `owner` and `previous_owner` name. */
  readonly owner: UserRef | null;
  readonly by: 'system' | 'person';
  /** After the event. */
  readonly status: GroupStatus;
  readonly urgent: boolean;
  /** What a reply about it tells; null when none is written about such an event. */
  readonly facts: ReplyFacts | null;
  /** With `created`: what the Route decided. Absent until it has. */
  readonly judged?: 'held' | 'free';
}

/** An Alert Group is held back no more. Loud when it became Urgent. */
export interface GroupReleased {
  readonly type: 'group_released';
  readonly groupId: PublicId;
  readonly number: number | null;
  readonly routeId: PublicId;
  readonly status: GroupStatus;
  readonly urgent: boolean;
  readonly loudness: Loudness;
  readonly at: Micros;
}

/** A Storm of a Route began, has other numbers, or is over (delivery §12). */
export interface StormTold {
  readonly type: 'storm';
  readonly routeId: PublicId;
  /** When it began; what names it. */
  readonly since: Micros;
  readonly change: 'started' | 'changed' | 'ended';
  readonly at: Micros;
}

/** Routes got or lost this Destination. Stored with their saves. */
export interface RoutesChanged {
  readonly type: 'routes_changed';
  readonly joined: readonly PublicId[];
  readonly left: readonly PublicId[];
}

/** What messages show may be something else now, though no lifecycle event says so. */
export interface Rerender {
  readonly type: 'rerender';
  /** Null: messages of all Routes. */
  readonly routeId: PublicId | null;
  /** Of this Alert Group alone, which may be resolved; absent: of all open ones. */
  readonly groupId?: PublicId;
}

/** Somebody deleted a message in the messenger. */
export interface MessageGone {
  readonly type: 'message_gone';
  /** Ids of two messengers may be equal. Absent in what an earlier version stored: any. */
  readonly connectionId?: PublicId;
  readonly messageId: string;
  /** Null for a Storm summary. */
  readonly groupId: PublicId | null;
  readonly at: Micros;
}

/** A button is being pressed: the person is answered before the message changes, at most until `until`. */
export interface PressBegan {
  readonly type: 'press_began';
  readonly groupId: PublicId;
  readonly until: Micros;
}

/** A check or test that a person started succeeded: whatever made the Destination Broken is over. */
export interface Worked {
  readonly type: 'worked';
  readonly at: Micros;
}

/** What it needs to be reached was wiped: nothing is sent until somebody enters it again (secrets §5.1). */
export interface SecretsLost {
  readonly type: 'secrets_lost';
}

/** The messenger told that the bot may do no more what the Destination needs (channel-bot §3). */
export interface RightsLost {
  readonly type: 'rights_lost';
  readonly reason: string;
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

/** 128 bits are 25.6 characters: the padding byte completes the last one. */
const RANDOM_BYTES = 16;
const CHARACTERS = 26;

/**
 * Makes a `webhook-id`: `msg_` and the base32 (lower case, unpadded) of 16 random bytes (webhooks §3.1). One per event
 * and Destination, kept across every retry.
 */
export function newEventId(random: (size: number) => Uint8Array): string {
  const padded = new Uint8Array(RANDOM_BYTES + 1);
  padded.set(random(RANDOM_BYTES));
  return `msg_${base32(padded).slice(0, CHARACTERS)}`;
}
