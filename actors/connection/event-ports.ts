/** What is looked up about an event of a messenger before it leads to anything. Implemented in storage/connection-events.ts. */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { LinkedUser, MessengerAccount } from '../account-links/link.ts';

/** A message of ours in a messenger. */
export interface PostedMessage {
  readonly destinationId: PublicId;
  readonly kind: 'root' | 'reply' | 'storm_summary' | 'test';
  /** Null for a Storm summary, and for a test about no Alert Group. */
  readonly groupId: PublicId | null;
  /** Of that Alert Group, now. */
  readonly routeId: PublicId | null;
  /** It is the one that is kept up to date. */
  readonly isPresent: boolean;
}

/** The User to whom an account is linked. */
export interface LinkedPerson extends LinkedUser {
  readonly linkId: PublicId;
  readonly role: 'admin' | 'responder' | 'viewer';
  readonly status: 'active' | 'disabled' | 'deleted';
}

export interface EventFacts {
  /** An event that was handled, with what is still to be said about it. Null: it is new. */
  handled(connectionId: PublicId, eventId: string): Promise<{ readonly say: string | null } | null>;
  message(connectionId: PublicId, messageId: string): Promise<PostedMessage | null>;
  person(connectionId: PublicId, externalId: string): Promise<LinkedPerson | null>;
  /** The person acted: notes when, and their names as they are now. */
  used(link: PublicId, account: MessengerAccount, at: Micros): Promise<void>;
}
