import { expect, test } from 'vitest';
import type { Clock, Micros } from '../../runtime/clock.ts';
import { useDatabase } from '../../test/postgres.ts';
import { createSessionLock, hasSharedHolders } from './placement.ts';

const database = useDatabase('empty');

/** A clock whose waits end when the test says so. */
function manualClock() {
  const waits = new Map<object, { readonly delay: Micros; run(): void }>();
  const clock: Clock = {
    now: () => 0,
    after(delay, run) {
      const timer = { cancel: () => void waits.delete(timer) };
      waits.set(timer, { delay, run });
      return timer;
    },
  };
  return {
    clock,
    waiting: () => waits.size,
    /** Ends the only wait under way. */
    pass() {
      const [[timer, wait] = []] = waits;
      if (!timer || !wait || waits.size !== 1) throw new Error(`${waits.size} waits are under way`);
      waits.delete(timer);
      wait.run();
    },
  };
}

function lock(key: number, clock: Clock = manualClock().clock) {
  return createSessionLock({ settings: database.settings(), clock, key });
}

async function holders(key: number): Promise<number[]> {
  const rows = await database.sql()<{ pid: number }[]>`
    select pid from pg_locks
    where locktype = 'advisory' and objid = ${key}
      and database = (select oid from pg_database where datname = current_database())`;
  return rows.map(({ pid }) => pid);
}

test('one holds the lock, the other gets it after the release', async () => {
  const [first, second] = [lock(11), lock(11)];
  expect(await first.acquire()).toBe(true);
  expect(await second.acquire()).toBe(false);
  await first.release();
  expect(await second.acquire()).toBe(true);
  await second.release();
  expect(await holders(11)).toEqual([]);
});

test('a holder whose session is ended learns of it and may take the lock again', async () => {
  const held = lock(12);
  await held.acquire();
  const [pid] = await holders(12);
  const lost = held.lost();
  await database.sql()`select pg_terminate_backend(${pid ?? 0})`;
  await lost;
  expect(await held.acquire()).toBe(true);
  await held.release();
});

test('a release is no loss', async () => {
  const held = lock(13);
  await held.acquire();
  const lost = held.lost().then(() => 'lost');
  await held.release();
  const settled = new Promise((resolve) => setImmediate(resolve, 'released'));
  expect(await Promise.race([lost, settled])).toBe('released');
});

test('a holder that gets no answer counts as lost', async () => {
  const manual = manualClock();
  const held = lock(14, manual.clock);
  await held.acquire();
  const lost = held.lost();
  // Time to speak: the answer of the idle session is still on its way when its time is over.
  manual.pass();
  manual.pass();
  await lost;
  expect(manual.waiting()).toBe(0);
});

test('many hold the lock together in the shared way, and nobody alone meanwhile', async () => {
  const shared = () =>
    createSessionLock({ settings: database.settings(), clock: manualClock().clock, isShared: true });
  const alone = () => createSessionLock({ settings: database.settings(), clock: manualClock().clock });
  const [a, b, one] = [shared(), shared(), alone()];
  expect(await hasSharedHolders(database.sql())).toBe(false);
  expect(await a.acquire()).toBe(true);
  expect(await b.acquire()).toBe(true);
  expect(await one.acquire()).toBe(false);
  expect(await hasSharedHolders(database.sql())).toBe(true);
  await Promise.all([a.release(), b.release()]);
  expect(await one.acquire()).toBe(true);
  expect(await a.acquire()).toBe(false);
  expect(await hasSharedHolders(database.sql())).toBe(false);
  await one.release();
});
