/** A Connection as its actor keeps it. */
import { begin, persistSnapshot, restoreSnapshot } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { Limiter } from '../destination/limiter.ts';
import type { BridgeInfo } from './bridge/info.ts';
import { connectionMachine } from './machine.ts';
import { FRESH_DESK, type TokenDesk } from './tokens.ts';

export type ConnectionSnapshot = ReturnType<typeof begin<typeof connectionMachine>>;

export interface ConnectionState {
  readonly snapshot: ConnectionSnapshot;
  /** Of the configuration; 0 before it was told any. */
  readonly version: number;
  /** Number of the address and token; 0 before it was told any. */
  readonly access: number;
  readonly limiter: Limiter;
  readonly desk: TokenDesk;
  readonly info: InfoCopy;
  /** When something arrived last. */
  readonly lastAt: Micros | null;
  /** When the log was told of the present trouble last. */
  readonly toldAt: Micros | null;
}

/** What the bridge said of itself, and how reading it went. */
export interface InfoCopy {
  readonly info: BridgeInfo | null;
  readonly readAt: Micros | null;
  readonly failedAt: Micros | null;
  /** Pointer of what is wrong in the newest answer. */
  readonly wrong: string | null;
  /** The bridge answers without a token, too. */
  readonly tokenless: boolean;
}

/** Number of this shape. */
export const SCHEMA = 1;

/** Until its configuration is known. */
const DEFAULT_LIMITER: Limiter = { limit: 5, per_seconds: 1 };

export const NO_INFO: InfoCopy = { info: null, readAt: null, failedAt: null, wrong: null, tokenless: false };

export function startConnection(): ConnectionState {
  return {
    snapshot: begin(connectionMachine),
    version: 0,
    access: 0,
    limiter: DEFAULT_LIMITER,
    desk: FRESH_DESK,
    info: NO_INFO,
    lastAt: null,
    toldAt: null,
  };
}

export function persistConnection(state: ConnectionState): unknown {
  return { ...state, snapshot: persistSnapshot(connectionMachine, state.snapshot) };
}

/** The way back from {@link persistConnection}. */
export function restoreConnection(persisted: unknown): ConnectionState {
  const state = persisted as ConnectionState;
  return { ...state, snapshot: restoreSnapshot(connectionMachine, state.snapshot) };
}

export function isDeleted({ snapshot }: ConnectionState): boolean {
  return snapshot.matches('deleted');
}

export function isPolling({ snapshot }: ConnectionState): boolean {
  return snapshot.matches('polling');
}

export function isCalling({ snapshot }: ConnectionState): boolean {
  return snapshot.matches({ polling: 'calling' });
}

export function wakeAtOf({ snapshot, desk }: ConnectionState): Micros | null {
  const { nextAt, lostAt } = snapshot.context;
  const wishes = [nextAt, lostAt, desk.grantAt].filter((at) => at !== null);
  return snapshot.matches('deleted') || wishes.length === 0 ? null : Math.min(...wishes);
}
