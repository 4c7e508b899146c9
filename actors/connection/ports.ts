/** What Connections need from storage. Implemented in storage/connections.ts and storage/connection-rows.ts. */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Sealed } from '../../runtime/secrets/keyring.ts';
import type { Authorship } from '../audit.ts';
import type { Limiter } from '../destination/limiter.ts';
import type { PasswordChange, ProxyFields } from '../proxy/proxy-config.ts';
import type { BridgeInfo } from './bridge/info.ts';

/** The writable fields of a bridge Connection, in the API's own keys. */
export interface ConnectionFields {
  readonly name: string;
  /** Without a trailing slash. */
  readonly base_url: string;
  readonly event_mode: 'poll' | 'push';
  readonly limiter: Limiter;
  readonly proxy: ProxyFields;
}

/** Values to store beside the fields; null leaves what is stored. */
export interface ConnectionSecrets {
  readonly token: string | null;
  /** Null keeps it, `clear` wipes it. */
  readonly pushSecret: string | 'clear' | null;
  readonly proxyPassword: PasswordChange;
}

export interface StoredConnection {
  readonly id: PublicId;
  readonly version: number;
  readonly type: 'bridge';
  readonly fields: ConnectionFields;
  readonly tokenAt: Micros | null;
  readonly pushSecretAt: Micros | null;
  readonly proxyPasswordAt: Micros | null;
  readonly info: BridgeInfo | null;
  readonly infoAt: Micros | null;
  readonly infoWrong: string | null;
  readonly tokenless: boolean;
  readonly inbound: {
    readonly lastAt: Micros | null;
    readonly error: string | null;
    readonly since: Micros | null;
  };
  readonly destinationCount: number;
  readonly accountLinkCount: number;
  readonly createdAt: Micros;
}

/** What calls through a bridge Connection are made of, secrets sealed. */
export interface BridgeSettings {
  readonly id: PublicId;
  /** Number of the address and token. */
  readonly access: number;
  readonly baseUrl: string;
  readonly eventMode: 'poll' | 'push';
  readonly token: Sealed | null;
  readonly pushSecret: Sealed | null;
  readonly proxy: ProxyFields;
  readonly proxyPassword: Sealed | null;
  readonly info: BridgeInfo | null;
  readonly infoReadAt: Micros | null;
  readonly infoFailedAt: Micros | null;
}

/** Judges the version that a change was based on; null accepts any. */
export type IsCurrent = ((version: number) => boolean) | null;

export type ConnectionDecision<Refusal> =
  | { readonly save: ConnectionFields; readonly secrets: ConnectionSecrets }
  | { readonly refuse: Refusal };

export type ConnectionUpdate<Refusal> =
  | { readonly outcome: 'unchanged'; readonly connection: StoredConnection }
  /** `unlinked`: Users whose accounts are theirs no longer, because it leads to another messenger. */
  | {
      readonly outcome: 'saved';
      readonly connection: StoredConnection;
      readonly unlinked: readonly PublicId[];
    }
  | { readonly outcome: 'refused'; readonly refusal: Refusal }
  | { readonly outcome: 'unknown' | 'name_taken' };

export type ConnectionRemoval =
  | { readonly outcome: 'removed'; readonly unlinked: readonly PublicId[] }
  | { readonly outcome: 'unknown' | 'stale' | 'in_use' };

export interface ConnectionStore {
  /** Oldest first, after the one with this time of creation and id. */
  page(
    types: readonly string[] | null,
    after: readonly [createdAt: Micros, id: string] | null,
    limit: number,
  ): Promise<{ readonly items: readonly StoredConnection[]; readonly more: boolean }>;
  read(id: PublicId): Promise<StoredConnection | null>;
  create(
    fields: ConnectionFields,
    secrets: ConnectionSecrets,
    author: Authorship,
  ): Promise<StoredConnection | 'name_taken'>;
  update<Refusal>(
    id: PublicId,
    decide: (current: StoredConnection) => ConnectionDecision<Refusal>,
    author: Authorship,
  ): Promise<ConnectionUpdate<Refusal>>;
  /** Wipes its secrets, ends Account links and keeps the row for history. Refused while a Destination uses it. */
  remove(id: PublicId, isCurrent: IsCurrent, author: Authorship): Promise<ConnectionRemoval>;
  /** A live bridge Connection; null for any other. */
  settings(id: PublicId): Promise<BridgeSettings | null>;
}
