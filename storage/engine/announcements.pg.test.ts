import { beforeEach, describe, expect, test } from 'vitest';
import type { AnnouncementCursor } from '../../runtime/broadcast/channels.ts';
import { SECOND } from '../../runtime/clock.ts';
import { createManualClock } from '../../test/fakes/manual-clock.ts';
import { useDatabase } from '../../test/postgres.ts';
import { createAnnouncementStore } from './announcements.ts';

const database = useDatabase();

beforeEach(async () => {
  await database.sql()`truncate announcements restart identity`;
});

function stored() {
  const clock = createManualClock();
  const store = createAnnouncementStore(database.sql(), clock);
  let cursor: AnnouncementCursor | null = null;
  return {
    clock,
    say: (...bodies: readonly unknown[]) =>
      store.append(bodies.map((body) => ({ sender: 'a/1', topic: 'news', body }))),
    /** What one more look finds. */
    async look() {
      const page = await store.since(cursor);
      cursor = page.cursor;
      return page.isIncomplete ? 'incomplete' : page.rows.map(({ body }) => body);
    },
    seen: () => cursor?.seen.size,
  };
}

/** Inserts in a transaction of its own that ends when told: its number is there, its row is not. */
async function lateRow(body: string) {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  let committed: Promise<unknown> = Promise.resolve();
  await new Promise<void>((inserted) => {
    committed = database.sql().begin(async (tx) => {
      await tx`
        insert into announcements (sender, topic, body, at) values ('b/1', 'news', ${body}::text::jsonb, 0)`;
      inserted();
      await ended;
    });
  });
  return async () => {
    end();
    await committed;
  };
}

describe('announcements', () => {
  test('a reader begins behind what is there and reads everything after once, in order', async () => {
    const { say, look } = stored();
    await say('before');
    expect(await look()).toEqual([]);
    await say({ id: 1 }, null);
    await say(['“q”', 2]);
    expect(await look()).toEqual([{ id: 1 }, null, ['“q”', 2]]);
    expect(await look()).toEqual([]);
  });

  test('a row whose number becomes visible late is read', async () => {
    const { say, look, clock } = stored();
    await look();
    const commit = await lateRow('"late"');
    await say('early');
    expect(await look()).toEqual(['early']);
    clock.advance(9 * SECOND);
    expect(await look()).toEqual([]);
    await commit();
    expect(await look()).toEqual(['late']);
    expect(await look()).toEqual([]);
  });

  test('so is one that was on its way when the reader began', async () => {
    const { say, look } = stored();
    await say('first');
    const commit = await lateRow('"late"');
    await say('last');
    expect(await look()).toEqual([]);
    await commit();
    expect(await look()).toEqual(['late']);
  });

  test('numbers are remembered for seconds only', async () => {
    const { say, look, seen, clock } = stored();
    await look();
    for (let round = 0; round < 5; round++) {
      await say(round, round);
      await look();
      clock.advance(6 * SECOND);
    }
    await look();
    expect(seen()).toBeLessThanOrEqual(2);
    await say('still');
    expect(await look()).toEqual(['still']);
  });

  test('whoever is more than a page behind passes over the rest and goes on', async () => {
    const { say, look } = stored();
    await look();
    await say(...Array.from({ length: 1_001 }, (_, number) => number));
    expect(await look()).toBe('incomplete');
    await say('next');
    expect(await look()).toEqual(['next']);
  });
});
