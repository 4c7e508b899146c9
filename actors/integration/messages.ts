/** Everything an Integration accepts. */
import type { Address } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Labels } from '../model.ts';

export const INTEGRATION = 'integration';

export function integrationAddress(id: PublicId): Address {
  return { kind: INTEGRATION, key: id };
}

export type IntegrationMessage =
  | Configured
  | Deleted
  | Signalled
  | RepeatSampled
  | TruncationTold
  | { readonly type: 'wake' };

/** It was created or saved. Stored with the change; the newest version counts. */
export interface Configured {
  readonly type: 'configured';
  readonly version: number;
  readonly name: string;
  readonly staticLabels: Labels;
  readonly heartbeat: { readonly enabled: boolean; readonly timeoutSeconds: number };
}

/** Stored with the deletion. */
export interface Deleted {
  readonly type: 'deleted';
  readonly version: number;
  readonly name: string;
  readonly at: Micros;
}

/** A Heartbeat signal. Stored before it is answered, in the order of `at`. */
export interface Signalled {
  readonly type: 'signal';
  readonly at: Micros;
}

/** A feed's sender repeated itself twice, after alike gaps (ingestion §6.5). */
export interface RepeatSampled {
  readonly type: 'sample';
  readonly routePath: string;
  /** The longer of the two gaps, µs. */
  readonly gap: Micros;
  /** When they began; absent from earlier releases, which send a single gap: nothing is learned from it. */
  readonly since?: Micros;
  /** When they ended. */
  readonly at: Micros;
}

/** A feed's sender began or ended to cut its lists (ingestion §6.4). */
export interface TruncationTold {
  readonly type: 'truncation';
  /** Key of the feed. */
  readonly feed: string;
  readonly routePath: string | null;
  readonly truncated: boolean;
  readonly at: Micros;
}
