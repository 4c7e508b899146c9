/** Tokens of calls about messages: one of the Destination and one of its Connection, or neither (delivery §6). */
import { type Micros, SECOND } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import {
  connectionAddress,
  type Held,
  type TokenAnswer,
  type TokenWanted,
} from '../../connection/messages.ts';
import { BEHIND_PEOPLE } from '../../connection/tokens.ts';
import { heldBucket, tokenDueAt, tokenSoonestAt, withEnded, withoutToken, withToken } from '../limiter.ts';
import { TOLD_CALL } from '../pacing.ts';
import { bucketOf, type DestinationTurn } from '../turn.ts';
import { changeState } from './turn.ts';

/** When the next delivery call may begin, interactive calls first; now or earlier: at once. */
export function ownTokenAt(turn: DestinationTurn): number {
  return Math.max(tokenAt(turn), turn.state.messages.behindUntil ?? 0);
}

/**
 * Whether a delivery may take a token of the Destination now. If not, deliveries wait until shortly after the next token
 * is due, so that interactive calls get it first.
 */
export function hasOwnToken(turn: DestinationTurn): boolean {
  if (ownTokenAt(turn) <= turn.now) return true;
  const { behindUntil } = turn.state.messages;
  if (behindUntil === null || behindUntil <= turn.now) {
    changeState(turn, { behindUntil: tokenAt(turn) + BEHIND_PEOPLE });
  }
  return false;
}

function tokenAt(turn: DestinationTurn): number {
  return Math.max(tokenDueAt(bucketOf(turn), turn.limiter), turn.state.messages.heldUntil ?? 0);
}

/** How many calls the limiter of the Destination lets begin now, at least one. */
export function ownTokens(turn: DestinationTurn): number {
  return Math.max(1, Math.floor(bucketOf(turn).tokens));
}

export function takeOwnToken(turn: DestinationTurn): void {
  const bucket = withoutToken(bucketOf(turn), turn.limiter, TOLD_CALL);
  if (bucket) turn.state = { ...turn.state, bucket };
  changeState(turn, { behindUntil: null });
}

export function returnOwnToken(turn: DestinationTurn): void {
  // While the messenger asks to wait, the bucket holds the one token for the end of the wait.
  if (!turn.limiter.sliding && (turn.state.messages.heldUntil ?? 0) > turn.now) return;
  turn.state = { ...turn.state, bucket: withToken(bucketOf(turn), turn.limiter) };
  changeState(turn, { behindUntil: null });
}

/** For an interactive call: a person waits for it. */
export function takeForPerson(turn: DestinationTurn): TokenAnswer {
  if (tokenAt(turn) > turn.now) {
    const soonest = tokenSoonestAt(bucketOf(turn), turn.limiter);
    return { granted: false, dueAt: Math.max(soonest, turn.state.messages.heldUntil ?? 0) };
  }
  const bucket = withoutToken(bucketOf(turn), turn.limiter, TOLD_CALL);
  if (bucket) turn.state = { ...turn.state, bucket };
  return { granted: true };
}

/** A call for which a token of the Destination was taken is over. Only a sliding limiter needs to know when. */
export function ownCallEnded(turn: DestinationTurn): void {
  if (!turn.limiter.sliding) return;
  turn.state = { ...turn.state, bucket: withEnded(bucketOf(turn), turn.limiter) };
  changeState(turn, { behindUntil: null });
}

/** A call for which both tokens were taken is over. */
export function callEnded(turn: DestinationTurn, connectionId: PublicId | null, tookToken: boolean): void {
  ownCallEnded(turn);
  if (!turn.limiter.sliding) return;
  if (connectionId === null || !tookToken) return;
  turn.sends.push({ to: connectionAddress(connectionId), message: { type: 'call_ended' } });
}

/** The messenger asked for no call before `until`. */
function holdOwn(turn: DestinationTurn, until: number): void {
  const heldUntil = Math.max(until, turn.state.messages.heldUntil ?? 0);
  turn.state = { ...turn.state, bucket: heldBucket(bucketOf(turn), heldUntil) };
  changeState(turn, { heldUntil, behindUntil: null });
}

/** Whether a Connection has to be asked for a token: a deleted one gives none, and nothing can be sent through it. */
export function needsGrant({ directory }: DestinationTurn, connectionId: PublicId | null): boolean {
  return connectionId !== null && directory.connectionsById.has(connectionId);
}

/** Whether a token was asked of the Connection and not granted yet. */
export function isAsked(turn: DestinationTurn, connectionId: string): boolean {
  const isThere = turn.directory.connectionsById.has(connectionId);
  return isThere && turn.state.messages.wishes[connectionId] !== undefined;
}

/**
 * Uses a token that the Connection granted, or asks for some. A webhook has no Connection and needs none.
 * @param count how many calls may begin at once
 */
export function hasGrant(
  turn: DestinationTurn,
  connectionId: PublicId | null,
  urgent: boolean,
  count: () => number,
): boolean {
  if (connectionId === null || !needsGrant(turn, connectionId)) return true;
  const given = turn.messages.grants.get(connectionId) ?? 0;
  if (given > 0) {
    turn.messages.grants.set(connectionId, given - 1);
    return true;
  }
  const { wishes } = turn.state.messages;
  const wish = wishes[connectionId];
  if (wish && (wish.urgent || !urgent)) return false;
  changeState(turn, { wishes: { ...wishes, [connectionId]: { urgent } } });
  const { sliding } = turn.limiter;
  const message: TokenWanted = { type: 'token_wanted', urgent, count: count(), ...(sliding && { sliding }) };
  turn.sends.push({ to: connectionAddress(connectionId), message });
  return false;
}

/** With a wait of zero every refusal would grant a token, and calls would repeat as fast as they are answered. */
const SHORTEST_WAIT: Micros = SECOND;

/** When to call again after a request to wait until `until`: then, and at least a second from now. */
export function waitEnd({ now }: DestinationTurn, until: Micros): Micros {
  return Math.max(until, now + SHORTEST_WAIT);
}

/** The messenger asked to wait: this Destination, or everything of its Connection. */
export function holdFor(
  turn: DestinationTurn,
  connectionId: PublicId | null,
  scope: 'connection' | 'destination' | 'delivery',
  asked: Micros,
): void {
  const until = waitEnd(turn, asked);
  if (scope !== 'connection' || connectionId === null) {
    holdOwn(turn, until);
    return;
  }
  const message: Held = { type: 'hold', until };
  turn.sends.push({ to: connectionAddress(connectionId), message });
}

export function tokenGranted(turn: DestinationTurn, connectionId: string, count: number): void {
  const { [connectionId]: _, ...wishes } = turn.state.messages.wishes;
  changeState(turn, { wishes });
  turn.messages.grants.set(connectionId, (turn.messages.grants.get(connectionId) ?? 0) + count);
}

/** Returns unused tokens to their Connections. */
export function returnGrants(turn: DestinationTurn): void {
  for (const [connectionId, count] of turn.messages.grants) {
    for (let left = count; left > 0; left--) returnGrant(turn, connectionId as PublicId);
  }
  turn.messages.grants.clear();
}

export function returnGrant(turn: DestinationTurn, connectionId: PublicId): void {
  turn.sends.push({ to: connectionAddress(connectionId), message: { type: 'token_returned' } });
}
