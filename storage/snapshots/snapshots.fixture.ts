/** Snapshots for the tests of storage, and partitions to put them in. */
import { hash } from 'node:crypto';
import { beforeAll } from 'vitest';
import type { NewSnapshot } from '../../actors/feed/ports.ts';
import { DAY } from '../../runtime/clock.ts';
import { newPublicId } from '../../runtime/public-id.ts';
import type { TestDatabase } from '../../test/postgres.ts';

/** 2026-10-03, with the day after. */
export const FIRST_DAY = 20_729;
const DAYS = 2;

export function useSnapshotPartitions(database: TestDatabase): void {
  beforeAll(async () => {
    const sql = database.sql();
    for (let day = FIRST_DAY; day < FIRST_DAY + DAYS; day++) {
      await sql.unsafe(`
        create table snapshot_bodies_${day} partition of snapshot_bodies for values from (${day}) to (${day + 1});
        create table stored_snapshots_${day} partition of stored_snapshots
          for values from (${day * DAY}) to (${(day + 1) * DAY})`);
    }
  });
}

/** A body of its own for each, unless given. */
export function newSnapshot(given: Partial<NewSnapshot> = {}): NewSnapshot {
  const body = given.body ?? Buffer.from(newPublicId('SS'));
  return {
    id: newPublicId('SS'),
    integrationId: newPublicId('NT'),
    receivedAt: FIRST_DAY * DAY + 1,
    contentType: 'application/json',
    bodyHash: hash('sha256', body),
    shard: null,
    ...given,
    body,
  };
}
