/** Ties between people and their accounts, the requests that lead to them, and the proofs (account-links §2, §3). */
import { createHash } from 'node:crypto';
import { HOUR, MINUTE, type Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Authorship } from '../audit.ts';
import type { BridgeInfo } from '../channels/bridge/info.ts';
import type { Language, MessengerAccount } from '../messages/index.ts';

export type Messenger = 'chat_server' | 'channel_bot' | 'bridge';

/** `account_link.token_ttl` and `account_link.code_ttl`. */
export const REQUEST_TTL: Micros = 10 * MINUTE;
/** `account_link.code_attempts`. */
export const CODE_ATTEMPTS = 5;
/** Requests within {@link COUNTED_FOR} that are refused beyond. */
export const TOKENS_PER_USER = 20;
export const CODES_PER_USER = 5;
export const CODES_PER_ACCOUNT = 3;
/** Bad tokens of one account of a messenger that are answered, and recorded, within the same time. */
export const BAD_TOKENS_ANSWERED = 10;
export const COUNTED_FOR: Micros = HOUR;
/** A use is noted again after this. */
export const USE_NOTED_EVERY: Micros = MINUTE;

export interface AccountLink {
  readonly id: PublicId;
  readonly messenger: Messenger;
  /** Through which it was made; null once that is deleted. */
  readonly connection: ConnectionRef | null;
  readonly externalId: string;
  readonly username: string | null;
  readonly lastUsedAt: Micros | null;
  readonly createdAt: Micros;
}

export interface ConnectionRef {
  readonly id: PublicId;
  readonly name: string;
}

/** Whom an account is linked to, as answers to them need it. */
export interface LinkedUser {
  readonly id: PublicId;
  readonly name: string;
  readonly login: string;
  readonly language: Language | null;
}

/** Why an attempt to link an account failed, as the Audit log and the log name it. */
export type RejectReason =
  | 'token_unknown'
  | 'token_used'
  | 'token_expired'
  | 'wrong_connection'
  | 'wrong_code'
  | 'conflict'
  | 'user_disabled';

export type UnlinkReason =
  | 'replaced'
  | 'user_deleted'
  | 'connection_deleted'
  | 'connection_changed'
  | 'by_messenger';

export type { MessengerAccount };

/** Tokens and codes that prove whose account it is (account-links §3). Only their digests are kept. */
const ALPHABET = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';
const CODE_LENGTH = 8;
/** The largest multiple of the alphabet's size that fits into a byte: bytes from there on would favour its beginning. */
const FAIR_BYTES = 256 - (256 % ALPHABET.length);

/** 43 characters of unpadded base64url. */
export function newToken(random: (size: number) => Uint8Array): string {
  return Buffer.from(random(32)).toString('base64url');
}

/** 8 characters, each as likely as the others. */
export function newCode(random: (size: number) => Uint8Array): string {
  let code = '';
  while (code.length < CODE_LENGTH) {
    for (const byte of random(CODE_LENGTH)) {
      if (byte < FAIR_BYTES && code.length < CODE_LENGTH) code += ALPHABET[byte % ALPHABET.length];
    }
  }
  return code;
}

/** A code as people type it: any case, with spaces and hyphens. */
export function typedCode(text: string): string {
  return text.replaceAll(/[\s-]/g, '').toUpperCase();
}

export function digestOf(proof: string): Buffer {
  return createHash('sha256').update(proof).digest();
}

/** Whether ids of accounts behind one address may be those of others behind the next (account-links §2). Pure. */
export function endsLinks(messenger: Messenger, before: string, after: string): boolean {
  switch (messenger) {
    case 'bridge':
      return before !== after;
    case 'chat_server':
      return new URL(before).host !== new URL(after).host;
    case 'channel_bot':
      return false;
  }
}

