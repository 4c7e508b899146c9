import type { Clock, Micros, Monotonic } from '../clock.ts';
import type { Log } from '../log.ts';
import { type Member, memberText } from './coordination.ts';
import type { Lead } from './leadership.ts';
import { LEASE_TTL, LONE_LOOK_EVERY } from './lease-times.ts';
import type { ReplicaRecords } from './replica-record.ts';

export interface LeaderWithoutRedisDeps {
  readonly me: Member;
  readonly lead: Lead;
  readonly records: Pick<ReplicaRecords, 'live' | 'leaders'>;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly log: Log;
}

/**
 * Decides who leads while this member cannot reach Redis (operations §5.3, §5.5): the member whose record claims to. A
 * Leader that alone lost Redis steps down once another member's record claims the lead; if the Leader died during the
 * outage, the first live member by id leads. The next confirmed beat makes Redis decide again.
 */
export class LeaderWithoutRedis {
  readonly #deps: LeaderWithoutRedisDeps;
  /** When a beat was confirmed last: by the monotonic clock, and by the wall clock that records are written with. */
  #metAt: { readonly monotonic: Micros; readonly wall: Micros } | null = null;
  #lookedAt: Micros | null = null;

  constructor(deps: LeaderWithoutRedisDeps) {
    this.#deps = deps;
  }

  /** A beat was confirmed. */
  met(): void {
    const { clock, monotonic } = this.#deps;
    this.#metAt = { monotonic: monotonic(), wall: clock.now() };
    this.#lookedAt = null;
  }

  /** Call it after every failed beat. Reads the records once the lease has lapsed, every few seconds. Never rejects. */
  async look(): Promise<void> {
    const { me, lead, records, clock, monotonic, log } = this.#deps;
    const metAt = this.#metAt;
    const now = monotonic();
    if (metAt !== null && now - metAt.monotonic < LEASE_TTL) return;
    if (this.#lookedAt !== null && now - this.#lookedAt < LONE_LOOK_EVERY) return;
    this.#lookedAt = now;
    try {
      const [leaders, live] = await Promise.all([records.leaders(clock.now()), records.live(clock.now())]);
      // Redis is back, or this member has stopped.
      if (this.#metAt !== metAt || this.#lookedAt !== now) return;
      const others = leaders.filter((leader) => memberText(leader) !== memberText(me));
      if (others.some(({ refreshedAt }) => refreshedAt > (metAt?.wall ?? 0))) {
        lead.set(false, 'another member leads, by its record');
      } else if (others.length === 0 && live[0]?.id === me.id) lead.set(true);
    } catch (error) {
      log('store_read_failed', { what: 'replicas', error: String(error) });
    }
  }

  /** Ignores a read in flight, and begins no other one. */
  stop(): void {
    this.#lookedAt = Number.POSITIVE_INFINITY;
  }
}
