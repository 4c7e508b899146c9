/** Events that a Connection has handled: each once, however often and by whichever way it arrives (bridge §7.1). */
import { DAY, type Micros } from '../../runtime/clock.ts';

/** `bridge.event_dedup_window`. */
export const REMEMBERED_FOR: Micros = DAY;

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
export function remember(rows: ConnectionRows, event: HandledEvent, now: Micros): void {
  rows.delete(event.id);
  rows.set(event.id, event);
  for (const { id, at } of rows.values()) {
    if (now - at < REMEMBERED_FOR) break;
    rows.delete(id);
  }
}
