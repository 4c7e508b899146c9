/** Three replicas on one database, their shards moving and calls getting lost while senders go on. */
import { hash } from 'node:crypto';
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { feedKey, groupKeyHash } from '../../actors/feed/identity.ts';
import { feedAddress, type SnapshotReceived } from '../../actors/feed/messages.ts';
import type { NewSnapshot } from '../../actors/feed/ports.ts';
import {
  type Address,
  SHARDS,
  type ShardEpoch,
  shardOf,
  UnavailableError,
} from '../../runtime/actor/index.ts';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { silentLog } from '../../runtime/log.ts';
import { newPublicId } from '../../runtime/public-id.ts';
import { countWaitingSnapshots } from '../../storage/engine/backlog.ts';
import { connect } from '../../storage/postgres/connection.ts';
import type { Sql } from '../../storage/postgres/records.ts';
import { createSnapshotQueue } from '../../storage/snapshots/queue.ts';
import { newSnapshot, useSnapshotPartitions } from '../../storage/snapshots/snapshots.fixture.ts';
import { createSnapshotWriter } from '../../storage/snapshots/writer.ts';
import { until } from '../../test/harness/until.ts';
import { useDatabase } from '../../test/postgres.ts';
import { type AcceptQueue, createAcceptQueue } from './accept-queue.ts';
import { freshMetrics, INTEGRATION, isAway } from './ingest.fixture.ts';
import type { Intake } from './intake.ts';
import { createPassingIntake } from './intake-passes.ts';
import { createParseCache, createSnapshotShard, type SnapshotShard } from './parse-cache.ts';

const database = useDatabase();
useSnapshotPartitions(database);

const REPLICAS = 3;
const SENDERS = 12;
const SNAPSHOTS = 60;
/** Waits are this much shorter than in a running service. */
const HASTE = 100;

const hastyClock: Clock = {
  now: () => systemClock.now(),
  after: (delay, run) => systemClock.after(delay / HASTE, run),
};

/** Who owns each shard under which epoch, as all replicas know it. */
class Shards {
  readonly #owners = new Map<number, { readonly owner: string; readonly epoch: number }>();
  readonly #listeners = new Set<() => void>();

  give(shards: readonly number[], owner: string): void {
    for (const shard of shards) {
      const epoch = (this.#owners.get(shard)?.epoch ?? 0) + 1;
      this.#owners.set(shard, { owner, epoch });
    }
    for (const listener of this.#listeners) listener();
  }
  of(replica: string) {
    const epochOf = (shard: number): number | null => {
      const held = this.#owners.get(shard);
      return held?.owner === replica ? held.epoch : null;
    };
    return {
      epochOf,
      owned: () =>
        [...this.#owners.keys()].flatMap((shard): ShardEpoch[] => {
          const epoch = epochOf(shard);
          return epoch === null ? [] : [{ shard, epoch }];
        }),
      onChange: (listener: () => void) => {
        this.#listeners.add(listener);
        return () => this.#listeners.delete(listener);
      },
    };
  }
}

interface Waiting {
  readonly message: SnapshotReceived;
  readonly done: () => void;
  readonly refuse: (error: Error) => void;
}

/**
 * Feeds of one replica, as the engine keeps them: one message at a time each. When their shard is lost, what waits is
 * given back at once, and what is being committed comes to its end.
 */
class Feeds {
  readonly #sql: Sql;
  readonly #placement: ReturnType<Shards['of']>;
  readonly #mailboxes = new Map<string, Waiting[]>();
  readonly #busy = new Set<string>();

