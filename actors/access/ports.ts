/** What sign-in and access need from storage. Implemented in storage/access/access.ts; faked in tests of the HTTP layer. */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Authorship } from '../audit.ts';
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
  /** Starts the evaluation of an attempt, which counts as failed from then on; or tells how long to wait. */
  admit(keys: ThrottleKeys, now: Micros): Promise<Admission>;
  /** Ends the evaluation that failed of an attempt admitted at `startedAt`, and records it. */
  failed(keys: ThrottleKeys, startedAt: Micros, entry: AuditEntry): Promise<void>;
  /** Ends the evaluation of an attempt admitted at `startedAt` that was neither right nor wrong: it did not fail. */
  release(keys: ThrottleKeys, startedAt: Micros): Promise<void>;
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

/** Whether a link may be used: refusals are judged in this order (access §4.2). */
export type LinkStanding = 'unknown' | 'link_used' | 'link_expired' | 'usable';

export type LinkFault = Exclude<LinkStanding, 'usable'>;

export interface PasswordLinks {
  standing(hash: Uint8Array, now: Micros): Promise<LinkStanding>;
  /** Sets the password, ends the user's sessions and uses the link up; judges it again. */
  complete(
    hash: Uint8Array,
    passwordHash: string,
    at: Micros,
    address: string,
  ): Promise<LinkFault | 'completed'>;
  /** Records a link that was refused, unless its address had many lately. @param hash null: no link has such a token */
  refused(hash: Uint8Array | null, reason: LinkFault, at: Micros, address: string): Promise<void>;
}

export interface NewPassword {
  readonly userId: PublicId;
  /** What the present password was compared with. */
  readonly replaces: string;
  readonly passwordHash: string;
  /** Stays, while the user's other sessions end. */
  readonly sessionId: PublicId;
  readonly attempt: ThrottleKeys;
}

export interface OwnPasswords {
  /** Null for an account that has none, or signs in through the provider. */
  hashOf(userId: PublicId): Promise<string | null>;
  /** @returns false when the password that it replaces is not the present one any more */
  change(password: NewPassword, author: Authorship): Promise<boolean>;
}

/** What people change of themselves. Implemented in storage/access/users.ts. */
export interface ProfileFields {
  readonly name: string;
  readonly timeZone: string | null;
  readonly language: User['language'];
}

export interface Profiles {
  /** `fieldsOf` makes the fields from what is there, under a lock; what is stored already changes nothing. */
  update(id: PublicId, fieldsOf: (current: User) => ProfileFields, author: Authorship): Promise<User>;
}

/** What people manage of their own second factor. Implemented in storage/access/second-factors.ts. */
export interface TotpStatus {
  /** Null while no second factor is confirmed. */
  readonly enrolledAt: Micros | null;
  readonly isPending: boolean;
  readonly recoveryCodesRemaining: number;
}

export interface Confirmation {
  readonly userId: PublicId;
  /** Becomes active, if it waited for this. */
  readonly sessionId: PublicId;
  readonly seed: Uint8Array;
  /** Of the code; used up by it. */
  readonly step: number;
  /** PHC strings. */
  readonly recoveryCodes: readonly string[];
  readonly attempt: ThrottleKeys;
}

export interface TotpEnrolments {
  status(userId: PublicId): Promise<TotpStatus>;
  /** Replaces an earlier pending seed. @returns false when a second factor is confirmed already */
  begin(userId: PublicId, seed: Uint8Array): Promise<boolean>;
  /** The seed that waits for its first code; null when none does. @throws when it does not open */
  pendingSeed(userId: PublicId): Promise<Uint8Array | null>;
  /** `superseded`: another enrolment was begun or confirmed meanwhile. */
  confirm(confirmation: Confirmation, author: Authorship): Promise<'confirmed' | 'superseded'>;
  /** Replaces all that were not used. @returns false when another attempt used the code up */
  replaceRecoveryCodes(
    codes: { readonly userId: PublicId; readonly proof: Proof; readonly recoveryCodes: readonly string[] },
    attempt: ThrottleKeys,
    author: Authorship,
  ): Promise<boolean>;
  /** @param proof null when the password proved who asks. @returns false when another attempt used the code up */
  remove(userId: PublicId, proof: Proof | null, attempt: ThrottleKeys, author: Authorship): Promise<boolean>;
}

/** Everything that people store about themselves. Implemented in storage/access/users.ts; faked in tests of the HTTP layer. */
export interface People {
  readonly profiles: Profiles;
  readonly ownPasswords: OwnPasswords;
  readonly passwordLinks: PasswordLinks;
  readonly enrolments: TotpEnrolments;
}
