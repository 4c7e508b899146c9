/** What a Destination remembers of its messages besides its deliveries. Small, and stored with its state. */
import type { Micros } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { DestinationConfig } from '../../directory.ts';
import type { Limiter } from '../limiter.ts';
import type { Sweep } from './planned-sweeps.ts';

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
  readonly probe: { readonly call: number; readonly lostAt: Micros; readonly tookToken: boolean } | null;
  /** Of the last recovery; 0 before the first. */
  readonly recoveredAt: Micros;
  readonly deletedAt: Micros | null;
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

/** Everything but a webhook that is sent events. */
export function takesMessages({ type, mode }: Pick<Place, 'type' | 'mode'>): boolean {
  return type !== 'webhook' || mode === 'template';
}
