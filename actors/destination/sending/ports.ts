/** What sending messages reads at the moment of a call. Implemented in storage/message-settings.ts and storage/storms.ts. */
import type { Micros } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { BridgeSettings } from '../../connection/ports.ts';
import type { MessengerAccount } from '../../messages/index.ts';

/** Accounts of some users at the messenger of a Connection; who has no Account link is left out. */
export type AccountsOf = (
  connectionId: PublicId,
  userIds: readonly PublicId[],
) => Promise<ReadonlyMap<PublicId, MessengerAccount>>;

/** Where messages of a bridge Destination are, and what opens the way there. */
export interface BridgeTarget {
  readonly channelId: string;
  readonly connection: BridgeSettings;
}

/** A Storm as it stands. */
export interface StormState {
  readonly newGroups: number;
  readonly urgentGroups: number;
  /** Once it is over: its Alert Groups that are still open. Null while it lasts. */
  readonly stillOpen: number | null;
}

export interface StormReader {
  /** Null: a later Storm of the Route has taken its place. */
  read(routeId: PublicId, since: Micros): Promise<StormState | null>;
}
