/** What belongs to one token alone: its events and the results of its idempotency keys. */
import type { EventLog } from './events.ts';
import { type BridgeAnswer, type Ports, Refusal } from './wire.ts';

const KEPT_MS = 24 * 3600 * 1000;

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
      if (since > ports.now() - KEPT_MS) return;
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
