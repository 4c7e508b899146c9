/** Somebody sent the bot a token in a direct chat (account links §4, §5.2). */
import type { PublicId } from '../../../../runtime/public-id.ts';
import type { TokenOutcome } from '../../../account-links/ports.ts';
import { digestOf } from '../../../account-links/proof.ts';
import { type PrivateAnswer, privateAnswer } from '../../../messages/index.ts';
import type { BridgeEvent } from '../events.ts';
import { accountOf, type Reaction, type ReactionDeps } from './reaction.ts';

type LinkToken = Extract<BridgeEvent, { type: 'account_link' }>;

export async function reactToLinkToken(
  deps: ReactionDeps,
  connectionId: PublicId,
  event: LinkToken,
): Promise<Reaction> {
  // Bots are nobody's account.
  if (event.user.bot) {
    return { is: 'noted', say: privateAnswer({ say: 'link.invalid' }, 'bridge_event', 'en', deps.publicUrl) };
  }
  const use = {
    connectionId,
    eventId: event.id,
    account: accountOf(event.user),
    digest: digestOf(event.token),
    at: deps.clock.now(),
  };
  const { say, outcome } = await deps.links.useToken(use, (came) => textOf(deps, came));
  if (outcome) tell(deps, connectionId, outcome);
  return { is: 'stored', say };
}

function textOf({ publicUrl }: ReactionDeps, outcome: TokenOutcome): string | null {
  if (outcome.is === 'rejected' && !outcome.isAnswered) return null;
  const language = outcome.user?.language ?? 'en';
  return privateAnswer(answerTo(outcome), 'bridge_event', language, publicUrl);
}

function answerTo(outcome: TokenOutcome): PrivateAnswer {
  if (outcome.is === 'linked')
    return { say: 'link.done', name: outcome.user.name, login: outcome.user.login };
  return { say: outcome.reason === 'conflict' ? 'link.taken' : 'link.invalid' };
}

function tell({ log, hints }: ReactionDeps, connection: PublicId, outcome: TokenOutcome): void {
  const fields = { messenger: 'bridge', connection, user: outcome.user?.id ?? null };
  if (outcome.is === 'rejected') {
    log('account_link_rejected', { ...fields, reason: outcome.reason });
    return;
  }
  log('account_link_linked', fields);
  hints.send({ type: 'account-links', id: outcome.user.id });
}
