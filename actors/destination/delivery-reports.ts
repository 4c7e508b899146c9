/** What Alert Groups are told about their delivery here. */
import type { Send } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import {
  alertGroupAddress,
  type DeliveryEventName,
  type DeliveryNoted,
  type NoticeDelivered,
  type Published,
  type TemplateEventName,
  type TemplateNoted,
} from '../alert-group/messages.ts';
import type { Loudness, SymbolicMention } from '../model.ts';

export interface DeliveryNote {
  readonly groupId: PublicId;
  /** Null when only the problem changes. */
  readonly event: DeliveryEventName | null;
  /** Masked. */
  readonly error: string | null;
  /** Null: as it was. */
  readonly problem: boolean | null;
  /** Of the message that the event is about. */
  readonly loudness: Loudness;
  readonly mentions: readonly SymbolicMention[];
  readonly at: Micros;
}

export function noteSend(note: DeliveryNote, destination: { id: PublicId; name: string }): Send {
  const message: DeliveryNoted = {
    type: 'delivery_noted',
    destinationId: destination.id,
    destinationName: destination.name,
    event: note.event,
    error: note.error,
    problem: note.problem,
    loudness: note.loudness,
    mentions: note.mentions,
    at: note.at,
  };
  return { to: alertGroupAddress(note.groupId), message };
}

export function templateSend(groupId: PublicId, event: TemplateEventName, detail: string, at: Micros): Send {
  const message: TemplateNoted = { type: 'template_noted', event, detail, at };
  return { to: alertGroupAddress(groupId), message };
}

export function publishedSend(groupId: PublicId, at: Micros): Send {
  const message: Published = { type: 'published', at };
  return { to: alertGroupAddress(groupId), message };
}

export function noticeDeliveredSend(
  { groupId, sequence }: { readonly groupId: PublicId; readonly sequence: number },
  at: Micros,
): Send {
  const message: NoticeDelivered = { type: 'notice_delivered', sequence, at };
  return { to: alertGroupAddress(groupId), message };
}
