/** Stores what was accepted: many Snapshots in one transaction, their bodies by COPY (ingestion §3). */
import type { NewSnapshot, SnapshotWriter } from '../../actors/feed/ports.ts';
import type { Fragment } from '../alert-groups/filters.ts';
import { byteaArray, numberArray, textArray, wordArray } from '../postgres/bulk-parameters.ts';
import { dayOf } from '../postgres/partitions.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { inTransaction, limitStalls, together } from '../postgres/transaction.ts';

/** Bodies remembered as stored; each costs about 150 bytes of memory. */
const KNOWN_BODIES = 100_000;

/**
 * Other replicas wait for a body that this process is storing as well: the server undoes the transaction of one that
 * stopped in the middle, between two statements and within one (a COPY waits for its client), ms.
 */
const STALLED = 1_500;
const STATEMENT_WITHIN = 5_000;

/**
 * For how many batches with new bodies it is asked first which of them are there, after one was: another replica stores
 * them as well, or the process before did.
 */
const WARY_BATCHES = 1_000;

/**
 * Bytes of new bodies up to which a batch is one statement, which waits for the database once: a COPY within a
 * transaction costs less work for many bodies, and two more waits.
 */
const FEW_BYTES = 128 * 1024;

/**
 * A body goes to the database once a day. A few go in with their Snapshots, in the same statement. Many go in by COPY,
 * for it is the cheapest way, and without looking whether they are there already unless others were met. When one
 * turns out to be there, the batch is written again in the way that merges.
 */
export function createSnapshotWriter(sql: Sql): SnapshotWriter {
  const known = createKnownBodies(KNOWN_BODIES);
  let wary = 0;

  return {
    async write(snapshots) {
      const unknown = known.without(snapshots);
      const seqs = await writeUnknown(snapshots, unknown);
      known.add(unknown);
      return seqs;
    },
  };

  async function writeUnknown(
    snapshots: readonly NewSnapshot[],
    unknown: readonly NewSnapshot[],
  ): Promise<readonly number[]> {
    if (unknown.length === 0) return enqueue(sql, snapshots);
    if (bytesOf(unknown) <= FEW_BYTES) return enqueueWithBodies(sql, snapshots, unknown);
    const fresh = wary > 0 ? await withoutStored(unknown) : unknown;
    return fresh.length > 0 ? writeAll(snapshots, fresh) : enqueue(sql, snapshots);
  }

  async function withoutStored(snapshots: readonly NewSnapshot[]): Promise<readonly NewSnapshot[]> {
    const stored = await storedAmong(sql, snapshots);
    wary = stored.size > 0 ? WARY_BATCHES : wary - 1;
    return snapshots.filter((snapshot) => !stored.has(keyOf(snapshot)));
  }

  async function writeAll(
    snapshots: readonly NewSnapshot[],
    fresh: readonly NewSnapshot[],
  ): Promise<readonly number[]> {
    try {
      return await inTransaction(sql, async (tx) => {
        await together(limitStalls(tx, STALLED, STATEMENT_WITHIN), copyBodies(tx, fresh));
        return enqueue(tx, snapshots);
      });
    } catch (error) {
      if (!isFailedCopy(error)) throw error;
      wary = WARY_BATCHES;
      return inTransaction(sql, async (tx) => {
        await together(limitStalls(tx, STALLED, STATEMENT_WITHIN), mergeBodies(tx, fresh));
        return enqueue(tx, snapshots);
      });
    }
  }
}

/** Stores Snapshots within a transaction that changes something else, too. Their order is the order of arrival. */
export async function storeSnapshots(tx: Transaction, snapshots: readonly NewSnapshot[]): Promise<void> {
  await mergeBodies(tx, createKnownBodies(0).without(snapshots));
  await enqueue(tx, snapshots);
}

/** Which bodies are there, as {@link keyOf} names them. Index: snapshot_bodies_pkey. */
async function storedAmong(sql: Sql, snapshots: readonly NewSnapshot[]): Promise<ReadonlySet<string>> {
  const rows = await sql<{ key: string }[]>`
    select day || '.' || encode(hash, 'hex') as key
    from snapshot_bodies
    join unnest(
      ${numberArray(snapshots.map(({ receivedAt }) => dayOf(receivedAt)))}::integer[],
      ${byteaArray(snapshots.map(({ bodyHash }) => bodyHash))}::bytea[]
    ) as wanted (day, hash) using (day, hash)`;
  return new Set(rows.map(({ key }) => key));
}

/**
 * Returns when everything is sent, before the server has judged it: the driver never tells of an error that comes
 * after the end of a COPY. The next statement of the transaction does, with {@link ABORTED}.
 */
async function copyBodies(tx: Transaction, snapshots: readonly NewSnapshot[]): Promise<void> {
  const stream = await tx`copy snapshot_bodies (day, hash, body) from stdin (format binary)`.writable();
  stream.on('error', () => undefined);
  await new Promise((flushed) => stream.write(encodeBodies(snapshots), flushed));
  // At its end the driver would destroy the stream, and send with it that the COPY failed: too late to count, and yet
  // the server no longer limits how long the transaction may be idle then.
  stream.destroy = () => stream;
  stream.end();
}

