/** Reads announcements from the database, every second while that is needed. */
import { type Clock, MINUTE, type Micros, type Timer } from '../clock.ts';
import type { Log } from '../log.ts';
import { POLL_EVERY } from '../placement/lease-times.ts';
import type { Announcement, AnnouncementCursor, AnnouncementPage, AnnouncementStore } from './store.ts';

export interface RowReaderDeps {
  readonly store: AnnouncementStore;
  readonly isNeeded: () => boolean;
  readonly heard: (row: Announcement) => void;
  /** Something may have been said that was not heard. */
  readonly missed: () => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** After a pause as long as this, rows may be gone that were not read. */
const PAUSE: Micros = MINUTE;

export interface RowReader {
  start(): void;
  /** Whether it is needed may have changed: looks at once. */
  check(): void;
  stop(): void;
}

export function createRowReader(deps: RowReaderDeps): RowReader {
  const { store, clock, log } = deps;
  let cursor: AnnouncementCursor | null = null;
  let readAt: Micros = 0;
  let timer: Timer | null = null;
  let isReading = false;
  let isFailing = false;
  let isStopped = false;

  const next = async (): Promise<AnnouncementPage | null> => {
    try {
      return await store.since(cursor);
    } catch (error) {
      if (!isFailing) log('announcements_failed', { what: 'read', error: String(error) });
      isFailing = true;
      return null;
    }
  };

  const read = async () => {
    const page = await next();
    if (page === null || isStopped) return;
    const isLate = clock.now() - readAt > PAUSE;
    const isGap = cursor === null || page.isIncomplete || isFailing || isLate;
    cursor = page.cursor;
    readAt = clock.now();
    isFailing = false;
    if (isGap) deps.missed();
    else for (const row of page.rows) deps.heard(row);
  };

  const look = async () => {
    if (!deps.isNeeded()) cursor = null;
    else if (!isReading) {
      isReading = true;
      await read().finally(() => {
        isReading = false;
      });
    }
  };

  const rounds = () => {
    timer = clock.after(POLL_EVERY, () => void look().then(() => isStopped || rounds()));
  };

  return {
    start() {
      void look();
      rounds();
    },
    check: () => void look(),
    stop() {
      isStopped = true;
      timer?.cancel();
    },
  };
}
