/** The events that the bridge reports while the checks run, polled or pushed. */
import { type Clock, SECOND } from '../../clock.ts';
import { type Answer, type BridgeClient, demand, isObject } from './client.ts';
import { expectStatus } from './expect.ts';
import type { PushInbox } from './inbox.ts';

export type BridgeEvent = Readonly<Record<string, unknown>>;

export interface EventFeed {
  /** Events in the order in which they came, each as often as it came. */
  readonly seen: readonly BridgeEvent[];
  /** The first event that fits, of those seen and those that come within the seconds; null: none. */
  find(fits: (event: BridgeEvent) => boolean, seconds: number): Promise<BridgeEvent | null>;
}

export interface PolledFeed extends EventFeed {
  /** Takes everything there is. @returns the cursor behind it, which no other poll is ahead of */
  end(): Promise<string>;
}

export interface Page {
  readonly events: readonly BridgeEvent[];
  readonly cursor: string;
}

/** pollEvents takes this much longer than it was told to wait, at most. */
const GRACE_SECONDS = 15;
const LONGEST_WAIT_SECONDS = 25;
/** A bridge that does not wait is not to be flooded. */
const BETWEEN_EMPTY_POLLS_SECONDS = 0.25;

/** One pollEvents; `query` as it is sent. */
export function poll(client: BridgeClient, query: string, waitSeconds: number): Promise<Answer> {
  const path = `/v1/events${query === '' ? '' : `?${query}`}`;
  return client.call({ method: 'GET', path, seconds: waitSeconds + GRACE_SECONDS });
}

/** @throws Unmet when the answer is no page of events */
export function expectPage(answer: Answer): Page {
  expectStatus(answer, 200);
  const { events, next_cursor: cursor } = answer.fields;
  demand(Array.isArray(events) && events.every(isObject), 'events is not an array of objects');
  const isFine = typeof cursor === 'string' && cursor !== '' && [...cursor].length <= 1024;
  demand(isFine, 'next_cursor is not a string of 1 to 1024 characters');
  return { events, cursor };
}

/** @param cursor null: from the beginning */
export async function pollPage(client: BridgeClient, cursor: string | null, wait: number): Promise<Page> {
  const query = cursor === null ? `wait=${wait}` : `cursor=${encodeURIComponent(cursor)}&wait=${wait}`;
  return expectPage(await poll(client, query, wait));
}

export function createPolledFeed(client: BridgeClient, clock: Clock): PolledFeed {
  const seen: BridgeEvent[] = [];
  let cursor: string | null = null;

  const next = async (wait: number): Promise<Page> => {
    const page = await pollPage(client, cursor, wait);
    cursor = page.cursor;
    seen.push(...page.events);
    return page;
  };

  return {
    seen,
    async end() {
      let page = await next(0);
      while (page.events.length > 0) page = await next(0);
      return page.cursor;
    },
    async find(fits, seconds) {
      const end = clock.now() + seconds * SECOND;
      let found = seen.find(fits);
      while (!found) {
        const left = Math.max(0, Math.floor((end - clock.now()) / SECOND));
        const page = await next(Math.min(left, LONGEST_WAIT_SECONDS));
        found = page.events.find(fits);
        if (found || page.events.length > 0) continue;
        if (left === 0) return null;
        await client.pause(BETWEEN_EMPTY_POLLS_SECONDS);
      }
      return found;
    },
  };
}

export function createPushedFeed(inbox: PushInbox, clock: Clock): EventFeed {
  const seen = (): BridgeEvent[] => inbox.arrivals.flatMap(({ event }) => (event ? [event] : []));
  return {
    get seen() {
      return seen();
    },
    async find(fits, seconds) {
      const end = clock.now() + seconds * SECOND;
      for (;;) {
        const found = seen().find(fits);
        const left = (end - clock.now()) / SECOND;
        if (found || left <= 0) return found ?? null;
        await inbox.next(left);
      }
    },
  };
}
