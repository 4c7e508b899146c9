/** Thread replies: what can be said under a Root message, once and never edited (messages §7.1). */
import type { ResolveReason, SeverityLevel } from '../model.ts';
import { type MessageButton, reminderButtons, type SignButton } from './buttons.ts';
import type { MessageAlert, MessageMention, MessageSettings } from './input.ts';

/** What happened, as far as its reply tells it. Names of people are shown as in the Root message. */
export type ReplyEvent =
  | { readonly event: 'alerts_added'; readonly alerts: readonly MessageAlert[] }
  | { readonly event: 'alert_replaced'; readonly label: string }
  | {
      readonly event: 'urgency_raised';
      readonly level: SeverityLevel;
      /** Whose acknowledgement it removed; null when it ended a Snooze. */
      readonly formerOwner: string | null;
    }
  /** `owner` when the group came back acknowledged. */
  | { readonly event: 'reopened'; readonly owner: string | null }
  /** `joined` during the Snooze and still firing. */
  | { readonly event: 'snooze_ended'; readonly joined: readonly MessageAlert[] }
  | { readonly event: 'takeover'; readonly owner: string; readonly formerOwner: string }
  | { readonly event: 'resolved'; readonly reason: ResolveReason }
  | {
      readonly event: 'unacknowledged';
      readonly reason: 'owner_disabled' | 'owner_deleted';
      readonly formerOwner: string;
    }
  | { readonly event: 'auto_unacknowledged'; readonly formerOwner: string }
  /** `last` when no further notice follows. */
  | { readonly event: 'ack_timeout'; readonly last: boolean }
  | { readonly event: 'reminder'; readonly owner: string }
  | { readonly event: 'notices_missed'; readonly kind: 'ack_timeout'; readonly count: number }
  | {
      readonly event: 'notices_missed';
      readonly kind: 'reminder';
      readonly count: number;
      readonly owner: string;
    };

/** What differs from one messenger to the next. */
export interface ReplyCall {
  /** Of a Loud reply; empty for a Quiet one. */
  readonly mentions: readonly MessageMention[];
  /** Signs for a Thread reply; null when the messenger has no buttons. */
  readonly sign: SignButton | null;
}

/** Still on it and Unack for what asks an Owner, nothing for every other reply. */
export function replyButtons(
  event: ReplyEvent,
  settings: MessageSettings,
  { sign }: ReplyCall,
): MessageButton[] {
  const asks = event.event === 'reminder' || (event.event === 'notices_missed' && event.kind === 'reminder');
  return asks ? reminderButtons(settings, sign) : [];
}
