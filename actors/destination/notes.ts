/** What Alert Groups are told about their delivery here. */
import type { Send } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import {
  alertGroupAddress,
  type DeliveryNoted,
  type NoticeDelivered,
  type Published,
} from '../alert-group/messages.ts';

export interface DeliveryNote {
  readonly groupId: PublicId;
  readonly event: 'not_delivered' | 'destination_broken' | 'destination_recovered' | null;
  /** Masked. */
  readonly error: string | null;
  readonly problem: boolean;
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
    at: note.at,
  };
  return { to: alertGroupAddress(note.groupId), message };
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
