import { Registry } from 'prom-client';
import {
  type ActorMessage,
  type ActorSystem,
  type Address,
  type AnyActorDefinition,
  createActorMetrics,
  createActorSystem,
  type EngineLimits,
  type PerformedEffect,
  type Placement,
  SHARDS,
  type ShardEpoch,
  shardOf,
} from '../../runtime/actor/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Database, SetAsideRecord } from './database.ts';
import type { Faults } from './faults.ts';
import { type Endpoint, Link } from './link.ts';
import type { World } from './world.ts';

export interface ClusterDeps {
  readonly world: World;
  readonly database: Database;
  readonly faults: Faults;
  readonly definitions: readonly AnyActorDefinition[];
  readonly limits: Partial<EngineLimits>;
  /** What a performed effect does; `node` is the replica that performs. */
  perform(effect: PerformedEffect, from: Address, node: Replica): void;
}

/** One process running the engine. */
export class Replica implements Endpoint {
  readonly name: string;
  readonly system: ActorSystem;
  readonly #held = new Map<number, number>();
  readonly #listeners = new Set<() => void>();
  #isAlive = true;
  readonly #onCrash: () => void;

  constructor(
    name: string,
    deps: ClusterDeps,
    onCrash: () => void,
    onFenced: () => void,
    onSetAside: (what: string) => void,
  ) {
    this.name = name;
    this.#onCrash = onCrash;
    const { world, database, faults, definitions, limits } = deps;
    this.system = createActorSystem({
      definitions,
      limits,
      store: new Link(world, database, faults, this),
      placement: this.#placement(),
      clock: this.#clock(world.clock),
      performer: (effect, from) => {
        if (this.#isAlive) deps.perform(effect, from, this);
      },
      random: (size) => world.random.bytes(size),
      log: (event, fields) => {
        world.note(() => `${name} ${event} ${JSON.stringify(fields ?? {})}`);
        if (event === 'lease_fenced') onFenced();
        if (event === 'message_set_aside') onSetAside(`${name} ${JSON.stringify(fields)}`);
      },
      metrics: createActorMetrics(new Registry()),
      peers: null,
      monotonic: () => world.now,
      setAside: (to, message) => [{ type: 'snapshot.failed', to, from: null, message } as SetAsideRecord],
    });
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  crash(): void {
    if (!this.#isAlive) return;
    this.#isAlive = false;
    this.#onCrash();
  }

  hold(epochs: readonly ShardEpoch[]): void {
    for (const { shard, epoch } of epochs) this.#held.set(shard, epoch);
    this.#changed();
  }

  /** Gives up shards, except those that it got back since. */
  letGo(epochs: readonly ShardEpoch[]): void {
    for (const { shard, epoch } of epochs) if (this.#held.get(shard) === epoch) this.#held.delete(shard);
    this.#changed();
  }

  heldOf(shards: readonly number[]): ShardEpoch[] {
    return shards.flatMap((shard) => {
      const epoch = this.#held.get(shard);
      return epoch === undefined ? [] : [{ shard, epoch }];
    });
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }

  #placement(): Placement {
    return {
      isAlone: true,
      epochOf: (shard) => this.#held.get(shard) ?? null,
      owned: () => [...this.#held].map(([shard, epoch]) => ({ shard, epoch })),
      onChange: (listener) => {
        this.#listeners.add(listener);
        return () => this.#listeners.delete(listener);
      },
      followed: () => undefined,
      fenced: () => undefined,
    };
  }

  /** Time as the process feels it: nothing fires once it is dead. */
  #clock(clock: Clock): Clock {
    return {
      now: () => clock.now(),
      after: (delay, run) => clock.after(delay, () => this.#isAlive && run()),
    };
  }
}

/** The replicas of a run, who owns what, and the sender side that delivers stored messages to the owners. */
export class Cluster {
  readonly #deps: ClusterDeps;
  readonly #owners: (Replica | null)[] = new Array(SHARDS).fill(null);
  readonly replicas: Replica[] = [];
  readonly brokenWakes: string[] = [];
  readonly #size: number;
  #started = 0;

  constructor(deps: ClusterDeps, size: number) {
    this.#deps = deps;
    this.#size = size;
  }

  start(): void {
    for (let index = 0; index < this.#size; index++) this.#launch();
    for (let shard = 0; shard < SHARDS; shard += 1) this.#owners[shard] = this.replicas[shard % this.#size]!;
    for (const replica of this.replicas) this.#give(replica, this.#shardsOf(replica));
  }

  alive(): Replica[] {
    return this.replicas.filter((it) => it.isAlive);
  }

  ownerOf(to: Address): Replica | null {
    const owner = this.#owners[shardOf(to)] ?? null;
    return owner?.isAlive ? owner : null;
  }

  /** Stores a message from outside and hands it to the owner. */
  accept(to: Address, message: ActorMessage): void {
    const seq = this.#deps.database.accept(to, message);
    this.#deliver(seq);
  }

  /** Another replica becomes the owner of some shards; the present one learns it late, or never. */
  move(): void {
    const { world } = this.#deps;
    const [from, to] = [world.random.pick(this.alive()), world.random.pick(this.alive())];
    if (from === undefined || to === undefined || from === to) return;
    const shards = this.#shardsOf(from).filter(() => world.random.chance(0.5));
    world.note(() => `${shards.length} shards move from ${from.name} to ${to.name}`);
    const held = from.heldOf(shards);
    this.#give(to, shards);
    if (world.random.chance(0.7)) world.after(world.random.between(0, 2e6), () => from.letGo(held));
  }

  /** Reminds every replica to look for messages, as the fallback of several replicas does. */
  poke(): void {
    for (const replica of this.alive()) replica.system.poke();
  }

  #launch(): Replica {
    const name = `r${++this.#started}`;
    const replica: Replica = new Replica(
      name,
      this.#deps,
      () => this.#crashed(replica),
      () => this.#later(() => this.#heal(replica)),
      (what) => {
        if (what.includes('"message":"wake"')) this.brokenWakes.push(what);
      },
    );
    this.replicas.push(replica);
    void replica.system.start();
    return replica;
  }

  #crashed(replica: Replica): void {
    this.#deps.world.note(() => `${replica.name} crashes`);
    this.#later(() => {
      const successor = this.#launch();
      this.#deps.world.note(() => `${successor.name} takes over from ${replica.name}`);
      this.#give(successor, this.#shardsOf(replica));
    });
  }

  /** A replica was told that it lost shards: what is still meant for it, it gets anew. */
  #heal(replica: Replica): void {
    if (replica.isAlive) this.#give(replica, this.#shardsOf(replica));
  }

  #give(replica: Replica, shards: readonly number[]): void {
    if (!replica.isAlive) return;
    for (const shard of shards) this.#owners[shard] = replica;
    replica.hold(this.#deps.database.raise(shards));
    const own = new Set(shards);
    for (const [seq, { to }] of this.#deps.database.snapshots) if (own.has(shardOf(to))) this.#deliver(seq);
  }

  #deliver(seq: number): void {
    const { world, database } = this.#deps;
    const stored = database.snapshots.get(seq);
    const owner = stored && this.ownerOf(stored.to);
    if (!stored || !owner) return;
    const message = JSON.parse(stored.message) as ActorMessage;
    owner.system
      .deliver(stored.to, message, { kind: 'snapshot', seq, receivedAt: world.now })
      .catch((error) => {
        world.note(() => `${owner.name} does not deliver snapshot#${seq}: ${error}`);
      });
  }

  #shardsOf(replica: Replica): number[] {
    return this.#owners.flatMap((owner, shard) => (owner === replica ? [shard] : []));
  }

  #later(run: () => void): void {
    const { world } = this.#deps;
    world.after(world.random.between(1000, 1_500_000), run);
  }
}
