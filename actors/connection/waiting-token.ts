/** Tokens for calls that a person waits for: at once, or within a few seconds, or not at all (delivery §6). */
import type { ActorSystem } from '../../runtime/actor/index.ts';
import { type Clock, type Micros, SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { fullBucket, type Limiter, refilled, tokenDueAt, withoutToken } from '../destination/limiter.ts';
import { connectionAddress, type TokenAnswer } from './messages.ts';

/** `delivery.interactive_budget`. */
export const INTERACTIVE_BUDGET: Micros = 5 * SECOND;
/** Hosts of checks before saving that are remembered. */
const MOST_DRAFTS = 1000;
const DRAFT_LIMITER: Limiter = { limit: 5, per_seconds: 1 };

export type TokenGrant =
  | 'granted'
  /** None within the budget; whole seconds until one is due, at least 1. */
  | { readonly retryAfterSeconds: number };

export interface WaitingTokens {
  /** A token of a Connection. */
  take(id: PublicId): Promise<TokenGrant>;
  /** A token for a check before saving, of the host that is asked. */
  takeForHost(host: string): Promise<TokenGrant>;
}

export interface WaitingTokensDeps {
  readonly system: Pick<ActorSystem, 'ask'>;
  readonly clock: Clock;
}

export function createWaitingTokens({ system, clock }: WaitingTokensDeps): WaitingTokens {
  const drafts = new Map<string, ReturnType<typeof fullBucket>>();

  const draftToken = async (host: string): Promise<TokenAnswer> => {
    const now = clock.now();
    const bucket = refilled(drafts.get(host) ?? fullBucket(DRAFT_LIMITER, now), DRAFT_LIMITER, now);
    const taken = withoutToken(bucket);
    if (!taken) return { granted: false, dueAt: tokenDueAt(bucket, DRAFT_LIMITER) };
    drafts.delete(host);
    drafts.set(host, taken);
    const [oldest] = drafts.keys();
    if (drafts.size > MOST_DRAFTS && oldest !== undefined) drafts.delete(oldest);
    return { granted: true };
  };

  return {
    take: (id) =>
      withinBudget(
        clock,
        async () => (await system.ask(connectionAddress(id), { type: 'take_token' })) as TokenAnswer,
      ),
    takeForHost: (host) => withinBudget(clock, () => draftToken(host)),
  };
}

/** Asks again whenever a token is due: others who wait may have been quicker. */
export async function withinBudget(clock: Clock, ask: () => Promise<TokenAnswer>): Promise<TokenGrant> {
  const end = clock.now() + INTERACTIVE_BUDGET;
  for (;;) {
    const answer = await ask();
    if (answer.granted) return 'granted';
    const now = clock.now();
    if (answer.dueAt > end || now >= end) {
      return { retryAfterSeconds: Math.max(1, Math.ceil((answer.dueAt - now) / SECOND)) };
    }
    await new Promise<void>((resolve) => void clock.after(Math.max(1000, answer.dueAt - now), resolve));
  }
}
