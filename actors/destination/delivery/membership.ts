/** Changes of a delivery when its Destination joins or leaves a Route, or its message is deleted (delivery §8, §10). Pure. */
import type { Micros } from '../../../runtime/clock.ts';
import type { Subject } from '../../channels/calls.ts';
import { type EventContext, posted } from './apply-event.ts';
import { type Delivery, isOpenSubject, NO_SEND_NOTES, NO_TRIES, newDelivery } from './delivery.ts';
import { changed, over, retired } from './work.ts';

const QUIET = { loudness: 'quiet', mentions: [] } as const;

/** An open group, or a Storm, of a Route that this Destination is on from now on. */
export type Joining = Pick<Delivery, 'routeId' | 'number' | 'urgent' | 'status' | 'changedAt'> & {
  readonly subject: Subject;
  readonly isHeld: boolean;
};

/** One that is here is left as it is; one that was on its way out stays; others are published Quietly. */
export function joined(delivery: Delivery | undefined, joining: Joining, context: EventContext): Delivery {
  const { subject, routeId, number, urgent, status, changedAt, isHeld } = joining;
  const { target, connectionId, publication, now } = context;
  const place = { subject, target, connectionId, routeId, number, renewedAt: now };
  if (!delivery) {
    const hold = isHeld ? 'storm' : null;
    const fresh = newDelivery({ ...place, urgent, status, changedAt, hold });
    return isHeld ? { ...fresh, publication } : posted({ ...fresh, publication }, QUIET, 'joined', context);
  }
  const known = { ...delivery, routeId, number: delivery.number ?? number };
  if (known.ended) return returns(known) ? posted(anew(known), QUIET, 'joined', context) : delivery;
  if (known.leaving) return changed({ ...known, leaving: false, editSince: null }, now);
  if (known.hold !== 'unjudged') return delivery;
  return isHeld
    ? { ...known, hold: 'storm', replies: [] }
    : posted({ ...known, hold: null }, QUIET, 'joined', context);
}

/** Where it was published and is open it gets a last edit; elsewhere nothing is sent. */
export function left(delivery: Delivery, now: Micros): Delivery {
  if (delivery.ended || delivery.leaving || !isOpenSubject(delivery)) return delivery;
  const { message, call } = delivery;
  const silent = {
    ...delivery,
    post: null,
    replies: [],
    failed: null,
    hold: null,
    leaving: true,
    tries: NO_TRIES,
  };
  if (!message) {
    const mayStand = call !== null || (delivery.tries.unsureSince !== null && delivery.connectionId !== null);
    return mayStand
      ? { ...silent, post: delivery.post, tries: delivery.tries }
      : over(delivery, { as: 'withheld', because: 'left' });
  }
  return delivery.frozen ? retired(delivery) : { ...silent, editSince: now };
}

/** Its message is no more. An open one is published again, once. */
export function gone(delivery: Delivery, now: Micros): Delivery {
  if (delivery.leaving) return retired(delivery);
  if (!isOpenSubject(delivery) || delivery.republished) return over(delivery, { as: 'deleted_in_messenger' });
  const notes = { ...NO_SEND_NOTES, deletedAt: now };
  const again = { ...withoutMessage(delivery), notes, republished: true };
  const post = { ...QUIET, cause: 'deleted', again: false, since: now } as const;
  return { ...again, post, publication: delivery.publication + 1 };
}

/** It left or had no chance before, so nothing of it is in the way of a new message. */
function returns({ ended }: Delivery): boolean {
  if (ended?.as === 'withheld') return ended.because !== 'storm';
  return ended?.as === 'retired';
}

function anew(delivery: Delivery): Delivery {
  return { ...withoutMessage(delivery), notes: NO_SEND_NOTES, republished: false, ended: null, replies: [] };
}

function withoutMessage(delivery: Delivery): Delivery {
  return {
    ...delivery,
    message: null,
    frozen: false,
    editSince: null,
    failed: null,
    tries: NO_TRIES,
    windowEnd: 0,
    values: {},
  };
}
