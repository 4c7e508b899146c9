/** The two ways of a broadcast: bundles that are published at once, and rows that other replicas read when messages were missed. */
import { atMost, type Clock, MINUTE, type Micros, SECOND, type Timer } from '../clock.ts';
import type { Log } from '../log.ts';
import { POLL_EVERY } from '../placement/lease-times.ts';

export interface Said {
  readonly topic: string;
  readonly body: unknown;
}

export interface OutgoingDeps {
  /** Sends a bundle. A rejection means that some of it may not have gone out. */
  readonly carry: (said: readonly Said[]) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Outgoing {
  send(topic: string, body: unknown): Promise<void>;
  stop(): Promise<void>;
}

/** A bundle that grows beyond this is replaced by one null a topic. */
const MOST_WAITING = 1_000;
/** How long a sender waits, and a stop for what is left. */
const PATIENCE: Micros = SECOND;

interface Bundle {
  said: Said[];
  readonly sent: Promise<void>;
  readonly done: () => void;
}

export function createOutgoing({ carry, clock, log }: OutgoingDeps): Outgoing {
  let waiting: Bundle | null = null;
  let running: Promise<void> | null = null;
  let retry: Timer | null = null;
  let isFailing = false;
  let isStopped = false;

  const add = (said: Said): Bundle => {
    waiting ??= newBundle();
    waiting.said.push(said);
    if (waiting.said.length > MOST_WAITING) waiting.said = nullsFor(waiting.said);
    running ??= run();
    return waiting;
  };

  const attempt = async ({ said }: Bundle) => {
    try {
      await carry(said);
      isFailing = false;
    } catch (error) {
      if (!isFailing) log('announcements_failed', { what: 'send', error: String(error) });
      isFailing = true;
      makeUpFor(said);
    }
  };

  const lost = new Set<string>();
  const makeUpFor = (said: readonly Said[]) => {
    for (const { topic } of said) lost.add(topic);
    if (isStopped) return;
    retry ??= clock.after(POLL_EVERY, () => {
      retry = null;
      const topics = [...lost];
      lost.clear();
      for (const topic of topics) add({ topic, body: null });
    });
  };

  const run = async () => {
    // Lets the caller finish, so that what it says in one go becomes one bundle.
    await Promise.resolve();
    for (let bundle = waiting; bundle !== null; bundle = waiting) {
      waiting = null;
      await attempt(bundle);
      bundle.done();
    }
    running = null;
  };

  return {
    async send(topic, body) {
      if (!isStopped) await atMost(clock, PATIENCE, add({ topic, body }).sent);
    },
    async stop() {
      isStopped = true;
      retry?.cancel();
      if (running) await atMost(clock, PATIENCE, running);
    },
  };
}

function newBundle(): Bundle {
  let done: () => void = () => undefined;
  const sent = new Promise<void>((resolve) => {
    done = resolve;
  });
  return { said: [], sent, done };
}

function nullsFor(said: readonly Said[]): Said[] {
  return [...new Set(said.map(({ topic }) => topic))].map((topic) => ({ topic, body: null }));
}

/** Reads announcements from the database, every second while that is needed. */
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

/** Announcements as rows, for the time without signals. Implemented in storage/engine/announcements.ts. */
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
