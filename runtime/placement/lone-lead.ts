import type { Clock, Micros, Monotonic } from '../clock.ts';
import type { Log } from '../log.ts';
import { type Member, memberText } from './coordination.ts';
import type { Lead } from './lead.ts';
import { LEASE_TTL, LONE_LOOK_EVERY } from './lease-times.ts';
import type { ReplicaRecords } from './replica-records.ts';

export interface LoneLeadDeps {
  readonly me: Member;
  readonly lead: Lead;
  readonly records: Pick<ReplicaRecords, 'live' | 'leaders'>;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly log: Log;
}

/**
 * Who leads, for a member that has nowhere to meet (operations §5.3, §5.5): whoever claims to in its record. A Leader
 * that was cut off alone gives way to the one that the others have found; when the Leader died in an outage, the first
 * of the living takes its place. With the next confirmed beat all of it is as the place to meet says.
 */
export class LoneLead {
  readonly #deps: LoneLeadDeps;
  /** When a beat was confirmed last: by the monotonic clock, and by the one that records are written with. */
  #metAt: { readonly monotonic: Micros; readonly wall: Micros } | null = null;
  #lookedAt: Micros | null = null;

  constructor(deps: LoneLeadDeps) {
    this.#deps = deps;
  }

  /** A beat was confirmed. */
  met(): void {
    const { clock, monotonic } = this.#deps;
    this.#metAt = { monotonic: monotonic(), wall: clock.now() };
    this.#lookedAt = null;
  }

  /** Call it after every beat that failed; looks now and then only, and not before a lease has lapsed. Never rejects. */
  async look(): Promise<void> {
    const { me, lead, records, clock, monotonic, log } = this.#deps;
    const metAt = this.#metAt;
    const now = monotonic();
    if (metAt !== null && now - metAt.monotonic < LEASE_TTL) return;
    if (this.#lookedAt !== null && now - this.#lookedAt < LONE_LOOK_EVERY) return;
    this.#lookedAt = now;
    try {
      const [leaders, live] = await Promise.all([records.leaders(clock.now()), records.live(clock.now())]);
      // Replicas meet again, or this one has stopped.
      if (this.#metAt !== metAt || this.#lookedAt !== now) return;
      const others = leaders.filter((leader) => memberText(leader) !== memberText(me));
      if (others.some(({ refreshedAt }) => refreshedAt > (metAt?.wall ?? 0))) {
        lead.set(false, 'another member leads, by its record');
      } else if (others.length === 0 && live[0]?.id === me.id) lead.set(true);
    } catch (error) {
      log('store_read_failed', { what: 'replicas', error: String(error) });
    }
  }

  /** An answer that is under way counts no more, and there is no further look. */
  stop(): void {
    this.#lookedAt = Number.POSITIVE_INFINITY;
  }
}
