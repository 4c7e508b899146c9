/** A reply as its event recorded it, with what is known of it at the moment of its call (messages §7.1). */
import type { PublicId } from '../../../runtime/public-id.ts';
import type { ReplyEvent } from '../../messages/index.ts';
import type { ReplyCall, ReplyFacts } from '../messages/calls.ts';
import type { NamedPerson, People } from './people.ts';
import type { SceneReader } from './scene.ts';

/** Whom a reply names besides its Mentions. */
export function peopleIn(facts: ReplyFacts): readonly PublicId[] {
  const named: (NamedPerson | null)[] = [
    'owner' in facts ? facts.owner : null,
    'formerOwner' in facts ? facts.formerOwner : null,
  ];
  return named.flatMap((person) => (person ? [person.id] : []));
}

/** Null when nothing is left to say: it is Quiet, and none of the Alerts that it tells of fires any more (delivery §3.1). */
export async function replyEvent(
  { facts, loudness }: ReplyCall,
  groupId: PublicId,
  { nameOf }: People,
  scenes: Pick<SceneReader, 'alerts'>,
): Promise<ReplyEvent | null> {
  switch (facts.event) {
    case 'alerts_added': {
      const alerts = await scenes.alerts(groupId, facts.fingerprints);
      const isFiring = alerts.some(({ state }) => state === 'firing');
      return loudness === 'quiet' && !isFiring ? null : { event: 'alerts_added', alerts };
    }
    case 'snooze_ended': {
      const joined = await scenes.alerts(groupId, facts.fingerprints);
      return { event: 'snooze_ended', joined: joined.filter(({ state }) => state === 'firing') };
    }
    case 'urgency_raised': {
      const { event, level, formerOwner } = facts;
      return { event, level, formerOwner: formerOwner && nameOf(formerOwner) };
    }
    case 'reopened':
      return { event: 'reopened', owner: facts.owner && nameOf(facts.owner) };
    case 'takeover':
      return { event: 'takeover', owner: nameOf(facts.owner), formerOwner: nameOf(facts.formerOwner) };
    case 'unacknowledged':
      return { ...facts, formerOwner: nameOf(facts.formerOwner) };
    case 'auto_unacknowledged':
      return { event: 'auto_unacknowledged', formerOwner: nameOf(facts.formerOwner) };
    case 'reminder':
      return { event: 'reminder', owner: nameOf(facts.owner) };
    case 'notices_missed':
      return facts.kind === 'reminder' ? { ...facts, owner: nameOf(facts.owner) } : facts;
    case 'alert_replaced':
    case 'resolved':
    case 'ack_timeout':
      return facts;
  }
}
