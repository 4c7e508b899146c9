/** The events of one bot: kept in order for polls, and told to whoever pushes them. */
import type { Person } from './shapes.ts';
import { type BridgeAnswer, invalid, type Ports, Refusal } from './wire.ts';

export interface BridgeEvent {
  readonly id: string;
  readonly type: 'press' | 'thread_message' | 'account_link' | 'message_deleted';
  readonly occurred_at: string;
  readonly user: Person | null;
  readonly message_id?: string;
  readonly thread_ref?: string | null;
  readonly reply_id?: string;
  readonly data?: string;
  readonly text?: string;
  readonly token?: string;
}

export interface EventPage {
  readonly events: readonly BridgeEvent[];
  readonly next_cursor: string;
}

interface EventLog {
  append(fields: Omit<BridgeEvent, 'id' | 'occurred_at'>): BridgeEvent;
  find(id: string): BridgeEvent | undefined;
  /** Events after the cursor: at once when there are any, otherwise the first, or none after `seconds`. */
  poll(cursor: string | null, seconds: number, gone: AbortSignal): Promise<EventPage>;
}

const KEPT_MS = 24 * 3600 * 1000;
const MOST_IN_A_PAGE = 100;

/** @param boot tells this start of the bridge from others: cursors and ids from before are unknown */
export function createEventLog(
  boot: string,
  bot: number,
  ports: Ports,
  told: (event: BridgeEvent) => void,
): EventLog {
  const kept: { readonly number: number; readonly at: number; readonly event: BridgeEvent }[] = [];
  const waiting = new Set<() => void>();
  const prefix = `c-${boot}-${bot}-`;
  let last = 0;

  const numberOf = (cursor: string | null): number => {
    if (cursor === null) return 0;
    const number = cursor.startsWith(prefix) ? Number(cursor.slice(prefix.length)) : Number.NaN;
    if (!Number.isInteger(number) || number < 0 || number > last) throw invalid('cursor', 'is not known');
    return number;
  };

  const pageAfter = (number: number): EventPage => {
    const page = kept.filter((entry) => entry.number > number).slice(0, MOST_IN_A_PAGE);
    return {
      events: page.map(({ event }) => event),
      next_cursor: `${prefix}${page.at(-1)?.number ?? last}`,
    };
  };

  const nextEvent = (seconds: number, gone: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const wake = (): void => {
        cancel();
        waiting.delete(wake);
        gone.removeEventListener('abort', wake);
        resolve();
      };
      const cancel = ports.after(seconds * 1000, wake);
      waiting.add(wake);
      gone.addEventListener('abort', wake);
    });

  return {
    append(fields) {
      const at = ports.now();
      while (kept[0] && kept[0].at < at - KEPT_MS) kept.shift();
      last++;
      const event = { id: `evt-${boot}-${bot}-${last}`, occurred_at: new Date(at).toISOString(), ...fields };
      kept.push({ number: last, at, event });
      for (const wake of [...waiting]) wake();
      told(event);
      return event;
    },
    find: (id) => kept.find(({ event }) => event.id === id)?.event,
    async poll(cursor, seconds, gone) {
      const from = numberOf(cursor);
      const page = pageAfter(from);
      if (page.events.length > 0 || seconds === 0) return page;
      await nextEvent(seconds, gone);
      return pageAfter(from);
    },
  };
}

/** What belongs to one token alone: its events and the results of its idempotency keys. */
const RESULTS_KEPT_MS = 24 * 3600 * 1000;

export interface Bot {
  readonly number: number;
  readonly events: EventLog;
  readonly results: Results;
}

export interface Results {
  /**
   * Does the work once for a key and answers what came of it from then on. A failure is forgotten.
   * @throws Refusal while the first request with the key is at work
   */
  once(key: string, work: () => Promise<BridgeAnswer>): Promise<BridgeAnswer>;
}

export function createResults(ports: Ports): Results {
  const known = new Map<string, { readonly since: number; readonly answer: BridgeAnswer | 'at work' }>();

  const forgetOld = (): void => {
    for (const [key, { since }] of known) {
      if (since > ports.now() - RESULTS_KEPT_MS) return;
      known.delete(key);
    }
  };

  return {
    async once(key, work) {
      forgetOld();
      const found = known.get(key)?.answer;
      if (found === 'at work')
        throw new Refusal(409, 'the first request with this key is still at work', { class: 'transient' });
      if (found) return replayed(found);
      known.set(key, { since: ports.now(), answer: 'at work' });
      try {
        const answer = await work();
        known.set(key, { since: ports.now(), answer });
        return answer;
      } catch (error) {
        known.delete(key);
        throw error;
      }
    },
  };
}

function replayed(first: BridgeAnswer): BridgeAnswer {
  const body: Record<string, unknown> = JSON.parse(first.body);
  return { ...first, status: 200, body: JSON.stringify({ ...body, replayed: true }) };
}
