/** What Account links need from storage. Implemented in storage/account-links.ts and storage/account-link-requests.ts. */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Authorship } from '../audit.ts';
import type { BridgeInfo } from '../connection/bridge/info.ts';
import type {
  AccountLink,
  ConnectionRef,
  LinkedUser,
  Messenger,
  MessengerAccount,
  RejectReason,
} from './link.ts';

export interface LinkableConnection {
  readonly id: PublicId;
  readonly name: string;
  readonly messenger: Messenger;
  /** Of a bridge, as far as it is known. */
  readonly info: BridgeInfo | null;
}

export interface AccountLinkStore {
  /** Oldest first. */
  of(userId: PublicId): Promise<readonly AccountLink[]>;
  /** @returns false when the User has no such link */
  remove(userId: PublicId, linkId: PublicId, author: Authorship): Promise<boolean>;
  /** Live Connections, by messenger, then name. */
  linkable(): Promise<readonly LinkableConnection[]>;
}

/** Too many requests; the next is taken from then on. */
export interface TooMany {
  readonly retryAt: Micros;
}

export interface CodeRequest {
  readonly id: PublicId;
  readonly connection: ConnectionRef;
  /** To whom the code is sent. */
  readonly account: MessengerAccount;
  readonly digest: Uint8Array;
}

export type Confirmation =
  | { readonly is: 'linked'; readonly link: AccountLink; readonly connection: ConnectionRef }
  /** Of another User, or of no User at all. */
  | { readonly is: 'unknown' }
  /** Not saying whether it is wrong, used or too old. */
  | { readonly is: 'invalid'; readonly reason: RejectReason | null }
  /** The account is another User's. The request stays open. */
  | { readonly is: 'conflict' };

/** A token that came back through a messenger. */
export interface TokenUse {
  readonly connectionId: PublicId;
  readonly eventId: string;
  readonly account: MessengerAccount;
  readonly digest: Uint8Array;
  readonly at: Micros;
}

export type TokenOutcome =
  | { readonly is: 'linked'; readonly user: LinkedUser }
  /** `isAnswered`: false once this account of the messenger had enough answers. */
  | {
      readonly is: 'rejected';
      readonly reason: RejectReason;
      readonly user: LinkedUser | null;
      readonly isAnswered: boolean;
    };

export interface LinkRequestStore {
  /** Voids the User's earlier open token for this Connection. */
  beginToken(
    request: { readonly connectionId: PublicId; readonly digest: Uint8Array },
    author: UserAuthorship,
  ): Promise<TooMany | null>;
  /** Whether the User may ask for another code. */
  codesExhausted(userId: PublicId, at: Micros): Promise<TooMany | null>;
  /** Voids the User's earlier open code for this Connection. */
  beginCode(request: CodeRequest, author: UserAuthorship): Promise<TooMany | 'conflict' | null>;
  /** It leads nowhere, and does not count. */
  codeNotSent(id: PublicId): Promise<void>;
  /** Of a request through a bridge. Counts, compares and links as one. */
  confirmCode(id: PublicId, digest: Uint8Array, author: UserAuthorship): Promise<Confirmation>;
  /**
   * Links the account, and notes the event as handled with what is to be said.
   * @param say what to tell the person; null: nothing
   * @returns what is to be said, and what came of it; null: the event was handled before
   */
  useToken(
    use: TokenUse,
    say: (outcome: TokenOutcome) => string | null,
  ): Promise<{ readonly say: string | null; readonly outcome: TokenOutcome | null }>;
}

/** A User who acts for themselves. */
export type UserAuthorship = Authorship & { readonly userId: PublicId };
