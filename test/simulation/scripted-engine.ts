import { Registry } from 'prom-client';
import {
  type ActorDefinition,
  type ActorMessage,
  type ActorSystem,
  type Address,
  type CommitBatch,
  createActorMetrics,
  createActorSystem,
  type EngineLimits,
  type PerformedEffect,
  type RecordedEffect,
  SHARDS,
  type Turn,
  type TurnEnv,
} from '../../runtime/actor/index.ts';
import { type Micros, SECOND } from '../../runtime/clock.ts';
import type { LogEvent } from '../../runtime/log.ts';
import { Database, type SetAsideRecord } from './database.ts';
import { Faults, SOUND } from './faults.ts';
import { Link } from './link.ts';
import { World } from './world.ts';

/** The state of a scripted actor: whatever its script makes of it. */
export interface Scripted {
  readonly notes: readonly string[];
  readonly wakeAt: number | null;
  readonly number: number | null;
}

export type Script = (
  state: Scripted,
  message: ActorMessage & { readonly note?: string },
  env: TurnEnv,
) => Partial<Omit<Turn<Scripted>, 'state' | 'wakeAt'>> & { readonly state?: Partial<Scripted> };

/** An actor whose turns are given by one function. */
export function scripted(
  kind: string,
  script: Script,
  more: Partial<ActorDefinition<Scripted, null, ActorMessage>> = {},
): ActorDefinition<Scripted, null, ActorMessage> {
  return {
    kind,
    schema: 1,
    migrate: (persisted) => persisted,
    start: () => ({ notes: [], wakeAt: null, number: null }),
    restore: (persisted) => persisted as Scripted,
    persist: (state) => state,
    emptyRows: () => null,
    weight: () => 1,
    numbered: (state, number) => ({ ...state, number }),
    receive(actor, message, env) {
      const turn = script(actor.state, message, env);
      const state = turn.state === undefined ? actor.state : { ...actor.state, ...turn.state };
      return { sends: [], records: [], performs: [], ...turn, state, wakeAt: state.wakeAt };
    },
    ...more,
  };
}

/** A script that keeps what it was told. */
export const keepNote: Script = (state, message) => ({
  state: { notes: [...state.notes, message.note ?? '-'] },
});

export function note(text: string): ActorMessage & { readonly note: string } {
  return { type: 'note', note: text };
}

/** Collects what a promise comes to without waiting for it. */
export function watch(promise: Promise<unknown>): { value: unknown } {
  const seen: { value: unknown } = { value: 'pending' };
  promise.then(
    (value) => {
      seen.value = value;
    },
    (error) => {
      seen.value = error;
    },
  );
  return seen;
}

export interface ScriptedEngine {
  readonly world: World;
  readonly database: Database;
  readonly system: ActorSystem;
  readonly commits: readonly CommitBatch[];
  readonly performed: readonly PerformedEffect[];
  readonly logged: readonly { readonly event: LogEvent; readonly fields: unknown; readonly at: Micros }[];
  readonly metrics: Registry;
  /** Lets so many seconds pass. */
  pass(seconds: number): Promise<void>;
  /** Sets the wall clock forward; no timer notices. */
  setForward(by: Micros): void;
  /** Stores a message and delivers it. */
  deliver(to: Address, message: ActorMessage & { note?: string }): Promise<void>;
  stored(of: Address): Scripted | undefined;
  /** Shards of this process from now on, under fresh epochs. */
  own(shards: readonly number[]): void;
  /** What the next commits come to, in order; afterwards they succeed. */
  failCommits(...errors: readonly Error[]): void;
}

/** One engine on a sound database, with time in the hands of the test. */
export async function startScriptedEngine(options: {
  readonly definitions: readonly ActorDefinition<Scripted, null, ActorMessage>[];
  readonly limits?: Partial<EngineLimits>;
  readonly setAside?: (to: Address, message: ActorMessage) => readonly RecordedEffect[];
  /** A database with a past. */
  readonly database?: Database;
  readonly decidedWith?: () => number;
  readonly holdsBack?: (actor: Address) => boolean;
  /** One of several processes. */
  readonly isOneOfSeveral?: true;
}): Promise<ScriptedEngine> {
  const world = new World(1, false);
  const database = options.database ?? new Database();
  const faults = new Faults(SOUND, world.random.fork());
  const link = new Link(world, database, faults, { name: 'r', isAlive: true, crash: () => undefined });
  const commits: CommitBatch[] = [];
  const performed: PerformedEffect[] = [];
  const logged: { event: LogEvent; fields: unknown; at: Micros }[] = [];
  const metrics = new Registry();
  const listeners = new Set<() => void>();
  let failures: Error[] = [];
  let ahead = 0;
  let held = new Map<number, number>();
  const own = (shards: readonly number[]) => {
    held = new Map(database.raise(shards).map(({ shard, epoch }) => [shard, epoch]));
    for (const listener of listeners) listener();
  };
  own(Array.from({ length: SHARDS }, (_, shard) => shard));
  const system = createActorSystem({
    definitions: options.definitions,
    decidedWith: options.decidedWith ?? (() => 0),
    store: {
      load: (addresses) => link.load(addresses),
      inbox: (...query) => link.inbox(...query),
      due: (...query) => link.due(...query),
      nextWake: (shards) => link.nextWake(shards),
      post: (messages) => link.post(messages),
      takeReplies: (askedBy) => link.takeReplies(askedBy),
      epochs: (shards) => link.epochs(shards),
      async commit(batch, bind) {
        const failure = failures.shift();
        if (failure !== undefined) {
          await world.pause(100, 3000);
          throw failure;
        }
        commits.push(batch);
        await link.commit(batch, bind);
      },
    },
    placement: {
      isAlone: options.isOneOfSeveral !== true,
      epochOf: (shard) => held.get(shard) ?? null,
      owned: () => [...held].map(([shard, epoch]) => ({ shard, epoch })),
      onChange: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      followed: () => undefined,
      fenced: () => undefined,
    },
    clock: { ...world.clock, now: () => world.now + ahead },
    performer: (effect) => performed.push(effect),
    random: (size) => world.random.bytes(size),
    log: (event, fields) => logged.push({ event, fields, at: world.now }),
    metrics: createActorMetrics(metrics),
    peers: null,
    monotonic: () => world.now,
    setAside:
      options.setAside ??
      ((to, message) => [{ type: 'snapshot.failed', to, from: null, message } as SetAsideRecord]),
    ...(options.limits ? { limits: options.limits } : {}),
    ...(options.holdsBack ? { holdsBack: options.holdsBack } : {}),
  });
  const pass = (seconds: number) => world.runUntil(() => false, world.now + seconds * SECOND);
  await system.start();
  await pass(0.1);
  return {
    ...{ world, database, system, commits, performed, logged, metrics, pass, own },
    deliver(to, message) {
      const seq = database.accept(to, message);
      return system.deliver(to, message, { kind: 'snapshot', seq, receivedAt: world.now });
    },
    stored(of) {
      const row = database.actors.get(`${of.kind}/${of.key}`);
      return row && (JSON.parse(row.persisted) as Scripted);
    },
    setForward(by) {
      ahead += by;
    },
    failCommits(...errors) {
      failures = [...errors];
    },
  };
}
