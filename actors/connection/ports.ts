/** What Connections need from storage. Implemented in storage/configuration/connections.ts and connection-rows.ts. */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Sealed } from '../../runtime/secrets/keyring.ts';
import type { LinkedUser, MessengerAccount } from '../account-links/link.ts';
import type { Authorship } from '../audit.ts';
import type { BridgeInfo } from '../channels/bridge/info.ts';
import type { Limiter } from '../destination/limiter.ts';
import type { PasswordChange, ProxyFields } from '../proxy-config.ts';

/** What the other side of a Connection said of itself, as it is stored. */
export type { BridgeInfo } from '../channels/bridge/info.ts';

interface CommonFields {
  readonly name: string;
  readonly limiter: Limiter;
  readonly proxy: ProxyFields;
}

export interface BridgeFields extends CommonFields {
  readonly type: 'bridge';
  /** Without a trailing slash. */
  readonly base_url: string;
  readonly event_mode: 'poll' | 'push';
}

export interface ChatServerFields extends CommonFields {
  readonly type: 'chat_server';
  /** Without a trailing slash. */
  readonly server_url: string;
}

export interface ChannelBotFields extends CommonFields {
  readonly type: 'channel_bot';
  /** Without a trailing slash. */
  readonly bot_api_base_url: string;
  readonly update_mode: 'long_polling' | 'webhook';
}

/** The writable fields of a Connection, in the API's own keys. */
export type ConnectionFields = BridgeFields | ChatServerFields | ChannelBotFields;

/** Values to store beside the fields; null leaves what is stored. */
export interface ConnectionSecrets {
  readonly token: string | null;
  /** Null keeps it, `clear` wipes it. */
  readonly pushSecret: string | 'clear' | null;
  readonly proxyPassword: PasswordChange;
  /** What the messenger was told of the webhook of a channel bot; left out: nothing. */
  readonly webhook?: WebhookSet;
}

/** The address and the secret of a webhook; null of both: none is set. */
export interface WebhookSet {
  readonly url: string | null;
  readonly secret: string | null;
}

interface ConnectionFacts {
  readonly id: PublicId;
  readonly version: number;
  readonly tokenAt: Micros | null;
  readonly pushSecretAt: Micros | null;
  readonly proxyPasswordAt: Micros | null;
  readonly infoAt: Micros | null;
  /** Pointer to what is wrong in the Info of a bridge. */
  readonly infoWrong: string | null;
  /** A bridge that takes requests without a token. */
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

export interface StoredBridge extends ConnectionFacts {
  readonly fields: BridgeFields;
  readonly info: BridgeInfo | null;
}

export interface StoredChatServer extends ConnectionFacts {
  readonly fields: ChatServerFields;
  readonly info: ChatServerInfo | null;
}

export interface StoredChannelBot extends ConnectionFacts {
  readonly fields: ChannelBotFields;
  readonly info: ChannelBotInfo | null;
  /** The callback address that the messenger was told last; null: none. */
  readonly webhookUrl: string | null;
  /** Polls found a webhook of somebody else. */
  readonly webhookBlocks: boolean;
  /** Another live Connection has the same bot. */
  readonly isUsedTwice: boolean;
}

export type StoredConnection = StoredBridge | StoredChatServer | StoredChannelBot;

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

/** What a chat server and the bot there said of themselves, as it is stored (chat-server §1). */
export interface ChatServerInfo {
  readonly bot_id: string;
  readonly bot_username: string;
  /** Code points of a post. */
  readonly max_post_size: number;
  /** The bot may show a text to one person only. */
  readonly answers_privately: boolean;
}

/** What the Bot API said of a bot, as it is stored (channel-bot §1). */
export interface ChannelBotInfo {
  readonly bot_id: string;
  readonly bot_username: string;
}

/** As it is stored with a Connection of any type. */
export type ConnectionInfo = BridgeInfo | ChatServerInfo | ChannelBotInfo;

/** What calls through a chat server Connection are made of, secrets sealed. */
export interface ChatServerSettings {
  readonly id: PublicId;
  /** Number of the address and token. */
  readonly access: number;
  /** Without a trailing slash. */
  readonly serverUrl: string;
  readonly token: Sealed | null;
  readonly proxy: ProxyFields;
  readonly proxyPassword: Sealed | null;
  readonly info: ChatServerInfo | null;
  readonly infoReadAt: Micros | null;
}

/** A channel and its discussion group. Ids are decimal text. */
export interface ChannelPlace {
  readonly channelId: string;
  /** Of a public channel. */
  readonly username: string | null;
  readonly groupId: string;
}

/** What calls through a channel bot Connection are made of, secrets sealed. */
export interface ChannelBotSettings {
  readonly id: PublicId;
  /** Number of the address and token. */
  readonly access: number;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly updateMode: 'long_polling' | 'webhook';
  readonly token: Sealed | null;
  /** What the messenger proves itself with in webhook mode. */
  readonly webhookSecret: Sealed | null;
  /** The callback address that the messenger was told last; null: none. */
  readonly webhookUrl: string | null;
  /** Polls found a webhook of somebody else. */
  readonly webhookBlocks: boolean;
  readonly proxy: ProxyFields;
  readonly proxyPassword: Sealed | null;
  readonly info: ChannelBotInfo | null;
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
  /** @param id known before, where the other side was told of it; left out: a new one */
  create(
    fields: ConnectionFields,
    secrets: ConnectionSecrets,
    author: Authorship,
    id?: PublicId,
  ): Promise<StoredConnection | 'name_taken'>;
  update<Refusal>(
    id: PublicId,
    decide: (current: StoredConnection) => ConnectionDecision<Refusal>,
    author: Authorship,
  ): Promise<ConnectionUpdate<Refusal>>;
  /** Wipes its secrets, ends Account links and keeps the row for history. Refused while a Destination uses it. */
  remove(id: PublicId, isCurrent: IsCurrent, author: Authorship): Promise<ConnectionRemoval>;
}

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
  /**
   * Whether a message about the Alert Group may stand behind the Connection whose id is not stored yet: its call is under
   * way, or nobody knows how it ended.
   */
  isPosting(connectionId: PublicId, groupId: PublicId): Promise<boolean>;
  person(connectionId: PublicId, externalId: string): Promise<LinkedPerson | null>;
  /** The person acted: notes when, and their names as they are now. */
  used(link: PublicId, account: MessengerAccount, at: Micros): Promise<void>;
}

