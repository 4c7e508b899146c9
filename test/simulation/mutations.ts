/** Ways to break the world that the invariants must notice: if they do not, the simulation proves nothing. */
import {
  type ActorDefinition,
  type ActorStore,
  type ActorWrite,
  type Address,
  type AnyActorDefinition,
  addressText,
  type InboxMessage,
  type LoadedActor,
  type OutgoingMessage,
  type Receipt,
  StoreUnavailableError,
} from '../../runtime/actor/index.ts';
import { Database } from './database.ts';
import type { Seams } from './simulate.ts';
import type { ToyMessage, ToyRows, ToyState } from './toy.ts';

export const MUTATIONS: Readonly<Record<string, Seams>> = {
  'a commit that fails half way keeps its first half': { database: () => new HalfCommits() },
  'used-up receipts stay for a second time': { database: () => new KeepsReceipts() },
  'the inbox is read newest first': { database: () => new BackwardInbox() },
  'a page of the inbox leaves out a row for good': { database: () => new LossyInbox() },
  'epochs are not checked': { database: () => new IgnoresEpochs() },
  'used-up receipts are accepted again': { database: () => new IgnoresReceipts() },
  'versions are not checked': { database: () => new IgnoresVersions() },
  'a passing conflict looks like a refusal for good': { database: () => new BlamesConflicts() },
  'messages to others are not stored': { database: () => new LosesSends() },
  'messages to others are stored twice': { database: () => new DoublesSends() },
  'numbers of failed commits are lost': { database: () => new LeakyNumbers() },
  'two commits draw the same number': { database: () => new SameNumbers() },
  'wake-ups are not stored': { database: () => new ForgetsWakeups() },
  'states are loaded without their rows': { database: () => new LoadsNoRows() },
  'an old state is loaded': { database: () => new LoadsOldStates() },
  'an actor keeps its rows for itself': { definitions: (all) => all.map(sharesRows) },
  'an actor forgets what it sent': { definitions: (all) => all.map(forgetsSent) },
  'a number is not taken over': { definitions: (all) => all.map(ignoresNumber) },
};

class HalfCommits extends Database {
  #count = 0;

  protected override consume(receipts: readonly Receipt[]): void {
    if (++this.#count % 7 === 0) throw new StoreUnavailableError('power failure');
    super.consume(receipts);
  }
}

/** Deletes a row only when it is used up for the second time: without an end a run would tell no more. */
class KeepsReceipts extends Database {
  readonly #kept = new Set<string>();

  protected override consume(receipts: readonly Receipt[]): void {
    const again = receipts.filter(({ kind, seq }) => this.#kept.has(`${kind} ${seq}`));
    for (const { kind, seq } of receipts) this.#kept.add(`${kind} ${seq}`);
    super.consume(again);
  }
}

class BackwardInbox extends Database {
  override inbox(...query: Parameters<ActorStore['inbox']>): InboxMessage[] {
    return super.inbox(...query).reverse();
  }
}

class LossyInbox extends Database {
  override inbox(...query: Parameters<ActorStore['inbox']>): InboxMessage[] {
    return super.inbox(...query).filter(({ seq }) => seq % 11 !== 0);
  }
}

class IgnoresEpochs extends Database {
  protected override checkEpochs(): void {}
}

class IgnoresReceipts extends Database {
  protected override checkReceipts(): void {}
}

class IgnoresVersions extends Database {
  protected override checkVersion(): void {}
}

class BlamesConflicts extends Database {
  override conflict(): Error {
    return new Error('serialization failure');
  }
}

class LosesSends extends Database {
  protected override store(sends: readonly OutgoingMessage[]): void {
    super.store(sends.slice(1));
  }
}

class DoublesSends extends Database {
  protected override store(sends: readonly OutgoingMessage[]): void {
    super.store([...sends, ...sends.slice(0, 1)]);
  }
}

class LeakyNumbers extends Database {
  protected override numbers(count: number): number[] {
    const numbers = super.numbers(count);
    super.keepNumbers(count);
    return numbers;
  }

  protected override keepNumbers(): void {}
}

class SameNumbers extends Database {
  protected override keepNumbers(count: number): void {
    super.keepNumbers(Math.max(0, count - 1));
  }
}

class ForgetsWakeups extends Database {
  protected override write(write: ActorWrite, persisted: string): void {
    const wakeAt = write.expectedVersion % 5 === 4 ? null : write.wakeAt;
    const { address, shard, schema, expectedVersion } = write;
    const [states, persist] = [() => write.states(), () => write.persist()];
    super.write({ address, shard, schema, expectedVersion, wakeAt, states, persist }, persisted);
  }
}

class LoadsNoRows extends Database {
  override load(addresses: readonly Address[]): Map<string, LoadedActor> {
    const loaded = super.load(addresses);
    for (const [text, actor] of loaded) loaded.set(text, { ...actor, rows: [] });
    return loaded;
  }
}

class LoadsOldStates extends Database {
  readonly #first = new Map<string, LoadedActor>();

  override load(addresses: readonly Address[]): Map<string, LoadedActor> {
    const loaded = super.load(addresses);
    for (const [text, actor] of loaded) {
      const first = this.#first.get(text);
      if (first === undefined) this.#first.set(text, actor);
      else loaded.set(text, { ...first, version: actor.version, rows: [...(first.rows as ToyRows)] });
    }
    return loaded;
  }
}

type Toy = ActorDefinition<ToyState, ToyRows, ToyMessage>;

/** Rows that outlive the actor they were loaded for, as if the engine kept them when it discards an actor. */
function sharesRows(definition: AnyActorDefinition): AnyActorDefinition {
  const toy = definition as Toy;
  const kept = new Map<string, ToyRows>();
  return {
    ...toy,
    receive(actor, message, env) {
      const key = addressText(actor.self);
      const rows = kept.get(key) ?? actor.rows;
      kept.set(key, rows);
      return toy.receive({ self: actor.self, state: actor.state, rows }, message, env);
    },
  } satisfies Toy as AnyActorDefinition;
}

function forgetsSent(definition: AnyActorDefinition): AnyActorDefinition {
  const toy = definition as Toy;
  return {
    ...toy,
    receive(actor, message, env) {
      const turn = toy.receive(actor, message, env);
      return { ...turn, state: { ...turn.state, sentTo: {} } };
    },
  } satisfies Toy as AnyActorDefinition;
}

function ignoresNumber(definition: AnyActorDefinition): AnyActorDefinition {
  return { ...definition, numbered: (state: ToyState) => state };
}
