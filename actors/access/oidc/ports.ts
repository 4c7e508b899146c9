/** What single sign-on needs from storage. Implemented in storage/access/oidc-*.ts. */
import type { Micros } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { Sealed } from '../../../runtime/secrets/keyring.ts';
import type { Authorship } from '../../audit.ts';
import type { AuditEntry } from '../../effects.ts';
import type { PasswordChange } from '../../proxy-config.ts';
import type { Session } from '../session.ts';
import type { RoleName, User } from '../user.ts';
import type { NewPerson } from './claims.ts';
import type { OidcFields, StoredOidcSettings, WithheldRole } from './settings.ts';

export interface OidcStores {
  readonly settings: OidcSettingsStore;
  readonly requests: OidcRequests;
  readonly identities: Identities;
  readonly checks: OfflineChecks;
}

export interface OidcSave {
  readonly save: OidcFields;
  /** Null keeps the one that is stored. */
  readonly clientSecret: string | null;
  readonly proxyPassword: PasswordChange;
}

export type OidcUpdate<Refusal> =
  | { readonly outcome: 'saved' | 'unchanged'; readonly settings: StoredOidcSettings }
  | { readonly outcome: 'refused'; readonly refusal: Refusal };

export interface OidcSettingsStore {
  read(): Promise<StoredOidcSettings>;
  /** One at a time; `decide` sees what is stored at that moment. */
  update<Refusal>(
    decide: (current: StoredOidcSettings) => OidcSave | { readonly refuse: Refusal },
    author: Authorship,
  ): Promise<OidcUpdate<Refusal>>;
  /** Remembers whether the provider spoke of groups; nothing once other settings were saved. */
  sawGroups(version: number, isMissing: boolean): Promise<void>;
  withheldRoles(): Promise<readonly WithheldRole[]>;
}

/** Somebody is on the way to the provider. */
export interface OidcRequest {
  /** SHA-256 of the state that the browser carries. */
  readonly stateHash: Uint8Array;
  readonly nonce: string;
  readonly returnTo: string;
  /** Whose account is linked, and in which session that began; null for a sign-in. */
  readonly link: { readonly userId: PublicId; readonly sessionId: PublicId } | null;
  readonly expiresAt: Micros;
  /** Whose pending requests are bounded together: where a sign-in came from, or the user who links. */
  readonly source: string;
}

export interface TakenRequest extends Omit<OidcRequest, 'source'> {
  /** Null after the master keys were lost. */
  readonly verifier: Sealed | null;
}

export interface OidcRequests {
  /** Gives up the oldest ones of the same source when it has too many. */
  open(request: OidcRequest, verifier: string): Promise<void>;
  /** Each is given once, whether or not it has expired. */
  take(stateHash: Uint8Array): Promise<TakenRequest | null>;
}

export interface Identity {
  readonly issuer: string;
  readonly subject: string;
}

/** What the provider's word changes, besides who is there. */
export interface ProviderWord {
  readonly identity: Identity;
  /** That the groups give; null refuses the person. */
  readonly role: RoleName | null;
  readonly syncsRole: boolean;
  readonly offlineToken: string | null;
  readonly at: Micros;
  readonly address: string;
}

export interface ProviderSignIn extends ProviderWord {
  /** For an account that does not exist yet. */
  readonly person: NewPerson;
  /** Made for the user as the provider's word leaves them. */
  readonly session: (user: User) => Session;
  readonly hash: Uint8Array;
  readonly userAgent: string | null;
  /** Hash of a cookie that was sent along; its session ends. */
  readonly replaces: Uint8Array | null;
}

export type SignInRefusal = 'account_disabled' | 'no_access' | 'login_taken';
export type LinkRefusal = 'invalid_request' | 'identity_linked_elsewhere' | 'no_access';

export interface ProviderLink extends ProviderWord {
  readonly userId: PublicId;
  /** It stays, and is one of the provider from now on. */
  readonly sessionId: PublicId;
}

export interface Identities {
  /** Creates the user at the first sign-in; with everything else that it changes, in one transaction. */
  signIn(signIn: ProviderSignIn): Promise<'signed_in' | SignInRefusal>;
  link(link: ProviderLink): Promise<'linked' | LinkRefusal>;
  /** Records a refusal in the Audit log, unless its address had many lately. */
  record(entry: AuditEntry): Promise<void>;
}

/** A user whom the provider is to be asked about. */
export interface OfflineCheck {
  readonly userId: PublicId;
  readonly identity: Identity;
  readonly offlineToken: Sealed;
  /** What comes of it counts while this token is the user's. */
  readonly offlineTokenAt: Micros;
}

export interface VouchedAgain {
  /** In place of the one that was used; null: it goes on working. */
  readonly offlineToken: string | null;
  /** Null leaves the Role alone. */
  readonly role: RoleName | null;
}

export interface OfflineChecks {
  /** Due ones of people with something open; each is due again after the interval, whatever comes of it. */
  claim(now: Micros, limit: number): Promise<readonly OfflineCheck[]>;
  vouched(check: OfflineCheck, word: VouchedAgain, at: Micros): Promise<void>;
  /** Ends everything the user has open, until they sign in through the provider again. */
  refused(check: OfflineCheck, reason: string, at: Micros): Promise<void>;
  /** The token is of no use any more: no further checks, and sessions end as without one. */
  forgotten(check: OfflineCheck, at: Micros): Promise<void>;
}
