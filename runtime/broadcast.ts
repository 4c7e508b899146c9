/**
 * What replicas tell each other beside messages to actors: that something was saved, that a page should be read again.
 * Signals carry it while they are up, rows in the database while they are not (operations §5.5 rule 2). Either may lose
 * something; then every listener hears that anything may have changed, and looks at what is stored.
 */
import * as v from 'valibot';
import { type AnnouncementStore, createOutgoing, createRowReader, type Said } from './broadcast/channels.ts';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';

/**
 * Short messages between replicas that may get lost (Redis pub/sub). Nothing depends on them but speed: whoever listens
 * also knows where the truth is, and looks there when messages may have been missed.
 */
export interface Signals {
  /** Whether messages can be sent and received now. */
  readonly isUp: boolean;
  /** Calls back when that changed. After a change to up, messages may have been missed. */
  onState(listener: (isUp: boolean) => void): () => void;
  /** Sends to every replica that subscribes, this one included. Never throws; without a connection it does nothing. */
  publish(channel: string, message: string): void;
  /**
   * Channels are named without the installation's prefix. Returns the way to stop.
   * @param onPlaced hears true when messages of this channel begin to arrive, and false when they do no longer. What was
   *   sent before it heard true may have been missed
   */
  subscribe(
    channel: string,
    listener: (message: string) => void,
    onPlaced?: (isPlaced: boolean) => void,
  ): () => void;
}

/** Hears what another replica said. It validates the body; null: anything of this topic may have changed. */
export type AnnouncementListener = (body: unknown) => void;

export interface Broadcast {
  /**
   * Tells every other replica; listeners of this process are not called. Resolves when the message is on its way, or
   * after a second. Never rejects: what could not be sent is made up for by null once sending works again.
   * @param body plain JSON; null says that anything of the topic may have changed
   */
  send(topic: string, body: unknown): Promise<void>;
  /** Returns the way to stop listening. */
  on(topic: string, listener: AnnouncementListener): () => void;
  /** Others may have meant to say something and could not: every listener of this process hears null. */
  doubt(): void;
  start(): void;
  /** Hears nothing any more, and sends what still waits, for a second at most. */
  stop(): Promise<void>;
}

export interface BroadcastDeps {
  /** This run of this replica. */
  readonly me: string;
  readonly signals: Signals;
  readonly fallback: AnnouncementStore;
  /** Whether a live replica has no signals, so that rows are written and read besides. */
  readonly hasIsolated: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/** For a process that is alone: there is nobody to tell. */
export const noBroadcast: Broadcast = {
  send: async () => undefined,
  on: () => () => undefined,
  doubt: () => undefined,
  start: () => undefined,
  stop: async () => undefined,
};

const CHANNEL = 'announcements';

/**
 * What travels on the channel. `said` null: the sender was cut off, and what it said may not have arrived. It has no
 * number of a format: what another release says in another form cannot be read, and counts as anything.
 */
const Message = v.object({
  sender: v.string(),
  said: v.nullable(v.array(v.object({ topic: v.string(), body: v.unknown() }))),
});
type Message = v.InferOutput<typeof Message>;

export function createBroadcast(deps: BroadcastDeps): Broadcast {
  const { me, signals, fallback } = deps;
  const listeners = new Map<string, Set<AnnouncementListener>>();
  let unsubscribe: () => void = () => undefined;
  /** Whether announcements of others arrive, and ours go out. */
  let isPlaced = false;
  /** Something was said that those who hear signals may not have heard. */
  let owesNull = false;

  const tell = ({ topic, body }: Said) => {
    for (const listener of [...(listeners.get(topic) ?? [])]) listener(body ?? null);
  };
  const tellAnything = () => {
    for (const topic of [...listeners.keys()]) tell({ topic, body: null });
  };
  const publish = (said: Message['said']) => {
    signals.publish(CHANNEL, JSON.stringify({ sender: me, said } satisfies Message));
  };
  const usesRows = () => !isPlaced || deps.hasIsolated();

  const outgoing = createOutgoing({
    async carry(said) {
      if (isPlaced) publish([...said]);
      else owesNull = true;
      if (usesRows()) await fallback.append(said.map(({ topic, body }) => ({ sender: me, topic, body })));
    },
    clock: deps.clock,
    log: deps.log,
  });
  const rows = createRowReader({
    store: fallback,
    isNeeded: usesRows,
    heard(row) {
      if (row.sender !== me) tell(row);
    },
    missed: tellAnything,
    clock: deps.clock,
    log: deps.log,
  });

  const received = (text: string) => {
    const message = parsed(text);
    if (message?.sender === me) return;
    if (message?.said) for (const said of message.said) tell(said);
    // Whoever was cut off, or says what this build cannot read, may have meant anything.
    else tellAnything();
  };
  const turned = (isNowPlaced: boolean) => {
    if (isNowPlaced === isPlaced) return;
    isPlaced = isNowPlaced;
    rows.check();
    // What was said just before the connection broke may be lost without a sign.
    if (!isPlaced) owesNull = true;
    else {
      if (owesNull) publish(null);
      owesNull = false;
      tellAnything();
    }
  };

  return {
    send: outgoing.send,
    on(topic, listener) {
      const there = listeners.get(topic) ?? new Set();
      listeners.set(topic, there.add(listener));
      return () => void there.delete(listener);
    },
    doubt: tellAnything,
    start() {
      unsubscribe = signals.subscribe(CHANNEL, received, turned);
      rows.start();
    },
    async stop() {
      unsubscribe();
      rows.stop();
      await outgoing.stop();
    },
  };
}

function parsed(text: string): Message | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const message = v.safeParse(Message, value);
  return message.success ? message.output : null;
}