/** What Account links need from storage. Implemented in storage/access/account-links.ts and storage/access/account-link-requests.ts. */
export interface LinkableConnection {
  readonly id: PublicId;
  readonly name: string;
  readonly messenger: Messenger;
  /** Of a bridge, as far as it is known; null for any other. */
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
  readonly connectionId: PublicId;
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

/** A token that came back through a messenger, or the wish to end the account's link. */
export interface TokenUse {
  readonly connectionId: PublicId;
  readonly eventId: string;
  readonly account: MessengerAccount;
  /** Null: the account is to be unlinked (account-links §8). */
  readonly digest: Uint8Array | null;
  /** Only this link is meant; left out: whichever the account has. */
  readonly linkId?: PublicId | undefined;
  readonly at: Micros;
}

export type TokenOutcome =
  | { readonly is: 'linked' | 'unlinked'; readonly user: LinkedUser }
  /** There is nothing to unlink. `hasOther`: the account is linked, but not by the link that was meant. */
  | { readonly is: 'not_linked'; readonly hasOther: boolean; readonly isAnswered: boolean }
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
  /** Counts a request for a name that nobody has: else anybody could try all names of a server. */
  codeForNobody(connectionId: PublicId, author: UserAuthorship): Promise<void>;
  /** Voids the request; it does not count towards the limits. */
  codeNotSent(id: PublicId): Promise<void>;
  /** Counts, compares and links as one. A request of another messenger is unknown. */
  confirmCode(
    messenger: Messenger,
    id: PublicId,
    digest: Uint8Array,
    author: UserAuthorship,
  ): Promise<Confirmation>;
  /**
   * Links or unlinks the account, and notes the event as handled with what is to be said.
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

/** The person who links, as the session knows them. */
export interface Linking {
  readonly author: UserAuthorship;
  readonly name: string;
  readonly login: string;
}

export type Started =
  | {
      readonly is: 'token';
      readonly token: string;
      readonly deepLink: string | null;
      readonly expiresAt: Micros;
    }
  | { readonly is: 'code'; readonly requestId: PublicId; readonly expiresAt: Micros }
  | NotStarted;

export type NotStarted =
  | ({ readonly is: 'too_many' } & TooMany)
  /** No call may be made for the moment. */
  | { readonly is: 'busy'; readonly retryAfterSeconds: number }
  | { readonly is: 'unknown_connection' | 'unsupported' | 'nobody' | 'unreachable' | 'linked_elsewhere' }
  /** Masked. */
  | { readonly is: 'failed'; readonly error: string };

/** How a person links an account at a messenger. Implemented in linking.ts. */
export interface AccountLinking {
  start(
    asked: {
      readonly messenger: Messenger;
      readonly connectionId: PublicId;
      readonly method: LinkMethod;
      /** Who they are there; of no effect for a token. */
      readonly handle: string;
    },
    linking: Linking,
  ): Promise<Started>;
  confirm(
    asked: { readonly messenger: Messenger; readonly requestId: PublicId; readonly code: string },
    linking: Linking,
  ): Promise<Confirmation>;
}

export type LinkMethod = 'token' | 'code';

/** By which ways accounts behind a Connection can be linked (account-links §5.2, bridge §3.1). Pure. */
export function linkMethods({
  messenger,
  info,
}: Pick<LinkableConnection, 'messenger' | 'info'>): readonly LinkMethod[] {
  switch (messenger) {
    case 'chat_server':
      return ['code'];
    case 'channel_bot':
      return ['token'];
    case 'bridge':
      return sendsCodes(info) ? ['token', 'code'] : ['token'];
  }
}

/** Every bridge takes tokens; a code needs a person lookup and a bot that may start a direct chat. */
export function sendsCodes(info: BridgeInfo | null): boolean {
  if (!info || info.user_lookup === 'none') return false;
  const { direct_messages: direct } = info.capabilities;
  return direct !== false && direct.bot_can_start;
}

/** What a person types so that the bridge finds them; null without a person lookup. */
export function handleKind(info: BridgeInfo | null): Exclude<BridgeInfo['user_lookup'], 'none'> | null {
  return info && info.user_lookup !== 'none' ? info.user_lookup : null;
}
