/** The way of hints to open browsers, on whatever replica their streams are (api §1.11, §13). */
import * as v from 'valibot';
import { HINT_TYPES, type Hint, type HintBus } from '../actors/effects.ts';
import type { Broadcast } from '../runtime/broadcast.ts';
import { type Clock, type Micros, SECOND, type Timer } from '../runtime/clock.ts';

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

const HintShape = v.object({
  type: v.picklist(HINT_TYPES),
  id: v.nullable(v.pipe(v.string(), v.maxLength(100))),
});

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
