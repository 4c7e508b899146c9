/** A Connection as its actor keeps it, with the events it has handled, and one turn of it (bridge §7.1). */
import {
  type Actor,
  begin,
  persistSnapshot,
  restoreSnapshot,
  type Send,
  step,
  type Turn,
  type TurnEnv,
} from '../../runtime/actor/index.ts';
import { DAY, MINUTE, type Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Limiter } from '../destination/limiter.ts';
import type { HintSent } from '../effects.ts';
import type { ConnectionPerformed, ConnectionRecord } from './effects.ts';
import { type ConnectionEvent, completeContext, conflictPause, connectionMachine } from './machine.ts';
import type { ConnectionInfo } from './ports.ts';
import { FRESH_DESK, type TokenDesk } from './tokens.ts';

/** How often the log is told of a trouble that lasts. */
const TOLD_EVERY: Micros = 10 * MINUTE;

export class ConnectionTurn {
  readonly id: PublicId;
  readonly now: Micros;
  readonly rows: ConnectionRows;
  state: ConnectionState;
  reply: unknown;
  readonly #before: ConnectionState;
  readonly #sends: Send[] = [];
  readonly #records: ConnectionRecord[] = [];
  readonly #performs: ConnectionPerformed[] = [];

  constructor({ self, state, rows }: Actor<ConnectionState, ConnectionRows>, env: TurnEnv) {
    this.id = self.key as PublicId;
    this.now = env.now;
    this.rows = rows;
    this.state = state;
    this.#before = state;
  }

  step(event: ConnectionEvent): void {
    const { snapshot, emitted } = step(connectionMachine, this.state.snapshot, event);
    this.state = { ...this.state, snapshot };
    for (const { type } of emitted) {
      if (type === 'trouble_ended') this.state = { ...this.state, toldAt: null };
      else if (type === 'conflict_met') this.#tellConflict();
      else this.#tellTrouble();
    }
  }

  change(changed: Partial<ConnectionState>): void {
    this.state = { ...this.state, ...changed };
  }

  send(send: Send): void {
    this.#sends.push(send);
  }

  perform(effect: ConnectionPerformed): void {
    this.#performs.push(effect);
  }

  record(record: ConnectionRecord): void {
    this.#records.push(record);
  }

  /** Notes an event as handled, with what is still to be said about it. */
  handled(eventId: string, say: string | null, at = this.now): void {
    remember(this.rows, { id: eventId, at, say }, this.now);
    this.#records.push({ type: 'connection.event_handled', connectionId: this.id, eventId, say, at });
  }

  forgetEvents(): void {
    this.rows.clear();
    this.#records.push({ type: 'connection.events_forgotten', connectionId: this.id });
  }

  finish(): Turn<ConnectionState> {
    const shown = this.#showInfo() || this.#showInbound();
    const hint: HintSent = { type: 'hint', hint: { type: 'connection', id: this.id } };
    return {
      state: this.state,
      wakeAt: wakeAtOf(this.state),
      sends: this.#sends,
      records: this.#records,
      performs: shown ? [...this.#performs, hint] : this.#performs,
      reply: this.reply,
    };
  }

  #tellTrouble(): void {
    const { trouble } = this.state.snapshot.context;
    const { toldAt } = this.state;
    if (!trouble || (toldAt !== null && this.now - toldAt < TOLD_EVERY)) return;
    this.state = { ...this.state, toldAt: this.now };
    this.perform({ type: 'connection.poll_failed', connectionId: this.id, error: trouble.error });
  }

  #tellConflict(): void {
    const pause = conflictPause(this.state.snapshot.context.conflicts - 1);
    this.perform({ type: 'connection.poll_conflict', connectionId: this.id, pause });
  }

  /** @returns whether the page of the Connection says something else now */
  #showInfo(): boolean {
    const { info: copy, access } = this.state;
    const before = this.#before.info;
    if (copy === before || isDeleted(this.state)) return false;
    this.#records.push({ type: 'connection.info', connectionId: this.id, access, ...copy });
    return (
      copy.wrong !== before.wrong ||
      copy.tokenless !== before.tokenless ||
      JSON.stringify(copy.info) !== JSON.stringify(before.info)
    );
  }

  /** @returns the same; that something arrived is no news to anybody who looks */
  #showInbound(): boolean {
    const { trouble } = this.state.snapshot.context;
    const before = this.#before.snapshot.context.trouble;
    const { lastAt } = this.state;
    if (trouble === before && lastAt === this.#before.lastAt) return false;
    const { error, since } = trouble ?? { error: null, since: null };
    this.#records.push({ type: 'connection.inbound', connectionId: this.id, lastAt, error, since });
    return error !== (before?.error ?? null);
  }
}

/** A Connection as its actor keeps it. */
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
  readonly info: ConnectionInfo | null;
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
  const stored = { ...state.snapshot, context: completeContext(state.snapshot.context) };
  return { ...state, snapshot: restoreSnapshot(connectionMachine, stored) };
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

function wakeAtOf({ snapshot, desk }: ConnectionState): Micros | null {
  const { nextAt, lostAt } = snapshot.context;
  const wishes = [nextAt, lostAt, desk.grantAt].filter((at) => at !== null);
  return snapshot.matches('deleted') || wishes.length === 0 ? null : Math.min(...wishes);
}

/** `bridge.event_dedup_window`, and for how long a channel bot remembers updates: twice as long as its messenger. */
export const REMEMBERED_FOR: Micros = 2 * DAY;

export interface HandledEvent {
  readonly id: string;
  readonly at: Micros;
  /** What is still to be said to the person behind it. */
  readonly say: string | null;
}

/** By id, in the order in which they were handled. */
export type ConnectionRows = Map<string, HandledEvent>;

export function emptyConnectionRows(): ConnectionRows {
  return new Map();
}

/** The event as it was handled within the window; undefined: it is new. */
export function handledBefore(rows: ConnectionRows, id: string, now: Micros): HandledEvent | undefined {
  const before = rows.get(id);
  return before && now - before.at < REMEMBERED_FOR ? before : undefined;
}

/** Keeps it, and forgets those that are too old to count. */
function remember(rows: ConnectionRows, event: HandledEvent, now: Micros): void {
  rows.delete(event.id);
  rows.set(event.id, event);
  for (const { id, at } of rows.values()) {
    if (now - at < REMEMBERED_FOR) break;
    rows.delete(id);
  }
}
