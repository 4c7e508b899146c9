/** What sign-in and access need from storage. Implemented in storage/access.ts; faked in tests of the HTTP layer. */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { AuditEntry } from '../effects.ts';
import type { OrganizationRecord } from './organization.ts';
import type { Proof, SecondFactor } from './second-factor.ts';
import type { EndReason, Session, SessionWithUser } from './session.ts';
import type { User } from './user.ts';

export interface Sessions {
  /** The session whose cookie value hashes to `hash`, ended ones too, with its user; null when there is none. */
  find(hash: Uint8Array): Promise<SessionWithUser | null>;
  /** Writes the use of a live session down. */
  touch(id: PublicId, at: Micros): Promise<void>;
  /** Live ones of a user, last used first. */
  listOf(userId: PublicId, now: Micros): Promise<readonly ListedSession[]>;
  /** The policy asks this session for no second factor any more: it becomes active. */
  activate(id: PublicId): Promise<void>;
  /** Ends everything that a user has open and records the entry with it. */
  endAll(userId: PublicId, reason: EndReason, at: Micros, entry: AuditEntry): Promise<void>;
  /** Ends a session that has not ended yet and records the entry with it; false when it had ended already. */
  end(id: PublicId, reason: EndReason, at: Micros, entry: AuditEntry | null): Promise<boolean>;
  /** Which of these sessions are live at `now`. */
  live(ids: readonly PublicId[], now: Micros): Promise<ReadonlySet<PublicId>>;
}

export interface ListedSession extends Session {
  readonly address: string | null;
  readonly userAgent: string | null;
}

export interface Account {
  readonly user: User;
  /** PHC string; null for an account without a password. */
  readonly passwordHash: string | null;
  /** Null for who has none. Read with the rest, so that asking for it takes no time. @throws when it does not open */
  secondFactor(): SecondFactor | null;
}

/** Everything that a successful sign-in changes, in one transaction. */
export interface SignIn {
  readonly session: Session;
  readonly hash: Uint8Array;
  readonly address: string;
  readonly userAgent: string | null;
  /** What the password was compared with. One that was set meanwhile is not overruled. */
  readonly passwordHash: string | null;
  /** Set when the password was stored with other parameters than today's. */
  readonly rehashed: string | null;
  /** Its evaluation ends; where the session is active, its failures are forgotten. Null for what is not throttled. */
  readonly attempt: ThrottleKeys | null;
  /** Used up with it; null where no second factor was given. */
  readonly proof: Proof | null;
  /** Hash of a cookie that was sent along; its session ends. */
  readonly replaces: Uint8Array | null;
  readonly entry: AuditEntry;
}

export type SignedIn =
  /** The user as it is after the sign-in. */
  | { readonly user: User }
  /** In between the account stopped being active, its password changed, or another attempt used the code up. */
  | { readonly refused: 'inactive' | 'wrong_password' | 'wrong_code' };

/** The second factor of a session that waited for it. */
export interface SecondStep {
  readonly sessionId: PublicId;
  readonly userId: PublicId;
  readonly proof: Proof;
  readonly attempt: ThrottleKeys;
  readonly entry: AuditEntry;
}

export interface Accounts {
  /** By login in any case, deleted accounts excepted. */
  findByLogin(folded: string): Promise<Account | null>;
  read(id: PublicId): Promise<User | null>;
  /** Null for who has none. @throws when what is stored does not open */
  secondFactor(id: PublicId): Promise<SecondFactor | null>;
  signIn(signIn: SignIn): Promise<SignedIn>;
  /** `wrong_code`: another attempt used it up. `not_pending`: the session does not wait any more. */
  completeSignIn(step: SecondStep): Promise<'active' | 'wrong_code' | 'not_pending'>;
}

/** What failures are counted by: the account, existing or not, and the source. */
export interface ThrottleKeys {
  readonly account: string;
  readonly source: string;
}

export type Admission =
  | { readonly admitted: true }
  /** Not evaluated and not counted: try again in `wait` µs. */
  | { readonly admitted: false; readonly wait: Micros };

/** The memory of failed attempts, shared by all replicas (access §4.1). */
export interface Throttle {
  /** Starts the evaluation of an attempt, or tells how long to wait. At most one attempt an account at a time. */
  admit(keys: ThrottleKeys, now: Micros): Promise<Admission>;
  /** Ends an evaluation that failed: both keys count one more, and the entry is recorded if there is one. */
  failed(keys: ThrottleKeys, now: Micros, entry: AuditEntry | null): Promise<void>;
  /** Ends an evaluation that came to nothing. */
  release(account: string): Promise<void>;
}

export interface ListedPerson extends Pick<User, 'id' | 'name' | 'login' | 'status'> {
  /** Whether an Account link of theirs counts for the Connection that was asked about; null when none was. */
  readonly isLinked: boolean | null;
}

export interface UserPage {
  readonly users: readonly ListedPerson[];
  /** Lower-cased name and id of the last one when there are more. */
  readonly next: readonly [string, string] | null;
}

export interface UserDirectory {
  /** Users of every status by lower-cased name, then id; `q` is a part of the name or login in any case. */
  page(
    q: string | null,
    connectionId: PublicId | null,
    after: readonly [string, string] | null,
    limit: number,
  ): Promise<UserPage>;
}

export interface Organizations {
  read(): Promise<OrganizationRecord>;
}

export interface AccessStore {
  readonly sessions: Sessions;
  readonly accounts: Accounts;
  readonly throttle: Throttle;
  readonly users: UserDirectory;
  readonly organization: Organizations;
}