  constructor(sql: Sql, placement: ReturnType<Shards['of']>) {
    this.#sql = sql;
    this.#placement = placement;
    placement.onChange(() => this.#giveBackLost());
  }
  deliver(to: Address, message: SnapshotReceived): Promise<void> {
    if (!this.#owns(to.key)) return Promise.reject(new UnavailableError('elsewhere'));
    return new Promise((done, refuse) => {
      const mailbox = this.#mailboxes.get(to.key) ?? [];
      this.#mailboxes.set(to.key, mailbox);
      mailbox.push({ message, done, refuse });
      if (!this.#busy.has(to.key)) void this.#work(to.key, mailbox);
    });
  }
  #owns(key: string): boolean {
    return this.#placement.epochOf(shardOf(feedAddress(key))) !== null;
  }
  #giveBackLost(): void {
    for (const [key, mailbox] of this.#mailboxes) {
      if (this.#owns(key)) continue;
      for (const { refuse } of mailbox.splice(0)) refuse(new UnavailableError('moved'));
    }
  }
  async #work(key: string, mailbox: Waiting[]): Promise<void> {
    this.#busy.add(key);
    for (let next = mailbox.shift(); next; next = mailbox.shift()) {
      await this.#commit(next.message);
      next.done();
    }
    this.#busy.delete(key);
  }
  /** Whoever comes second finds it used up. */
  async #commit({ seq, snapshot }: SnapshotReceived): Promise<void> {
    await this.#sql`
      with used as (delete from snapshot_queue where seq = ${seq} returning seq)
      insert into settled (group_key, number) select ${snapshot.groupKey}, ${snapshot.truncatedAlerts}::int from used`;
  }
}

interface Replica {
  readonly name: string;
  readonly intake: Intake;
  readonly accepts: AcceptQueue;
  readonly shardOf: SnapshotShard;
  readonly connection: Sql;
}

let shards: Shards;
let replicas: Replica[];
let lost = 0;

function startReplica(name: string): Replica {
  const connection = connect(database.settings(), { max: 1, applicationName: name });
  const placement = shards.of(name);
  const feeds = new Feeds(database.sql(), placement);
  const cache = createParseCache();
  const intake = createPassingIntake({
    system: { deliver: (to, message) => feeds.deliver(to, message as SnapshotReceived), backlog: () => 0 },
    placement,
    queue: createSnapshotQueue(database.sql()),
    cache,
    others: { call, signals: { isUp: true, onState: () => () => undefined }, hasIsolated: () => false },
    clock: hastyClock,
    log: silentLog,
    metrics: freshMetrics(),
  });
  const accepts = createAcceptQueue({
    writer: createSnapshotWriter(connection),
    clock: systemClock,
    isUnavailable: isAway,
    committed: intake.accepted,
    uncertain: () => intake.uncertain(),
  });
  return { name, intake, accepts, shardOf: createSnapshotShard(cache), connection };
}

/** Every tenth call gets lost. */
function call(called: readonly number[]): void {
  lost += 1;
  if (lost % 10 === 0) return;
  for (const { intake } of replicas) intake.poke(called);
}

function send({ accepts, shardOf: shardOfSnapshot }: Replica, body: Buffer): Promise<string> {
  const bodyHash = hash('sha256', body);
  const integrationId = INTEGRATION;
  const shard = shardOfSnapshot({ integrationId, bodyHash, body });
  const snapshot: NewSnapshot = { ...newSnapshot({ integrationId, body }), id: newPublicId('SS'), shard };
  accepts.hold(body.length);
  return new Promise((resolve) => accepts.put(snapshot, resolve));
}

/** One group: each Snapshot is sent when the one before was answered, to another replica each time. */
async function sendGroup(groupKey: string): Promise<void> {
  for (let number = 0; number < SNAPSHOTS; number++) {
    const to = replicas[(number * 7 + groupKey.length) % REPLICAS];
    const body = Buffer.from(
      JSON.stringify({ groupKey, status: 'firing', alerts: [], truncatedAlerts: number }),
    );
    if (to === undefined || (await send(to, body)) !== 'accepted') throw new Error('not accepted');
  }
}

/** Gives shards of the groups to other replicas until told to end. */
async function moveShards(isOver: () => boolean): Promise<number> {
  let moves = 0;
  while (!isOver()) {
    const group = moves % SENDERS;
    const shard = shardOf(feedAddress(feedKey(INTEGRATION, groupKeyHash(groupOf(group)))));
    shards.give([shard], replicas[(moves * 5 + 1) % REPLICAS]?.name ?? '');
    moves += 1;
    await new Promise<void>((resolve) => void systemClock.after(2_000, resolve));
  }
  return moves;
}

const groupOf = (number: number): string => `{}:{group="${'x'.repeat(number)}"}`;

beforeAll(async () => {
  await database.sql()`
    create table settled (place bigint generated always as identity, group_key text, number integer)`;
});

beforeEach(() => {
  shards = new Shards();
  replicas = Array.from({ length: REPLICAS }, (_, index) => startReplica(`replica-${index}`));
  for (let shard = 0; shard < SHARDS; shard++) shards.give([shard], `replica-${shard % REPLICAS}`);
  for (const { intake } of replicas) intake.start();
});

afterEach(async () => {
  for (const { intake } of replicas) intake.stop();
  await Promise.all(replicas.map(({ connection }) => connection.end({ timeout: 1 })));
});

it('processes every Snapshot once and those of a group in the order in which they were answered', async () => {
  let isOver = false;
  const moving = moveShards(() => isOver);
  await Promise.all(Array.from({ length: SENDERS }, (_, number) => sendGroup(groupOf(number))));
  await until('an empty queue', async () => (await countWaitingSnapshots(database.sql())) === 0);
  isOver = true;
  expect(await moving).toBeGreaterThan(20);

  const numbers = await database.sql()<{ sent: number[] }[]>`
    select array_agg(number order by place) as sent from settled group by group_key`;
  const inOrder = Array.from({ length: SNAPSHOTS }, (_, number) => number);
  expect(numbers.map(({ sent }) => sent)).toEqual(Array.from({ length: SENDERS }, () => inOrder));
});
