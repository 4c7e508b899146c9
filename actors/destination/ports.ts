/** What configuring Destinations needs from storage. Implemented in storage/configuration/destinations.ts. */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Sealed } from '../../runtime/secrets/keyring.ts';
import type { Authorship } from '../audit.ts';
import type { ChannelPlace } from '../connection/ports.ts';
import type { ConnectionConfig, MentionSettings } from '../directory.ts';
import type { PasswordChange, ProxyFields } from '../proxy-config.ts';
import type { DestinationFailing, DestinationHealth, DestinationTemplateError } from './effects.ts';
import type { Limiter } from './limiter.ts';
import type { EventsConfig, TemplateConfig } from './webhook-config.ts';

interface CommonFields {
  readonly name: string;
  readonly mentions: MentionSettings;
  readonly limiter: Limiter;
}

/** The writable fields of an outgoing webhook, in the API's own keys. */
export interface WebhookFields extends CommonFields {
  readonly type: 'webhook';
  /** The block of the other mode may be there, and does nothing. */
  readonly mode: 'events' | 'template';
  readonly events: EventsConfig | null;
  readonly template: TemplateConfig | null;
  readonly proxy: ProxyFields;
}

/** The writable fields of a channel of a messenger, in the API's own keys. */
export interface MessengerFields extends CommonFields {
  readonly type: ConnectionConfig['type'];
  readonly connection_id: PublicId;
  /** As the messenger writes it. */
  readonly channel_id: string;
  /** Of a chat server. */
  readonly team_id?: string;
}

export type DestinationFields = WebhookFields | MessengerFields;

/** What a messenger calls a place; each null where there is none, and before a check. */
export interface FoundPlace {
  readonly channelName: string | null;
  /** Of a chat server: the team, and its part of addresses. */
  readonly teamName: string | null;
  readonly teamPath: string | null;
  /** Of a channel bot: where its messages go. */
  readonly channel?: FoundChannel;
}

/** A channel with its discussion group, which may not tell its name. */
export interface FoundChannel extends ChannelPlace {
  readonly groupName: string | null;
}

/** A test that was made, whatever came of it. */
export interface TestedDestination {
  readonly source:
    | { readonly kind: 'example' }
    | { readonly kind: 'alert_group'; readonly groupId: PublicId };
  /** Of each step that was begun. */
  readonly steps: readonly { readonly name: string; readonly errorClass: string }[];
  /** What people may press buttons of from now on. */
  readonly message: { readonly connectionId: PublicId; readonly messageId: string } | null;
}

/** What a save asks for: fields that can be read again, and what is no field. */
export interface DestinationChange {
  readonly fields: DestinationFields;
  /** Of a webhook's proxy. */
  readonly proxyPassword: PasswordChange;
  /** By the check of a messenger Destination; null for a webhook. */
  readonly found: FoundPlace | null;
}

export interface StoredDestination {
  readonly id: PublicId;
  readonly version: number;
  readonly fields: DestinationFields;
  /** By the last check that passed; empty for a webhook. */
  readonly found: FoundPlace;
  /** When the password of its proxy was set; null without one. */
  readonly proxyPasswordAt: Micros | null;
  readonly signingSecret: SigningSecretStatus;
  readonly health: DestinationHealth;
  readonly failing: DestinationFailing | null;
  /** Events and messages that wait to be delivered. */
  readonly waiting: number;
  readonly templateError: DestinationTemplateError | null;
  readonly createdAt: Micros;
}

export interface SigningSecretStatus {
  readonly updatedAt: Micros | null;
  /** Since when there is a previous one that still signs. */
  readonly previousSince: Micros | null;
}

export interface SecretEntry {
  readonly name: string;
  /** False after its value was lost with its master key. */
  readonly isSet: boolean;
  readonly updatedAt: Micros;
}

export interface DestinationFilter {
  readonly types: readonly string[] | null;
  readonly health: readonly ('healthy' | 'broken')[] | null;
  /** Only these. */
  readonly ids: readonly PublicId[] | null;
}

/** Judges the version that a change was based on; null accepts any. */
export type IsCurrent = ((version: number) => boolean) | null;

/** What is to become of a Destination that was read for a change. */
export type DestinationDecision<Refusal> =
  | { readonly save: DestinationChange }
  | { readonly refuse: Refusal };

export type DestinationUpdate<Refusal> =
  | { readonly outcome: 'saved' | 'unchanged'; readonly destination: StoredDestination }
  | { readonly outcome: 'refused'; readonly refusal: Refusal }
  /** `no_connection`: the Connection it names was deleted meanwhile. */
  | { readonly outcome: 'unknown' | 'name_taken' | 'no_connection' };

