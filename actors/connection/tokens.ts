/** The limiter of a Connection: tokens of one bucket, for people first and for deliveries after them (delivery §6). Pure. */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import {
  type Bucket,
  fullBucket,
  type Limiter,
  refilled,
  tokenDueAt,
  withoutToken,
} from '../destination/limiter.ts';

/** A delivery comes this much after its token: whoever waits for an answer asks in between. */
export const BEHIND_PEOPLE: Micros = 200_000;

/** A Destination that wants to make calls through the Connection. */
export interface TokenWish {
  readonly destinationId: PublicId;
  readonly urgent: boolean;
  /** How many it could begin at once. */
  readonly count: number;
  /** When it began to wait. */
  readonly since: Micros;
}

export interface TokenDesk {
  /** Null before the first use. */
  readonly bucket: Bucket | null;
  /** The messenger asked everybody to wait until then. */
  readonly heldUntil: Micros | null;
  /** At most one of a Destination. */
  readonly wishes: readonly TokenWish[];
  /** When deliveries that wait try again; null while none waits. */
  readonly grantAt: Micros | null;
}

export const FRESH_DESK: TokenDesk = { bucket: null, heldUntil: null, wishes: [], grantAt: null };

/** The desk with one token less, or null when none is due. */
export function takenToken(desk: TokenDesk, limiter: Limiter, now: Micros): TokenDesk | null {
  if (isHeld(desk, now)) return null;
  const bucket = withoutToken(bucketAt(desk, limiter, now));
  return bucket && { ...desk, bucket, heldUntil: null };
}

/** When a token is there; now or earlier when there is one. */
export function nextTokenAt(desk: TokenDesk, limiter: Limiter, now: Micros): Micros {
  if (isHeld(desk, now)) return desk.heldUntil ?? now;
  return tokenDueAt(bucketAt(desk, limiter, now), limiter);
}

/** A token that was not used is there again, unless the bucket is full. */
export function withReturnedToken(desk: TokenDesk, limiter: Limiter, now: Micros): TokenDesk {
  if (isHeld(desk, now)) return desk;
  const { tokens, at } = bucketAt(desk, limiter, now);
  return { ...desk, bucket: { tokens: Math.min(limiter.limit, tokens + 1), at } };
}

/** No call before `until`, and one token exactly then. */
export function held(desk: TokenDesk, until: Micros): TokenDesk {
  const heldUntil = Math.max(until, desk.heldUntil ?? 0);
  return { ...desk, heldUntil, bucket: { tokens: 1, at: heldUntil } };
}

/** A Destination has one wish at a time; asking again changes how urgent it is, not its place. */
export function wished(desk: TokenDesk, wish: TokenWish): TokenDesk {
  const before = desk.wishes.find(({ destinationId }) => destinationId === wish.destinationId);
  const others = withoutWish(desk, wish.destinationId).wishes;
  return { ...desk, wishes: [...others, { ...wish, since: before?.since ?? wish.since }] };
}

function withoutWish(desk: TokenDesk, destinationId: PublicId): TokenDesk {
  return { ...desk, wishes: desk.wishes.filter((wish) => wish.destinationId !== destinationId) };
}

/**
 * Gives tokens to deliveries: at once to the first that comes while there are any; to those that had to wait when their
 * time has come, the Urgent first, then who waits longest. Nobody gets a second one while another gets none.
 * @returns a Destination as often as it gets a token
 */
export function granted(
  desk: TokenDesk,
  limiter: Limiter,
  now: Micros,
): { readonly desk: TokenDesk; readonly to: readonly PublicId[] } {
  const to: PublicId[] = [];
  let left = desk;
  if (desk.grantAt !== null && now < desk.grantAt) return { desk, to };
  for (let round = inTurn(desk.wishes); round.length > 0; round = withMoreWanted(round)) {
    for (const { destinationId } of round) {
      const taken = takenToken(left, limiter, now);
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
  const grantAt = left.wishes.length === 0 ? null : nextTokenAt(left, limiter, now) + BEHIND_PEOPLE;
  return left.grantAt === grantAt ? left : { ...left, grantAt };
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
