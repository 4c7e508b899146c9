/** What managing users needs from storage. Implemented in storage/users.ts and storage/user-status.ts. */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Authorship } from '../audit.ts';
import type { RoleName, User, UserSource, UserStatus } from './user.ts';

export interface UserFields {
  readonly name: string;
  readonly email: string | null;
  readonly role: RoleName;
}

export interface NewUser extends UserFields {
  readonly login: string;
}

/** A link with which its holder sets the password; of the token only the hash is kept. */
export interface NewSetupLink {
  readonly hash: Uint8Array;
  readonly expiresAt: Micros;
}

/** Empty lists and null are no filter. */
export interface UserFilter {
  /** A part of the name, the login or the address, in any case. */
  readonly q: string | null;
  readonly roles: readonly RoleName[];
  readonly statuses: readonly UserStatus[];
  readonly sources: readonly UserSource[];
}

export interface FoundUsers {
  readonly users: readonly User[];
  /** Lower-cased name and id of the last one when there are more. */
  readonly next: readonly [string, string] | null;
}

export type UserDecision<Refusal> = { readonly save: UserFields } | { readonly refuse: Refusal };

export type UserUpdate<Refusal> =
  | { readonly outcome: 'unknown' | 'role_locked' | 'last_admin' }
  | { readonly outcome: 'refused'; readonly refusal: Refusal }
  | { readonly outcome: 'saved' | 'unchanged'; readonly user: User };

export type UserSwitch =
  | { readonly outcome: 'unknown' | 'last_admin' }
  | { readonly outcome: 'switched' | 'unchanged'; readonly user: User };

export interface UserStore {
  page(filter: UserFilter, after: readonly [string, string] | null, limit: number): Promise<FoundUsers>;
  /** Deleted ones too. */
  read(id: PublicId): Promise<User | null>;
  create(fields: NewUser, link: NewSetupLink, author: Authorship): Promise<User | 'name_taken'>;
  /** `decide` judges what is there under a lock. A Role that changes ends the user's sessions. */
  update<Refusal>(
    id: PublicId,
    decide: (current: User) => UserDecision<Refusal>,
    author: Authorship,
  ): Promise<UserUpdate<Refusal>>;
  /** Ends sessions, forgets the offline token and hands acknowledgements back (access §7 rule 5). */
  disable(id: PublicId, author: Authorship): Promise<UserSwitch>;
  enable(id: PublicId, author: Authorship): Promise<UserSwitch>;
  /** Leaves a name without a person (access §7 rule 6). */
  remove(
    id: PublicId,
    isCurrent: ((version: number) => boolean) | null,
    author: Authorship,
  ): Promise<'unknown' | 'stale' | 'last_admin' | 'removed'>;
  /** Sessions end with it; nothing happens to who has no second factor. */
  resetTotp(id: PublicId, author: Authorship): Promise<'unknown' | 'reset'>;
  /** The account signs in with a password from now on, which the link sets. */
  convertToLocal(
    id: PublicId,
    link: NewSetupLink,
    author: Authorship,
  ): Promise<User | 'unknown' | 'oidc_not_linked'>;
  /** Replaces an earlier link; the present password works until this one is used. */
  addSetupLink(
    id: PublicId,
    link: NewSetupLink,
    author: Authorship,
  ): Promise<'unknown' | 'local_user_only' | 'added'>;
}
