/** What sign-in and access need from storage. Implemented in storage/access.ts; faked in tests of the HTTP layer. */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { AuditEntry } from '../effects.ts';
import type { OrganizationRecord } from './organization.ts';
import type { EndReason, Session, SessionWithUser } from './session.ts';
import type { User } from './user.ts';

export interface Sessions {
  /** The session whose cookie value hashes to `hash`, ended ones too, with its user; null when there is none. */
  find(hash: Uint8Array): Promise<SessionWithUser | null>;
  /** Writes the use of a live session down. */
  touch(id: PublicId, at: Micros): Promise<void>;
  /** Ends a session that has not ended yet and records the entry with it; false when it had ended already. */
  end(id: PublicId, reason: EndReason, at: Micros, entry: AuditEntry | null): Promise<boolean>;
  /** Which of these sessions are live at `now`. */
  live(ids: readonly PublicId[], now: Micros): Promise<ReadonlySet<PublicId>>;
}

export interface Account {
  readonly user: User;
  /** PHC string; null for an account without a password. */
  readonly passwordHash: string | null;
}

/** Everything that a successful sign-in changes, in one transaction. */
export interface SignIn {
  readonly session: Session;
  readonly hash: Uint8Array;
  readonly address: string;
  readonly userAgent: string | null;
  /** Set when the password was stored with other parameters than today's. */
  readonly rehashed: string | null;
  /** Throttle keys that are forgotten. */
  readonly clears: readonly string[];
  /** Hash of a cookie that was sent along; its session ends. */
  readonly replaces: Uint8Array | null;
  readonly entry: AuditEntry;
}

export interface Accounts {
  /** By login in any case, deleted accounts excepted. */
  findByLogin(folded: string): Promise<Account | null>;
  read(id: PublicId): Promise<User | null>;
  /** @returns the user as it is after the sign-in; null when the account stopped being active in between */
  signIn(signIn: SignIn): Promise<User | null>;
}

export type Admission =
  | { readonly admitted: true }
  /** Not evaluated and not counted: try again in `wait` µs. */
  | { readonly admitted: false; readonly wait: Micros };

/** The memory of failed attempts, shared by all replicas (access §4.1). */
export interface Throttle {
  /** Starts the evaluation of an attempt, or tells how long to wait. At most one attempt an account at a time. */
  admit(account: string, source: string, now: Micros): Promise<Admission>;
  /** Ends an evaluation that failed: both keys count one more, and the entry is recorded. */
  failed(account: string, source: string, now: Micros, entry: AuditEntry): Promise<void>;
  /** Ends an evaluation that came to nothing. */
  release(account: string): Promise<void>;
}

export interface UserPage {
  readonly users: readonly Pick<User, 'id' | 'name' | 'login' | 'status'>[];
  /** Lower-cased name and id of the last one when there are more. */
  readonly next: readonly [string, string] | null;
}

export interface UserDirectory {
  /** Users of every status by lower-cased name, then id; `q` is a part of the name or login in any case. */
  page(q: string | null, after: readonly [string, string] | null, limit: number): Promise<UserPage>;
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