async function mergeBodies(tx: Transaction, snapshots: readonly NewSnapshot[]): Promise<void> {
  await tx`${bodiesMerged(tx, snapshots)}`;
}

/** Both in one statement. */
function enqueueWithBodies(
  sql: Sql,
  snapshots: readonly NewSnapshot[],
  withBody: readonly NewSnapshot[],
): Promise<readonly number[]> {
  return numbersOf(sql`with bodies as (${bodiesMerged(sql, withBody)}) ${enqueued(sql, snapshots)}`);
}

function enqueue(sql: Sql | Transaction, snapshots: readonly NewSnapshot[]): Promise<readonly number[]> {
  return numbersOf(sql`${enqueued(sql, snapshots)}`);
}

async function numbersOf(statement: Fragment): Promise<readonly number[]> {
  const rows = await statement;
  return rows.map((row) => row.seq as number);
}

function bodiesMerged(sql: Sql | Transaction, snapshots: readonly NewSnapshot[]): Fragment {
  return sql`
    insert into snapshot_bodies (day, hash, body)
    select * from unnest(
      ${numberArray(snapshots.map(({ receivedAt }) => dayOf(receivedAt)))}::integer[],
      ${byteaArray(snapshots.map(({ bodyHash }) => bodyHash))}::bytea[],
      ${byteaArray(snapshots.map(({ body }) => body.toString('hex')))}::bytea[]
    )
    on conflict (day, hash) do nothing`;
}

/**
 * Draws the numbers from the sequence snapshot_number row by row, in the order of the batch: what comes after an answer,
 * to whichever process, is numbered after it.
 */
function enqueued(sql: Sql | Transaction, snapshots: readonly NewSnapshot[]): Fragment {
  return sql`
    insert into snapshot_queue (id, integration_id, received_at, body_hash, size_bytes, content_type, shard)
    select * from unnest(
      ${wordArray(snapshots.map(({ id }) => id))}::text[],
      ${wordArray(snapshots.map(({ integrationId }) => integrationId))}::text[],
      ${numberArray(snapshots.map(({ receivedAt }) => receivedAt))}::bigint[],
      ${byteaArray(snapshots.map(({ bodyHash }) => bodyHash))}::bytea[],
      ${numberArray(snapshots.map(({ body }) => body.length))}::integer[],
      ${textArray(snapshots.map(({ contentType }) => contentType))}::text[],
      ${numberArray(snapshots.map(({ shard }) => shard))}::smallint[]
    )
    returning seq`;
}

function bytesOf(snapshots: readonly NewSnapshot[]): number {
  return snapshots.reduce((sum, { body }) => sum + body.length, 0);
}

/** SQLSTATE of a statement in a transaction that an earlier one broke. */
const ABORTED = '25P02';

/** Whether a COPY failed. Merging tells the cause if it is another than a body that was there. */
function isFailedCopy(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === ABORTED;
}

interface KnownBodies {
  /**
   * Those whose body is not known to be stored, each body once, in the order in which everybody writes bodies: two who
   * store the same ones must not wait for each other.
   */
  without(snapshots: readonly NewSnapshot[]): NewSnapshot[];
  add(snapshots: readonly NewSnapshot[]): void;
}

/** The bodies used last, by day and hash; only committed ones are added. */
function createKnownBodies(limit: number): KnownBodies {
  const keys = new Set<string>();
  return {
    without(snapshots) {
      const missing = new Map<string, NewSnapshot>();
      for (const snapshot of snapshots) {
        const key = keyOf(snapshot);
        if (!keys.delete(key)) missing.set(key, snapshot);
        else keys.add(key);
      }
      return [...missing.keys()].sort().flatMap((key) => missing.get(key) ?? []);
    },
    add(snapshots) {
      for (const snapshot of snapshots) keys.add(keyOf(snapshot));
      for (const oldest of keys) {
        if (keys.size <= limit) return;
        keys.delete(oldest);
      }
    },
  };
}

function keyOf(snapshot: NewSnapshot): string {
  return `${dayOf(snapshot.receivedAt)}.${snapshot.bodyHash}`;
}

/** Signature, no flags, no extension. */
const HEADER = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)]);
const FIELDS = 3;
const DAY_BYTES = 4;
const HASH_BYTES = 32;
/** Field count and three lengths, with the two fields of fixed size. */
const ROW_BYTES = 2 + 4 + DAY_BYTES + 4 + HASH_BYTES + 4;
const END = -1;

/** All rows as one buffer, trailer included. */
function encodeBodies(snapshots: readonly Pick<NewSnapshot, 'receivedAt' | 'bodyHash' | 'body'>[]): Buffer {
  const size = snapshots.reduce((sum, { body }) => sum + ROW_BYTES + body.length, HEADER.length + 2);
  const out = Buffer.allocUnsafe(size);
  let at = HEADER.copy(out, 0);
  for (const { receivedAt, bodyHash, body } of snapshots) {
    at = out.writeInt16BE(FIELDS, at);
    at = out.writeInt32BE(DAY_BYTES, at);
    at = out.writeInt32BE(dayOf(receivedAt), at);
    at = out.writeInt32BE(HASH_BYTES, at);
    at += out.write(bodyHash, at, 'hex');
    at = out.writeInt32BE(body.length, at);
    at += body.copy(out, at);
  }
  out.writeInt16BE(END, at);
  return out;
}
