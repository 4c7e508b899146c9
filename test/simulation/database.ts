import {
  type ActorMessage,
  type ActorStore,
  type ActorWrite,
  type Address,
  type Asker,
  addressText,
  type CommitBatch,
  ConflictError,
  type DueActor,
  FencedError,
  type InboxMessage,
  type LoadedActor,
  type OutgoingMessage,
  type PostedMessage,
  type Receipt,
  ReceiptGoneError,
  type RecordedEffect,
  type ShardEpoch,
  type StoredReply,
  shardOf,
} from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import { ShardTable } from './shard-table.ts';
import type { ToyRecord } from './toy.ts';

export interface StoredActor {
  readonly address: Address;
  readonly shard: number;
  readonly version: number;
  readonly schema: number;
  /** JSON, as the real store keeps it: nothing in memory is shared with an actor. */
  readonly persisted: string;
  readonly wakeAt: Micros | null;
}

interface StoredMessage {
  readonly shard: number;
  readonly to: Address;
  readonly from: Address | null;
  readonly message: string;
  readonly asker: Asker | null;
}

/** One record of a commit, in the order in which they were stored. */
export interface JournalEntry {
  readonly commit: number;
  readonly at: Micros;
  readonly record: ToyRecord | SetAsideRecord;
}

export interface SetAsideRecord extends RecordedEffect {
  readonly type: 'dead_letter.recorded' | 'snapshot.failed';
  readonly to: Address;
  readonly from: Address | null;
  readonly message: ActorMessage;
}

export interface JournaledCommit {
  readonly epochs: readonly ShardEpoch[];
  /** The newest epochs at that moment. */
  readonly newest: readonly number[];
}

export interface QueueRange {
  readonly shard: number;
  readonly after: number;
  readonly upTo: number | null;
}

export interface QueuePage {
  readonly snapshots: readonly {
    readonly seq: number;
    readonly shard: number;
    readonly to: Address;
    readonly message: ActorMessage;
  }[];
  readonly drawn: number;
}

/** Tables in memory with the semantics the engine asks of storage. Every method is one instant. */
export class Database {
  readonly actors = new Map<string, StoredActor>();
  readonly rows = new Map<string, string[]>();
  readonly inboxRows = new Map<number, StoredMessage>();
  readonly snapshots = new Map<number, { readonly to: Address; readonly message: string }>();
  readonly replies: StoredReply[] = [];
  readonly journal: JournalEntry[] = [];
  readonly commits: JournaledCommit[] = [];
  readonly table = new ShardTable();
  readonly appliedIds = new Set<string>();
  counter = 0;
  #inboxSeq = 0;
  #snapshotSeq = 0;

  get epochs(): number[] {
    return this.table.epochs;
  }

  raise(shards: readonly number[], owner: string | null = null, now: Micros = 0): ShardEpoch[] {
    return this.table.raise(shards, owner, now);
  }

  /** Stores a message from outside. @returns its receipt's number */
  accept(to: Address, message: ActorMessage): number {
    const seq = this.draw();
    this.show(seq, to, message);
    return seq;
  }

  /** The number of a message that is about to be stored. */
  draw(): number {
    return ++this.#snapshotSeq;
  }

  /** The message with that number can be seen from now on. */
  show(seq: number, to: Address, message: ActorMessage): void {
    this.snapshots.set(seq, { to, message: JSON.stringify(message) });
  }

