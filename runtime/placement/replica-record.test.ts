import { describe, expect, test } from 'vitest';
import { settableLeadership } from '../../test/fakes/leadership.ts';
import { createManualClock } from '../../test/fakes/manual-clock.ts';
import { SECOND } from '../clock.ts';
import { createOwnRecord, type ReplicaRecord } from './replica-record.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));

function setting({ activeKey = 'k-1' } = {}) {
  const clock = createManualClock();
  const leadership = settableLeadership();
  const stateListeners = new Set<(isUp: boolean) => void>();
  const logged: string[] = [];
  const did: (ReplicaRecord | 'removed')[] = [];
  const database = { isAway: false, activeKey, hold: Promise.resolve() };
  const activeKeys: string[] = [];
  const record = createOwnRecord({
    me: { id: 'a', boot: '1' },
    version: '1.2.3',
    revision: 'abc',
    keyIds: ['k-1', 'k-2'],
    leadership,
    signals: {
      onState(listener) {
        stateListeners.add(listener);
        return () => stateListeners.delete(listener);
      },
    },
    store: {
      async write(written) {
        await database.hold;
        if (database.isAway) throw new Error('away');
        did.push(written);
        return database.activeKey;
      },
      async remove() {
        if (database.isAway) throw new Error('away');
        did.push('removed');
      },
    },
    clock,
    log: (event) => void logged.push(event),
    activeKey: (keyId) => void activeKeys.push(keyId),
  });
  return {
    record,
    clock,
    leadership,
    redis: (isUp: boolean) => {
      for (const listener of stateListeners) listener(isUp);
    },
    database,
    did,
    logged,
    activeKeys,
    async pass(seconds: number) {
      clock.advance(seconds * SECOND);
      await settled();
    },
  };
}

test('the record is written at the start and every 30 s', async () => {
  const { record, did, pass, clock } = setting();
  const startedAt = clock.now();
  await pass(5);
  record.start();
  await pass(0);
  expect(did).toEqual([
    {
      id: 'a',
      boot: '1',
      version: '1.2.3',
      revision: 'abc',
      keyIds: ['k-1', 'k-2'],
      isLeader: false,
      hasRedis: true,
      startedAt,
    },
  ]);
  await pass(29);
  expect(did).toHaveLength(1);
  await pass(1);
  await pass(30);
  expect(did).toHaveLength(3);
});

test('a change of the lead or of Redis is written at once', async () => {
  const { record, leadership, redis, did, pass } = setting();
  record.start();
  await pass(1);
  leadership.set(true);
  await pass(0);
  expect(did).toMatchObject([{ isLeader: false }, { isLeader: true }]);
  redis(false);
  await pass(0);
  expect(did).toHaveLength(3);
});

test('what changes during a write is written after it', async () => {
  const { record, leadership, database, did, pass } = setting();
  let arrive: () => void = () => undefined;
  database.hold = new Promise((resolve) => {
    arrive = resolve;
  });
  record.start();
  leadership.set(true);
  leadership.set(false);
  leadership.set(true);
  arrive();
  await pass(0);
  await pass(0);
  expect(did).toHaveLength(2);
  expect(did.at(-1)).toMatchObject({ isLeader: true });
});

test('a write that fails is logged, and the next one comes after 30 s', async () => {
  const { record, database, did, logged, pass } = setting();
  database.isAway = true;
  record.start();
  await pass(1);
  expect(logged).toEqual(['replica_record_failed']);
  database.isAway = false;
  await pass(30);
  expect(did).toHaveLength(1);
});

describe('the stop', () => {
  test('removes the record after the write under way, and writes nothing any more', async () => {
    const { record, leadership, did, pass } = setting();
    record.start();
    await record.stop();
    expect(did).toEqual([expect.objectContaining({ id: 'a' }), 'removed']);
    leadership.set(true);
    record.start();
    await pass(60);
    expect(did).toHaveLength(2);
  });

  test('does not fail without the database', async () => {
    const { record, database, logged } = setting();
    database.isAway = true;
    await record.stop();
    expect(logged).toEqual(['replica_record_failed']);
  });
});

test('every write tells which key is active in the database', async () => {
  const { record, database, activeKeys, pass } = setting();
  record.start();
  await pass(1);
  database.activeKey = 'k-3';
  await pass(30);
  expect(activeKeys).toEqual(['k-1', 'k-3']);
});
