/** Everything a Connection accepts. */
import type { Address } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Limiter } from '../destination/limiter.ts';
import type { ConnectionInfo, PostCopy, PostedMessage } from './ports.ts';

export const CONNECTION = 'connection';

export function connectionAddress(id: PublicId): Address {
  return { kind: CONNECTION, key: id };
}

/** The name under which a Connection's sockets are kept. */
export function connectionOwner(id: string): string {
  return `connection/${id}`;
}

export type ConnectionMessage =
  | Configured
  | Deleted
  | TokenTaken
  | TokenWanted
  /** A Destination made no call with a token that it was given. */
  | { readonly type: 'token_returned' }
  /** A call is over whose end was to be told. */
  | { readonly type: 'call_ended' }
  | Held
  | EventArrived
  | EventSettled
  | PollFinished
  | InfoRead
  | { readonly type: 'resume' }
  | { readonly type: 'wake' };

/** It was created or saved. Stored with the change; the newest version counts. */
export interface Configured {
  readonly type: 'configured';
  readonly version: number;
  /** Raised with every other address or token. */
  readonly access: number;
  readonly polls: boolean;
  readonly limiter: Limiter;
}

/** Stored with the deletion. */
export interface Deleted {
  readonly type: 'deleted';
  readonly version: number;
}

/** Somebody waits for a call: a token now, or when there will be one. Answered with a {@link TokenAnswer}. */
export interface TokenTaken {
  readonly type: 'take_token';
  /** The end of the call is told. */
  readonly isEndTold?: true;
}

export type TokenAnswer = { readonly granted: true } | { readonly granted: false; readonly dueAt: Micros };

/** A Destination wants to make calls; it is told {@link TokenGranted} when it may. */
export interface TokenWanted {
  readonly type: 'token_wanted';
  readonly urgent: boolean;
  /** How many calls it could begin at once. */
  readonly count: number;
  /** The messenger counts the calls of the last time; the end of each call is told. */
  readonly sliding?: true;
}

/** What a Destination gets for its {@link TokenWanted}: at least one token. For the rest it asks again. */
export interface TokenGranted {
  readonly type: 'token_granted';
  readonly count: number;
}

/** The messenger asked everything of this bot to wait. */
export interface Held {
  readonly type: 'hold';
  readonly until: Micros;
}

/**
 * Something happened in the messenger that leads to nothing elsewhere: the Connection notes it as handled. Answered with
 * an {@link EventAnswer} once it has.
 */
export interface EventArrived {
  readonly type: 'event';
  readonly eventId: string;
  readonly say: string | null;
  readonly deleted?: DeletedMessage;
  readonly copy?: CopyTold;
}

export type CopyTold = Omit<PostCopy, 'connectionId'>;

/** A message of ours that somebody deleted in the messenger. */
export interface DeletedMessage {
  readonly messageId: string;
  readonly destinationId: PublicId;
  readonly groupId: PublicId | null;
  readonly kind: PostedMessage['kind'];
  readonly isPresent: boolean;
}

/** What is to be said to the person behind an event; null: nothing, or it was said before. */
export interface EventAnswer {
  readonly say: string | null;
}

/** The event is handled, here or elsewhere, and the answer to it was given, or given up. */
export interface EventSettled {
  readonly type: 'event_settled';
  readonly eventId: string;
}

export interface PollFinished {
  readonly type: 'poll_finished';
  /** Which poll this tells about, as its perform said. */
  readonly poll: number;
  readonly outcome: PollOutcome;
  readonly at: Micros;
}

export type PollOutcome =
  /** `brought`: there were events in it. `isFull`: as many as fit into it. */
  | { readonly is: 'passed'; readonly cursor: string; readonly brought: boolean; readonly isFull: boolean }
  | { readonly is: 'failed'; readonly error: string; readonly retryAt: Micros | null }
  | { readonly is: 'cursor_refused'; readonly error: string }
  /** `postponed`: those that were not tried, because they are not due yet or wait for one of their lane. */
  | { readonly is: 'events_failed'; readonly ids: readonly string[]; readonly postponed: readonly string[] }
  | { readonly is: 'unoffered' }
  /** Somebody else polls for the same bot, or it has a webhook. */
  | { readonly is: 'conflict' }
  /** Nothing was asked: the Connection was saved meanwhile. */
  | { readonly is: 'lost' };

/** What getInfo came to. */
export interface InfoRead {
  readonly type: 'info_read';
  /** Of the address and token that were asked. */
  readonly access: number;
  readonly read: /** `wrong`: pointer of a member that was taken as missing. `tokenless`: null when that was not tried. */
    | {
        readonly ok: true;
        readonly info: ConnectionInfo;
        readonly wrong: string | null;
        readonly tokenless: boolean | null;
      }
    /** `pointer`: of what makes the Info invalid; null when none was answered. */
    | { readonly ok: false; readonly pointer: string | null };
  /** When it was asked: of two that overlap the later one counts. */
  readonly at: Micros;
}