  /** Stored messages from outside of each range, the oldest `limit` of each; and the last number that was drawn. */
  pageOf(ranges: readonly QueueRange[], limit: number): QueuePage {
    const wanted = new Map(ranges.map((range) => [range.shard, { ...range, room: limit }]));
    const snapshots: QueuePage['snapshots'][number][] = [];
    for (const [seq, { to, message }] of [...this.snapshots].sort(([a], [b]) => a - b)) {
      const shard = shardOf(to);
      const range = wanted.get(shard);
      if (!range || range.room === 0 || seq <= range.after || seq > (range.upTo ?? seq)) continue;
      range.room--;
      snapshots.push({ seq, shard, to, message: JSON.parse(message) as ActorMessage });
    }
    return { snapshots, drawn: this.#snapshotSeq };
  }

  load(addresses: readonly Address[]): Map<string, LoadedActor> {
    const loaded = new Map<string, LoadedActor>();
    for (const address of addresses) {
      const text = addressText(address);
      const row = this.actors.get(text);
      if (row === undefined) continue;
      const { version, schema, wakeAt } = row;
      loaded.set(text, {
        ...{ version, schema, wakeAt },
        persisted: JSON.parse(row.persisted),
        rows: [...(this.rows.get(text) ?? [])],
      });
    }
    return loaded;
  }

  /** @param onBound runs after `bind`, before anything is written; when it throws, nothing is */
  commit(
    batch: CommitBatch,
    bind: (numbers: readonly number[]) => void,
    now: Micros,
    onBound: () => void,
  ): void {
    this.checkEpochs(batch.epochs);
    this.checkReceipts(batch.consumed);
    for (const write of batch.writes) this.checkVersion(write);
    if (batch.records.some((record) => record.type === 'refused'))
      throw new Error('violates a check constraint');
    bind(this.numbers(batch.claims.length));
    const persisted = batch.writes.map((write) => JSON.stringify(write.persist()));
    onBound();
    this.keepNumbers(batch.claims.length);
    this.commits.push({ epochs: batch.epochs, newest: batch.epochs.map(({ shard }) => this.epochs[shard]!) });
    batch.writes.forEach((write, index) => {
      this.write(write, persisted[index]!);
    });
    this.consume(batch.consumed);
    this.store(batch.sends);
    this.replies.push(...structuredClone(batch.replies));
    this.record(batch.records as JournalEntry['record'][], now);
  }

  inbox(...[shards, known, limit, passedOver]: Parameters<ActorStore['inbox']>): InboxMessage[] {
    const wanted = new Set(shards);
    const left = new Set(known);
    const full = new Set(passedOver);
    const found: InboxMessage[] = [];
    for (const [seq, row] of this.inboxRows) {
      if (found.length === limit) break;
      if (left.has(seq) || !wanted.has(row.shard)) continue;
      if (row.from !== null && full.has(addressText(row.from))) continue;
      found.push({ seq, to: row.to, from: row.from, message: JSON.parse(row.message), asker: row.asker });
    }
    return found;
  }

  due(shards: readonly number[], now: Micros, limit: number): DueActor[] {
    const wanted = new Set(shards);
    return [...this.actors.values()]
      .filter((row) => row.wakeAt !== null && row.wakeAt <= now && wanted.has(row.shard))
      .map((row) => ({ address: row.address, wakeAt: row.wakeAt! }))
      .sort((a, b) => a.wakeAt - b.wakeAt)
      .slice(0, limit);
  }

  nextWake(shards: readonly number[]): Micros | null {
    const wanted = new Set(shards);
    let next: Micros | null = null;
    for (const { wakeAt, shard } of this.actors.values()) {
      if (wakeAt !== null && wanted.has(shard) && (next === null || wakeAt < next)) next = wakeAt;
    }
    return next;
  }

  post(messages: readonly PostedMessage[]): void {
    this.store(messages.map((posted) => ({ ...posted, from: null })));
  }

  takeReplies(askedBy: string): StoredReply[] {
    const taken = this.replies.filter((reply) => reply.askedBy === askedBy);
    const left = this.replies.filter((reply) => reply.askedBy !== askedBy);
    this.replies.splice(0, this.replies.length, ...left);
    return taken;
  }

  /** What a commit comes to that met another transaction. */
  conflict(): Error {
    return new ConflictError('serialization failure');
  }

  protected checkEpochs(epochs: readonly ShardEpoch[]): void {
    const lost = epochs.filter(({ shard, epoch }) => this.epochs[shard] !== epoch);
    if (lost.length > 0)
      throw new FencedError(
        'a newer owner exists',
        lost.map((it) => it.shard),
      );
  }

  protected checkReceipts(receipts: readonly Receipt[]): void {
    const gone = receipts.filter(
      (it) => !(it.kind === 'inbox' ? this.inboxRows : this.snapshots).has(it.seq),
    );
    if (gone.length > 0) throw new ReceiptGoneError(gone);
    const distinct = new Set(receipts.map((it) => `${it.kind} ${it.seq}`));
    if (distinct.size < receipts.length) throw new ConflictError('a receipt twice in one commit');
  }

  protected checkVersion(write: ActorWrite): void {
    const stored = this.actors.get(addressText(write.address))?.version ?? 0;
    if (stored === write.expectedVersion) return;
    throw new ConflictError(
      `${addressText(write.address)} has version ${stored}, not ${write.expectedVersion}`,
    );
  }

  protected numbers(count: number): number[] {
    return Array.from({ length: count }, (_, index) => this.counter + index + 1);
  }

  protected keepNumbers(count: number): void {
    this.counter += count;
  }

  protected write(write: ActorWrite, persisted: string): void {
    const { address, shard, schema, wakeAt, expectedVersion } = write;
    const version = expectedVersion + 1;
    this.actors.set(addressText(address), { address, shard, schema, wakeAt, version, persisted });
  }

  protected consume(receipts: readonly Receipt[]): void {
    for (const { kind, seq } of receipts) (kind === 'inbox' ? this.inboxRows : this.snapshots).delete(seq);
  }

  protected store(sends: readonly (OutgoingMessage & { readonly asker?: Asker | null })[]): void {
    for (const { to, shard, from, message, asker } of sends) {
      this.inboxRows.set(++this.#inboxSeq, {
        to,
        shard,
        from,
        message: JSON.stringify(message),
        asker: asker ?? null,
      });
    }
  }

  protected record(records: readonly JournalEntry['record'][], at: Micros): void {
    for (const record of records) {
      this.journal.push({ commit: this.commits.length, at, record });
      if (record.type !== 'applied' && record.type !== 'noted') continue;
      this.appliedIds.add(record.id);
      if (record.type === 'noted') continue;
      const rows = this.rows.get(record.actor);
      if (rows === undefined) this.rows.set(record.actor, [record.id]);
      else rows.push(record.id);
    }
  }
}
