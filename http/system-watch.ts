/**
 * Tells browsers when the notices or the System status changed (internal-alerts §6, §8). Every replica looks for itself,
 * so hints sent from here are for its own live streams.
 */
import type { Hint } from '../actors/effects.ts';
import { activeNotices } from '../actors/system/notices.ts';
import type { SystemStatusReader } from '../actors/system/ports.ts';
import { type Clock, type Micros, SECOND, type Timer } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';

const EVERY: Micros = 5 * SECOND;

export interface SystemWatchDeps {
  readonly reader: Pick<SystemStatusReader, 'signs'>;
  readonly hints: { send(hint: Hint): void };
  readonly clock: Clock;
  readonly log: Log;
}

export interface SystemWatch {
  /** Looks now, to know what is known already, and then every 5 s. */
  start(): void;
  stop(): void;
}

export function createSystemWatch({ reader, hints, clock, log }: SystemWatchDeps): SystemWatch {
  let timer: Timer | null = null;
  let isStopped = false;
  const known = new Map<Hint['type'], string>();

  const tellIfChanged = (type: 'system-notices' | 'system-status', facts: unknown) => {
    const before = known.get(type);
    const present = JSON.stringify(facts);
    known.set(type, present);
    if (before !== undefined && before !== present) hints.send({ type, id: null });
  };

  const look = async () => {
    const now = clock.now();
    const { pulse, replicas, troubles } = await reader.signs(now);
    const notices = activeNotices(pulse, now);
    tellIfChanged('system-notices', notices);
    tellIfChanged('system-status', { notices, downtime: pulse.downtime, replicas, troubles });
  };

  const round = async () => {
    if (isStopped) return;
    try {
      await look();
    } catch (error) {
      // Nobody is told now; the next look finds whatever changed meanwhile.
      log('store_read_failed', { what: 'system status', error: String(error) });
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
