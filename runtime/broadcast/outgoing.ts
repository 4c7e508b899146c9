/** The way out of a broadcast: what is said in one go is sent together, one bundle at a time. */
import { atMost } from '../at-most.ts';
import { type Clock, type Micros, SECOND, type Timer } from '../clock.ts';
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
