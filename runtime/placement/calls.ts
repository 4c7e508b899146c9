/**
 * How replicas notify each other that messages wait for a shard or replies for a member (operations §5.2 rule 4). Signals
 * carry the notifications; while they are down here, or a live replica has none, every replica polls once a second
 * (operations §5.5 rule 2).
 */
import type { Peers, Placement } from '../actor/index.ts';
import type { Signals } from '../broadcast.ts';
import { type Clock, type Micros, SECOND, type Timer } from '../clock.ts';
import { type Member, memberText } from './coordination.ts';
import { ANSWERS_EVERY, POLL_EVERY } from './lease-times.ts';

/** Polling interval that covers lost signals. */
const SWEEP_EVERY = 30 * SECOND;
/** A subscription takes effect within this time; then one poll covers the signals before it. */
const HEARING_AFTER = SECOND;

/** What waits for the owner of a shard. */
export type Called = 'inbox' | 'snapshots';

export interface CallsDeps {
  readonly me: Member;
  readonly signals: Signals;
  readonly placement: Pick<Placement, 'owned' | 'onChange'>;
  readonly clock: Clock;
  /** Whether a live replica has no lease, so that its signals do not arrive. */
  hasIsolated(): boolean;
  /** Calls back when another replica is gone. Returns the way to stop. */
  onGone(listener: () => void): () => void;
}

/** Who acts on what is heard: the engine and the intake, which send through {@link Calls} themselves. */
export interface CallListener {
  /** Something may wait for an owned shard; null: for any of them. */
  heard(what: Called, shard: number | null): void;
  /** Replies may wait for this member. */
  answered(): void;
}

export interface Calls extends Peers {
  /** Snapshots wait for the owners of these shards. */
  snapshotsWait(shards: Iterable<number>): void;
  start(listener: CallListener): void;
  stop(): void;
}

export function createCalls(deps: CallsDeps): Calls {
  const { signals, placement, clock } = deps;
  const me = memberText(deps.me);
  let listener: CallListener = { heard: () => undefined, answered: () => undefined };
  const listening = new Map<number, () => void>();
  let stops: readonly (() => void)[] = [];
  let timer: Timer | null = null;
  let pollTimer: Timer | null = null;
  let answersTimer: Timer | null = null;

  const callAll = (shards: Iterable<number>, what: Called): void => {
    for (const shard of shards) signals.publish(shardChannel(shard), what);
  };

  /** Whoever owns a shard listens to its channel. */
  const follow = (): void => {
    const owned = new Set(placement.owned().map(({ shard }) => shard));
    for (const [shard, stop] of listening) {
      if (owned.has(shard)) continue;
      stop();
      listening.delete(shard);
    }
    const won = [...owned].filter((shard) => !listening.has(shard));
    for (const shard of won) {
      const hear = (message: string) => {
        // Another release may call for what this one has not: looking for it would find nothing.
        if (message === 'inbox' || message === 'snapshots') listener.heard(message, shard);
      };
      listening.set(shard, signals.subscribe(shardChannel(shard), hear));
    }
    if (won.length > 0 && signals.isUp) lookAfter(HEARING_AFTER);
  };

  const lookEverywhere = (): void => {
    listener.heard('inbox', null);
    listener.heard('snapshots', null);
    listener.answered();
  };

  const look = (): void => {
    lookEverywhere();
    lookAfter(SWEEP_EVERY);
    answersTimer?.cancel();
    if (!signals.isUp) answersTimer = clock.after(ANSWERS_EVERY, lookForAnswers);
  };

  const poll = (): void => {
    if (!signals.isUp || deps.hasIsolated()) look();
    pollTimer = clock.after(POLL_EVERY, poll);
  };

  const lookForAnswers = (): void => {
    listener.answered();
    answersTimer = clock.after(ANSWERS_EVERY, lookForAnswers);
  };

  const lookAfter = (delay: Micros): void => {
    timer?.cancel();
    timer = clock.after(delay, look);
  };

  return {
    me,
    call: (shards) => callAll(shards, 'inbox'),
    answered(members) {
      for (const member of members) signals.publish(memberChannel(member), '');
    },
    snapshotsWait: (shards) => callAll(shards, 'snapshots'),
    start(started) {
      listener = started;
      stops = [
        placement.onChange(follow),
        signals.subscribe(memberChannel(me), () => listener.answered()),
        // On the way up as on the way down: calls may have been missed.
        signals.onState(look),
        // One that died may have written something and told nobody.
        deps.onGone(look),
      ];
      follow();
      look();
      pollTimer = clock.after(POLL_EVERY, poll);
    },
    stop() {
      for (const it of [timer, pollTimer, answersTimer]) it?.cancel();
      for (const stop of [...stops, ...listening.values()]) stop();
      listening.clear();
    },
  };
}

function shardChannel(shard: number): string {
  return `shard.${shard}`;
}

function memberChannel(member: string): string {
  return `member.${member}`;
}
