/** What events of bridges lead to, by their type (bridge §7.1). */
import type { PublicId } from '../../../runtime/public-id.ts';
import { type ReceivedToken, receiveToken } from '../../account-links/linking.ts';
import { alertGroupAddress, type CarriedReply, type GroupCommand } from '../../alert-group/messages.ts';
import { tellOutcome } from '../../alert-group/metrics.ts';
import { codePoints } from '../../text.ts';
import { actorOf, connectionRef, type Press, type Reaction, reactToPress } from '../press.ts';
import { accountOf, type BridgeEvent, IGNORED, type ReactionDeps } from './events.ts';
import { withoutZeros } from './info.ts';

const THROUGH = { transport: 'bridge', way: 'bridge_event', recordedWithin: 0 } as const;

/**
 * @returns null: it is nothing to us
 * @throws when something needed cannot be reached: the event has to come again
 */
export type React = (connectionId: PublicId, event: BridgeEvent) => Promise<Reaction | null>;

export function createReactions(deps: ReactionDeps): React {
  return async (connectionId, event) => {
    if (event.type === 'other') return null;
    const handled = await deps.facts.handled(connectionId, event.id);
    if (handled) return { is: 'stored', say: handled.say };
    switch (event.type) {
      case 'press':
        return (await reactToPress(deps, connectionId, pressOf(event), THROUGH)) ?? IGNORED;
      case 'thread_message':
        return reactToThreadMessage(deps, connectionId, event);
      case 'account_link':
        return receiveToken(deps, tokenOf(connectionId, event), THROUGH.way);
      case 'message_deleted':
        return reactToDeletion(deps, connectionId, event.message_id);
    }
  };
}

function pressOf(event: Extract<BridgeEvent, { type: 'press' }>): Press {
  const { id, occurredAt, data, message_id: messageId } = event;
  return { id, occurredAt, messageId, account: accountOf(event.user), data };
}

/** Somebody sent the bot a token in a direct chat (account-links §5.2). */
function tokenOf(
  connectionId: PublicId,
  event: Extract<BridgeEvent, { type: 'account_link' }>,
): ReceivedToken {
  const { id: eventId, token, user } = event;
  return { messenger: 'bridge', connectionId, eventId, account: accountOf(user), isBot: user.bot, token };
}

async function reactToDeletion(
  { facts }: ReactionDeps,
  connectionId: PublicId,
  messageId: string,
): Promise<Reaction> {
  const posted = await facts.message(connectionId, messageId);
  if (!posted) return IGNORED;
  return { is: 'noted', say: null, deleted: { ...posted, messageId } };
}

/** Somebody wrote in the Thread of a Root message: a Note, when Tocsin knows them (bridge §7.1). */
type ThreadMessage = Extract<BridgeEvent, { type: 'thread_message' }>;

const LONGEST_NOTE = 4_000;

/** People talk in Threads: nobody is answered, and what strangers say is nothing to us. */
async function reactToThreadMessage(
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
  const by = actorOf(person, THROUGH.transport);
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
