/** The attempts of what a call was about: of the Root message, or of one reply. Pure. */
import { type Delivery, type Flight, NO_TRIES, type QueuedReply, type Tries } from './delivery.ts';

export function retried(delivery: Delivery, flight: Flight, change: (tries: Tries) => Tries): Delivery {
  if (flight.kind !== 'reply') return { ...delivery, tries: change(delivery.tries) };
  const replies = delivery.replies.map((reply) =>
    reply.sequence === flight.sequence ? { ...reply, tries: change(reply.tries) } : reply,
  );
  return { ...delivery, replies };
}

export function triesOf(delivery: Delivery, flight: Flight): Tries {
  return flight.kind === 'reply' ? (replyOf(delivery, flight)?.tries ?? NO_TRIES) : delivery.tries;
}

export function replyOf(delivery: Delivery, { sequence }: Flight): QueuedReply | undefined {
  return delivery.replies.find((reply) => reply.sequence === sequence);
}

export function withoutReply(delivery: Delivery, { sequence }: Flight): Delivery {
  return { ...delivery, replies: delivery.replies.filter((reply) => reply.sequence !== sequence) };
}

/** An edit may have arrived without an answer: nobody knows what the message shows, so that no edit can be left out. */
export function unsureEdit(delivery: Delivery, { kind, messageId }: Flight): Delivery {
  const { message } = delivery;
  return kind === 'edit' && message?.id === messageId
    ? { ...delivery, message: { ...message, hash: null } }
    : delivery;
}
