import { beforeEach, expect, test } from 'vitest';
import { createRefusedProofs, type RefusedProof } from '../../actors/access/refused-proofs.ts';
import type { AuditEntry } from '../../actors/effects.ts';
import { HOUR, MINUTE, SECOND } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { empty } from '../../test/emptied.ts';
import { createManualClock, type ManualClock } from '../../test/fakes/manual-clock.ts';
import { useDatabase } from '../../test/postgres.ts';
import { recordLimited } from './throttle.ts';

const database = useDatabase();

let clock: ManualClock;
let audit: AuditEntry[];
let asked: number;
let logged: string[];
let isAway: boolean;
let pending: Promise<unknown>[];

const log: Log = (event) => void logged.push(event);

beforeEach(async () => {
  await empty(database.sql(), 'login_throttles');
  clock = createManualClock();
  audit = [];
  logged = [];
  asked = 0;
  isAway = false;
  pending = [];
});

/** What one replica has; all share a database and a clock. */
const replica = () =>
  createRefusedProofs({
    clock,
    log,
    record(entry, limit) {
      asked += 1;
      if (isAway) return Promise.reject(new Error('away'));
      const write = recordLimited(database.sql(), async (_tx, one) => void audit.push(one), entry, limit);
      pending.push(write);
      return write;
    },
  });

const refusal = (address: string, changes: Partial<RefusedProof> = {}): RefusedProof => ({
  kind: 'integration_token',
  ...{ address, reason: 'unknown', resourceId: null },
  ...changes,
});

/** Lets 10 s pass and what is due then end. @returns how often the database was asked */
async function pass(): Promise<number> {
  const before = asked;
  clock.advance(10 * SECOND);
  do {
    await Promise.all(pending.splice(0));
    await new Promise(setImmediate);
  } while (pending.length > 0);
  return asked - before;
}

const counts = () => audit.map(({ address, details }) => [address, details.count]);

test('refusals of one source become an entry with their number: at once, then after 1 min, 10 min and every hour', async () => {
  const { note } = replica();
  for (let refused = 0; refused < 5_000; refused++) note(refusal('192.0.2.1'));
  await pass();
  expect(audit).toEqual([
    expect.objectContaining({
      action: 'integration_token.refuse',
      actor: { kind: 'system', id: null, name: 'system' },
      address: '192.0.2.1',
      details: { reason: 'unknown', count: 5_000 },
    }),
  ]);
  const from = clock.now();
  const written: number[] = [];
  for (let waited = 0; waited < 4 * HOUR; waited += 10 * SECOND) {
    note(refusal('192.0.2.1'));
    const before = audit.length;
    await pass();
    if (audit.length > before) written.push(Math.floor((clock.now() - from) / MINUTE));
  }
  expect(written).toEqual([1, 11, 71, 131, 191]);
  // Nothing is asked of the database that it refused until it may be.
  expect(asked).toBeLessThanOrEqual(2 * audit.length);
  const shown = counts().reduce((sum, [, count]) => sum + Number(count), 0);
  expect(shown).toBe(5_000 + 191 * 6);
});

test('replicas share the limit, and kinds have one each', async () => {
  const [one, other] = [replica(), replica()];
  one.note(refusal('192.0.2.1'));
  await pass();
  other.note(refusal('192.0.2.1'));
  other.note(refusal('192.0.2.1', { kind: 'api_token', reason: 'expired', resourceId: 'PT1' }));
  await pass();
  expect(audit.map(({ action, resourceId }) => [action, resourceId])).toEqual([
    ['integration_token.refuse', null],
    ['api_token.refused', 'PT1'],
  ]);
});

test('of many sources 20 at a time are recorded, and beyond 1,000 they share an entry', async () => {
  const { note } = replica();
  for (let source = 0; source < 1_500; source++) note(refusal(`10.0.${source >> 8}.${source & 255}`));
  expect(await pass()).toBe(20);
  while ((await pass()) > 0);
  expect(counts().at(-1)).toEqual([null, 500]);
  expect(counts()).toHaveLength(1_001);
});

test('without the database nothing is lost, and the next entry counts all', async () => {
  const { note } = replica();
  isAway = true;
  note(refusal('192.0.2.1'));
  await pass();
  expect(logged).toEqual(['audit_entry_delayed']);
  isAway = false;
  note(refusal('192.0.2.1'));
  await pass();
  expect(counts()).toEqual([['192.0.2.1', 2]]);
});
