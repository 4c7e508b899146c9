/** How far this process's clock is from that of the database, which all replicas share (operations §7). */
import { Gauge, type Registry } from 'prom-client';
import { type Clock, MINUTE, type Micros, SECOND, type Timer } from './clock.ts';
import type { Log } from './log.ts';

const EVERY: Micros = MINUTE;
const WARNING: Micros = 2 * SECOND;
/** An answer that took longer says too little about the moment in which the clock was read. */
const LONGEST_TRIP: Micros = SECOND;

export interface ClockSkewMetrics {
  /** Positive when this process is ahead. */
  measured(skew: Micros): void;
}

export function createClockSkewMetrics(registry: Registry): ClockSkewMetrics {
  let latest: Micros | null = null;
  new Gauge({
    name: 'svc_clock_skew_seconds',
    help: 'Clock of this process minus clock of the database.',
    registers: [registry],
    collect() {
      if (latest === null) this.remove();
      else this.set(latest / SECOND);
    },
  });
  return {
    measured(skew) {
      latest = skew;
    },
  };
}

export interface ClockSkewDeps {
  readonly clock: Clock;
  /** The database's clock, µs. */
  readonly databaseNow: () => Promise<Micros>;
  readonly metrics: ClockSkewMetrics;
  readonly log: Log;
}

export interface ClockSkew {
  /** Compares now and every minute. */
  start(): void;
  stop(): void;
}

/** Compares the clocks, half the way of the answer taken off, and warns once per excursion. */
export function createClockSkew({ clock, databaseNow, metrics, log }: ClockSkewDeps): ClockSkew {
  let isFar = false;
  let isStopped = false;
  let timer: Timer | null = null;

  const compare = async () => {
    const asked = clock.now();
    const theirs = await databaseNow();
    const answered = clock.now();
    if (answered - asked > LONGEST_TRIP) return;
    const skew = (asked + answered) / 2 - theirs;
    metrics.measured(skew);
    const wasFar = isFar;
    isFar = Math.abs(skew) > WARNING;
    if (isFar && !wasFar) {
      log('clock_skew', { skew_seconds: skew / SECOND, warning_seconds: WARNING / SECOND });
    }
  };

  const round = async () => {
    if (isStopped) return;
    try {
      await compare();
    } catch (error) {
      // The clocks are compared again in a minute; until then the last comparison stands.
      log('store_read_failed', { what: 'clock', error: String(error) });
    }
    if (!isStopped) timer = clock.after(EVERY, () => void round());
  };

  return {
    start: () => void round(),
    stop() {
      isStopped = true;
      timer?.cancel();
    },
  };
}
