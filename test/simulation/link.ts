import {
  type ActorStore,
  type Address,
  addressText,
  type CommitBatch,
  type DueActor,
  FencedError,
  type InboxMessage,
  type LoadedActor,
  type PostedMessage,
  type ShardEpoch,
  type StoredReply,
  StoreUnavailableError,
} from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { Database } from './database.ts';
import type { Faults } from './faults.ts';
import type { World } from './world.ts';

/** The side of a replica that its connection to the database can see. */
export interface Endpoint {
  readonly name: string;
  readonly isAlive: boolean;
  crash(): void;
}

/** One replica's connection to the database: takes time, breaks, and outlives the replica by what it has sent. */
export class Link implements ActorStore {
  readonly #world: World;
  readonly #database: Database;
  readonly #faults: Faults;
  readonly #endpoint: Endpoint;

  constructor(world: World, database: Database, faults: Faults, endpoint: Endpoint) {
    this.#world = world;
    this.#database = database;
    this.#faults = faults;
    this.#endpoint = endpoint;
  }

  load(addresses: readonly Address[]): Promise<Map<string, LoadedActor>> {
    return this.#read(() => this.#database.load(addresses));
  }

  inbox(...query: Parameters<ActorStore['inbox']>): Promise<InboxMessage[]> {
    return this.#read(() => this.#database.inbox(...query));
  }

  due(shards: readonly number[], now: Micros, limit: number): Promise<DueActor[]> {
    return this.#read(() => this.#database.due(shards, now, limit));
  }

  nextWake(shards: readonly number[]): Promise<Micros | null> {
    return this.#read(() => this.#database.nextWake(shards));
  }

  post(messages: readonly PostedMessage[]): Promise<void> {
    return this.#read(() => this.#database.post(messages));
  }

  takeReplies(askedBy: string): Promise<StoredReply[]> {
    return this.#read(() => this.#database.takeReplies(askedBy));
  }

  epochs(shards: readonly number[]): Promise<ShardEpoch[]> {
    return this.#read(() => shards.map((shard) => ({ shard, epoch: this.#database.epochs[shard]! })));
  }

  async commit(batch: CommitBatch, bind: (numbers: readonly number[]) => void): Promise<void> {
    const fault = this.#faults.commit();
    this.#note(() => `commit ${describe(batch)}${fault === 'none' ? '' : `: ${fault}`}`);
    await this.#travel();
    switch (fault) {
      case 'unavailable':
        return this.#fail(new StoreUnavailableError('connection refused'));
      case 'crash_before':
        this.#endpoint.crash();
        return this.#answer(undefined);
      case 'fenced':
        return this.#fail(new FencedError('a newer owner exists'));
      case 'late':
        this.#landLater(batch, bind);
        return this.#fail(new StoreUnavailableError('no answer in time'));
      default:
    }
    if (fault === 'lasting_conflict') this.#obstruct(batch);
    try {
      this.#database.commit(batch, bind, this.#world.now, () => {
        if (fault === 'conflict' || this.#isObstructed(batch)) {
          this.#noteConflict(batch);
          throw this.#database.conflict();
        }
      });
    } catch (error) {
      this.#note(() => `commit refused: ${error}`);
      return this.#fail(error as Error);
    }
    if (fault === 'crash_after') this.#endpoint.crash();
    if (fault === 'answer_lost') return this.#fail(new StoreUnavailableError('connection reset'));
    return this.#answer(undefined);
  }

  /** The transaction is complete but for its end, which comes later: what it says is fixed now. */
  #landLater(batch: CommitBatch, bind: (numbers: readonly number[]) => void): void {
    const { counter } = this.#database;
    if (this.#endpoint.isAlive) bind(batch.claims.map((_, index) => counter + index + 1));
    const writes = batch.writes.map((write) => {
      const { address, shard, expectedVersion, schema, wakeAt } = write;
      const [persisted, states] = [write.persist(), write.states()];
      return {
        ...{ address, shard, expectedVersion, schema, wakeAt },
        states: () => states,
        persist: () => persisted,
      };
    });
    this.#world.after(this.#world.random.between(0, 4e6), () => {
      if (batch.claims.length > 0 && this.#database.counter !== counter) return;
      try {
        this.#database.commit(
          { ...batch, writes },
          () => undefined,
          this.#world.now,
          () => {
            if (this.#isObstructed(batch)) throw this.#database.conflict();
          },
        );
        this.#note(() => `landed late ${describe(batch)}`);
      } catch (error) {
        this.#note(() => `too late for ${describe(batch)}: ${error}`);
      }
    });
  }

  #obstruct({ writes }: CommitBatch): void {
    const write = writes[0];
    if (write !== undefined) this.#faults.obstruct(addressText(write.address), this.#world.now);
  }

  #isObstructed({ writes }: CommitBatch): boolean {
    return writes.some(({ address }) => this.#faults.isObstructed(addressText(address), this.#world.now));
  }

  #noteConflict({ consumed, epochs }: CommitBatch): void {
    const [only, ...others] = consumed;
    if (only === undefined || others.length > 0) return;
    const owner = epochs.map(({ shard, epoch }) => `${shard}@${epoch}`);
    const who = `${only.kind}#${only.seq} at ${this.#endpoint.name} ${owner}`;
    this.#faults.conflicts.push({ who, at: this.#world.now });
  }

  async #read<T>(read: () => T): Promise<T> {
    await this.#travel();
    if (this.#faults.read()) return this.#fail(new StoreUnavailableError('no answer to a read'));
    return this.#answer(read());
  }

  #travel(): Promise<void> {
    return this.#faults.slow() ? this.#world.pause(20_000, 400_000) : this.#world.pause(100, 3000);
  }

  async #answer<T>(value: T): Promise<T> {
    await this.#travel();
    return this.#endpoint.isAlive ? value : never();
  }

  async #fail(error: Error): Promise<never> {
    await this.#travel();
    if (this.#endpoint.isAlive) throw error;
    return never();
  }

  #note(text: () => string): void {
    this.#world.note(() => `${this.#endpoint.name} ${text()}`);
  }
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}

function describe(batch: CommitBatch): string {
  const writes = batch.writes.map((it) => `${it.address.kind}/${it.address.key}@${it.expectedVersion}`);
  const consumed = batch.consumed.map((it) => `${it.kind}#${it.seq}`);
  const sends = batch.sends.map((it) => `${it.to.kind}/${it.to.key}`);
  const records = batch.records.map((it) => ('id' in it ? `${it.type} ${it.id}` : it.type));
  return `[${writes}] consumes [${consumed}] sends [${sends}] records [${records}]`;
}
