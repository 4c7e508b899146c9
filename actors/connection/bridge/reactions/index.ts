/** What events of bridges lead to, by their type (bridge §7.1). */
import type { PublicId } from '../../../../runtime/public-id.ts';
import type { BridgeEvent } from '../events.ts';
import { reactToLinkToken } from './link-token.ts';
import { reactToPress } from './press.ts';
import { IGNORED, type Reaction, type ReactionDeps } from './reaction.ts';
import { reactToThreadMessage } from './thread-message.ts';

export type { Reaction, ReactionDeps } from './reaction.ts';

/** @throws when something needed cannot be reached: the event has to come again */
export type React = (connectionId: PublicId, event: BridgeEvent) => Promise<Reaction>;

export function createReactions(deps: ReactionDeps): React {
  return async (connectionId, event) => {
    const handled = await deps.facts.handled(connectionId, event.id);
    if (handled) return { is: 'stored', say: handled.say };
    switch (event.type) {
      case 'press':
        return reactToPress(deps, connectionId, event);
      case 'thread_message':
        return reactToThreadMessage(deps, connectionId, event);
      case 'account_link':
        return reactToLinkToken(deps, connectionId, event);
      case 'message_deleted':
        return reactToDeletion(deps, connectionId, event.message_id);
      case 'other':
        return IGNORED;
    }
  };
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
