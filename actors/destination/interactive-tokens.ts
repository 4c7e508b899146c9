/** Tokens for calls of a Destination that a person waits for: of it and of its Connection, or of neither (delivery §6). */
import type { ActorSystem } from '../../runtime/actor/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { BridgeOutcome } from '../connection/bridge/answer.ts';
import { connectionAddress, type Held, type TokenAnswer } from '../connection/messages.ts';
import { type TokenGrant, withinBudget } from '../connection/waiting-token.ts';
import { destinationAddress } from './messages.ts';

/** Whose tokens one call takes; a webhook has no Connection, and what is not saved yet no Destination. */
export interface TokenOwners {
  readonly destinationId: PublicId | null;
  readonly connectionId: PublicId | null;
}

export interface InteractiveTokens {
  /** At once, or within `delivery.interactive_budget`, or not at all. */
  take(owners: TokenOwners): Promise<TokenGrant>;
  /** What a call came to: a messenger that asks everything of its bot to wait is left alone until then. */
  spent(connectionId: PublicId, outcome: BridgeOutcome<unknown>): void;
}

export interface InteractiveTokensDeps {
  readonly system: Pick<ActorSystem, 'ask' | 'tell'>;
  readonly clock: Clock;
}

const GRANTED: TokenAnswer = { granted: true };

export function createInteractiveTokens({ system, clock }: InteractiveTokensDeps): InteractiveTokens {
  const askFor = async (owners: TokenOwners): Promise<TokenAnswer> => {
    const { destinationId, connectionId } = owners;
    const destination = destinationId && destinationAddress(destinationId);
    const own = destination ? await system.ask(destination, { type: 'take_token' }) : GRANTED;
    if (!(own as TokenAnswer).granted || connectionId === null) return own as TokenAnswer;
    const shared = await system.ask(connectionAddress(connectionId), { type: 'take_token' });
    const isGranted = (shared as TokenAnswer).granted;
    if (!isGranted && destination) system.tell(destination, { type: 'token_returned' });
    return shared as TokenAnswer;
  };
  return {
    take: (owners) => withinBudget(clock, () => askFor(owners)),
    spent(connectionId, outcome) {
      if (outcome.class !== 'retry_after' || outcome.scope !== 'bot') return;
      const held: Held = { type: 'hold', until: outcome.until };
      system.tell(connectionAddress(connectionId), held);
    },
  };
}
