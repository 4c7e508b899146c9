/** The way of hints to open browsers on any replica (api §1.11, §13), and the watch that hints at the System status. */
import * as v from 'valibot';
import type { Hint, HintBus } from '../../actors/effects.ts';
import { activeNotices } from '../../actors/system/downtime.ts';
import type { SystemStatusReader } from '../../actors/system/ports.ts';
import type { Broadcast } from '../../runtime/broadcast.ts';
import { type Clock, type Micros, SECOND, type Timer } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import * as d from '../schema/described.ts';

/** Hands hints to whoever listens in this process, at once. */
export function createHintBus(): HintBus {
  const listeners = new Set<(hint: Hint | null) => void>();
  return {
    send(hint) {
      for (const listener of listeners) listener(hint);
    },
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

const TOPIC = 'hints';
/** Hints to other replicas wait this long for equal ones to join them. */
const GATHER: Micros = SECOND / 20;
/** More different hints than this in one go are not worth telling apart. */
const MOST_TOLD = 500;

const HintType = d.words(
  'LiveHintType',
  {
    'alert-group': 'An Alert Group, in any way.',
    'alert-groups': 'One was created or reopened.',
    integration: 'An Integration, its tokens, Heartbeat or warnings.',
    route: 'A Route, its Storm, Destinations or template error; null: the order.',
    connection: 'A Connection, its bot, warnings or inbound state.',
    destination: 'A Destination, its secrets, health or template error; null: any of them.',
    organization: 'The Organization, its outbound policy or master key.',
    'system-notices': 'A notice began or ended.',
    'system-status': 'The system status.',
    'account-links': 'An Account link of this user.',
  } satisfies Record<Hint['type'], string>,
  'What changed. Ignore types you do not know.',
);

export const HintShape = d.named(
  'LiveHint',
  v.object({
    type: HintType,
    id: d.described(
      v.nullable(v.pipe(v.string(), v.maxLength(100))),
      'Id of what changed; null when it is about all of them.',
    ),
  }),
  'The `data` of an event `hint`, as JSON. Sent after the change is stored.',
);

export interface SharedHintBusDeps {
  readonly broadcast: Broadcast;
  readonly clock: Clock;
}

export interface SharedHintBus extends HintBus {
  /** Tells listeners of this process alone: what every replica finds out by itself. */
  sendHere(hint: Hint): void;
  /** Tells others at once what waits for company. */
  flush(): void;
}

/** Hands hints to listeners of this process at once, and to those of other replicas. */
export function createSharedHintBus({ broadcast, clock }: SharedHintBusDeps): SharedHintBus {
  const listeners = new Set<(hint: Hint | null) => void>();
  const gathered = new Map<string, Hint>();
  let due: Timer | null = null;
  let stopHearing: (() => void) | null = null;

  const tell = (hint: Hint | null) => {
    for (const listener of listeners) listener(hint);
  };
  const tellOthers = () => {
    due?.cancel();
    due = null;
    if (gathered.size === 0) return;
    const hints = [...gathered.values()];
    gathered.clear();
    void broadcast.send(TOPIC, hints.length > MOST_TOLD ? null : hints);
  };
  const hear = (body: unknown) => {
    if (!Array.isArray(body)) return tell(null);
    // A kind that only a newer version knows means nothing to the browsers of this one.
    for (const item of body) if (v.is(HintShape, item)) tell(item);
  };

  return {
    send(hint) {
      tell(hint);
      if (gathered.size <= MOST_TOLD) gathered.set(`${hint.type}/${hint.id}`, hint);
      due ??= clock.after(GATHER, tellOthers);
    },
    sendHere: tell,
    flush: tellOthers,
    listen(listener) {
      listeners.add(listener);
      stopHearing ??= broadcast.on(TOPIC, hear);
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        stopHearing?.();
        stopHearing = null;
      };
    },
  };
}

/**
 * Tells browsers when the notices or the System status changed (internal-alerts §6, §8). Every replica looks for itself,
 * so hints sent from here are for its own live streams.
 */
const WATCHED_EVERY: Micros = 5 * SECOND;

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
    if (!isStopped) timer = clock.after(WATCHED_EVERY, () => void round());
  };

  return {
    start: () => void round(),
    stop() {
      isStopped = true;
      timer?.cancel();
    },
  };
}
