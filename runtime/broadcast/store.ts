/** Announcements as rows, for the time without signals. Implemented in storage/announcements.ts. */
import type { Micros } from '../clock.ts';

export interface AnnouncementStore {
  /** @throws when the database does not answer; the rows may be stored all the same */
  append(rows: readonly Announcement[]): Promise<void>;
  /** What was appended since a cursor; null: nothing yet, only where one would go on. */
  since(cursor: AnnouncementCursor | null): Promise<AnnouncementPage>;
}

export interface Announcement {
  readonly sender: string;
  readonly topic: string;
  /** Plain JSON. */
  readonly body: unknown;
}

/** Where a reader is. */
export interface AnnouncementCursor {
  /** Numbers up to this one were read, or will never come. */
  readonly floor: number;
  /** Numbers above it that were read, each with the instant at which it was. */
  readonly seen: ReadonlyMap<number, Micros>;
}

export interface AnnouncementPage {
  /** In the order in which they were appended. */
  readonly rows: readonly Announcement[];
  readonly cursor: AnnouncementCursor;
  /** More came than is read at once: some of it was passed over. */
  readonly isIncomplete: boolean;
}