export interface CreatedDestination {
  readonly destination: StoredDestination;
  /** Told here and nowhere else; null for what signs nothing. */
  readonly signingSecret: string | null;
}

export type SecretChange =
  | { readonly outcome: 'saved'; readonly version: number; readonly updatedAt: Micros }
  | { readonly outcome: 'unknown' | 'stale' | 'too_many' };

export interface DestinationStore {
  /** Oldest first, after the one with this time of creation and id. */
  page(
    filter: DestinationFilter,
    after: readonly [createdAt: Micros, id: string] | null,
    limit: number,
  ): Promise<{ readonly items: readonly StoredDestination[]; readonly more: boolean }>;
  read(id: PublicId): Promise<StoredDestination | null>;
  /** Whether another live Destination has the name. */
  isTaken(name: string, except: PublicId | null): Promise<boolean>;
  create(
    change: DestinationChange,
    author: Authorship,
  ): Promise<CreatedDestination | 'name_taken' | 'no_connection'>;
  update<Refusal>(
    id: PublicId,
    decide: (current: StoredDestination) => DestinationDecision<Refusal>,
    author: Authorship,
  ): Promise<DestinationUpdate<Refusal>>;
  /** Ends what waits, wipes every secret and keeps the row for history. */
  remove(id: PublicId, isCurrent: IsCurrent, author: Authorship): Promise<'removed' | 'unknown' | 'stale'>;

  /**
   * A check found what the messenger calls the place.
   * @returns whether that is news
   */
  placeFound(destination: StoredDestination, found: FoundPlace): Promise<boolean>;
  /** Enters it into the Audit log, and keeps whose message it is. */
  tested(destination: StoredDestination, test: TestedDestination, author: Authorship): Promise<void>;

  /** By name; null for an unknown Destination. */
  secrets(id: PublicId): Promise<{ readonly version: number; readonly items: readonly SecretEntry[] } | null>;
  putSecret(
    id: PublicId,
    secret: { readonly name: string; readonly value: string },
    isCurrent: IsCurrent,
    author: Authorship,
  ): Promise<SecretChange>;
  deleteSecret(id: PublicId, name: string, isCurrent: IsCurrent, author: Authorship): Promise<SecretChange>;
  /** The current signing secret becomes the previous one, an older previous one is wiped. Null: unknown. */
  generateSigningSecret(
    id: PublicId,
    author: Authorship,
  ): Promise<{ readonly secret: string; readonly status: SigningSecretStatus } | null>;
  retirePreviousSigningSecret(
    id: PublicId,
    author: Authorship,
  ): Promise<'retired' | 'nothing_to_retire' | 'unknown'>;
}

/** Secrets of one Destination at most. */
export const MOST_SECRETS = 100;

/** What the settings of a webhook hold in either mode, its Secrets still sealed. */
export interface SealedSettings {
  readonly id: PublicId;
  /** By name; null for one whose value was lost with its master key. */
  readonly secrets: ReadonlyMap<string, Sealed | null>;
  /** Null only after its master key was lost. */
  readonly signingSecret: Sealed | null;
  readonly previousSigningSecret: Sealed | null;
  readonly proxy: ProxyFields;
  readonly proxyPassword: Sealed | null;
  /** Changes with every save of the Destination and of its Secrets. */
  readonly version: string;
}

/** The settings of an events-mode Destination with its Secrets still sealed. */
export interface WebhookSettings extends SealedSettings {
  readonly events: EventsConfig;
}

/** The settings of a template-mode Destination with its Secrets still sealed. */
export interface TemplateSettings extends SealedSettings {
  readonly template: TemplateConfig;
}

/** Hours that are read of deliveries: the present one, which has begun, and those before it. */
export const HOURS_SHOWN = 24;

/** What was delivered to Destinations in the last hours (delivery §7.6). */
export interface DeliveryHours {
  /** Start of the first hour, µs. */
  readonly from: Micros;
  /** Hours of a Destination in which something was sent, in no order; of deleted ones, too. */
  readonly counts: readonly DeliveryHour[];
}

export interface DeliveryHour {
  readonly destinationId: string;
  /** From 0 to {@link HOURS_SHOWN} - 1. */
  readonly index: number;
  readonly delivered: number;
  readonly failed: number;
}

/** Implemented in storage/delivery/delivery-hours.ts. */
export interface DeliveryHoursReader {
  read(now: Micros): Promise<DeliveryHours>;
}
