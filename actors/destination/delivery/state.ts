/** What a Destination remembers of its messages besides its deliveries. Small, and stored with its state. */
import type { Micros } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { DeliveryEventName } from '../../alert-group/messages.ts';
import { CHANNELS, channelFor, channelOf } from '../../channels/index.ts';
import type { DestinationConfig } from '../../directory.ts';
import type { Loudness, SymbolicMention } from '../../model.ts';
import type { Limiter } from '../limiter.ts';
import type { Delivery } from './delivery.ts';

export interface MessageState {
  /** Where messages go, as it was seen last; null before the configuration was seen. */
  readonly place: Place | null;
  /** As it was seen last: a deleted Destination keeps it for its last edits. */
  readonly limiter: Limiter | null;
  /** Calls begun so far. */
  readonly calls: number;
  /** The messenger asked this Destination to wait until then. */
  readonly heldUntil: Micros | null;
  /** Deliveries that found no token come a little later than the next one: people who wait are first. */
  readonly behindUntil: Micros | null;
  /** Connections that were asked for a token, and whether for something Urgent. */
  readonly wishes: Readonly<Record<string, { readonly urgent: boolean }>>;
  readonly sweeps: readonly Sweep[];
  /** The check by which a Broken Destination is tried, while it is under way. */
  readonly probe: Probe | null;
  /** Of the last recovery; 0 before the first. */
  readonly recoveredAt: Micros;
  readonly deletedAt: Micros | null;
}

export interface Probe {
  readonly call: number;
  readonly lostAt: Micros;
  readonly tookToken: boolean;
  /** The one that it goes through; left out in what an earlier version stored. */
  readonly connectionId?: PublicId;
}

export interface Place {
  readonly type: DestinationConfig['type'];
  readonly mode: DestinationConfig['mode'];
  readonly connectionId: PublicId | null;
  readonly target: number;
}

export const NO_MESSAGE_STATE: MessageState = {
  place: null,
  limiter: null,
  calls: 0,
  heldUntil: null,
  behindUntil: null,
  wishes: {},
  sweeps: [],
  probe: null,
  recoveredAt: 0,
  deletedAt: null,
};

export function placeOfConfig({ type, mode, connectionId, target }: DestinationConfig): Place {
  return { type, mode, connectionId, target };
}

/** Its channel gets messages, not events. */
export function takesMessages({ type, mode }: Pick<Place, 'type' | 'mode'>): boolean {
  return channelOf(type, mode).renderEvent === null;
}

/** Its messenger answers a repeat as it answered the first attempt, so that repeating costs nothing (delivery §5). */
export function repeatsSafely(place: Place | null): boolean {
  return place !== null && CHANNELS[channelFor(place.type, 'messages')].unknownOutcome === 'repeats_safely';
}

export type Sweep = Join | Pass;

/** The Route has this Destination now: its open groups and its Storm are published here. */
export interface Join {
  readonly kind: 'join';
  readonly routeId: PublicId;
  readonly after: { readonly urgent: boolean; readonly number: number } | null;
  /** Its time has come. */
  readonly isReady: boolean;
  readonly notBefore: Micros;
  readonly isSecond: boolean;
  /** When the Route got this Destination. */
  readonly since: Micros;
}

/** Deliveries that are not over, of one Route or of all. */
export interface Pass {
  /**
   * `leave`: the Route lost this Destination. `leave_targets`: it was pointed elsewhere. `leave_all`: it was deleted, or
   * sends no messages any more. `rerender`: messages may show something else. `end`: nothing is sent any more. `tell`:
   * whoever waits hears how the Destination is now.
   */
  readonly kind: 'leave' | 'leave_targets' | 'leave_all' | 'rerender' | 'end' | 'tell';
  readonly routeId: PublicId | null;
  readonly after: { readonly subject: string; readonly target: number } | null;
  readonly isReady: boolean;
  readonly notBefore: Micros;
  readonly isSecond: boolean;
}

/** What is said on the Timeline about a delivery. */
export interface Telling {
  readonly event: DeliveryEventName;
  readonly error?: string | null;
  readonly loudness?: Loudness;
  readonly mentions?: readonly SymbolicMention[];
}

export interface MessageChanges {
  /** As deliveries were before this turn, by key; undefined for new ones. */
  readonly before: Map<string, Delivery | undefined>;
  readonly told: { readonly key: string; readonly telling: Telling }[];
  /** Tokens of Connections that were given and not used yet. */
  readonly grants: Map<string, number>;
}

export function noMessageChanges(): MessageChanges {
  return { before: new Map(), told: [], grants: new Map() };
}
