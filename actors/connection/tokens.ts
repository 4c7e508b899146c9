/** Tokens of a Connection: interactive calls first, then deliveries (delivery §6). */
import type { ActorSystem } from '../../runtime/actor/index.ts';
import { type Clock, type Micros, SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { SendOutcome } from '../channels/calls.ts';
import {
  afterSetBack,
  type Bucket,
  fullBucket,
  heldBucket,
  type LimitedCall,
  type Limiter,
  refilled,
  tokenDueAt,
  tokenSoonestAt,
  withEnded,
  withoutToken,
  withToken,
} from '../destination/limiter.ts';
import { destinationAddress } from '../destination/messages.ts';
import { TOLD_CALL } from '../destination/pacing.ts';
import { connectionAddress, type Held, type TokenAnswer, type TokenTaken } from './messages.ts';

/** While a person waits, deliveries take a due token 200 ms late, so the person gets it first. */
export const BEHIND_PEOPLE: Micros = 200_000;

/** A Destination that wants to make calls through the Connection. */
export interface TokenWish {
  readonly destinationId: PublicId;
  readonly urgent: boolean;
  /** How many calls it could begin at once. */
  readonly count: number;
  /** When it began to wait. */
  readonly since: Micros;
  /** It tells the end of its calls. */
  readonly isEndTold: boolean;
}

export interface TokenDesk {
  /** Null before the first use. */
  readonly bucket: Bucket | null;
  /** The messenger asked for no call before then. */
  readonly heldUntil: Micros | null;
  /** At most one of a Destination. */
  readonly wishes: readonly TokenWish[];
  /** When waiting deliveries try again; null while none waits. */
  readonly grantAt: Micros | null;
  /** A person waits for a token: deliveries get none before then. */
  readonly peopleUntil: Micros | null;
}

export const FRESH_DESK: TokenDesk = {
  bucket: null,
  heldUntil: null,
  wishes: [],
  grantAt: null,
  peopleUntil: null,
};

/** Tokens that are due within this time are granted together. */
const TOGETHER: Micros = 20_000;

/** The desk with one token less, or null when none is due. */
export function takenToken(
  desk: TokenDesk,
  limiter: Limiter,
  now: Micros,
  call: LimitedCall = TOLD_CALL,
): TokenDesk | null {
  if (isHeld(desk, now)) return null;
  const bucket = withoutToken(bucketAt(desk, limiter, now), limiter, call);
  return bucket && { ...desk, bucket, heldUntil: null };
}

/** When a token is there; now or earlier when there is one. */
export function nextTokenAt(desk: TokenDesk, limiter: Limiter, now: Micros): Micros {
  if (isHeld(desk, now)) return desk.heldUntil ?? now;
  return tokenDueAt(bucketAt(desk, limiter, now), limiter);
}

/** When a token is there at the earliest, if calls end before. */
export function soonestTokenAt(desk: TokenDesk, limiter: Limiter, now: Micros): Micros {
  if (isHeld(desk, now)) return desk.heldUntil ?? now;
  return tokenSoonestAt(bucketAt(desk, limiter, now), limiter);
}

/** A person was told when a token is due at the earliest, and asks again then, if that is soon enough. */
export function withWaitingPerson(desk: TokenDesk, limiter: Limiter, now: Micros): TokenDesk {
  const soonest = soonestTokenAt(desk, limiter, now);
  if (soonest > now + INTERACTIVE_BUDGET) return desk;
  const peopleUntil = soonest + BEHIND_PEOPLE;
  return { ...desk, peopleUntil, grantAt: desk.grantAt && Math.max(desk.grantAt, peopleUntil) };
}

/** A token that was not used is there again, unless the bucket is full. */
export function withReturnedToken(desk: TokenDesk, limiter: Limiter, now: Micros): TokenDesk {
  if (!limiter.sliding && isHeld(desk, now)) return desk;
  return dueSooner({ ...desk, bucket: withToken(bucketAt(desk, limiter, now), limiter) }, limiter, now);
}

/** The call of a token that was granted is over. */
export function withEndedCall(desk: TokenDesk, limiter: Limiter, now: Micros): TokenDesk {
  return dueSooner({ ...desk, bucket: withEnded(bucketAt(desk, limiter, now), limiter) }, limiter, now);
}

/** Deliveries that wait need not wait as long as they were to. */
function dueSooner(desk: TokenDesk, limiter: Limiter, now: Micros): TokenDesk {
  const soonest = soonestTokenAt(desk, limiter, now) + BEHIND_PEOPLE;
  const peopleUntil = desk.peopleUntil && Math.min(desk.peopleUntil, soonest);
  const due = Math.max(nextTokenAt(desk, limiter, now) + TOGETHER, peopleUntil ?? 0);
  return { ...desk, peopleUntil, grantAt: desk.grantAt && Math.min(desk.grantAt, due) };
}

/** No call before `until`. */
export function held(desk: TokenDesk, limiter: Limiter, now: Micros, until: Micros): TokenDesk {
  const heldUntil = Math.max(until, desk.heldUntil ?? 0);
  return { ...desk, heldUntil, bucket: heldBucket(bucketAt(desk, limiter, now), heldUntil) };
}

/** The clock may have been set back. Waiting deliveries then try again now. */
export function deskAfterSetBack(desk: TokenDesk, now: Micros): TokenDesk {
  const moved = desk.bucket && afterSetBack(desk.bucket, desk.heldUntil, now);
  return moved ? { ...desk, ...moved, peopleUntil: null, grantAt: desk.grantAt && now } : desk;
}

/** A Destination has one request at a time; asking again changes its urgency, not its place in the order. */
export function wished(desk: TokenDesk, wish: TokenWish): TokenDesk {
  const before = desk.wishes.find(({ destinationId }) => destinationId === wish.destinationId);
  const others = withoutWish(desk, wish.destinationId).wishes;
  return { ...desk, wishes: [...others, { ...wish, since: before?.since ?? wish.since }] };
}

function withoutWish(desk: TokenDesk, destinationId: PublicId): TokenDesk {
  return { ...desk, wishes: desk.wishes.filter((wish) => wish.destinationId !== destinationId) };
}

/**
 * Grants tokens to deliveries. While tokens are free and nobody waits, the first request gets one at once. Waiting
 * requests get them when due: Urgent ones first, then the oldest. None gets a second token before each has one.
 * @returns a Destination as often as it gets a token
 */
export function granted(
  desk: TokenDesk,
  limiter: Limiter,
  now: Micros,
): { readonly desk: TokenDesk; readonly to: readonly PublicId[] } {
  const to: PublicId[] = [];
  let left = desk;
  const notBefore = Math.max(desk.grantAt ?? 0, desk.peopleUntil ?? 0);
  if (now < notBefore) return { desk: withGrantAt(desk, notBefore), to };
  for (let round = inTurn(desk.wishes); round.length > 0; round = withMoreWanted(round)) {
    for (const { destinationId, isEndTold } of round) {
      const taken = takenToken(left, limiter, now, isEndTold ? TOLD_CALL : UNTOLD_CALL);
      if (!taken) return { desk: waiting(left, limiter, now), to };
      left = withoutWish(taken, destinationId);
      to.push(destinationId);
    }
  }
  return { desk: waiting(left, limiter, now), to };
}

function withMoreWanted(round: readonly TokenWish[]): readonly TokenWish[] {
  return round.flatMap((wish) => (wish.count > 1 ? [{ ...wish, count: wish.count - 1 }] : []));
}

function waiting(left: TokenDesk, limiter: Limiter, now: Micros): TokenDesk {
  return withGrantAt(left, nextTokenAt(left, limiter, now) + TOGETHER);
}

function withGrantAt(desk: TokenDesk, at: Micros): TokenDesk {
  const grantAt = desk.wishes.length === 0 ? null : at;
  return desk.grantAt === grantAt ? desk : { ...desk, grantAt };
}

function inTurn(wishes: readonly TokenWish[]): readonly TokenWish[] {
  return [...wishes].sort(
    (one, other) => Number(other.urgent) - Number(one.urgent) || one.since - other.since,
  );
}

function isHeld({ heldUntil }: TokenDesk, now: Micros): boolean {
  return heldUntil !== null && now < heldUntil;
}

function bucketAt({ bucket }: TokenDesk, limiter: Limiter, now: Micros): Bucket {
  return bucket ? refilled(bucket, limiter, now) : fullBucket(limiter, now);
}

/** `delivery.interactive_budget`. */
export const INTERACTIVE_BUDGET: Micros = 5 * SECOND;
/** Its end is not told: it counts as if it took as long as a person waits. */
export const UNTOLD_CALL: LimitedCall = { longest: INTERACTIVE_BUDGET, isEndTold: false };
/** Hosts of checks before saving whose buckets are kept. */
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
    const taken = withoutToken(bucket, DRAFT_LIMITER, UNTOLD_CALL);
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

/** Tries again whenever a token is due: another call may have taken the last one. */
async function withinBudget(
  clock: Clock,
  ask: () => Promise<TokenAnswer>,
  budget: Micros = INTERACTIVE_BUDGET,
): Promise<TokenGrant> {
  const end = clock.now() + budget;
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

/** The buckets that one call takes tokens from. A webhook has no Connection; an unsaved Destination has no bucket. */
export interface TokenOwners {
  readonly destinationId: PublicId | null;
  readonly connectionId: PublicId | null;
}

export interface InteractiveTokens {
  /** At once, or within a time (left out: `delivery.interactive_budget`), or not at all. */
  take(owners: TokenOwners, within?: Micros): Promise<TokenGrant>;
  /** The call that a token was taken for is over. */
  ended(owners: TokenOwners): void;
  /** Takes the outcome of a call: if the messenger asks the whole bot to wait, no call is made until then. */
  spent(connectionId: PublicId, outcome: Spent): void;
}

/** The outcome of a call; a wait with scope `bot` is for everything of the Connection. */
export type Spent =
  | { readonly class: 'retry_after'; readonly until: Micros; readonly scope: 'channel' | 'bot' }
  | { readonly class: Exclude<SendOutcome['class'], 'retry_after'> };

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
    const asked: TokenTaken = { type: 'take_token', isEndTold: true };
    const shared = await system.ask(connectionAddress(connectionId), asked);
    const isGranted = (shared as TokenAnswer).granted;
    if (!isGranted && destination) system.tell(destination, { type: 'token_returned' });
    return shared as TokenAnswer;
  };
  return {
    take: (owners, within) => withinBudget(clock, () => askFor(owners), within),
    ended({ destinationId, connectionId }) {
      if (destinationId) system.tell(destinationAddress(destinationId), { type: 'call_ended' });
      if (connectionId) system.tell(connectionAddress(connectionId), { type: 'call_ended' });
    },
    spent(connectionId, outcome) {
      if (outcome.class !== 'retry_after' || outcome.scope !== 'bot') return;
      const held: Held = { type: 'hold', until: outcome.until };
      system.tell(connectionAddress(connectionId), held);
    },
  };
}