/** A message by the ids of its messenger, as decimal text. */
export interface ChatMessage {
  readonly chatId: string;
  readonly messageId: string;
}

/** Post `postId` of a channel has the copy `copyId` in a group (channel-bot §8.1). Ids are those of the messenger. */
export interface PostCopy {
  readonly connectionId: PublicId;
  readonly channelId: string;
  readonly postId: string;
  readonly groupId: string;
  readonly copyId: string;
  /** The Alert Group that its heading leads to; null: it is no Root message. */
  readonly about: PublicId | null;
}

export type Copy = Pick<PostCopy, 'groupId' | 'copyId'>;

/** Copies of posts in discussion groups. Implemented in storage/delivery/channel-copies.ts. */
export interface Copies {
  /** Null: no copy of the post is known. */
  find(post: Pick<PostCopy, 'connectionId' | 'channelId' | 'postId'>): Promise<Copy | null>;
  /** Root messages whose ids are not stored, newest first: those after the newest stored one, if seen since then. */
  lost(
    of: Pick<PostCopy, 'connectionId' | 'channelId'> & { readonly about: PublicId; readonly since: Micros },
  ): Promise<readonly (Copy & Pick<PostCopy, 'postId'>)[]>;
}

/** A post that was made again, and when that showed. `target`: the present one of the Destination. */
export type LostPost = Omit<PostedMessage, 'kind' | 'routeId' | 'isPresent' | 'groupId'> &
  Readonly<Record<'connectionId' | 'groupId', PublicId>> &
  Readonly<{ messageId: string; target: number; postedAt: Micros }>;

/** Implemented in storage/delivery/channel-copies.ts. */
export interface LostPosts {
  /** Makes those that copies show, and the one whose button was pressed, messages of the service. @returns how many */
  learn(pressed?: Omit<PostCopy, 'groupId' | 'copyId'> | null): Promise<number>;
  /** Some of those whose last edit may be tried now, the longest due first. */
  read(): Promise<readonly LostPost[]>;
  /** It got its last edit, or never will. */
  ended(post: LostPost): Promise<void>;
  /** It is tried again then, at the earliest. `messageId`: null for all of the Connection. */
  later(
    of: { readonly connectionId: PublicId; readonly messageId: string | null },
    at: Micros,
  ): Promise<void>;
}

/** The discussion group of a channel became a supergroup, which has another id. */
export type GroupMoved = Pick<PostCopy, 'connectionId' | 'channelId'> &
  Readonly<Record<'from' | 'to', string>>;

/** The chats that a channel bot posts to. Implemented in storage/delivery/channel-copies.ts. */
export interface BotChats {
  /** The post that a message of a group is the copy of; null: it is none. */
  originalOf(connectionId: PublicId, groupId: string, copyId: string): Promise<ChatMessage | null>;
  /** Channels of Destinations whose comments are in a group. */
  channelsOf(connectionId: PublicId, groupId: string): Promise<readonly string[]>;
  /** What is posted to the group goes to its new id, under which its copies are not known (channel-bot §12). */
  groupMoved(moved: GroupMoved): Promise<void>;
  /**
   * The bot has other rights in a chat: Destinations that post there become Broken, or are tried at once.
   * @param lost by the part that the chat has for a Destination; null: all rights are there
   */
  rightsChanged(
    connectionId: PublicId,
    chatId: string,
    lost: { readonly channel: string; readonly group: string | null } | null,
  ): Promise<void>;
}

export type PreparedWebhook =
  /** To be stored with the save; null: the messenger was not asked, and nothing is to be stored. */
  | {
      readonly ok: true;
      readonly webhook: WebhookSet | null;
      /** The save was not stored after all: the messenger knows another secret than is stored. */
      undo(): Promise<void>;
    }
  | { readonly ok: false; readonly error: string };

/** The webhook of a channel bot around a save of its Connection. Implemented in channels/channel-bot/saving.ts. */
export interface BotSaving {
  /** Brings the messenger to what is to be saved, before it is stored. */
  prepare(id: PublicId, fields: ChannelBotFields, secrets: ConnectionSecrets): Promise<PreparedWebhook>;
  /** Before a deletion. @returns to be called once it is stored; null: there is nothing to do */
  leaving(id: PublicId): Promise<(() => Promise<void>) | null>;
  /** Sets webhooks that could not be set, or whose callback address is another one since a start. */
  restore(): Promise<void>;
}
