/**
 * How replicas call each other: that messages wait for a shard, that answers wait for a member (operations §5.2 rule 4).
 * Signals carry the calls; while they are down here, or for another replica that lives, everybody looks by itself every
 * second (operations §5.5 rule 2).
 */
import type { Peers, Placement } from '../actor/index.ts';
import { type Clock, type Micros, SECOND, type Timer } from '../clock.ts';
import type { Signals } from '../signals.ts';
import { type Member, memberText } from './coordination.ts';
import { ANSWERS_EVERY, POLL_EVERY } from './lease-times.ts';

/** Calls that nobody heard are made up for by a look this often. */
const SWEEP_EVERY = 30 * SECOND;
/** A subscription takes effect within this; what was called before is looked for then. */
const HEARING_AFTER = SECOND;

/** What waits for the owner of a shard. */
export type Called = 'inbox' | 'snapshots';

export interface CallsDeps {
  readonly me: Member;
  readonly signals: Signals;
  readonly placement: Pick<Placement, 'owned' | 'onChange'>;
  readonly clock: Clock;
  /** Whether some replica that lives calls and is not heard. */
  mirrors(): boolean;
  /** Calls back when another replica is gone. Returns the way to stop. */
  onGone(listener: () => void): () => void;
  /** Something waits for a shard that is owned here; for any of them, or nobody can tell, when `shard` is null. */
  heard(what: Called, shard: number | null): void;
  /** Answers wait for this member, or nobody can tell. */
  answered(): void;
}

export interface Calls extends Peers {
  /** Snapshots wait for the owners of these shards. */
  snapshotsWait(shards: Iterable<number>): void;
  start(): void;
  stop(): void;
}

export function createCalls(deps: CallsDeps): Calls {
  const { signals, placement, clock } = deps;
  const me = memberText(deps.me);
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
        if (message === 'inbox' || message === 'snapshots') deps.heard(message, shard);
      };
      listening.set(shard, signals.subscribe(shardChannel(shard), hear));
    }
    if (won.length > 0 && signals.isUp) lookAfter(HEARING_AFTER);
  };

  const lookEverywhere = (): void => {
    deps.heard('inbox', null);
    deps.heard('snapshots', null);
    deps.answered();
  };

  const look = (): void => {
    lookEverywhere();
    lookAfter(SWEEP_EVERY);
    answersTimer?.cancel();
    if (!signals.isUp) answersTimer = clock.after(ANSWERS_EVERY, lookForAnswers);
  };

  const poll = (): void => {
    if (!signals.isUp || deps.mirrors()) look();
    pollTimer = clock.after(POLL_EVERY, poll);
  };

  const lookForAnswers = (): void => {
    deps.answered();
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
    start() {
      stops = [
        placement.onChange(follow),
        signals.subscribe(memberChannel(me), deps.answered),
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
