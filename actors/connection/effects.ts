/** What a Connection's turn asks for, as plain data. */
import type { PerformedEffect, RecordedEffect } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { ConnectionInfo, PostCopy } from './ports.ts';

/** An event is handled: with it, whatever it led to is stored. */
export interface EventHandled extends RecordedEffect {
  readonly type: 'connection.event_handled';
  readonly connectionId: PublicId;
  readonly eventId: string;
  /** What is to be said to the person; null when nothing is, or it was said. */
  readonly say: string | null;
  readonly at: Micros;
}

/**
 * Recorded by an Alert Group whose Command came with an event: handled, unless another commit was quicker, which refuses
 * the whole commit.
 */
export interface EventClaimed extends RecordedEffect, Omit<EventHandled, 'type'> {
  readonly type: 'connection.event_claimed';
}

/** The bridge's Info as reads show it. */
export interface InfoRecorded extends RecordedEffect {
  readonly type: 'connection.info';
  readonly connectionId: PublicId;
  /** Counts only while the Connection has this address and token. */
  readonly access: number;
  readonly info: ConnectionInfo | null;
  /** When it was read; null: never. */
  readonly readAt: Micros | null;
  /** When reading it failed last, since it was read. */
  readonly failedAt: Micros | null;
  readonly wrong: string | null;
  readonly tokenless: boolean;
}

/** How listening goes, as reads show it. */
export interface InboundRecorded extends RecordedEffect {
  readonly type: 'connection.inbound';
  readonly connectionId: PublicId;
  readonly lastAt: Micros | null;
  /** Masked. */
  readonly error: string | null;
  readonly since: Micros | null;
}

/** Another address or token, or the end: ids of events mean nothing any more. */
export interface EventsForgotten extends RecordedEffect {
  readonly type: 'connection.events_forgotten';
  readonly connectionId: PublicId;
}

/** A message of ours is deleted: nothing that happens to it means anything any more. */
export interface MessageForgotten extends RecordedEffect {
  readonly type: 'connection.message_forgotten';
  readonly connectionId: PublicId;
  readonly messageId: string;
}

/** The first copy of a post counts. Kept as long as messages are. */
export interface CopySeen extends RecordedEffect, PostCopy {
  readonly type: 'connection.copy_seen';
  readonly at: Micros;
}

export type ConnectionRecord =
  | EventHandled
  | InfoRecorded
  | InboundRecorded
  | EventsForgotten
  | MessageForgotten
  | CopySeen;

/** One poll, begun once the state that says `calling` is committed. */
export interface PollBegun extends PerformedEffect {
  readonly type: 'connection.poll';
  readonly connectionId: PublicId;
  readonly poll: number;
  readonly access: number;
  readonly cursor: string | null;
  /** How long nothing could be received before, when that was long enough to matter. */
  readonly gap: Micros | null;
  /** Ids of events that failed before and are not due again: this poll does not handle them. */
  readonly postponed: readonly string[];
}

/** For the log: at the first failure, and now and then while it lasts. */
export interface PollTrouble extends PerformedEffect {
  readonly type: 'connection.poll_failed';
  readonly connectionId: PublicId;
  readonly error: string;
}

/** For the log: somebody else receives for the same bot. */
export interface PollConflict extends PerformedEffect {
  readonly type: 'connection.poll_conflict';
  readonly connectionId: PublicId;
  /** Until the next poll. */
  readonly pause: Micros;
}

/** For the log: an event was given up after many failures. */
export interface EventGivenUp extends PerformedEffect {
  readonly type: 'connection.event_given_up';
  readonly connectionId: PublicId;
  readonly eventId: string;
}

export type ConnectionPerformed = PollBegun | PollTrouble | PollConflict | EventGivenUp;
