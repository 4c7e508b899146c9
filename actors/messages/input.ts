/** What a message is laid out from: plain values, the same for every messenger (messages §1). */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { AlertState, GroupStatus, Labels, ResolveReason, SeverityLevel } from '../model.ts';
import type { RenderTimer, Template, TemplateError } from '../templates/index.ts';
import type { Language } from './texts/texts.ts';

/**
 * An Alert Group as its messages show it. Names of people are what the messenger is to show: the messenger's user name
 * of their Account link, else the display name (messages §3).
 */
export interface GroupMessage {
  readonly id: PublicId;
  readonly number: number;
  readonly title: string;
  readonly summary: string | null;
  readonly status: GroupStatus;
  readonly severityLevel: SeverityLevel;
  readonly urgent: boolean;
  readonly routeName: string;
  /** Receipt of its first Alert. */
  readonly startedAt: Micros;
  /** The earliest start of its Alerts by their senders' clocks; null where that is not known. */
  readonly alertsStartedAt: Micros | null;
  /** Present while acknowledged. */
  readonly owner: string | null;
  /** Present while snoozed; `until` is null for a Snooze without an end. */
  readonly snooze: { readonly by: string; readonly until: Micros | null } | null;
  /** Present while resolved. */
  readonly resolution:
    | { readonly by: 'person'; readonly name: string }
    | { readonly by: 'system'; readonly reason: ResolveReason }
    | null;
  readonly unclaimed: boolean;
  readonly reopenCount: number;
  /** Number of the Alert Group that a person resolved while these Alerts went on firing. */
  readonly firingAgainAfter: number | null;
  /** In the order of the Group key. */
  readonly groupLabels: Labels;
  readonly commonLabels: Labels;
  readonly commonAnnotations: Labels;
  readonly firingCount: number;
  readonly resolvedCount: number;
  /** At most the 1,000 that come first by {@link byPlace} are looked at; any order. */
  readonly alerts: readonly MessageAlert[];
  /** Of Link rules and Alerts, in the order in which they are shown; URLs that are not safe are left out. */
  readonly links: readonly MessageLink[];
}

export interface MessageAlert {
  readonly fingerprint: string;
  readonly state: AlertState;
  readonly severityLevel: SeverityLevel;
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly startsAt: Micros;
  /** Null while it fires. */
  readonly resolvedAt: Micros | null;
  readonly generatorUrl: string | null;
}

export type MessageLink =
  | { readonly kind: 'link_rule'; readonly name: string; readonly url: string }
  | { readonly kind: 'runbook' | 'dashboard' | 'source'; readonly url: string };

/** What the installation, its Organization and the Route say about messages. */
export interface MessageSettings {
  /** Without a slash at its end. */
  readonly publicUrl: string;
  readonly version: string;
  readonly language: Language;
  /** Name of the IANA database. */
  readonly zone: string;
  readonly severityLabel: string;
  readonly severityEmoji: Readonly<Record<SeverityLevel, string>>;
  /** The Route's, in order. */
  readonly snoozeDurationsSeconds: readonly number[];
  /** The Route's own; null for the built-in one. */
  readonly templates: {
    readonly rootMessage: Template | null;
    readonly line: Template | null;
    readonly ackTimeoutNotice: Template | null;
  };
  /** For templates only: nothing of Tocsin's own in a message is relative to now. */
  readonly now: Micros;
  /** One cell of a Lookup table; `""` when table, row or column is missing. */
  lookup(table: string, key: string, column: string): string;
  /** Ends a template that takes too long by the wall. Absent: only its steps are counted. */
  readonly monotonic?: RenderTimer;
}

/** Whom a Loud message names, resolved for the messenger. */
export type MessageMention =
  | { readonly type: 'everyone'; readonly as: 'all' | 'channel' | 'here' }
  | { readonly type: 'group'; readonly name: string }
  | {
      readonly type: 'user';
      /** The messenger's user name without `@`, else the display name. */
      readonly name: string;
      /** Their account at this messenger; null without an Account link: then the name is plain text. */
      readonly account: MessengerAccount | null;
    };

export interface MessengerAccount {
  readonly externalId: string;
  readonly username: string | null;
  readonly displayName: string | null;
}

/** Remarks about the message itself (delivery §9). They are not part of the desired state. */
export interface DeliveryNotes {
  /** The group resolved while this message could not be published. */
  readonly late: { readonly began: Micros; readonly ended: Micros } | null;
  /** When the earlier message turned out to be deleted. */
  readonly deletedAt: Micros | null;
  readonly continued: boolean;
  readonly final: boolean;
}

export const NO_NOTES: DeliveryNotes = { late: null, deletedAt: null, continued: false, final: false };

/** Why a Route template was not used: it goes on the Route and into the Timeline. */
export interface TemplateFailure {
  readonly template: 'root_message' | 'line' | 'ack_timeout_notice';
  readonly error: TemplateError;
}

/** Alerts that a message looks at. */
export const ALERTS_CONSIDERED = 1_000;

/** Firing first, the newest start first, then by fingerprint. */
export function byPlace(left: MessageAlert, right: MessageAlert): number {
  if (left.state !== right.state) return left.state === 'firing' ? -1 : 1;
  if (left.startsAt !== right.startsAt) return right.startsAt - left.startsAt;
  return left.fingerprint < right.fingerprint ? -1 : Number(left.fingerprint > right.fingerprint);
}

export function groupPage({ publicUrl }: Pick<MessageSettings, 'publicUrl'>, id: PublicId): string {
  return `${publicUrl}/alert-groups/${id}`;
}

/** The list of the Alert Groups of a Route. */
export function routePage({ publicUrl }: Pick<MessageSettings, 'publicUrl'>, id: PublicId): string {
  return `${publicUrl}/alert-groups?route=${id}`;
}
