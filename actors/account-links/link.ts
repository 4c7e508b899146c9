/** Ties between people and their accounts at messengers, and the requests that lead to them (account links §2, §3). */
import { HOUR, MINUTE, type Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
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

/** Why somebody's try to link an account came to nothing, as the Audit log and the log call it. */
export type RejectReason =
  | 'token_unknown'
  | 'token_used'
  | 'token_expired'
  | 'wrong_connection'
  | 'wrong_code'
  | 'conflict'
  | 'user_disabled';

export type UnlinkReason = 'replaced' | 'user_deleted' | 'connection_deleted' | 'connection_changed';

/** What became of a link, for the log; told once it is committed. */
export type LinkNews =
  | { readonly is: 'linked' | 'unlinked'; readonly user: PublicId }
  | { readonly is: 'rejected'; readonly user: PublicId | null; readonly reason: RejectReason };

export type { MessengerAccount };
