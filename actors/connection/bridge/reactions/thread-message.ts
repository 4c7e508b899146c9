/** Somebody wrote in the Thread of a Root message: a Note, when Tocsin knows them (bridge §7.1). */
import type { PublicId } from '../../../../runtime/public-id.ts';
import { tellOutcome } from '../../../alert-group/command-log.ts';
import { alertGroupAddress, type CarriedReply, type GroupCommand } from '../../../alert-group/messages.ts';
import { codePoints } from '../../../text.ts';
import type { BridgeEvent } from '../events.ts';
import { withoutZeros } from '../parts.ts';
import { accountOf, actorOf, connectionRef, IGNORED, type Reaction, type ReactionDeps } from './reaction.ts';

type ThreadMessage = Extract<BridgeEvent, { type: 'thread_message' }>;

const LONGEST_NOTE = 4_000;

/** People talk in Threads: nobody is answered, and what strangers say is nothing to us. */
export async function reactToThreadMessage(
  deps: ReactionDeps,
  connectionId: PublicId,
  event: ThreadMessage,
): Promise<Reaction> {
  const { facts, clock } = deps;
  const body = noteOf(event.text);
  if (event.user.bot || body === '') return IGNORED;
  const [posted, person] = await Promise.all([
    facts.message(connectionId, event.message_id),
    facts.person(connectionId, event.user.external_id),
  ]);
  if (posted?.kind !== 'root' || !posted.groupId) return IGNORED;
  if (person?.status !== 'active' || !deps.may(person.role, 'add_note')) return IGNORED;
  await facts.used(person.linkId, accountOf(event.user), clock.now());
  const by = actorOf(person);
  const message: GroupCommand = {
    type: 'command',
    command: { name: 'add_note', body },
    by,
    carrier: {
      connection: connectionRef(deps, connectionId),
      eventId: event.id,
      externalId: event.user.external_id,
      answer: null,
    },
  };
  // The reply of an Alert Group to a Command that an event carries (its messages.ts).
  const { outcome } = (await deps.system.ask(alertGroupAddress(posted.groupId), message)) as CarriedReply;
  if (outcome?.outcome === 'unknown') return IGNORED;
  if (outcome) tellOutcome(deps, { command: 'add_note', group: posted.groupId, by }, outcome);
  return { is: 'stored', say: null };
}

function noteOf(text: string): string {
  const trimmed = withoutZeros(text.trim());
  if (codePoints(trimmed) <= LONGEST_NOTE) return trimmed;
  return `${[...trimmed].slice(0, LONGEST_NOTE - 1).join('')}…`;
}
